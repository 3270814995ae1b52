import type { Kysely, Selectable } from 'kysely'
import type { components } from '../../generated/contract.ts'
import type { Customers, DB } from '../../generated/tables.ts'
import type { Position } from '../domain/cursors.ts'
import { instantText } from '../domain/instants.ts'
import { nameKey } from '../domain/names.ts'
import { type Page, type PageRows, pageRows } from '../domain/paging.ts'
import { behind } from './keyset.ts'
import { startsWith } from './prefixes.ts'

type Customer = components['schemas']['Customer']

export type CustomerFilter = Partial<Pick<Customer, 'customer_type' | 'client_customer_id'>> & {
  /** What the name or the own identifier begins with. */
  search?: string
}

/** A customer as the contract shows it, and where it stands in the list. */
export type ListedCustomer = { customer: Customer; position: Position }

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

/** Customers by (`created_at`, `customer_id`), newest first. */
export async function newestCustomers(
  db: Kysely<DB>,
  workspaceId: string,
  { customer_type, client_customer_id, search }: CustomerFilter,
  page: Page,
): Promise<PageRows<ListedCustomer>> {
  const found = search === undefined ? undefined : await fewFound(db, workspaceId, search)
  // Those found are of the workspace. To name it again would lead SQLite to read all of its customers in their order.
  let query = found
    ? db.selectFrom('customers').selectAll().where('customer_ref', 'in', found)
    : db.selectFrom('customers').selectAll().where('workspace_id', '=', workspaceId)
  if (search !== undefined && !found) {
    query = query.where(({ or }) =>
      or([startsWith('name_key', nameKey(search)), startsWith('client_customer_id', search)]),
    )
  }
  if (client_customer_id !== undefined) {
    // Naming the types lets the unique index find the customer; it begins with them.
    query = query.where('customer_type', 'in', TYPES).where('client_customer_id', '=', client_customer_id)
  }
  if (customer_type) query = query.where('customer_type', '=', customer_type)
  const rows = await query
    .where(behind(page.after, 'created_ms', 'customer_id'))
    .orderBy('created_ms', 'desc')
    .orderBy('customer_id', 'desc')
    .limit(page.limit + 1)
    .execute()
  const listed = rows.map((row) => ({
    customer: customerOf(row),
    position: { ms: row.created_ms, id: row.customer_id },
  }))
  return pageRows(listed, page)
}

/**
 * The customers that a search finds by the indexes; undefined where they are too many to be sorted. Those are found among
 * the newest customers soon enough: one in five hundred of a million.
 */
async function fewFound(db: Kysely<DB>, workspaceId: string, search: string): Promise<number[] | undefined> {
  const select = () =>
    db
      .selectFrom('customers')
      .select('customer_ref')
      .where('workspace_id', '=', workspaceId)
      .limit(FEW + 1)
  const [byName, byIdentifier] = await Promise.all([
    select()
      .where(startsWith('name_key', nameKey(search)))
      .execute(),
    select().where('customer_type', 'in', TYPES).where(startsWith('client_customer_id', search)).execute(),
  ])
  if (byName.length > FEW || byIdentifier.length > FEW) return undefined
  return [...new Set([...byName, ...byIdentifier].map((row) => row.customer_ref))]
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
