import { type ContractOperation, operations } from './document.ts'
import type { Target } from './target.ts'

/** Where requests go, and what they name. */
export type Place = { send: Target['send']; key: string; journey_id: string; customer_id: string }

/** Names nothing. */
export const UNKNOWN = 'unknown'

/** What a request has instead of what the operation accepts. */
export type Change = { key?: string; origin?: string; type?: string; query?: string; body?: string }

/** The operations that declare a status, as rows of a table of tests. */
export function declaring(status: string): [string, ContractOperation][] {
  return operations
    .filter((operation) => operation.replies[status])
    .map((operation) => [operation.operationId, operation])
}

/** Sends what the operation accepts, but for the change. */
export async function sendTo(
  place: Place,
  operation: ContractOperation,
  change: Change = {},
): Promise<Response> {
  const { key = place.key, origin, query = '', type = 'application/json' } = change
  const path = operation.path
    .replace('{journey_id}', place.journey_id)
    .replace('{customer_id}', place.customer_id)
  return await place.send({
    method: operation.method,
    path: path + query,
    headers: {
      ...(key && { 'x-service-key': key }),
      ...(origin && { origin }),
      ...(operation.body && { 'content-type': type }),
    },
    body: operation.body && (change.body ?? JSON.stringify(smallestBody(operation, place))),
  })
}

function smallestBody({ operationId }: ContractOperation, { journey_id, customer_id }: Place): unknown {
  const customer = { client_customer_id: 'user-1', customer_type: 'contact', customer_name: 'Ada' }
  const bodies: Record<string, object> = {
    initializeCustomer: { ...customer, journey_id },
    createEvent: { journey_id, customer_id, event_id: 'signed_up' },
    createEvents: { events: [{ journey_id, customer_id, event_id: 'signed_up' }] },
    createJourney: { name: 'Renewal' },
    updateJourney: { name: 'Renewal' },
  }
  return bodies[operationId]
}
