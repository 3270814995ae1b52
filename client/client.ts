import { operationPaths } from '../generated/operations.ts'
import { sendCounted } from './keepalive.ts'
import { newMessageId } from './message-id.ts'
import { type OperationCalls, operationCalls, type Schemas, type ServerOptions } from './operation-calls.ts'
import { fetchWithRetries } from './retry.ts'
import { assertJson } from './variables.ts'

/** The operations that a service key opens. */
export type Client = OperationCalls<typeof operationPaths>

/** How to reach a Cairn server with a service key. */
export type ClientOptions = ServerOptions & {
  /** Sent as `x-service-key`. Anyone can read what a page sends: in browsers use a publishable key (`pk_…`). */
  serviceKey: string
}

/**
 * The one operation that is not sent again when nobody knows whether the attempt before was carried out, but only after a
 * 429: it would make a second journey. All others read, or do the same however often they are sent, events by their
 * message_id.
 */
const unrepeatable = 'createJourney' satisfies keyof Client

/** Operations that a page may send as its last act: they go on when the page is gone. */
const outlivesPage: readonly string[] = [
  'initializeCustomer',
  'createEvent',
  'createEvents',
] satisfies (keyof Client)[]

/**
 * A client for one server and one service key.
 *
 * `createEvent` and `createEvents` give each event a `message_id` (UUIDv7) if it has none, the same in every attempt,
 * so that a retry never stores an event twice. What is passed in is never changed.
 */
export function createClient(options: ClientOptions): Client {
  const { serviceKey, retries } = options
  const client = operationCalls(
    operationPaths,
    options,
    { 'x-service-key': serviceKey },
    ({ id, json, signal }, attempt) =>
      fetchWithRetries(
        () => (outlivesPage.includes(id) ? sendCounted(json, attempt) : attempt(false)),
        id !== unrepeatable,
        { retries, signal },
      ),
  )
  return {
    ...client,
    createEvent: async ({ body, ...request }) => client.createEvent({ ...request, body: sendable(body, '') }),
    createEvents: async ({ body, ...request }) => {
      const events = body.events.map((event, index) => sendable(event, `/events/${index}`))
      return client.createEvents({ ...request, body: { ...body, events } })
    },
  }
}

/** The event with a message_id. @throws {TypeError} where its variables are no JSON */
function sendable(event: Schemas['EventCreation'], pointer: string): Schemas['EventCreation'] {
  const { custom_variables = null } = event
  assertJson(custom_variables, `${pointer}/custom_variables`)
  return { ...event, message_id: event.message_id ?? newMessageId() }
}
