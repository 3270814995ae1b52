import type { components } from '../../generated/contract.ts'
import type { Context, Operation } from '../contract.ts'
import { instant_ms, instantText } from '../domain/instants.ts'
import { pageBody, pageOf } from '../domain/paging.ts'
import { Problem } from '../problems.ts'
import { insertAuditEntry } from '../storage/audit-log.ts'
import type { RefusalRow } from '../storage/refusals/refusal-table.ts'
import { workspaceName } from '../storage/workspaces.ts'
import { authorOf } from './author.ts'

type Refusal = components['schemas']['Refusal']

/** Who reads on is noted again after so long (contract: `refusals_read`). */
const NOTED_MS = 3_600_000

export const listRefusals: Operation<'listRefusals'> = async ({ workspaceId, query }, context) => {
  const { received_from, received_to, order = 'newest', limit: _, cursor: __, ...names } = query
  const filter = {
    ...names,
    ...(received_from !== undefined && { from_ms: instant_ms(received_from) }),
    ...(received_to !== undefined && { to_ms: instant_ms(received_to) }),
  }
  await noteReading(context, workspaceId)
  const { storage, reading } = context
  const wanted = { page: pageOf(query, 'rfs'), order }
  const { rows, next } = await storage.refusals.list(workspaceId, filter, wanted, reading)
  return { status: 200, body: pageBody({ rows: rows.map(refusalOf), next }) }
}

export const getRefusal: Operation<'getRefusal'> = async ({ workspaceId, path }, context) => {
  await noteReading(context, workspaceId)
  const { storage, reading } = context
  const row = await storage.refusals.find(workspaceId, path.refusal_id, reading)
  if (!row) throw new Problem('refusal_not_found')
  return { status: 200, body: refusalOf(row) }
}

/** Notes who reads what customers sent, before it is read; not each page of it. */
async function noteReading(context: Context, workspaceId: string) {
  const { now, change, refusalReaders } = context
  const author = authorOf(context)
  const name = `${workspaceId} ${author.actor.id}`
  const noted_ms = refusalReaders.get(name)
  if (noted_ms !== undefined && noted_ms + NOTED_MS > now()) return
  await change(async (db) => {
    const subject = {
      kind: 'workspace',
      id: workspaceId,
      name: await workspaceName(db, workspaceId),
    } as const
    await insertAuditEntry(db, workspaceId, author, { action: 'refusals_read', subject })
  })
  refusalReaders.set(name, now())
}

function refusalOf(row: RefusalRow): Refusal {
  const { errors, errors_omitted }: Pick<Refusal, 'errors' | 'errors_omitted'> = JSON.parse(row.faults)
  const { refusal_id, request_id, key_id, status, item, journey_id, customer_id, event_id } = row
  const { sent, sent_bytes, left_out } = row
  return {
    refusal_id,
    received_at: instantText(row.received_ms),
    request_id,
    key_id,
    // As they were written, by this or an earlier version of the contract, which only grows.
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
  }
}
