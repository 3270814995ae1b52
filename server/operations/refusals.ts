import type { components } from '../../generated/contract.ts'
import type { Context, Operation } from '../contract.ts'
import { instant_ms, instantText } from '../domain/instants.ts'
import { pageBody, pageOf } from '../domain/paging.ts'
import { Problem } from '../problems.ts'
import type { RefusalFilter } from '../storage/refusals/refusal-reader.ts'
import type { RefusalGroup, UnsavedRefusals } from '../storage/refusals/refusal-summary.ts'
import type { RefusalRow } from '../storage/refusals/refusal-table.ts'
import { auditedFilter, noteInWorkspace, noteReader } from './noted-readers.ts'
import { attemptsOf, type Replayed, replayed } from './refusal-replay.ts'

type Refusal = components['schemas']['Refusal']

export const listRefusals: Operation<'listRefusals'> = async ({ workspaceId, query }, context) => {
  const { order = 'newest', limit: _, cursor: __, ...filter } = query
  await noteReading(context, workspaceId)
  const { storage, reading } = context
  const wanted = { page: pageOf(query, 'rfs'), order }
  const { rows, next } = await storage.refusals.list(workspaceId, filterOf(filter), wanted, reading)
  return { status: 200, body: pageBody({ rows: rows.map(refusalOf), next }) }
}

/** Not recorded in the audit log, because it contains no values that customers sent, only which fields were refused and why. */
export const getRefusalSummary: Operation<'getRefusalSummary'> = async ({ workspaceId, query }, context) => {
  const { periods = 24, ...filter } = query
  const { storage, reading } = context
  const { from_ms, to_ms, groups, unsaved, ...sums } = await storage.refusals.summary(
    workspaceId,
    filterOf(filter),
    periods,
    reading,
  )
  const groupOf = ({ first_ms, last_ms, ...group }: RefusalGroup) => ({
    ...group,
    code: group.code as Refusal['code'],
    field: group.field || null,
    first_at: instantText(first_ms),
    last_at: instantText(last_ms),
  })
  const unsavedOf = ({ first_ms, last_ms, ...sum }: UnsavedRefusals) => ({
    ...sum,
    code: sum.code as Refusal['code'],
    first_at: instantText(first_ms),
    last_at: instantText(last_ms),
  })
  const body = {
    from: instantText(from_ms),
    to: instantText(to_ms),
    ...sums,
    groups: groups.map(groupOf),
    unsaved: unsaved.map(unsavedOf),
  }
  return { status: 200, body }
}

export const getRefusal: Operation<'getRefusal'> = async ({ workspaceId, path }, context) => {
  await noteReading(context, workspaceId)
  const { storage, reading } = context
  const row = await storage.refusals.find(workspaceId, path.refusal_id, reading)
  if (!row) throw new Problem('refusal_not_found')
  return { status: 200, body: refusalOf(row) }
}

export const replayRefusals: Operation<'replayRefusals'> = async ({ workspaceId, body, query }, context) => {
  const { storage, reading, now } = context
  const isDry = query.dry_run === true
  const { refusal_id, ...filter } = body
  await noteReading(context, workspaceId)
  const { rows, next } =
    refusal_id === undefined
      ? await storage.refusals.list(
          workspaceId,
          filterOf(filter),
          { page: pageOf(query, 'rfs'), order: 'oldest' },
          reading,
        )
      : { rows: await oneOf(context, workspaceId, { refusal_id, ...filter }), next: null }
  const attempts = await attemptsOf(rows, context)
  // It checks the caller again, who may have lost the role meanwhile.
  if (!isDry && rows.length > 0) {
    await noteInWorkspace(context, workspaceId, { action: 'refusals_replayed', after: auditedFilter(body) })
  }
  const outcomes = await replayed(workspaceId, attempts, { isDry, context })
  const results = outcomes.map((outcome, index) => ({
    refusal_id: rows[index]?.refusal_id ?? '',
    ...outcome,
  }))
  if (!isDry) {
    const replays = results.map(({ refusal_id, ...replay }) => ({
      refusal_id,
      replay: JSON.stringify(replay),
    }))
    await storage.refusals.noteReplays(workspaceId, now(), replays)
  }
  const { next_cursor } = pageBody({ rows: [], next })
  const mark = isDry ? ({ dry_run: true } as const) : undefined
  return { status: 200, body: { ...countsOf(results), results, next_cursor, ...mark } }
}

type Given = Omit<components['schemas']['RefusalReplay'], 'refusal_id'>

function filterOf({ received_from, received_to, ...names }: Given): RefusalFilter {
  return {
    ...names,
    ...(received_from !== undefined && { from_ms: instant_ms(received_from) }),
    ...(received_to !== undefined && { to_ms: instant_ms(received_to) }),
  }
}

/** Returns the refusal, or nothing if it does not match the other filters. */
async function oneOf(
  { storage, reading }: Context,
  workspaceId: string,
  { refusal_id, ...given }: Given & { refusal_id: string },
): Promise<RefusalRow[]> {
  const row = await storage.refusals.find(workspaceId, refusal_id, reading)
  if (!row) throw new Problem('refusal_not_found')
  const { from_ms = 0, to_ms = Number.POSITIVE_INFINITY, ...names } = filterOf(given)
  const { code, operation, key_id, journey_id, customer_id, event_id, received_ms } = row
  const has: Record<string, string | null> = { code, operation, key_id, journey_id, customer_id, event_id }
  const holds = Object.entries(names).every(([name, value]) => has[name] === value)
  return holds && received_ms >= from_ms && received_ms < to_ms ? [row] : []
}

function countsOf(results: readonly Replayed[]) {
  const counts = { replayed: 0, duplicate: 0, refused: 0, incomplete: 0 }
  const codes = new Map<string, number>()
  for (const { outcome, code } of results) {
    counts[outcome] += 1
    if (code !== null) codes.set(code, (codes.get(code) ?? 0) + 1)
  }
  const sorted = [...codes].sort(([, a], [, b]) => b - a)
  return { ...counts, codes: sorted.map(([code, count]) => ({ code, count })) }
}

/** Records the first read within an hour, because the response contains what customers sent. */
async function noteReading(context: Context, workspaceId: string) {
  await noteReader(context, workspaceId, { action: 'refusals_read' }, { isGoingOn: true })
}

/** Converts a refusal to the form of the contract. */
export function refusalOf(row: RefusalRow): Refusal {
  const { errors, errors_omitted }: Pick<Refusal, 'errors' | 'errors_omitted'> = JSON.parse(row.faults)
  const { refusal_id, request_id, key_id, status, item, journey_id, customer_id, event_id } = row
  const { sent, sent_bytes, left_out, replayed_ms, replay } = row
  const result: Replayed | null = replay === null ? null : JSON.parse(replay)
  return {
    refusal_id,
    received_at: instantText(row.received_ms),
    request_id,
    key_id,
    // As stored by this or an earlier version; the contract only grows.
    operation: row.operation as Refusal['operation'],
    code: row.code as Refusal['code'],
    status,
    errors,
    errors_omitted,
    item,
    journey_id,
    customer_id,
    event_id,
    sent,
    sent_bytes,
    left_out,
    replay: replayed_ms === null || !result ? null : { at: instantText(replayed_ms), ...result },
  }
}
