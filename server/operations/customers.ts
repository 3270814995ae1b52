import type { components } from '../../generated/contract.ts'
import type { Operation } from '../contract.ts'
import { variableFilter } from '../domain/event-values.ts'
import { instantOrNull } from '../domain/instants.ts'
import { forwardPageBody, pageBody, pageOf } from '../domain/paging.ts'
import type { CustomerActivity } from '../storage/events/event-store.ts'
import { oldestCustomers } from '../storage/lists/arrived-customers.ts'
import { findCustomer, newestCustomers } from '../storage/tables/customers.ts'
import { customerNotFound } from './customer-not-found.ts'

export const listCustomers: Operation<'listCustomers'> = async ({ workspaceId, query }, context) => {
  const { storage, reading } = context
  const lists = storage.lists(reading)
  const page = pageOf(query, 'cus')
  if (query.include === 'activity') page.limit = Math.min(page.limit, CUSTOMERS_WITH_ACTIVITY)
  const body =
    query.order === 'oldest'
      ? forwardPageBody(
          await oldestCustomers(lists, workspaceId, query, page, await storage.arrivedCustomers(reading)),
        )
      : pageBody(await newestCustomers(lists, workspaceId, query, page))
  if (query.include !== 'activity') return { status: 200, body }
  const ids = body.data.map(({ customer_id }) => customer_id)
  const activities = await storage.events.customerActivity(workspaceId, ids, reading)
  const data = body.data.map((customer) => {
    const activity = activities.get(customer.customer_id)
    return activity ? { ...customer, activity: activityOf(activity) } : customer
  })
  return { status: 200, body: { ...body, data } }
}

/** Each may take as many look-ups as events are counted. */
const CUSTOMERS_WITH_ACTIVITY = 50

function activityOf({
  latest_ms,
  events,
  isAll,
}: CustomerActivity): components['schemas']['CustomerActivity'] {
  return {
    last_event_at: instantOrNull(latest_ms),
    event_count: events,
    event_count_is_exact: isAll,
  }
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
  const { variables } = query
  const filter = variables && { variables: variables.map(variableFilter) }
  // In parallel, because under load each lookup waits equally long.
  const [customer, body] = await Promise.all([
    findCustomer(storage.db, workspaceId, path.customer_id),
    storage.events.customerEvents(
      workspaceId,
      path.customer_id,
      { ...pageOf(query, 'evt'), ...filter },
      reading,
    ),
  ])
  if (!customer) throw customerNotFound(path.customer_id)
  return { status: 200, body }
}
