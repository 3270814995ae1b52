import type { components } from '../../generated/contract.ts'
import type { Context } from '../contract.ts'
import { parseJsonText } from '../domain/json-text.ts'
import { pageOf } from '../domain/paging.ts'

type Event = components['schemas']['Event']
type EventPage = components['schemas']['EventPage']

/** Maximum events, and maximum pages that are read for them; each page has at most 1 MiB and examines 10,000 events. */
const EVENTS = 1_000
const PAGE_EVENTS = 200
const PAGES = 10

/** Reads the latest stored events with a name, newest first: 1,000, or fewer if they are large or hard to find. */
export async function* latestEvents(
  workspaceId: string,
  event_id: string,
  { storage, reading }: Pick<Context, 'storage' | 'reading'>,
): AsyncGenerator<Event> {
  let left = EVENTS
  let cursor: string | null | undefined
  for (let page = 0; page < PAGES && left > 0 && cursor !== null; page += 1) {
    const query = { limit: Math.min(PAGE_EVENTS, left), ...(cursor !== undefined && { cursor }) }
    const { bytes } = await storage.events.newestEvents(
      workspaceId,
      { event_id },
      pageOf(query, 'evt'),
      reading,
    )
    const { data, next_cursor }: EventPage = parseJsonText(Buffer.from(bytes).toString())
    yield* data
    left -= data.length
    cursor = next_cursor
  }
}
