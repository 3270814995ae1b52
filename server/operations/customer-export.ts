import type { components } from '../../generated/contract.ts'
import type { Context, Operation } from '../contract.ts'
import { firstPosition, type Position } from '../domain/cursors.ts'
import { instantText } from '../domain/instants.ts'
import { Problem } from '../problems.ts'
import { insertAuditEntry, newestAuditEntries } from '../storage/audit-log.ts'
import { findCustomer } from '../storage/customers.ts'
import { exportSlices, settledBound } from '../storage/export-walk.ts'
import { authorOf } from './author.ts'
import { exportFileName } from './exports.ts'
import { refusalOf } from './refusals.ts'
import { allCustomerJourneys } from './reports.ts'

type Customer = components['schemas']['Customer']
type CustomerExport = components['schemas']['CustomerExport']
type AuditEntry = CustomerExport['audit_entries'][number]

/** Refusals and audit entries are read so many at a time. */
const AT_ONCE = 100

export const exportCustomer: Operation<'exportCustomer'> = async ({ workspaceId, path }, context) => {
  const { storage, change } = context
  const customer = await findCustomer(storage.db, workspaceId, path.customer_id)
  if (!customer) throw new Problem('customer_not_found')
  await change(async (db) => {
    // Not by its name: what is done here is kept longer than the customer may be.
    const { customer_id } = customer
    const subject = { kind: 'customer', id: customer_id, name: customer_id } as const
    await insertAuditEntry(db, workspaceId, authorOf(context), { action: 'customer_exported', subject })
  })
  const name = exportFileName(context, customer.customer_id, 'json')
  const parts = encoded(customerTexts(context, workspaceId, customer))
  return { status: 200, file: { contentType: 'application/json', name, parts } }
}

/** The JSON of all about a customer, with a line for each item of a list. */
async function* customerTexts(
  context: Context,
  workspaceId: string,
  customer: Customer,
): AsyncGenerator<string> {
  const { now } = context
  const { customer_id } = customer
  const head = { exported_at: instantText(now()), customer } satisfies Partial<CustomerExport>
  const lists: [keyof CustomerExport, AsyncIterable<readonly string[]>][] = [
    ['journeys', lines(allCustomerJourneys(context, workspaceId, customer_id))],
    ['events', eventLines(context, workspaceId, customer_id)],
    ['refusals', lines(refusals(context, workspaceId, customer_id))],
    ['audit_entries', lines(auditEntries(context, workspaceId, customer_id))],
  ]
  // The closing brace comes last.
  let text = JSON.stringify(head, undefined, 2).slice(0, -2)
  for (const [name, parts] of lists) {
    text += `,\n  "${name}": [`
    let isFirst = true
    for await (const part of parts) {
      if (part.length === 0) continue
      yield `${text}${isFirst ? '' : ','}\n    ${part.join(',\n    ')}`
      text = ''
      isFirst = false
    }
    text += isFirst ? ']' : '\n  ]'
  }
  yield `${text}\n}\n`
}

async function* lines(parts: AsyncIterable<readonly unknown[]>): AsyncGenerator<string[]> {
  for await (const part of parts) yield part.map((item) => JSON.stringify(item))
}

async function* eventLines(
  { storage, reading, now }: Context,
  workspace_id: string,
  customer_id: string,
): AsyncGenerator<string[]> {
  const { events } = storage
  const { place } = await settledBound(now, reading.signal, () => events.eventsBound(workspace_id, reading))
  const filter = { customer_id }
  const slices = exportSlices(firstPosition('evt'), (after) =>
    events.eventSlice(
      { workspace_id, filter, after, bound: place, most: Number.MAX_SAFE_INTEGER, format: 'ndjson' },
      reading,
    ),
  )
  for await (const { bytes, lines } of slices) {
    if (lines > 0) yield decoder.decode(bytes).trimEnd().split('\n')
  }
}

async function* refusals({ storage, reading }: Context, workspaceId: string, customer_id: string) {
  for (let after: Position | null | undefined; after !== null; ) {
    const wanted = { page: { limit: AT_ONCE, ...(after && { after }) }, order: 'oldest' } as const
    const { rows, next } = await storage.refusals.list(workspaceId, { customer_id }, wanted, reading)
    yield rows.map(refusalOf)
    after = next
  }
}

async function* auditEntries(
  { storage, reading }: Context,
  workspaceId: string,
  customer_id: string,
): AsyncGenerator<AuditEntry[]> {
  for (let after: Position | null | undefined; after !== null; ) {
    const page = { limit: AT_ONCE, ...(after && { after }) }
    const filter = { subject_id: customer_id }
    const { rows, next } = await newestAuditEntries(storage.lists(reading), workspaceId, filter, page)
    yield rows.map(({ at, action, actor, before, after }) => ({ at, action, by: actor.kind, before, after }))
    after = next
  }
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()

async function* encoded(texts: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  for await (const text of texts) yield encoder.encode(text)
}
