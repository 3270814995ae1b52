import { lookup as lookUp } from 'node:dns/promises'
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { isInside, isPublic, type Network } from './networks.ts'
import type { AttemptResult } from './retries.ts'

type ResolvedAddress = { address: string; family: number }

/** Returns all addresses of a name. */
export type Resolve = (hostname: string) => Promise<ResolvedAddress[]>

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
  url: string
  headers: Record<string, string>
  body: Uint8Array
  /** For the whole request: name, connection, response. */
  timeout_ms?: number
}

const TIMEOUT_MS = 15_000

/** Look-ups at a time: each takes one of the few threads that files and passwords need too. */
const LOOKUPS_AT_ONCE = 2

/** How long the resolver may take while a webhook is saved. */
const LOOKUP_TIMEOUT_MS = 5_000

/** Maximum of a response that is kept. */
const RESPONSE_BYTES = 1_024

/** Maximum read of a response, so that its connection can be used again; beyond it, the connection is closed. */
const DRAINED_BYTES = 64 * 1_024

/** An idle connection is closed after this time, or earlier if the receiver says so in `Keep-Alive`. */
const IDLE_MS = 30_000

const CONNECTION_RESET = ['ECONNRESET', 'EPIPE', 'ECONNABORTED']

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
  readonly #resolve: Resolve
  readonly #http: HttpAgent
  readonly #https: HttpsAgent

  constructor({ allow, resolve = systemResolver() }: SenderOptions) {
    this.#allow = allow
    this.#resolve = resolve
    const options = { keepAlive: true, timeout: IDLE_MS, maxFreeSockets: 4 }
    this.#http = new HttpAgent({ ...options, lookup: this.#checkedLookup('http:') })
    this.#https = new HttpsAgent({ ...options, lookup: this.#checkedLookup('https:') })
  }

  /**
   * Returns why a URL cannot be the one of a webhook, or undefined. Names are resolved: a webhook whose host does not exist
   * or is not public is refused when it is saved, not only when it is called.
   */
  async findUrlFault(text: string): Promise<UrlFault | undefined> {
    if (!URL.canParse(text)) return 'invalid_url'
    const url = new URL(text)
    if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'scheme'
    if (url.username || url.password) return 'credentials'
    if (text.includes('#')) return 'fragment'
    const addresses = await this.#addressesOf(hostOf(url)).catch(() => [])
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
    this.#http.destroy()
    this.#https.destroy()
  }

  #sendOnce({ url: text, headers, body }: SentRequest, timeout_ms: number) {
    type Result = Omit<Extract<AttemptResult, { status: number }>, 'ms'> | { error: FailureClass }
    return new Promise<Result | 'stale_connection'>((resolve) => {
      const url = new URL(text)
      const isHttps = url.protocol === 'https:'
      const host = hostOf(url)
      // A literal address is not looked up.
      if (isIP(host) && !this.#isAllowed(host, url.protocol)) return resolve({ error: 'blocked_address' })
      let isSecured = false
      let received: ReturnType<typeof receive> | undefined
      const request = (isHttps ? httpsRequest : httpRequest)(url, {
        method: 'POST',
        agent: isHttps ? this.#https : this.#http,
        headers: { ...headers, 'accept-encoding': 'identity', 'content-length': body.byteLength },
      })
      const timer = setTimeout(() => {
        settle({ error: 'timeout' })
        request.destroy()
      }, timeout_ms)
      request.on('socket', (socket) => {
        isSecured ||= request.reusedSocket
        // Once per connection, not per request on it.
        if (isHttps && !request.reusedSocket) {
          socket.once('secureConnect', () => {
            isSecured = true
          })
        }
      })
      request.on('response', (response) => {
        received = receive(response)
        response.on('end', () => settle({ error: 'connection_reset' }))
        response.on('error', () => settle({ error: 'connection_reset' }))
        response.on('close', () => settle({ error: 'connection_reset' }))
      })
      request.on('upgrade', (response, socket) => {
        received = receive(response)
        settle({ error: 'invalid_response' })
        socket.destroy()
      })
      request.on('error', (error) => {
        const failure = failureClass(error, isHttps && !isSecured)
        if (failure === 'connection_reset' && request.reusedSocket && !received) {
          clearTimeout(timer)
          resolve('stale_connection')
        } else {
          settle({ error: failure })
        }
      })
      request.end(body)

      /** A status that has arrived counts, whatever happens to the rest of the response. */
      function settle(failure: { error: FailureClass }) {
        clearTimeout(timer)
        resolve(received ? { ...received.head, response: received.text() } : failure)
      }
    })
  }

  #isAllowed(address: string, protocol: string): boolean {
    return isInside(address, this.#allow) || (protocol === 'https:' && isPublic(address))
  }

  async #addressesOf(host: string): Promise<ResolvedAddress[]> {
    if (isIP(host)) return [{ address: host, family: isIP(host) }]
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error('The resolver is slow')), LOOKUP_TIMEOUT_MS)
    })
    return await Promise.race([this.#resolve(host), late]).finally(() => clearTimeout(timer))
  }

  /** One address that is not allowed refuses the name: which of them is used is not ours to choose. */
  #checkedLookup(protocol: string): LookupFunction {
    return (hostname, options, callback) => {
      this.#resolve(hostname).then(
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

/** Returns the resolver of the system, a few look-ups at a time. */
function systemResolver(): Resolve {
  const waiting: (() => void)[] = []
  let running = 0
  return async (hostname) => {
    if (running >= LOOKUPS_AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve))
    else running += 1
    try {
      return await lookUp(hostname, { all: true })
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running -= 1
    }
  }
}

type FailureClass = Extract<AttemptResult, { error: string }>['error']

class LookupError extends Error {
  readonly failure: FailureClass

  constructor(failure: FailureClass) {
    super(failure)
    this.failure = failure
  }
}

/** Reads a response as far as it is kept or drained. */
function receive(response: IncomingMessage) {
  let kept = Buffer.alloc(0)
  let received_bytes = 0
  response.on('data', (chunk: Buffer) => {
    received_bytes += chunk.byteLength
    if (kept.byteLength < RESPONSE_BYTES) {
      kept = Buffer.concat([kept, chunk.subarray(0, RESPONSE_BYTES - kept.byteLength)])
    }
    if (received_bytes > DRAINED_BYTES) response.destroy()
  })
  return {
    head: { status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'] },
    text: () => {
      // As a stream: a character that was cut at the end is left out. PostgreSQL stores no NUL.
      const text = new TextDecoder().decode(kept, { stream: true })
      return text.replaceAll('\0', '\ufffd')
    },
  }
}

function failureClass(error: Error & { code?: string }, isHandshake: boolean): FailureClass {
  if (error instanceof LookupError) return error.failure
  const { code = '' } = error
  if (code === 'ECONNREFUSED') return 'connection_refused'
  if (CONNECTION_RESET.includes(code)) return 'connection_reset'
  if (code === 'ETIMEDOUT') return 'timeout'
  if (code.startsWith('HPE_')) return 'invalid_response'
  // Of a certificate or of OpenSSL; those of the system are named E and capitals.
  if (isHandshake && (code === 'EPROTO' || !/^E[A-Z]+$/.test(code))) return 'tls'
  return 'connection_failed'
}

/** IPv6 without brackets. */
function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '')
}

/** Ports below 1024 belong to other protocols, such as mail. */
function isPublicPort({ port }: URL): boolean {
  return port === '' || Number(port) === 80 || Number(port) >= 1_024
}
