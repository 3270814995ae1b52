import type { Kysely, Selectable } from 'kysely'
import type { components } from '../../generated/contract.ts'
import type { Customers, DB } from '../../generated/tables.ts'
import type { Position } from '../domain/cursors.ts'
import { instantText } from '../domain/instants.ts'
import type { Page } from '../domain/paging.ts'

type Customer = components['schemas']['Customer']

export type CustomerFilter = Partial<Pick<Customer, 'customer_type' | 'client_customer_id'>>

/** A customer as the contract shows it, and where it stands in the list. */
export type ListedCustomer = { customer: Customer; position: Position }

const TYPES = ['account', 'contact'] as const

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
  { customer_type, client_customer_id }: CustomerFilter,
  { limit, after }: Page,
): Promise<ListedCustomer[]> {
  let query = db.selectFrom('customers').selectAll().where('workspace_id', '=', workspaceId)
  if (client_customer_id !== undefined) {
    // Naming the types lets the unique index find the customer; it begins with them.
    query = query.where('customer_type', 'in', TYPES).where('client_customer_id', '=', client_customer_id)
  }
  if (customer_type) query = query.where('customer_type', '=', customer_type)
  if (after) {
    query = query.where(({ eb, refTuple, tuple }) =>
      eb(refTuple('created_ms', 'customer_id'), '<', tuple(after.ms, after.id)),
    )
  }
  const rows = await query.orderBy('created_ms', 'desc').orderBy('customer_id', 'desc').limit(limit).execute()
  return rows.map((row) => ({
    customer: customerOf(row),
    position: { ms: row.created_ms, id: row.customer_id },
  }))
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
