import createFetchClient from 'openapi-fetch'
import type { components, operations } from '../generated/contract.ts'
import { operationPaths } from '../generated/operations.ts'
import { sendCounted } from './keepalive.ts'
import { newMessageId } from './message-id.ts'
import { fetchWithRetries } from './retry.ts'

/** The contract's schemas by name, for example `Schemas['Journey']`. */
export type Schemas = components['schemas']

/** Why a request was refused and what to change (RFC 9457). Programs decide by `code`. */
export type Problem = Schemas['Problem']

/** The contract's operationIds. */
export type OperationId = keyof typeof operationPaths

/**
 * What an operation takes: `body`, `path` and `query` as the contract declares them, each required where the
 * contract requires it. Aborting `signal` rejects the call at once with the signal's reason, also while it waits
 * for a retry.
 */
export type OperationRequest<Id extends OperationId> = Body<operations[Id]> &
  Pick<operations[Id]['parameters'], 'path' | 'query'> & { signal?: AbortSignal | undefined }

/** What an operation answers: `data` for a 2xx, else `error`. The body of `response` has been read. */
export type OperationResult<Id extends OperationId> = Result<Data<operations[Id]['responses']>>

/**
 * One method per operation of the contract.
 *
 * Each resolves with `{ data, response }` for a 2xx and with `{ error, response }` for a problem of the contract,
 * after the retries that are safe. It rejects with
 * - the error of `fetch`, if the last attempt found no answer or half of one;
 * - `UnexpectedResponseError`, if something answered, but not in the way of this API;
 * - the signal's reason, once aborted;
 * - a `TypeError`, if the request cannot be put into words: a cyclic body, `..` as an identifier.
 */
export type Client = {
  readonly [Id in keyof typeof operationPaths]: (
    ...request: Record<never, never> extends Requests[Id]
      ? [request?: OperationRequest<Id>]
      : [request: OperationRequest<Id>]
  ) => Promise<OperationResult<Id>>
}

/** How to reach a Cairn server. */
export type ClientOptions = {
  /** Scheme, host and version, for example `https://cairn.example.com/v1`. */
  baseUrl: string
  /** Sent as `x-service-key`. Anyone can read what a page sends: in browsers use a publishable key (`pk_…`). */
  serviceKey: string
  /** How often a request is sent again at the most, where that is safe. Default: 4. */
  retries?: number | undefined
  /** Takes the place of the global `fetch`, for example to go through a proxy. `init` carries the signal. */
  fetch?: ((request: Request, init: { signal: AbortSignal | null }) => Promise<Response>) | undefined
}

/** An answer that this API does not give: a proxy's HTML page, a redirect, a 2xx without JSON. */
export class UnexpectedResponseError extends Error {
  override readonly name = 'UnexpectedResponseError'
  /** The answer; its body has been read. */
  readonly response: Response
  /** What came instead: a JSON value, or else the text. */
  readonly body: unknown

  constructor(response: Response, body: unknown) {
    const type = response.headers.get('content-type') ?? 'no content type'
    super(`Not an answer of the Cairn API: status ${response.status}, ${type}. Check baseUrl and any proxy.`)
    this.response = response
    this.body = body
  }
}

/**
 * Operations, besides GETs, that may be sent again when nobody knows whether the attempt before was carried out.
 * Any other is sent again only after a 429.
 */
const repeatable: ReadonlySet<string> = new Set<OperationId>([
  'initializeCustomer', // an upsert
  'createEvent', // recognised by its message_id
  'createEvents',
  'updateJourney',
  'archiveJourney',
  'restoreJourney',
])

/** Operations that a page may send as its last act: they go on when the page is gone. */
const outlivesPage: ReadonlySet<string> = new Set<OperationId>([
  'initializeCustomer',
  'createEvent',
  'createEvents',
])

/**
 * A client for one server and one service key.
 *
 * `createEvent` and `createEvents` give each event a `message_id` (UUIDv7) if it has none, the same in every attempt,
 * so that a retry never stores an event twice. What is passed in is never changed.
 */
