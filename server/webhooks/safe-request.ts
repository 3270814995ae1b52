import { lookup as lookUp } from 'node:dns/promises'
import { once } from 'node:events'
import { isIP, type LookupFunction } from 'node:net'
import type { Client, Dispatcher } from 'undici'
import { NameLookups, type Resolve, type ResolvedAddress } from './name-lookups.ts'
import { isInside, isPublic, type Network } from './networks.ts'
import type { AttemptResult } from './retries.ts'

/** Why a URL is refused for a webhook. */
export type UrlFault =
  | 'blocked_address'
  | 'credentials'
  | 'fragment'
  | 'http'
  | 'invalid_url'
  | 'port'
  | 'scheme'
  | 'unknown_host'

type SenderOptions = {
  /** Networks that are allowed besides public unicast addresses, and the only ones allowed over HTTP. */
  allow: readonly Network[]
  /** Default: the resolver of the system. */
  resolve?: Resolve
}

type SentRequest = {
  workspaceId: string
  url: string
  headers: Record<string, string>
  body: Uint8Array
  /** For the whole request: name, connection, response. */
  timeout_ms?: number
}

const TIMEOUT_MS = 15_000

/** How long the resolver may take while a webhook is saved. */
const LOOKUP_TIMEOUT_MS = 5_000

/** Maximum of a response that is kept. */
const RESPONSE_BYTES = 1_024

/** Maximum read of a response, so that its connection can be used again; beyond it, the connection is closed. */
const DRAINED_BYTES = 64 * 1_024

/** An idle connection is closed after this time, or earlier if the receiver says so in `Keep-Alive`. */
const IDLE_MS = 30_000

