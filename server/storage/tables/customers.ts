import type { Kysely, Selectable } from 'kysely'
import type { components } from '../../../generated/contract.ts'
import type { Customers, DB } from '../../../generated/tables.ts'
import { FOREMOST_MS, isBehind } from '../../domain/cursors.ts'
import { instantText } from '../../domain/instants.ts'
import type { Page, PageRows } from '../../domain/paging.ts'
import { behind, upTo } from '../lists/keyset.ts'
import { bytes, readPage, unindexed, walkEnd } from '../lists/page-query.ts'
import {
  type Found,
  identifiedCustomers,
  matches,
  ownIdentifier,
  type Search,
  searched,
  searchOf,
} from './customer-search.ts'

type Customer = components['schemas']['Customer']

export type CustomerFilter = Partial<Pick<Customer, 'customer_type' | 'client_customer_id'>> & {
  /** An identifier, a prefix of the application's identifier, or prefixes of words of the name. */
  search?: string
}

export async function findCustomer(
  db: Kysely<DB>,
  workspaceId: string,
  id: string,
): Promise<Customer | undefined> {
  const row = await db
    .selectFrom('customers')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('customer_id', '=', id)
    .executeTakeFirst()
  return row && customerOf(row)
}

/** The name of the customer that the application knows by this identifier; undefined if there is none. */
export async function customerName(
  db: Kysely<DB>,
  workspaceId: string,
  { customer_type, client_customer_id }: Pick<Customer, 'customer_type' | 'client_customer_id'>,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('customers')
    .select('customer_name')
    .where('workspace_id', '=', workspaceId)
    .where('customer_type', '=', customer_type)
    .where('client_customer_id', '=', client_customer_id)
    .executeTakeFirst()
  return row?.customer_name
}

/** The given customers that exist in the workspace, by identifier. */
export async function customersWith(
  db: Kysely<DB>,
  workspaceId: string,
  ids: readonly string[],
): Promise<Map<string, Customer>> {
  if (ids.length === 0) return new Map()
  const named = db.selectFrom('customers').selectAll().where('workspace_id', '=', workspaceId)
  const rows = await named.where('customer_id', 'in', ids).execute()
  return new Map(rows.map((row) => [row.customer_id, customerOf(row)]))
}

/**
 * Customers by (`created_at`, `customer_id`), newest first; those whose identifier equals the search come before all
 * others. With a search that matches many, a page ends after a fixed number of customers examined.
 */
export async function newestCustomers(
  db: Kysely<DB>,
  workspaceId: string,
  filter: CustomerFilter,
  page: Page,
): Promise<PageRows<Customer>> {
  const { customer_type, client_customer_id } = filter
  const search = filter.search === undefined ? undefined : searchOf(filter.search)
  const identified = search ? await identifiedCustomers(db, workspaceId, search) : []
  const foremost = identified
    .filter((customer) => customer_type === undefined || customer.customer_type === customer_type)
    .filter(
      (customer) => client_customer_id === undefined || customer.client_customer_id === client_customer_id,
    )
    .map(({ id, bytes }) => ({ ms: FOREMOST_MS, id, bytes }))
    .filter((key) => isBehind(key, page.after))

  const found = await positionsFound(db, workspaceId, filter, search)
  const listed = db
    .selectFrom(customersAmong(db, workspaceId, found, { ...page, limit: page.limit + identified.length }))
    .select(['created_ms as ms', 'customer_id as id'])
    .select(bytes({ text: ['client_customer_id', 'customer_name'] }))
    .where(behind(page.after, 'created_ms', 'customer_id'))
    .orderBy('created_ms', 'desc')
    .orderBy('customer_id', 'desc')
  const keys = customer_type ? listed.where('customer_type', '=', customer_type) : listed
  const read = async (ids: string[]) => [...(await customersWith(db, workspaceId, ids))]
  if (!search) return await readPage(keys, page, read)
  const end = found ? undefined : await walkEnd(keys)
  const matching = found?.isExact ? keys : keys.where(unindexed(matches(search)))
  const ids = identified.map(({ id }) => id)
  const others = ids.length > 0 ? matching.where('customer_id', 'not in', ids) : matching
  return await readPage(others.where(upTo(end, 'created_ms', 'customer_id')), page, read, { foremost, end })
}

/** The customers that indexes find for a filter; undefined if the list has to be walked. */
async function positionsFound(
  db: Kysely<DB>,
  workspaceId: string,
  { customer_type, client_customer_id }: CustomerFilter,
  search: Search | undefined,
): Promise<Found | undefined> {
  if (client_customer_id !== undefined) {
    return { positions: ownIdentifier(db, workspaceId, client_customer_id), isExact: search === undefined }
  }
  return search && (await searched(db, workspaceId, search, { isAlone: customer_type === undefined }))
}

/** All customers, or those at given positions; if all of these match, only the first page of them. */
function customersAmong(
  db: Kysely<DB>,
  workspaceId: string,
  found: Found | undefined,
  { limit, after }: Page,
) {
  const customers = db.selectFrom('customers').selectAll('customers').where('workspace_id', '=', workspaceId)
  if (!found) return customers.as('listed')
  const positions = db.selectFrom(found.positions.as('positions')).select(['ms', 'id']).distinct()
  const first = positions
    .where(behind(after, 'ms', 'id'))
    .orderBy('ms', 'desc')
    .orderBy('id', 'desc')
    .limit(limit + 1)
  // A cross join, because SQLite keeps its order. Otherwise SQLite would read all customers in list order.
  return db
    .selectFrom((found.isExact ? first : positions).as('found'))
    .crossJoin('customers')
    .selectAll('customers')
    .where('workspace_id', '=', workspaceId)
    .whereRef('customer_id', '=', 'found.id')
    .as('listed')
}

/** A customer in the form of the API. */
export function customerOf(row: Selectable<Customers>): Customer {
  return {
    customer_id: row.customer_id,
    client_customer_id: row.client_customer_id,
    customer_type: row.customer_type as Customer['customer_type'],
    customer_name: row.customer_name,
    created_at: instantText(row.created_ms),
    updated_at: instantText(row.updated_ms),
  }
}