export function createClient(options: ClientOptions): Client {
  const { baseUrl, serviceKey, retries = 4, fetch = globalThis.fetch } = options
  const transport: Transport = createFetchClient<AnyPaths>({
    baseUrl,
    headers: { 'x-service-key': serviceKey },
    // The contract has no redirects. To follow one would show the key to another host, or turn a POST into a GET.
    redirect: 'manual',
    bodySerializer: (json) => json,
  })

  async function call(id: string, [method, pathname]: Route, request: AnyRequest): Promise<Result<unknown>> {
    const { body, path = {}, query = {}, signal } = request
    // No URL can carry these two as a name: `/customers/../events` would reach `/events`, another operation.
    const unsendable = Object.keys(path).find((name) => path[name] === '.' || path[name] === '..')
    if (unsendable) throw new TypeError(`${unsendable} must not be "." or ".."`)

    const json = body === undefined ? '' : JSON.stringify(body)
    const answer = await transport[method](pathname, {
      params: { path, query },
      ...(json && { body: json }),
      parseAs: 'text',
      fetch: (request) => {
        const attempt = async (keepalive: boolean) => {
          const sent = new Request(request, { body: json || null, keepalive })
          // The signal goes to fetch itself: in Node a request may lose its own to the garbage collector.
          const response = await fetch(sent, { signal: signal ?? null })
          // Read to its end, because a connection that breaks in the middle of a body is a network error too.
          await response.clone().arrayBuffer()
          return response
        }
        return fetchWithRetries(() => (outlivesPage.has(id) ? sendCounted(json, attempt) : attempt(false)), {
          retries,
          repeatable: method === 'GET' || repeatable.has(id),
          signal,
        })
      },
    })
    return toResult(answer)
  }

  const methods = Object.entries(operationPaths).map(([id, route]) => [
    id,
    (request: AnyRequest = {}) => call(id, route, request),
  ])
  // The compiler cannot follow a loop that gives each operation its own request and result.
  const client = Object.fromEntries(methods) as Client
  return {
    ...client,
    createEvent: ({ body, ...request }) => client.createEvent({ ...request, body: withMessageId(body) }),
    createEvents: ({ body, ...request }) =>
      client.createEvents({ ...request, body: { ...body, events: body.events.map(withMessageId) } }),
  }
}

function withMessageId(event: Schemas['EventCreation']): Schemas['EventCreation'] {
  return { ...event, message_id: event.message_id ?? newMessageId() }
}

function toResult({ data, error, response }: Answer): Result<unknown> {
  if (!response.ok) {
    if (isProblem(error)) return { error, response }
    throw new UnexpectedResponseError(response, error)
  }
  if (response.status === 204) return { data: undefined, response }
  try {
    return { data: JSON.parse(data ?? ''), response }
  } catch {
    throw new UnexpectedResponseError(response, data)
  }
}

function isProblem(value: unknown): value is Problem {
  // A gateway may answer with JSON of its own, even with a `code`; `request_id` tells ours apart.
  return typeof value === 'object' && value !== null && 'code' in value && 'request_id' in value
}

type Result<Value> =
  | { data: Value; error?: undefined; response: Response }
  | { data?: undefined; error: Problem; response: Response }

/** A table, because the compiler would decide too early what `OperationRequest<Id>` requires of an open `Id`. */
type Requests = { [Id in OperationId]: OperationRequest<Id> }

/** `body`, optional or never where `requestBody` is. */
type Body<Operation extends { requestBody?: JsonContent }> = {
  [Part in keyof Pick<Operation, 'requestBody'> as 'body']: NonNullable<
    Operation['requestBody']
  >['content']['application/json']
}

/** The JSON of the declared 2xx; undefined for one without. */
type Data<Responses> = JsonOf<Responses[keyof Responses & (200 | 201 | 202 | 204)]>

type JsonOf<Declared> = Declared extends JsonContent<infer Value> ? Value : undefined

type JsonContent<Value = unknown> = { content: { 'application/json': Value } }

type Route = (typeof operationPaths)[OperationId]

/** An `OperationRequest` of any operation. */
type AnyRequest = {
  body?: unknown
  path?: Record<string, string>
  query?: Record<string, unknown>
  signal?: AbortSignal | undefined
}

/** What is used of openapi-fetch; whatever does the same can take its place. */
type Transport = {
  [Method in Route[0]]: (
    pathname: string,
    init: {
      params: { path: Record<string, string>; query: Record<string, unknown> }
      body?: string
      parseAs: 'text'
      fetch: (request: Request) => Promise<Response>
    },
  ) => Promise<Answer>
}

type Answer = { data?: string; error?: unknown; response: Response }

/** The contract as openapi-fetch is told of it: every path alike, because `Client` has the types that matter. */
type AnyPaths = {
  [pathname: string]: {
    [Method in Lowercase<Route[0]>]: {
      parameters: { path: Record<string, string>; query: Record<string, unknown> }
      requestBody?: JsonContent<string>
      responses: { 200: JsonContent<string> }
    }
  }
}
