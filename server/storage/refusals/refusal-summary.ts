import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { components } from '../../../generated/contract.ts'
import { isFieldName } from '../../domain/violation-places.ts'
import type { RefusalRow, RefusalTables } from './refusal-table.ts'

type Fault = components['schemas']['Fault']

/** Maximum groups; further ones are only counted, so that a sender that invents fields does not enlarge the answer. */
const GROUPS = 100

/** Maximum length of a field, however long the names in a pointer are. */
const FIELD_LENGTH = 255

/** A span divided into equal periods. */
export type SummarySpan = { from_ms: number; to_ms: number; periods: number }

/**
 * Number of refusals by subject: events that the event counts include as `rejected`; requests with events that were
 * refused as a whole, whose events are in no count; and registrations of customers.
 */
type RefusalKinds = { events: number; requests: number; customers: number }

/** Refusals of one code, field and key. */
export type RefusalGroup = Pick<RefusalRow, 'code' | 'key_id' | 'field'> & {
  /** Including those left out. */
  count: number
  left_out: number
  first_ms: number
  last_ms: number
  /** The latest one that is kept. */
  example_id: string
  /** The detail of its first fault; null if it has none. */
  detail: string | null
  kinds: RefusalKinds
  /** Number per period. */
  counts: number[]
}

/** Refusals of one code and key of which only the number is known. */
export type UnsavedRefusals = Pick<RefusalRow, 'code' | 'key_id'> & {
  count: number
  first_ms: number
  last_ms: number
  kinds: RefusalKinds
}

export type RefusalSummary = {
  count: number
  left_out: number
  kinds: RefusalKinds
  /** Per period. */
  period_kinds: RefusalKinds[]
  /** Number per period, including omitted groups. */
  counts: number[]
  /** The largest first. */
  groups: RefusalGroup[]
  groups_omitted: number
  /** The largest first. */
  unsaved: UnsavedRefusals[]
}

/**
 * Returns the field that a refusal is about, by its first fault: its JSON Pointer, without the position in a batch, so
 * that an event has the same alone and in a batch; or `?` and the name of a parameter. '' if it is about no field.
 * Senders choose the names of unknown fields, so one that may be a value gives the field of the object that it is in.
 */
export function fieldOf(operation: string, [fault]: readonly Fault[]): string {
  const { pointer = '', parameter, code = 'unexpected' } = fault ?? {}
  if (parameter !== undefined) return `?${isFieldName(parameter) ? parameter : ''}`
  const place = operation === 'createEvents' ? pointer.replace(/^\/events\/\d+(?=\/)/, '') : pointer
  // A violation of another kind is at a name of the definition.
  const field = code === 'unexpected' ? upToValue(place) : place
  // No engine stores a NUL; truncated without half a character or half an escape at the end.
  return field.slice(0, FIELD_LENGTH).replaceAll('\0', '\ufffd').toWellFormed().replace(/~$/, '')
}

/** The start of a pointer, up to the first name that may be a value. */
function upToValue(pointer: string): string {
  const names = pointer.split('/').slice(1)
  const end = names.findIndex((name) => !isFieldName(name) && !INDEX.test(name))
  return (end < 0 ? names : names.slice(0, end)).map((name) => `/${name}`).join('')
}

/** Of an array in the body of a request, which has at most 1,000 items. */
const INDEX = /^\d{1,4}$/

/**
 * Summarizes the refusals of a span. Its rows are read twice, without what was sent: on SQLite 100,000 of them take the
 * low-priority thread of refusals 0.8 s, and 2 s if each has a field of its own.
 * @param db reads through the queue of lists
 * @param options.conditions further conditions
 * @param options.countsLeftOut whether to include what was left out: not if it is unknown whether it matches
 */
