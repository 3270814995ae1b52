import type { Schemas } from '../../client/index.ts'
import { cursorPosition } from '../../server/domain/cursors.ts'
import type { Page } from '../../server/domain/paging.ts'
import type { EventFilter } from '../../server/storage/events/event-filter.ts'
import { oldestCustomers } from '../../server/storage/lists/arrived-customers.ts'
import type { CustomerFilter } from '../../server/storage/tables/customers.ts'
import { readingIn, type Store } from './store.ts'

/** Returns a page of a forward walk, with the position after it. */
export async function forwardPage(
  { events }: Pick<Store, 'events'>,
  workspace_id: string,
  page: Page,
  filter: EventFilter = {},
) {
  const read = await events.oldestEvents(workspace_id, filter, page, readingIn(workspace_id))
  const { data, next_cursor, caught_up_to }: Schemas['EventPage'] = JSON.parse(
    new TextDecoder().decode(read.bytes),
  )
  if (next_cursor === null) throw new Error('a walk forward has no end')
  return { rows: data, next: cursorPosition(next_cursor, 'evt'), caughtUpTo: caught_up_to ?? null }
}

type Following = { limit?: number; filter?: EventFilter; from?: Page['after']; begun_ms?: number }

/**
 * Walks a workspace forward until it has everything that was acknowledged before.
 * @param options.begun_ms when that was, if the store has another clock
 * @returns the events in order
 */
export async function followed(
  store: Pick<Store, 'events'>,
  workspace_id: string,
  { limit = 100, filter = {}, from, begun_ms = Date.now() }: Following = {},
) {
  const rows: Schemas['Event'][] = []
  let after = from
  for (;;) {
    const page = await forwardPage(store, workspace_id, { limit, ...(after && { after }) }, filter)
    rows.push(...page.rows)
    after = page.next
    if (page.caughtUpTo !== null && Date.parse(page.caughtUpTo) >= begun_ms) return { rows, next: after }
  }
}

/** The same for customers, each by its own identifier. */
export async function followedCustomers(
  store: Pick<Store, 'arrivedCustomers' | 'lists'>,
  workspace_id: string,
  { limit = 100, filter = {}, from, begun_ms = Date.now() }: Following & { filter?: CustomerFilter } = {},
) {
  const reading = readingIn(workspace_id)
  const own: string[] = []
  let after = from
  for (;;) {
    const arrived = await store.arrivedCustomers(reading)
    const page = { limit, ...(after && { after }) }
    const walked = await oldestCustomers(store.lists(reading), workspace_id, filter, page, arrived)
    own.push(...walked.rows.map(({ client_customer_id }) => client_customer_id))
    after = walked.next
    if (walked.caughtUp_ms !== null && walked.caughtUp_ms >= begun_ms) return { own, next: after }
  }
}
