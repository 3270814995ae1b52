import type { components } from '../../generated/contract.ts'
import type { Context, Operation, OperationRequest } from '../contract.ts'
import { earliestReceipt } from '../domain/event-content.ts'
import { variableFilter } from '../domain/event-values.ts'
import { instant_ms } from '../domain/instants.ts'
import type { JsonBytes } from '../domain/json-bytes.ts'
import { parseJsonText } from '../domain/json-text.ts'
import { pageOf } from '../domain/paging.ts'
import type { EventFilter } from '../storage/events/event-filter.ts'
import { definitionChanges } from '../storage/tables/workspaces.ts'

type EventPage = components['schemas']['EventPage']

export const listEvents: Operation<'listEvents'> = async ({ workspaceId, query }, context) => {
  const { order, limit: _, cursor: __, warnings, ...given } = query
  const { storage, reading } = context
  const filter = eventFilter(given)
  const page = pageOf(query, 'evt')
  const { events } = storage
  const body =
    order === 'oldest'
      ? await events.oldestEvents(workspaceId, filter, page, reading)
      : await events.newestEvents(workspaceId, filter, page, reading)
  return { status: 200, body: warnings ? await withWarnings(workspaceId, body, context) : body }
}

/** Compares the events of a page with the definitions of their workspace. Most pages have none that do not conform. */
async function withWarnings(
  workspaceId: string,
  body: JsonBytes<EventPage>,
  { storage, eventChecks }: Context,
): Promise<EventPage | JsonBytes<EventPage>> {
  // Otherwise every page would read the definitions.
  const changes = await definitionChanges(storage.db, workspaceId)
  if (changes === 0) return body
  const page: EventPage = parseJsonText(Buffer.from(body.bytes).toString())
  const sent = page.data.map(({ event_id, custom_variables }) => ({
    event_id,
    ...(custom_variables !== null && { custom_variables }),
  }))
  const checked = await eventChecks.check(workspaceId, changes, sent)
  if (!checked.some(Boolean)) return body
  const data = page.data.map((event, index) => {
    const found = checked[index]
    return found ? { ...event, warnings: found.violations } : event
  })
  return { ...page, data }
}

type Given = Omit<OperationRequest<'listEvents'>['query'], 'order' | 'limit' | 'cursor' | 'warnings'>

/** Converts the filters of a request. */
export function eventFilter(given: Given): EventFilter {
  const { received_from, received_to, occurred_from, occurred_to, variables, ...names } = given
  const from = [
    ...(received_from === undefined ? [] : [instant_ms(received_from)]),
    // An event cannot have been received long before it occurred, which gives the scan an end.
    ...(occurred_from === undefined ? [] : [earliestReceipt(instant_ms(occurred_from))]),
  ]
  return {
    ...names,
    ...(from.length > 0 && { from_ms: Math.max(...from) }),
    ...(received_to !== undefined && { to_ms: instant_ms(received_to) }),
    ...(occurred_from !== undefined && { occurred_from_ms: instant_ms(occurred_from) }),
    ...(occurred_to !== undefined && { occurred_to_ms: instant_ms(occurred_to) }),
    ...(variables !== undefined && { variables: variables.map(variableFilter) }),
  }
}
