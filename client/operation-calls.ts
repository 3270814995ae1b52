import {
  createFinalURL,
  createQuerySerializer,
  defaultPathSerializer,
  mergeHeaders,
  removeTrailingSlash,
} from 'openapi-fetch'
import type { components, operations } from '../generated/contract.ts'

/** The contract's schemas by name, for example `Schemas['Journey']`. */
export type Schemas = components['schemas']

/** Why a request was refused and what to change (RFC 9457). Programs decide by `code`. */
export type Problem = Schemas['Problem']

/** The contract's operationIds. */
export type OperationId = keyof operations

/**
 * What an operation takes: `body`, `path` and `query` as the contract declares them, each required where the
 * contract requires it. Aborting `signal` rejects the call at once with the signal's reason, also while it waits
 * for a retry.
 */
export type OperationRequest<Id extends OperationId> = Body<operations[Id]> &
  Pick<operations[Id]['parameters'], 'path' | 'query'> & { signal?: AbortSignal | undefined }

/**
 * What an operation answers: `data` for a 2xx, else `error`. The body of `response` has been read, but for an export, whose
 * `data` is the stream of its bytes: reading it fails where it is cut short by a connection that breaks.
 */
export type OperationResult<Id extends OperationId> = Result<Data<operations[Id]['responses']>>

/**
 * One method per operation of the table.
 *
 * Each resolves with `{ data, response }` for a 2xx and with `{ error, response }` for a problem of the contract,
 * after the retries that are safe. It rejects with
 * - the error of `fetch`, if the last attempt found no answer or half of one;
 * - `UnexpectedResponseError`, if something answered, but not in the way of this API;
 * - the signal's reason, once aborted;
 * - a `TypeError`, if the request cannot be put into words: a cyclic body, `..` as an identifier, and in the variables of an
 *   event what JSON would change silently, such as NaN, undefined or a Map.
 */
export type OperationCalls<Routes> = { readonly [Id in keyof Routes]: OperationCall<Id & OperationId> }

/** How to reach a Cairn server, whoever asks. */
export type ServerOptions = {
  /** Scheme, host and version, for example `https://cairn.example.com/v1`; `/v1` in pages of the same origin. */
  baseUrl: string
  /** How often a request is sent again at the most, where that is safe. Default: 4. */
  retries?: number | undefined
  /** Takes the place of the global `fetch`, for example to go through a proxy. `init` carries the signal. */
  fetch?: ((request: Request, init: { signal: AbortSignal | null }) => Promise<Response>) | undefined
}

/** An answer that this API does not give: a proxy's HTML page, a redirect, a 2xx without JSON. */
export class UnexpectedResponseError extends Error {
  override readonly name = 'UnexpectedResponseError'
  /** The answer; its body has been read. */
  declare readonly response: Response
  /** What came instead: a JSON value, or else the text. */
  declare readonly body: unknown

  constructor(response: Response, body: unknown) {
    const type = response.headers.get('content-type') ?? 'no type'
    super(`Not from Cairn: status ${response.status}, ${type}. Check baseUrl.`)
    this.response = response
    this.body = body
  }
}

/** A request of an operation. */
type Call = {
  id: string
  method: Method
  /** The body, if there is one. */
  json: string | undefined
  signal: AbortSignal | undefined
}

/** The methods of the operations in `routes`, whose requests carry `headers`. `send` decides on retries and keepalive. */
export function operationCalls<Routes extends Record<string, Route>>(
  routes: Routes,
  { baseUrl, fetch = globalThis.fetch }: ServerOptions,
  headers: Record<string, string | undefined>,
  send: (call: Call, attempt: (keepalive: boolean) => Promise<Response>) => Promise<Response>,
): OperationCalls<Routes> {
  // Of openapi-fetch what puts a request into words. Its client has middleware and more, which every page would load.
  const address = {
    baseUrl: removeTrailingSlash(baseUrl),
    pathSerializer: defaultPathSerializer,
    querySerializer: createQuerySerializer(),
  }

  async function call(id: string, [method, pathname]: Route, request: AnyRequest): Promise<Result<unknown>> {
    const { body, path = {}, query = {}, signal } = request
    // No URL can carry these two as a name: `/customers/../events` would reach `/events`, another operation.
    const unsendable = Object.keys(path).find((name) => /^\.\.?$/.test(path[name] ?? ''))
    if (unsendable) throw new TypeError(`${unsendable} must not be . or ..`)

    const json: string | undefined = JSON.stringify(body)
    const prepared = new Request(createFinalURL(pathname, { ...address, params: { path, query } }), {
      method,
      headers: mergeHeaders({ 'content-type': json && 'application/json' }, headers),
      // The contract has no redirects. To follow one would show the key to another host, or turn a POST into a GET.
      redirect: 'manual',
    })
    const response = await send({ id, method, json, signal }, async (keepalive) => {
      const sent = new Request(prepared, { body: json ?? null, keepalive })
      // The signal goes to fetch itself: in Node a request may lose its own to the garbage collector.
      const response = await fetch(sent, { signal: signal ?? null })
      // Read to its end, because a connection that breaks in the middle of a body is a network error too. A file may be of
      // any length: it is for the caller to read.
      if (!isFile(response)) await response.clone().arrayBuffer()
      return response
    })
    if (isFile(response)) return { data: response.body, response }
    return toResult(response, await response.text())
  }

  const methods = Object.entries(routes).map(([id, route]) => [
    id,
    (request: AnyRequest = {}) => call(id, route, request),
  ])
  // The compiler cannot follow a loop that gives each operation its own request and result.
  return Object.fromEntries(methods) as OperationCalls<Routes>
}

function isFile({ ok, headers }: Response): boolean {
  return ok && headers.has('content-disposition')
}

function toResult(response: Response, text: string): Result<unknown> {
  if (response.status === 204) return { data: undefined, response }
  let body: unknown = text
  try {
    body = JSON.parse(text)
    if (response.ok) return { data: body, response }
    if (isProblem(body)) return { error: body, response }
  } catch {
    // Then the text tells.
  }
  throw new UnexpectedResponseError(response, body)
}

function isProblem(value: unknown): value is Problem {
  // A gateway may answer with JSON of its own, even with a `code`; `request_id` tells ours apart.
  const problem = value as Partial<Problem> | null | undefined
  return !!problem?.code && !!problem.request_id
}

type Result<Value> =
  | { data: Value; error?: undefined; response: Response }
  | { data?: undefined; error: Problem; response: Response }

type OperationCall<Id extends OperationId> = (
  ...request: Record<never, never> extends Requests[Id]
    ? [request?: OperationRequest<Id>]
    : [request: OperationRequest<Id>]
) => Promise<OperationResult<Id>>

/** A table, because the compiler would decide too early what `OperationRequest<Id>` requires of an open `Id`. */
type Requests = { [Id in OperationId]: OperationRequest<Id> }

/** `body`, optional or never where `requestBody` is. */
type Body<Operation extends { requestBody?: JsonContent }> = {
  [Part in keyof Pick<Operation, 'requestBody'> as 'body']: NonNullable<
    Operation['requestBody']
  >['content']['application/json']
}

/** What a declared 2xx has: its JSON, of a file its bytes as they come, undefined for one without. */
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
