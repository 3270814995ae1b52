import { createFinalURL, createQuerySerializer, removeTrailingSlash } from 'openapi-fetch'
import type { components, operations } from '../generated/contract.ts'
import type { operationPaths, personOperationPaths } from '../generated/operations.ts'

/** The contract's schemas by name, for example `Schemas['Journey']`. */
export type Schemas = components['schemas']

/** Why a request was refused and what to change (RFC 9457). Branch on `code`; it is stable. */
export type Problem = Schemas['Problem']

/** The contract's operationIds, without the messages that Cairn sends to webhooks. */
export type OperationId = keyof typeof operationPaths | keyof typeof personOperationPaths

/**
 * The input of an operation: `body`, `path` and `query` as the contract declares them, each required if the contract
 * requires it. Aborting `signal` rejects the call immediately with the signal's reason, even while it waits to retry.
 */
export type OperationRequest<Id extends OperationId> = Body<operations[Id]> &
  Pick<operations[Id]['parameters'], 'path' | 'query'> & { signal?: AbortSignal | undefined }

/**
 * The result of an operation: `data` for a 2xx response, otherwise `error`. The body of `response` has already been
 * read, except for an export: there `data` is the stream of bytes, and reading it fails if the connection breaks early.
 */
export type OperationResult<Id extends OperationId> = Result<Data<operations[Id]['responses']>>

/**
 * One method per operation in the table.
 *
 * Each resolves with `{ data, response }` for a 2xx response and with `{ error, response }` for a problem declared in
 * the contract, after any safe retries. It rejects with
 * - the error from `fetch`, if the last attempt got no response or an incomplete one;
 * - `UnexpectedResponseError`, if the response did not come from Cairn, for example a proxy's error page;
 * - the signal's reason, if the call is aborted;
 * - a `TypeError`, if the request cannot be serialized: a cyclic body, `..` as an identifier, or event variables that
 *   JSON would silently change, such as `NaN`, `undefined` or a `Map`;
 * - a `URIError`, if an identifier or a filter has a lone surrogate, which no URL can carry.
 */
export type OperationCalls<Routes> = { readonly [Id in keyof Routes]: OperationCall<Id & OperationId> }

/** How to reach a Cairn server, with any credential. */
export type ServerOptions = {
  /** Scheme, host and version, for example `https://cairn.example.com/v1`, or `/v1` in pages of the same origin. */
  baseUrl: string
  /** Maximum number of retries, where a retry is safe. Default: 4. */
  retries?: number | undefined
  /** Replaces the global `fetch`, for example to go through a proxy. `init` carries the signal. */
  fetch?: ((request: Request, init: { signal: AbortSignal | null }) => Promise<Response>) | undefined
}

/**
 * The response did not come from Cairn: for example a proxy's HTML page, a redirect, a 2xx without JSON, or a 2xx to
 * ingestion with the JSON of another server.
 */
export class UnexpectedResponseError extends Error {
  override readonly name = 'UnexpectedResponseError'
  /** The response; its body has already been read. */
  declare readonly response: Response
  /** The response body: a JSON value if it parses as JSON, otherwise text. */
  declare readonly body: unknown

  constructor(response: Response, body: unknown) {
    const type = response.headers.get('content-type') ?? 'no content type'
    super(`Unexpected response (status ${response.status}, ${type}), not from Cairn. Check the base URL.`)
    this.response = response
    this.body = body
  }
}

/** One request of an operation. */
type Call = {
  id: string
  method: Method
  /** The serialized body, if there is one. */
  json: string | undefined
  signal: AbortSignal | undefined
}

/**
 * Returns the methods of the operations in `routes`; their requests carry `headers`. `send` decides on retries and
 * keepalive.
 */
