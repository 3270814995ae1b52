import { operationPaths } from '../generated/operations.ts'
import type { AnyEvents, EventCreation } from './events.ts'
import { sendCounted } from './keepalive.ts'
import { newMessageId } from './message-id.ts'
import {
  type OperationCalls,
  type OperationRequest,
  type OperationResult,
  operationCalls,
  type Schemas,
  type ServerOptions,
} from './operation-calls.ts'
import { fetchWithRetries } from './retry.ts'
import { assertJson } from './variables.ts'

/**
 * The operations that a service key opens. With the `Events` of `npx cairn-client types`, `createEvent` and `createEvents`
 * take only those, with their variables.
 */
export type Client<Events extends object = AnyEvents> = AnyEvents extends Events
  ? Calls
  : Omit<Calls, 'createEvent' | 'createEvents'> & EventCalls<Events>

type Calls = OperationCalls<typeof operationPaths>

/** The same calls and descriptions, with typed events in their bodies. */
type EventCalls<Events extends object> = {
  readonly [Id in keyof Pick<Calls, 'createEvent' | 'createEvents'>]: (
    request: Omit<OperationRequest<Id>, 'body'> & { body: EventBodies<Events>[Id] },
  ) => Promise<OperationResult<Id>>
}

type EventBodies<Events extends object> = {
  createEvent: EventCreation<Events>
  createEvents: Omit<Schemas['EventBatch'], 'events'> & { events: EventCreation<Events>[] }
}

/** How to reach a Cairn server with a service key. */
export type ClientOptions = ServerOptions & {
  /** Sent as `x-service-key`. Anyone can read what a page sends: in browsers use a publishable key (`pk_…`). */
  serviceKey: string
}

/**
 * The operations besides reads that a second call leaves as the first one did; events by their `message_id`. All others,
 * the changes of webhooks too, are retried after a 429 only, never when the outcome of the previous attempt is unknown: a
 * repeated call would create a second journey or webhook, replace a secret again, or send a message twice.
 */
const idempotent = /^(init|createEvent|archive|restore|erase|remove|replayR|update[^W])/

/**
 * Operations that may be sent while the page unloads. They use `keepalive` until a network error, so the browser finishes
 * them without the page.
 */
const outlivesPage = /^(init|createEvent)/

/**
 * Creates a client for one server and one service key.
 *
 * `createEvent` and `createEvents` add a `message_id` (UUIDv7) to each event that has none. It is an idempotency key:
 * it stays the same across retries, so a retry never stores an event twice. Your objects are not modified.
 *
 * @throws {TypeError} if a header cannot carry the key, for example because it has two lines
 */
export function createClient<Events extends object = AnyEvents>(options: ClientOptions): Client<Events> {
  const { serviceKey, retries } = options
  // Checked here, because fetch's own error about a header that it cannot send repeats the key. It trims the ends.
  if (/[^\t\n\r -~]|\S\s+\S/.test(serviceKey)) throw new TypeError('serviceKey must be one line of ASCII')
  const client: Calls = operationCalls(
    operationPaths,
    options,
    { 'x-service-key': serviceKey },
    ({ id, method, json, signal }, attempt) => {
      let outlives = outlivesPage.test(id)
      const send = async () => {
        try {
          return await (outlives ? sendCounted(json, attempt) : attempt(false))
        } catch (error) {
          // Another script of the page may have used up what browsers send with keepalive.
          outlives = false
          throw error
        }
      }
      return fetchWithRetries(send, method === 'GET' || idempotent.test(id), { retries, signal })
    },
  )
  return {
    ...client,
    createEvent: async ({ body, ...request }) => client.createEvent({ ...request, body: sendable(body, '') }),
    createEvents: async ({ body, ...request }) => {
      const events = body.events.map((event, index) => sendable(event, `/events/${index}`))
      return client.createEvents({ ...request, body: { ...body, events } })
    },
    // It takes any events, so also those of `Events`.
  } satisfies Calls as Client<Events>
}

/** Returns the event with a `message_id`. @throws {TypeError} if its variables are not JSON */
function sendable(event: Schemas['EventCreation'], pointer: string): Schemas['EventCreation'] {
  const { custom_variables = null } = event
  assertJson(custom_variables, `${pointer}/custom_variables`)
  return { ...event, message_id: event.message_id ?? newMessageId() }
}
