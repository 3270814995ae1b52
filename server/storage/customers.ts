import { type Kysely, type Selectable, sql } from 'kysely'
import type { components } from '../../generated/contract.ts'
import type { Customers, DB } from '../../generated/tables.ts'
import { instantText } from '../domain/instants.ts'
import { nameKey } from '../domain/names.ts'
import type { Page, PageRows } from '../domain/paging.ts'
import { behind, upTo } from './keyset.ts'
import { bytes, readPage, unindexed, walkEnd } from './pages.ts'
import { startsWith } from './prefixes.ts'

type Customer = components['schemas']['Customer']

export type CustomerFilter = Partial<Pick<Customer, 'customer_type' | 'client_customer_id'>> & {
  /** What the name or the own identifier begins with. */
  search?: string
}

const TYPES = ['account', 'contact'] as const

/** So many customers are looked up one by one and sorted in a few milliseconds. */
const FEW = 2000

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

/**
 * Customers by (`created_at`, `customer_id`), newest first. Where a search finds many, a page ends after so many customers
 * that were looked at.
 */
export async function newestCustomers(
  db: Kysely<DB>,
  workspaceId: string,
  filter: CustomerFilter,
  page: Page,
): Promise<PageRows<Customer>> {
  const { customer_type, search } = filter
  const found = await refsFound(db, workspaceId, filter)
  if (found?.length === 0) return { rows: [], next: null }
  // Those found are of the workspace. To name it again would lead SQLite to read all of its customers in their order.
  const customers = found
    ? db.selectFrom('customers').where('customer_ref', 'in', found)
    : db.selectFrom('customers').where('workspace_id', '=', workspaceId)
  const listed = customer_type ? customers.where('customer_type', '=', customer_type) : customers
  const keys = listed
    .select(['created_ms as ms', 'customer_id as id'])
    .select(bytes({ text: ['client_customer_id', 'customer_name'] }))
    .where(behind(page.after, 'created_ms', 'customer_id'))
    .orderBy('created_ms', 'desc')
    .orderBy('customer_id', 'desc')
  const read = async (ids: string[]) => {
    const named = db.selectFrom('customers').selectAll().where('workspace_id', '=', workspaceId)
    const rows = await named.where('customer_id', 'in', ids).execute()
    return rows.map((row) => [row.customer_id, customerOf(row)] as const)
  }
  if (search === undefined) return await readPage(keys, page, read)
  const end = found ? undefined : await walkEnd(keys)
  const matching = keys
    .where(unindexed(sql`${byName(search)} OR ${byIdentifier(search)}`))
    .where(upTo(end, 'created_ms', 'customer_id'))
  return await readPage(matching, page, read, end)
}

/** The customers that an index finds for a filter; undefined where there are too many to be sorted, or no index. */
async function refsFound(
  db: Kysely<DB>,
  workspaceId: string,
  { client_customer_id, search }: CustomerFilter,
): Promise<number[] | undefined> {
  const customers = db.selectFrom('customers').select('customer_ref').where('workspace_id', '=', workspaceId)
  // Naming the types lets the unique index find them; it begins with them.
  const typed = customers.where('customer_type', 'in', TYPES)
  const queries =
    client_customer_id !== undefined
      ? [typed.where('client_customer_id', '=', client_customer_id)]
      : search !== undefined
        ? [customers.where(byName(search)), typed.where(byIdentifier(search))]
        : []
  const found = await Promise.all(queries.map((query) => query.limit(FEW + 1).execute()))
  if (found.length === 0 || found.some((rows) => rows.length > FEW)) return undefined
  return [...new Set(found.flat().map((row) => row.customer_ref))]
}

function byName(search: string) {
  return startsWith('name_key', nameKey(search))
}

function byIdentifier(search: string) {
  return startsWith('client_customer_id', search)
}

function customerOf(row: Selectable<Customers>): Customer {
  return {
    customer_id: row.customer_id,
    client_customer_id: row.client_customer_id,
    customer_type: row.customer_type as Customer['customer_type'],
    customer_name: row.customer_name,
    created_at: instantText(row.created_ms),
    updated_at: instantText(row.updated_ms),
  }
}