export function operationCalls<Routes extends Record<string, Route>>(
  routes: Routes,
  { baseUrl, fetch = globalThis.fetch }: ServerOptions,
  headers: Record<string, string>,
  send: (call: Call, attempt: (keepalive: boolean) => Promise<Response>) => Promise<Response>,
): OperationCalls<Routes> {
  // Only what is needed of openapi-fetch: its full client includes middleware and more, which every page would download,
  // and its path serializer styles that the contract does not use.
  const address = {
    baseUrl: removeTrailingSlash(baseUrl),
    pathSerializer,
    querySerializer: createQuerySerializer(),
  }

  async function call(id: string, [method, pathname]: Route, request: AnyRequest): Promise<Result<unknown>> {
    const { body, path = {}, query = {}, signal } = request
    const json: string | undefined = JSON.stringify(body)
    const prepared = new Request(createFinalURL(pathname, { ...address, params: { path, query } }), {
      method,
      headers: json ? { ...headers, 'content-type': 'application/json' } : headers,
      // The contract has no redirects. Following one would send the key to another host or turn a POST into a GET.
      redirect: 'manual',
    })
    const response = await send({ id, method, json, signal }, async (keepalive) => {
      const sent = new Request(prepared, { body: json ?? null, keepalive })
      // Pass the signal to fetch itself: in Node a Request's own signal may be garbage-collected.
      const response = await fetch(sent, { signal: signal ?? null })
      // Read the whole body here, because a connection that breaks in the middle is a network error too and must be
      // retried. A file may be of any length, so the caller reads it.
      if (!isFile(id, response)) await response.clone().arrayBuffer()
      return response
    })
    if (isFile(id, response)) return { data: response.body, response }
    return toResult(id, method, response, await response.text())
  }

  const methods = Object.entries(routes).map(([id, route]) => [
    id,
    (request: AnyRequest = {}) => call(id, route, request),
  ])
  // The compiler cannot follow a loop that gives each operation its own request and result.
  return Object.fromEntries(methods) as OperationCalls<Routes>
}

/** Puts the identifiers into the path. @throws {TypeError} if one is `.` or `..` */
function pathSerializer(pathname: string, path: Record<string, unknown>): string {
  return pathname.replace(/\{(\w+)\}/g, (_, name) => {
    const value = String(path[name])
    // A URL cannot carry these two as a path segment: `/customers/../events` would reach `/events`, another operation.
    if (/^\.\.?$/.test(value)) throw new TypeError(`${name} must not be . or ..`)
    return encodeURIComponent(value)
  })
}

function isFile(id: string, { ok, headers }: Response): boolean {
  return ok && !(id in proofs) && headers.has('content-disposition')
}

/**
 * A field of each 2xx reply to ingestion. Another server may answer any request with 200 and JSON of its own, and that
 * must not count as stored.
 */
const proofs: { readonly [Id in string]?: string } = {
  initializeCustomer: 'customer_id',
  createEvent: 'received_at',
  createEvents: 'results',
}

function toResult(id: string, method: Method, response: Response, text: string): Result<unknown> {
  // Only what is removed has nothing to say; a proxy may answer so to anything.
  if (response.status === 204 && method === 'DELETE') return { data: undefined, response }
  let body: unknown = text
  try {
    body = JSON.parse(text)
    const proof = proofs[id]
    if (response.ok && (!proof || proof in Object(body))) return { data: body, response }
    if (isProblem(body)) return { error: body, response }
  } catch {
    // Not JSON; the text goes into the error.
  }
  throw new UnexpectedResponseError(response, body)
}

function isProblem(value: unknown): value is Problem {
  // A gateway may answer with JSON of its own, even with a `code`. Only Cairn's has a `request_id` too.
  const problem = value as Partial<Problem> | null | undefined
  return !!(problem?.code && problem.request_id)
}

type Result<Value> =
  | { data: Value; error?: undefined; response: Response }
  | { data?: undefined; error: Problem; response: Response }

type OperationCall<Id extends OperationId> = (
  ...request: Record<never, never> extends Requests[Id]
    ? [request?: OperationRequest<Id>]
    : [request: OperationRequest<Id>]
) => Promise<OperationResult<Id>>

/** A mapped type, because the compiler would resolve `OperationRequest<Id>` too early for an open `Id`. */
type Requests = { [Id in OperationId]: OperationRequest<Id> }

/** The type of `body`; optional or absent where `requestBody` is. */
type Body<Operation extends { requestBody?: JsonContent }> = {
  [Part in keyof Pick<Operation, 'requestBody'> as 'body']: NonNullable<
    Operation['requestBody']
  >['content']['application/json']
}

/** The body of a declared 2xx: its JSON, a byte stream for a file, or undefined if there is none. */
type Data<Responses> = DataOf<Responses[keyof Responses & (200 | 201 | 202 | 204)]>

type DataOf<Declared> = Declared extends { headers: { 'Content-Disposition': string } }
  ? ReadableStream<Uint8Array<ArrayBuffer>>
  : JsonOf<Declared>

type JsonOf<Declared> = Declared extends JsonContent<infer Value> ? Value : undefined

type JsonContent<Value = unknown> = { content: { 'application/json': Value } }

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

type Route = readonly [method: Method, pathname: string]

/** An `OperationRequest` of any operation. */
type AnyRequest = {
  body?: unknown
  path?: Record<string, string>
  query?: Record<string, unknown>
  signal?: AbortSignal | undefined
}
