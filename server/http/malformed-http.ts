import { randomUUID } from 'node:crypto'
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Logger } from 'pino'
import { plainAddress } from '../domain/addresses.ts'
import type { ServedMetrics } from '../metrics/served-metrics.ts'
import { Problem, type ProblemCode } from '../problems.ts'
import { corsHeaders } from './answers/cors.ts'
import { securityHeaders } from './answers/security-headers.ts'
import { DRAIN_BYTES } from './request-body.ts'
import { begunOn, refuseRest } from './requests-by-socket.ts'

/** Maximum size of a request's line and headers (contract: `headers_too_large`). */
export const HEAD_BYTES = 16 * 1024

/**
 * Time for which a refused connection stays open: closing it while the client still sends would discard the response.
 */
const LINGER_MS = 5_000

/** With CORS, because the path of such a request may be unknown. The response contains nothing private. */
const HEADERS = { ...corsHeaders, Connection: 'close' }

/** Problem codes by Node's error code; every other one is `malformed_request`. */
const CODES: Record<string, ProblemCode> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
}

/**
 * Checks what HTTP requires of a request head beyond its syntax. Node would refuse it with an empty response.
 * @throws {Problem} `malformed_request` without a Host or with several, `expectation_failed`
 */
export function assertHead({ headers, rawHeaders, httpVersion }: IncomingMessage): void {
  // Node uses the first one, while a proxy may have used the other (RFC 9112, 3.2).
  if (rawHeaders.filter(isHost).length > 1) throw new Problem('malformed_request', { headers: HEADERS })
  // HTTP/1.0 has neither header.
  if (httpVersion !== '1.1') return
  if (headers.host === undefined) throw new Problem('malformed_request', { headers: HEADERS })
  if (headers.expect !== undefined && !/(^|\W)100-continue($|\W)/i.test(headers.expect)) {
    throw new Problem('expectation_failed', { headers: HEADERS })
  }
}

/** Whether a raw header entry is the name Host: names and values alternate. */
function isHost(text: string, at: number): boolean {
  return at % 2 === 0 && text.length === 4 && text.toLowerCase() === 'host'
}

/**
 * Answers, logs and counts the requests that Node refuses by itself: malformed HTTP, too large a head, or a timeout.
 * Each response is a problem like any other refusal, even if there is no request.
 */
export function refuseMalformed(
  server: Server,
  { log, metrics, logAddresses }: { log: Logger; metrics: ServedMetrics; logAddresses: boolean },
): void {
  const refused = new WeakSet<Socket>()

  server.on('clientError', ({ code = '' }: NodeJS.ErrnoException, stream) => {
    const socket = stream as Socket
    const res = begunOn(socket)
    // The parser reports an error for all further data too.
    if (!refused.has(socket)) refuseSocket(socket, res, code)
    // Nor does the parser report that the client has ended its side.
    if (socket.readableEnded && res?.headersSent !== false) socket.destroySoon()
  })

  // Answered by the app, like every other rejection.
  server.on('checkExpectation', (req, res) => server.emit('request', req, res))

  server.on('connect', ({ method }, socket) => {
    const problem = new Problem('malformed_request', { headers: HEADERS })
    refuseNext(socket as Socket, problem, { method })
  })

  /** @param reason Node's error code */
  function refuseSocket(socket: Socket, res: ServerResponse | undefined, reason: string) {
    const problem = new Problem(CODES[reason] ?? 'malformed_request', { headers: HEADERS })
    // Only the body is late, of a request that is being answered: whatever follows it may still be refused.
    if (reason === 'ERR_HTTP_REQUEST_TIMEOUT' && res?.headersSent && !res.req.complete) return
    refused.add(socket)
    // A client that has disconnected gets no response, and one that has sent nothing asked for none.
    if (!socket.writable || reason === 'ECONNRESET' || socket.bytesRead === 0) socket.destroy()
    else if (!res || res.req.complete) refuseNext(socket, problem, { reason })
    // A client that ended in the middle of a body has disconnected too, and is logged as such.
    else if (reason === 'HPE_INVALID_EOF_STATE') socket.destroy()
    else {
      // Otherwise the parser goes on, and `drain` reads the rest.
      if (reason !== 'ERR_HTTP_REQUEST_TIMEOUT') ignoreRest(socket)
      if (!res.headersSent) refuseRest(res.req, problem)
    }
  }

  /** Refuses what follows the latest request, after the response to that. */
  function refuseNext(socket: Socket, problem: Problem, fields: LogFields) {
    ignoreRest(socket)
    const res = begunOn(socket)
    if (!res || res.writableFinished) refuseConnection(socket, problem, fields)
    else res.once('finish', () => refuseConnection(socket, problem, fields))
  }

  function refuseConnection(socket: Socket, problem: Problem, fields: LogFields) {
    const { status, code } = problem
    const request_id = randomUUID()
    const address = logAddresses ? plainAddress(socket.remoteAddress ?? '') : undefined
    socket.end(answerText(problem, request_id))
    const timer = setTimeout(() => socket.destroy(), LINGER_MS)
    socket.once('close', () => clearTimeout(timer))
    metrics.requestEnded({ operation: undefined, status, code, duration_ms: undefined })
    log.info({ request_id, address, ...fields, status, code })
  }
}

type LogFields = { method?: string | undefined; reason?: string }

/** Reads on within bounds, but no longer parses what arrives: the rest of a refused head must not become a request. */
function ignoreRest(socket: Socket) {
  let bytes = 0
  socket.on('error', () => {})
  socket.removeAllListeners('data')
  socket.on('data', ({ length }) => {
    bytes += length
    if (bytes > DRAIN_BYTES) socket.pause()
  })
}

/** Formats the complete response as it is sent. */
function answerText(problem: Problem, requestId: string): string {
  const body = JSON.stringify(problem.details(requestId))
  const headers = {
    ...securityHeaders,
    ...problem.headers,
    'X-Request-Id': requestId,
    'Content-Type': 'application/problem+json',
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    Date: new Date().toUTCString(),
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n${lines.join('')}\r\n${body}`
}