/** `UND_ERR_DESTROYED`: a connection has been closed just as it was to be used again. */
const CONNECTION_RESET = ['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'UND_ERR_DESTROYED']

const INVALID_RESPONSE = ['UND_ERR_HEADERS_OVERFLOW', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH']

/** What undici calls a connection that the receiver has closed. Its other socket errors are about what it has sent. */
const CLOSED = /^(other side )?closed$/

/**
 * Sends requests to URLs that customers have chosen, without being a way into the operator's network (SSRF). Every address
 * that a name resolves to is checked when a connection opens, and the connection goes to a checked address: an answer of
 * the resolver that changes afterwards has no effect. Redirects are not followed.
 *
 * The connections of a sender are its own, so that one opened under other rules is never used. Not
 * `request-filtering-agent` 3.2: it compares an address with allowed networks of the other family as a fault that it
 * prints at every connection, skips networks that it cannot read, takes unassigned IPv6 as public, and offers no check
 * without a connection, which saving a webhook needs.
 */
export class RequestSender {
  readonly #allow: readonly Network[]
  readonly #lookups: NameLookups
  /** A client is one connection, which its controller ends, also while it opens. */
  readonly #clients = new Map<Client, AbortController>()
  /** Those that wait for another request, by origin. */
  readonly #idle = new Map<string, Client[]>()

  constructor({ allow, resolve = systemResolver }: SenderOptions) {
    this.#allow = allow
    this.#lookups = new NameLookups(resolve)
  }

  /**
   * Returns why a URL cannot be the one of a webhook, or undefined. Names are resolved: a webhook whose host does not exist
   * or is not public is refused when it is saved, not only when it is called.
   */
  async findUrlFault(text: string, workspaceId: string): Promise<UrlFault | undefined> {
    const url = URL.parse(text)
    if (!url) return 'invalid_url'
    if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'scheme'
    if (url.username || url.password) return 'credentials'
    if (text.includes('#')) return 'fragment'
    const addresses = await this.#addressesOf(unbracketed(url.hostname), workspaceId).catch(() => [])
    if (addresses.length === 0) return 'unknown_host'
    if (addresses.every(({ address }) => isInside(address, this.#allow))) {
      return url.port === '0' ? 'port' : undefined
    }
    if (addresses.some(({ address }) => !this.#isAllowed(address, 'https:'))) return 'blocked_address'
    if (url.protocol === 'http:') return 'http'
    return isPublicPort(url) ? undefined : 'port'
  }

  /** Sends one POST request. A failure to get a response is a value, with its class. */
  async send(request: SentRequest): Promise<AttemptResult> {
    const start_ms = performance.now()
    const deadline_ms = start_ms + (request.timeout_ms ?? TIMEOUT_MS)
    for (;;) {
      const result = await this.#sendOnce(request, deadline_ms - performance.now())
      // The receiver has closed an idle connection just as it was used again: not a failure of the receiver.
      if (result === 'stale_connection') continue
      return { ...result, ms: Math.round(performance.now() - start_ms) }
    }
  }

  /** Closes all connections; requests in flight fail. */
  close() {
    for (const [client, connection] of this.#clients) {
      void client.destroy(new Error('The sender is closed'))
      connection.abort()
    }
    this.#idle.clear()
  }

  async #sendOnce({ workspaceId, url: text, headers, body }: SentRequest, timeout_ms: number) {
    const { protocol, origin, pathname, search, hostname } = new URL(text)
    // A literal address is not looked up.
    const host = unbracketed(hostname)
    if (isIP(host) && !this.#isAllowed(host, protocol)) return { error: 'blocked_address' } as const
    const idle = this.#idle.get(origin)?.pop()
    const client = idle ?? (await this.#newClient(protocol, origin, workspaceId))
    const exchange = new Exchange(protocol === 'https:', timeout_ms)
    const request = { path: pathname + search, method: 'POST', body }
    client.dispatch({ ...request, headers: { ...headers, 'accept-encoding': 'identity' } }, exchange)
    const result = await exchange.result
    if (exchange.isComplete) this.#idle.set(origin, [...(this.#idle.get(origin) ?? []), client])
    else this.#forget(client, origin)
    return idle && exchange.isUnanswered ? 'stale_connection' : result
  }

  async #newClient(protocol: string, origin: string, workspaceId: string): Promise<Client> {
    // With the first request: servers without webhooks do without its 25 MB. It takes half the time of Node's client.
    const { Client } = await import('undici')
    const connection = new AbortController()
    const { signal } = connection
    const look = (hostname: string) => this.#lookups.look(hostname, workspaceId, signal)
    const client = new Client(origin, {
      connect: { lookup: this.#checkedLookup(protocol, look), timeout: TIMEOUT_MS, signal },
      allowH2: false,
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: IDLE_MS,
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    this.#clients.set(client, connection)
    client.once('disconnect', () => this.#forget(client, origin))
    client.once('connectionError', () => this.#forget(client, origin))
    return client
  }

  #forget(client: Client, origin: string) {
    void client.destroy()
    this.#clients.get(client)?.abort()
    this.#clients.delete(client)
    const others = this.#idle.get(origin)?.filter((other) => other !== client) ?? []
    if (others.length > 0) this.#idle.set(origin, others)
    else this.#idle.delete(origin)
  }

  #isAllowed(address: string, protocol: string): boolean {
    return isInside(address, this.#allow) || (protocol === 'https:' && isPublic(address))
  }

  async #addressesOf(host: string, workspaceId: string): Promise<ResolvedAddress[]> {
    if (isIP(host)) return [{ address: host, family: isIP(host) }]
    const tooLong = AbortSignal.timeout(LOOKUP_TIMEOUT_MS)
    const late = once(tooLong, 'abort').then(() => Promise.reject(tooLong.reason))
    return await Promise.race([this.#lookups.look(host, workspaceId, tooLong), late])
  }

  /** One address that is not allowed refuses the name: which of them is used is not ours to choose. */
  #checkedLookup(protocol: string, look: Resolve): LookupFunction {
    return (hostname, options, callback) => {
      look(hostname).then(
        (addresses) => {
          const [first] = addresses
          if (!first) {
            callback(new LookupError('dns'), '')
          } else if (addresses.some(({ address }) => !this.#isAllowed(address, protocol))) {
            callback(new LookupError('blocked_address'), '')
          } else if (options.all) {
            callback(null, addresses)
          } else {
            callback(null, first.address, first.family)
          }
        },
        () => callback(new LookupError('dns'), ''),
      )
    }
  }
}

const systemResolver: Resolve = (hostname) => lookUp(hostname, { all: true })

type FailureClass = Extract<AttemptResult, { error: string }>['error']

class LookupError extends Error {
  readonly failure: FailureClass

  constructor(failure: FailureClass) {
    super(failure)
    this.failure = failure
  }
}

type Result = Omit<Extract<AttemptResult, { status: number }>, 'ms'> | { error: FailureClass }

/** A request and its response, as far as that is kept or drained. */
class Exchange implements Dispatcher.DispatchHandler {
  /** The connection can be used again. */
  isComplete = false
  /** The connection was closed before anything of a response arrived. */
  isUnanswered = false
  readonly #isHttps: boolean
  readonly #timer: NodeJS.Timeout
  readonly #settled = Promise.withResolvers<Result>()
  #controller: Dispatcher.DispatchController | undefined
  #hasBegun = false
  #head: { status: number; retryAfter: string | undefined } | undefined
  #kept = Buffer.alloc(0)
  #received_bytes = 0

  constructor(isHttps: boolean, timeout_ms: number) {
    this.#isHttps = isHttps
    this.#timer = setTimeout(() => this.#settle({ error: 'timeout' }), timeout_ms)
  }

  get result(): Promise<Result> {
    return this.#settled.promise
  }

  onRequestStart(controller: Dispatcher.DispatchController) {
    this.#controller = controller
  }

  onResponseStarted() {
    this.#hasBegun = true
  }

  onResponseStart(_: unknown, status: number, headers: Record<string, string | string[] | undefined>) {
    const [retryAfter] = [headers['retry-after']].flat()
    if (status >= 200) this.#head = { status, retryAfter }
  }

  onResponseData(_: unknown, chunk: Buffer) {
    this.#received_bytes += chunk.byteLength
    const missing_bytes = RESPONSE_BYTES - this.#kept.byteLength
    if (missing_bytes > 0) this.#kept = Buffer.concat([this.#kept, chunk.subarray(0, missing_bytes)])
    if (this.#received_bytes > DRAINED_BYTES) this.#settle({ error: 'invalid_response' })
  }

  onResponseEnd() {
    this.isComplete = true
    this.#settle({ error: 'invalid_response' })
  }

  onResponseError(_: unknown, error: Error) {
    const failure = failureClass(error, this.#isHttps && !this.#controller)
    this.isUnanswered = failure === 'connection_reset' && !this.#hasBegun
    this.#settle({ error: failure })
  }

  /** A status that has arrived counts, whatever happens to the rest of the response. */
  #settle(failure: { error: FailureClass }) {
    clearTimeout(this.#timer)
    this.#settled.resolve(this.#head ? { ...this.#head, response: this.#text() } : failure)
  }

  #text(): string {
    // As a stream: a character that was cut at the end is left out. PostgreSQL stores no NUL.
    const text = new TextDecoder().decode(this.#kept, { stream: true })
    return text.replaceAll('\0', '\ufffd')
  }
}

function failureClass(error: Error & { code?: string }, isHandshake: boolean): FailureClass {
  if (error instanceof LookupError) return error.failure
  const { code = '', name } = error
  if (code === 'ECONNREFUSED') return 'connection_refused'
  if (CONNECTION_RESET.includes(code)) return 'connection_reset'
  if (code === 'ETIMEDOUT' || code === 'UND_ERR_CONNECT_TIMEOUT') return 'timeout'
  if (code === 'UND_ERR_SOCKET') return CLOSED.test(error.message) ? 'connection_reset' : 'invalid_response'
  if (name === 'HTTPParserError' || INVALID_RESPONSE.includes(code)) return 'invalid_response'
  // Of a certificate or of OpenSSL; those of the system are named E and capitals.
  if (isHandshake && (code === 'EPROTO' || !/^E[A-Z]+$/.test(code))) return 'tls'
  return 'connection_failed'
}

/** Of IPv6. */
function unbracketed(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '')
}

/** Ports below 1024 belong to other protocols, such as mail. */
function isPublicPort({ port }: URL): boolean {
  return port === '' || Number(port) === 80 || Number(port) >= 1_024
}
