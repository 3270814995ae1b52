import type { Operation } from '../contract.ts'
import { pageBody, pageOf } from '../domain/paging.ts'
import { Problem } from '../problems.ts'
import { findCustomer, newestCustomers } from '../storage/customers.ts'

export const listCustomers: Operation<'listCustomers'> = async ({ workspaceId, query }, { storage }) => {
  const page = pageOf(query, 'cus')
  const rows = await newestCustomers(storage.db, workspaceId, query, page)
  return { status: 200, body: pageBody(rows, page, ({ customer }) => customer) }
}

export const getCustomer: Operation<'getCustomer'> = async ({ workspaceId, path }, { storage }) => {
  const customer = await findCustomer(storage.db, workspaceId, path.customer_id)
  if (!customer) throw new Problem('customer_not_found')
  return { status: 200, body: customer }
}

export const listCustomerEvents: Operation<'listCustomerEvents'> = async (
  { workspaceId, path, query },
  { storage },
) => {
  const page = pageOf(query, 'evt')
  // Side by side, because under load each look-up waits as long as the other.
  const [customer, rows] = await Promise.all([
    findCustomer(storage.db, workspaceId, path.customer_id),
    storage.events.customerEvents(workspaceId, path.customer_id, page),
  ])
  if (!customer) throw new Problem('customer_not_found')
  return { status: 200, body: pageBody(rows, page, ({ event }) => event) }
}
