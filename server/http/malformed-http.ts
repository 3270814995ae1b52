import { randomUUID } from 'node:crypto'
import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Logger } from 'pino'
import { plainAddress } from '../domain/networks.ts'
import { Problem, type ProblemCode } from '../problems.ts'
import type { ServedMetrics } from '../served-metrics.ts'
import { corsHeaders } from './answers/cors.ts'
import { securityHeaders } from './answers/security-headers.ts'
import { type Begun, begunOn } from './begun-requests.ts'

/** The line and the headers of a request together (contract: `headers_too_large`). */
export const HEAD_BYTES = 16 * 1024

/** So long a refused connection is kept: closed under the sender's hands, it would take the answer with it. */
const LINGER_MS = 5_000

/** The paths of such a refusal may be unknown, so that any page may read it; it holds nothing of anybody's. */
const HEADERS = { ...corsHeaders, Connection: 'close' }

/** Node's word for what is wrong, where it is something else than the form. */
const CODES: Record<string, ProblemCode> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
}

/**
 * What HTTP asks of the head of a request beyond its form. Node would refuse it with an empty answer.
 * @throws {Problem} `malformed_request` without a Host or with several, `expectation_failed`
 */
export function assertHead({ headers, rawHeaders, httpVersion }: IncomingMessage): void {
  // Node takes the first, where a proxy may have taken the other (RFC 9112, 3.2).
  if (rawHeaders.filter(isHost).length > 1) throw new Problem('malformed_request', { headers: HEADERS })
  // HTTP/1.0 has neither.
  if (httpVersion !== '1.1') return
  if (headers.host === undefined) throw new Problem('malformed_request', { headers: HEADERS })
  if (headers.expect !== undefined && !/(^|\W)100-continue($|\W)/i.test(headers.expect)) {
    throw new Problem('expectation_failed', { headers: HEADERS })
  }
}

/** Whether it is the name of the header: the names and values of a request stand by turns. */
function isHost(text: string, at: number): boolean {
  return at % 2 === 0 && text.length === 4 && text.toLowerCase() === 'host'
}

/**
 * Answers, logs and counts what Node refuses by itself: what is no HTTP, is too large in its head, or does not arrive in
 * time. Each as a problem, as every other refusal; also where there is no request to answer.
 */
export function refuseMalformed(
  server: Server,
  { log, metrics, logAddresses }: { log: Logger; metrics: ServedMetrics; logAddresses: boolean },
): void {
  const refused = new WeakSet<Socket>()

  server.on('clientError', ({ code = '' }: NodeJS.ErrnoException, stream) => {
    const socket = stream as Socket
    const request = begunOn(socket)
    // The parser complains of everything that still arrives.
    if (!refused.has(socket)) refuseRest(socket, request, code)
    refused.add(socket)
    // Nor does it tell anybody that the sender has ended too.
    if (socket.readableEnded && request?.res.headersSent !== false) socket.destroySoon()
  })

  // Answered by the application, which knows the way of every refusal.
  server.on('checkExpectation', (req, res) => server.emit('request', req, res))

  server.on('connect', ({ method }, socket) => {
    const problem = new Problem('malformed_request', { headers: HEADERS })
    refuseConnection(socket as Socket, problem, { method })
  })

  /** @param reason Node's word for what is wrong */
  function refuseRest(socket: Socket, request: Begun | undefined, reason: string) {
    const problem = new Problem(CODES[reason] ?? 'malformed_request', { headers: HEADERS })
    // Who has gone hears no answer, and who has sent nothing asked for none.
    if (!socket.writable || reason === 'ECONNRESET' || socket.bytesRead === 0) socket.destroy()
    else if (!request || request.res.writableFinished) refuseConnection(socket, problem, { reason })
    // What came before gets its answer first.
    else if (request.res.req.complete)
      request.res.once('finish', () => refuseConnection(socket, problem, { reason }))
    // Who ends in the middle of a body has gone too: the log is to say so.
    else if (reason === 'HPE_INVALID_EOF_STATE') socket.destroy()
    else if (!request.res.headersSent) request.refuse(problem)
  }

  /** @param told what else the log is to say */
  function refuseConnection(
    socket: Socket,
    problem: Problem,
    told: { method?: string | undefined; reason?: string },
  ) {
    const { status, code } = problem
    const request_id = randomUUID()
    const address = logAddresses ? plainAddress(socket.remoteAddress ?? '') : undefined
    socket.on('error', () => {})
    socket.end(answerText(problem, request_id))
    socket.resume()
    const timer = setTimeout(() => socket.destroy(), LINGER_MS)
    socket.once('close', () => clearTimeout(timer))
    metrics.requestEnded({ operation: undefined, status, code, duration_ms: undefined })
    log.info({ request_id, address, ...told, status, code })
  }
}

/** The whole answer as it goes over the wire. */
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
