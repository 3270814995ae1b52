import type { Operation } from '../contract.ts'
import { comparedValue } from '../domain/event-definitions.ts'
import { ObservedFields } from '../domain/observed-fields.ts'
import { latestEvents } from './latest-events.ts'

export const getObservedEvent: Operation<'getObservedEvent'> = async ({ workspaceId, query }, context) => {
  const observed = new ObservedFields()
  let oldest_received_at: string | null = null
  for await (const { custom_variables, received_at } of latestEvents(workspaceId, query.event_id, context)) {
    observed.add(comparedValue(custom_variables))
    oldest_received_at = received_at
  }
  const suggestion = observed.suggestion()
  return {
    status: 200,
    body: {
      event_id: query.event_id,
      examined: observed.examined,
      oldest_received_at,
      fields: observed.fields(),
      ...(suggestion && { suggestion }),
    },
  }
}
