import { createTracker, type TrackerOptions } from '../../client/index.ts'
import { type Answer, json, startScriptedServer } from './scripted-server.ts'

export const customer = {
  client_customer_id: 'user-8412',
  journey_id: 'jrn_1',
  customer_type: 'contact',
  customer_name: 'Ada Lovelace',
} as const
export const initialized = json(201, { customer_id: 'cus_1', created: true })
export const created = {
  success: true,
  id: 'evt_1',
  duplicate: false,
  received_at: '2026-11-20T08:29:58.007Z',
}
/** Stores an event, or each event of a batch. */
export const stored: Answer = (request, response, body) => {
  const { events } = JSON.parse(body)
  const answer = events ? json(200, batchResult(events.map(() => createdResult))) : json(201, created)
  answer(request, response, body)
}
export const createdResult = {
  status: 'created',
  id: 'evt_1',
  message_id: 'm',
  received_at: created.received_at,
}
export function batchResult(results: { status: string }[]) {
  const count = (status: string) => results.filter((result) => result.status === status).length
  const [created, duplicate, rejected] = ['created', 'duplicate', 'rejected'].map(count)
  return { received: results.length, created, duplicate, rejected, results }
}
export const uuidV7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/** A tracker on a server that responds according to the script. */
export async function trackerOnScript(script: [Answer, ...Answer[]], options: Partial<TrackerOptions> = {}) {
  const server = await startScriptedServer(...script)
  const tracker = createTracker({ baseUrl: server.baseUrl, serviceKey: 'pk_test', customer, ...options })
  /** What arrived: `initialize`, or the names of the request's events: `opened`, `opened + signed_up`. */
  const arrived = () =>
    server.arrivals.map(({ url, body }) =>
      url?.endsWith('/customers/initialize') ? 'initialize' : namesIn(body),
    )
  return { ...server, tracker, arrived }
}

export function namesIn(body: string): string {
  const content: { events?: { event_id: string }[]; event_id: string } = JSON.parse(body)
  return (content.events ?? [content]).map(({ event_id }) => event_id).join(' + ')
}

/** A response that is held back until it is released. */
export function held(answer: Answer) {
  const { promise, resolve: letGo } = Promise.withResolvers<void>()
  const waiting: Answer = async (...request) => {
    await promise
    answer(...request)
  }
  return { answer: waiting, letGo }
}
