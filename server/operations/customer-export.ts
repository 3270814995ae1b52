import type { components } from '../../generated/contract.ts'
import type { Context, Operation } from '../contract.ts'
import { firstPosition, type Position } from '../domain/cursors.ts'
import { instantText } from '../domain/instants.ts'
import { exportSlices } from '../storage/exports/export-walk.ts'
import { itemText, type WalkBound } from '../storage/exports/exports.ts'
import { insertAuditEntry, newestAuditEntries } from '../storage/tables/audit-log.ts'
import { findCustomer } from '../storage/tables/customers.ts'
import { authorOf } from './author.ts'
import { allCustomerJourneys } from './customer-journeys.ts'
import { customerNotFound } from './customer-not-found.ts'
import { assertThere, exportFileName, settledNow } from './exports.ts'
import { refusalOf } from './refusals.ts'

type Customer = components['schemas']['Customer']
type CustomerExport = components['schemas']['CustomerExport']
type AuditEntry = CustomerExport['audit_entries'][number]

/** Number of refusals and audit entries read at a time. */
const AT_ONCE = 100

export const exportCustomer: Operation<'exportCustomer'> = async ({ workspaceId, path }, context) => {
  const { storage, reading, change } = context
  const customer = await findCustomer(storage.db, workspaceId, path.customer_id)
  if (!customer) throw customerNotFound(path.customer_id)
  const bound = await settledNow(context, () => storage.events.eventsBound(workspaceId, reading))
  await change(async (db) => {
    // Not with the customer's name, because the audit log is kept longer than the customer may be.
    const { customer_id } = customer
    const subject = { kind: 'customer', id: customer_id, name: customer_id } as const
    await insertAuditEntry(db, workspaceId, authorOf(context), { action: 'customer_exported', subject })
  })
  const name = exportFileName(context, customer.customer_id, 'json')
  const parts = customerParts(context, workspaceId, customer, bound)
  return { status: 200, file: { contentType: 'application/json', name, parts } }
}

/** Yields the JSON of everything about a customer, with one line per list item. */
async function* customerParts(
  context: Context,
  workspaceId: string,
  customer: Customer,
  bound: WalkBound,
): AsyncGenerator<Uint8Array> {
  const { storage, now } = context
  const { customer_id } = customer
  const head = { exported_at: instantText(now()), customer } satisfies Partial<CustomerExport>
  const lists: [keyof CustomerExport, AsyncIterable<Uint8Array>][] = [
    ['journeys', items(allCustomerJourneys(context, workspaceId, customer_id))],
    ['events', eventItems(context, workspaceId, customer_id, bound)],
    ['refusals', items(refusals(context, workspaceId, customer_id))],
    ['audit_entries', items(auditEntries(context, workspaceId, customer_id))],
  ]
  // Without the closing brace, which comes last.
  let text = JSON.stringify(head, undefined, 2).slice(0, -2)
  for (const [name, parts] of lists) {
    text += `,\n  "${name}": [`
    let isFirst = true
    for await (const part of parts) {
      if (part.length === 0) continue
      if (isFirst) yield encoder.encode(text)
      // Without the comma before the first item.
      yield isFirst ? part.subarray(1) : part
      isFirst = false
    }
    text = isFirst ? `${text}]` : '\n  ]'
  }
  // If the customer was erased meanwhile, the export is incomplete.
  await assertThere(storage.db, workspaceId)
  if (!(await findCustomer(storage.db, workspaceId, customer_id))) throw customerNotFound(customer_id)
  yield encoder.encode(`${text}\n}\n`)
}

const encoder = new TextEncoder()

async function* items(parts: AsyncIterable<readonly unknown[]>): AsyncGenerator<Uint8Array> {
  for await (const part of parts) {
    yield encoder.encode(part.map((item) => itemText(JSON.stringify(item))).join(''))
  }
}

async function* eventItems(
  { storage, reading }: Context,
  workspace_id: string,
  customer_id: string,
  { place }: WalkBound,
): AsyncGenerator<Uint8Array> {
  const { events } = storage
  const { signal } = reading
  const wanted = {
    workspace_id,
    filter: { customer_id },
    bound: place,
    most: Number.MAX_SAFE_INTEGER,
    format: 'items',
  } as const
  const slices = exportSlices(firstPosition('evt'), signal, (after) =>
    events.eventSlice({ ...wanted, after }, reading),
  )
  for await (const { bytes } of slices) yield bytes
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