export async function readSummary(
  db: Kysely<RefusalTables>,
  workspaceId: string,
  {
    conditions,
    span: { from_ms, to_ms, periods },
    countsLeftOut,
  }: { conditions: readonly RawBuilder<SqlBool>[]; span: SummarySpan; countsLeftOut: boolean },
): Promise<RefusalSummary> {
  const all = [
    sql<SqlBool>`workspace_id = ${workspaceId}`,
    sql<SqlBool>`received_ms >= ${sql.lit(from_ms)}`,
    sql<SqlBool>`received_ms < ${sql.lit(to_ms)}`,
    ...conditions,
  ]
  const found = sql`refusals WHERE ${sql.join(all, sql` AND `)}`
  const leftOut = countsLeftOut ? sql`left_out` : sql.lit(0)
  const count = sql`cast(sum(1 + ${leftOut}) AS bigint)`
  const largest = await sql<Omit<RefusalGroup, 'detail' | 'counts' | 'kinds'> & { groups: number }>`
    WITH grouped AS (
      SELECT code, key_id, field, ${count} AS count, cast(sum(${leftOut}) AS bigint) AS left_out,
        min(received_ms) AS first_ms, max(received_ms) AS last_ms, max(refusal_id) AS example_id
      FROM ${found} AND sent_bytes > 0 GROUP BY code, key_id, field
    )
    SELECT *, count(*) OVER () AS groups FROM grouped
    ORDER BY count DESC, last_ms DESC, code, key_id, field LIMIT ${sql.lit(GROUPS)}`.execute(db)
  const groups = largest.rows.map(({ groups: _, ...group }) => ({
    ...group,
    detail: null as string | null,
    kinds: noKinds(),
    counts: Array<number>(periods).fill(0),
  }))
  const summary: RefusalSummary = {
    count: 0,
    left_out: 0,
    kinds: noKinds(),
    period_kinds: Array.from({ length: periods }, noKinds),
    counts: Array<number>(periods).fill(0),
    groups,
    groups_omitted: Math.max(0, (largest.rows[0]?.groups ?? 0) - groups.length),
    unsaved: await readUnsaved(db, found, count),
  }
  if (groups.length === 0 && summary.unsaved.length === 0) return summary

  // At least one row, because the engines do not accept an empty list.
  const names = [
    sql`(-1, '', '', '')`,
    ...groups.map(
      ({ code, key_id, field }, number) => sql`(${sql.lit(number)}, ${code}, ${key_id}, ${field})`,
    ),
  ]
  const period = sql`(received_ms - ${sql.lit(from_ms)}) * ${sql.lit(periods)} / ${sql.lit(to_ms - from_ms)}`
  const isSaved = sql`CASE WHEN sent_bytes > 0 THEN 1 ELSE 0 END`
  type Sum = {
    number: number | null
    period: number
    kind: keyof RefusalKinds
    count: number
    left_out: number
  }
  const { rows } = await sql<Sum>`
    WITH named (number, code, key_id, field) AS (VALUES ${sql.join(names)}),
      dated AS (
        SELECT code, key_id, field, ${KIND} AS kind, ${isSaved} AS saved, ${leftOut} AS left_out, ${period} AS period
        FROM ${found}
      )
    SELECT CASE WHEN saved = 1 THEN number END AS number, period, kind, ${count} AS count,
      cast(sum(left_out + 1 - saved) AS bigint) AS left_out
    FROM dated LEFT JOIN named USING (code, key_id, field) GROUP BY 1, period, kind`.execute(db)
  for (const { number, period, kind, count, left_out } of rows) {
    summary.count += count
    summary.left_out += left_out
    summary.counts[period] = (summary.counts[period] ?? 0) + count
    summary.kinds[kind] += count
    const kinds = summary.period_kinds[period]
    if (kinds) kinds[kind] += count
    const group = number === null ? undefined : groups[number]
    if (!group) continue
    group.counts[period] = (group.counts[period] ?? 0) + count
    group.kinds[kind] += count
  }
  await addDetails(db, workspaceId, groups)
  return summary
}

function noKinds(): RefusalKinds {
  return { events: 0, requests: 0, customers: 0 }
}

/**
 * The subject of a refusal. A single event refused because of what it refers to counts like one in a batch; its other
 * refusals happen before anything looks at the event.
 */
const KIND = sql<keyof RefusalKinds>`CASE
  WHEN operation = 'initializeCustomer' THEN 'customers'
  WHEN item IS NOT NULL OR (operation = 'createEvent' AND status IN (404, 409)) THEN 'events'
  ELSE 'requests' END`

async function readUnsaved(
  db: Kysely<RefusalTables>,
  found: RawBuilder<unknown>,
  count: RawBuilder<unknown>,
): Promise<UnsavedRefusals[]> {
  const { rows } = await sql<Omit<UnsavedRefusals, 'kinds'> & { kind: keyof RefusalKinds }>`
    SELECT code, key_id, ${KIND} AS kind, ${count} AS count, min(received_ms) AS first_ms, max(received_ms) AS last_ms
    FROM ${found} AND sent_bytes = 0 GROUP BY code, key_id, kind`.execute(db)
  const unsaved = new Map<string, UnsavedRefusals>()
  for (const { kind, ...row } of rows) {
    const name = `${row.key_id} ${row.code}`
    const sum = unsaved.get(name) ?? { ...row, count: 0, kinds: noKinds() }
    sum.count += row.count
    sum.kinds[kind] += row.count
    sum.first_ms = Math.min(sum.first_ms, row.first_ms)
    sum.last_ms = Math.max(sum.last_ms, row.last_ms)
    unsaved.set(name, sum)
  }
  return [...unsaved.values()].sort((a, b) => b.count - a.count).slice(0, GROUPS)
}

async function addDetails(db: Kysely<RefusalTables>, workspaceId: string, groups: RefusalGroup[]) {
  // PostgreSQL does not accept an empty list, and a workspace may only have refusals that are counted.
  if (groups.length === 0) return
  const ids = groups.map(({ example_id }) => example_id)
  const examples = await db
    .selectFrom('refusals')
    .select(['refusal_id', 'faults'])
    .where('workspace_id', '=', workspaceId)
    .where('refusal_id', 'in', ids)
    .execute()
  const faults = new Map(examples.map(({ refusal_id, faults }) => [refusal_id, faults]))
  for (const group of groups) {
    const { errors }: { errors: Fault[] } = JSON.parse(faults.get(group.example_id) ?? '{"errors":[]}')
    group.detail = errors[0]?.detail ?? null
  }
}
