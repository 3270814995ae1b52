import type { Operation } from '../contract.ts'
import { forwardPageBody, pageBody, pageOf } from '../domain/paging.ts'
import { oldestCustomers } from '../storage/lists/arrived-customers.ts'
import { findCustomer, newestCustomers } from '../storage/tables/customers.ts'
import { customerNotFound } from './customer-not-found.ts'

export const listCustomers: Operation<'listCustomers'> = async ({ workspaceId, query }, context) => {
  const { storage, reading } = context
  const lists = storage.lists(reading)
  const page = pageOf(query, 'cus')
  if (query.order === 'oldest') {
    const arrived = await storage.arrivedCustomers(reading)
    const walked = await oldestCustomers(lists, workspaceId, query, page, arrived)
    return { status: 200, body: forwardPageBody(walked) }
  }
  return { status: 200, body: pageBody(await newestCustomers(lists, workspaceId, query, page)) }
}

export const getCustomer: Operation<'getCustomer'> = async ({ workspaceId, path }, { storage }) => {
  const customer = await findCustomer(storage.db, workspaceId, path.customer_id)
  if (!customer) throw customerNotFound(path.customer_id)
  return { status: 200, body: customer }
}

export const listCustomerEvents: Operation<'listCustomerEvents'> = async (
  { workspaceId, path, query },
  { storage, reading },
) => {
  // In parallel, because under load each lookup waits equally long.
  const [customer, body] = await Promise.all([
    findCustomer(storage.db, workspaceId, path.customer_id),
    storage.events.customerEvents(workspaceId, path.customer_id, pageOf(query, 'evt'), reading),
  ])
  if (!customer) throw customerNotFound(path.customer_id)
  return { status: 200, body }
}
