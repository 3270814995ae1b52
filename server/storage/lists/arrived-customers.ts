import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { components } from '../../../generated/contract.ts'
import type { DB } from '../../../generated/tables.ts'
import { firstPosition, type Position } from '../../domain/cursors.ts'
import type { ExportFormat } from '../../domain/export-formats.ts'
import type { ForwardRows, Page } from '../../domain/paging.ts'
import { type Slice, SliceLines } from '../exports/exports.ts'
import { matches, searchOf } from '../tables/customer-search.ts'
import { type CustomerFilter, customerOf, customersWith } from '../tables/customers.ts'
import { bytes, readPage, unindexed, WALKED_ROWS } from './page-query.ts'

type Customer = components['schemas']['Customer']

/** An engine's order of arrival of customers. */
export type Arrived = {
  /**
   * A query of the positions of customers after a given one, as `ms` and `id`, in order. Nothing will appear between
   * them any more.
   */
  places: (after: Position, limit: number) => RawBuilder<Position>
  /** The current end of the order. */
  end: Position
  /** A watermark: everything acknowledged by then is before the end. */
  caughtUp_ms: number
}

/**
 * Returns customers by arrival, oldest first: each exactly once, even if others are created meanwhile. A filtered page
 * ends after a maximum number of rows scanned.
 */
export async function oldestCustomers(
  db: Kysely<DB>,
  workspaceId: string,
  filter: CustomerFilter,
  page: Page,
  { places, end, caughtUp_ms }: Arrived,
): Promise<ForwardRows<Customer>> {
  const after = page.after ?? firstPosition('cus')
  const conditions = conditionsOf(filter)
  const isFiltered = conditions.length > 0
  const limit = isFiltered ? WALKED_ROWS : page.limit + 1
  const arrived = db.selectFrom(sql<Position>`(${places(after, limit)})`.as<'arrived'>(sql.ref('arrived')))
  const [last] = isFiltered
    ? await arrived
        .select(['ms', 'id'])
        .orderBy('ms')
        .orderBy('id')
        .offset(limit - 1)
        .limit(1)
        .execute()
    : []
  // A cross join, because SQLite then keeps this join order.
  let keys = arrived
    .crossJoin('customers')
    .whereRef('customer_id', '=', 'arrived.id')
    .where('workspace_id', '=', workspaceId)
    .select(['arrived.ms', 'arrived.id'])
    .select(bytes({ text: ['client_customer_id', 'customer_name'] }))
    .orderBy('arrived.ms')
    .orderBy('arrived.id')
  for (const condition of conditions) keys = keys.where(condition)
  const read = async (ids: string[]) => [...(await customersWith(db, workspaceId, ids))]
  const { rows, next } = await readPage(keys, page, read, { end: last })
  return next ? { rows, next, caughtUp_ms: null } : { rows, next: end, caughtUp_ms }
}

/** Maximum customers scanned per slice of an export; their longest texts would take some megabytes. */
const SLICE_CUSTOMERS = 1_000

/** Returns the next customers of an export, in the same order. @param arrived as it was when the export started */
export async function customerSlice(
  db: Kysely<DB>,
  workspaceId: string,
  filter: CustomerFilter,
  { after, most, format }: { after: Position; most: number; format: ExportFormat },
  { places, end }: Arrived,
): Promise<Slice> {
  const limit = Math.min(SLICE_CUSTOMERS, most)
  const conditions = conditionsOf(filter)
  const isWanted = sql<number>`CASE WHEN ${conditions.reduce((all, one) => sql`${all} AND ${one}`, sql`true`)} THEN 1 ELSE 0 END`
  const rows = await db
    .selectFrom(sql<Position>`(${places(after, limit)})`.as<'arrived'>(sql.ref('arrived')))
    .crossJoin('customers')
    .whereRef('customer_id', '=', 'arrived.id')
    .where('workspace_id', '=', workspaceId)
    .selectAll('customers')
    .select(['arrived.ms', 'arrived.id', isWanted.as('is_wanted')])
    .orderBy('arrived.ms')
    .orderBy('arrived.id')
    .execute()
  const lines = new SliceLines({ most: limit, format })
  for (const row of rows) if (row.is_wanted) lines.addCustomer(customerOf(row))
  const last = rows.at(-1)
  // A late arrival that was removed since is missing, so only an empty slice is certainly the last.
  return last
    ? lines.ending({ ms: last.ms, id: last.id }, { isLast: false })
    : lines.ending(end, { isLast: true })
}

/** Returns the conditions of a filter. */
function conditionsOf({ customer_type, client_customer_id, search }: CustomerFilter) {
  const conditions: RawBuilder<boolean>[] = []
  if (customer_type !== undefined) conditions.push(sql`customer_type = ${customer_type}`)
  if (client_customer_id !== undefined) conditions.push(sql`client_customer_id = ${client_customer_id}`)
  if (search !== undefined) {
    conditions.push(sql`(customers.customer_id = ${search} OR ${matches(searchOf(search))})`)
  }
  return conditions.map((condition) => unindexed(condition))
}
