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

/** Customers in the order of their arrival, as an engine keeps it. */
export type Arrived = {
  /**
   * A query of the places of some customers behind a position, as `ms` and `id`, the first ones in their order. Between
   * those nothing appears any more.
   */
  places: (after: Position, limit: number) => RawBuilder<Position>
  /** Where they end for now. */
  end: Position
  /** Everything that was acknowledged by then is before that. */
  caughtUp_ms: number
}

/**
 * Customers in the order of arrival, oldest first: each once, whoever else is made meanwhile and wherever. A page of those
 * that a filter asks for ends after so many that were looked at.
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
  // A cross join, because SQLite takes its sides in this order.
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

/** So many customers are looked at for a slice of an export; their longest texts would take some megabytes. */
const SLICE_CUSTOMERS = 1_000

/** The next customers of an export, in the same order. @param arrived as it was when the export began */
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
  // A stray that was removed since is not among them, so that only none is sure to be the end.
  return last
    ? lines.ending({ ms: last.ms, id: last.id }, { isLast: false })
    : lines.ending(end, { isLast: true })
}

/** What a filter asks of each customer. */
function conditionsOf({ customer_type, client_customer_id, search }: CustomerFilter) {
  const conditions: RawBuilder<boolean>[] = []
  if (customer_type !== undefined) conditions.push(sql`customer_type = ${customer_type}`)
  if (client_customer_id !== undefined) conditions.push(sql`client_customer_id = ${client_customer_id}`)
  if (search !== undefined) {
    conditions.push(sql`(customers.customer_id = ${search} OR ${matches(searchOf(search))})`)
  }
  return conditions.map((condition) => unindexed(condition))
}
