import type { Request, Response } from 'express'
import type { Logger } from 'pino'
import { networkOf } from '../../domain/addresses.ts'
import { JsonBytes } from '../../domain/json-bytes.ts'
import type { ServedMetrics } from '../../metrics/served-metrics.ts'
import { Problem } from '../../problems.ts'
import { Unavailable } from '../../storage/unavailable.ts'
import { drain } from '../request-body.ts'
import type { AnswerCompression } from './answer-compression.ts'
import { securityHeaders } from './security-headers.ts'
import type { Coding, StaticFile } from './static-file.ts'
import type { Peer, UnreadAnswers } from './unread-answers.ts'

/** What an answer needs in addition to the request. */
export type Answering = {
  answers: UnreadAnswers
  compression: AnswerCompression
  metrics: ServedMetrics
  log: Logger
}

export type Headers = Record<string, string | string[]>

/**
 * Merges the headers of a response with those that every response has, in the form that costs Node the least:
 * alternating names and values.
 */
export function headerList(headers: Readonly<Headers>): (string | string[])[] {
  const list: (string | string[])[] = []
  for (const name in securityHeaders) if (!(name in headers)) list.push(name, securityHeaders[name] ?? '')
  for (const name in headers) list.push(name, headers[name] ?? '')
  return list
}

/** Adds headers to the response. They are set together at the end: one by one would take 10 µs per request. */
export function addHeaders(res: Response, headers: Readonly<Headers>) {
  Object.assign(res.locals.headers, headers)
}

/** The client disconnected: nobody waits for the response. */
export class ClientDisconnected extends Error {}

/** Returns who is charged for the memory of a request: the key or the person, else the network. */
export function ownerOf({ locals }: Response): string {
  return locals.owner ?? networkOf(locals.address)
}

/** Responds with a problem. */
export function refuse(res: Response, error: unknown, options: Answering) {
  if (error instanceof ClientDisconnected) return
  const { log } = options
  const problem = problemOf(error)
  res.locals.code = problem.code
  res.locals.faults = problem.faults
  // An overload or a shutdown has no cause to look for and must not flood the log.
  if (problem.status >= 500 && problem.cause !== undefined) {
    log.error({ request_id: res.locals.requestId, code: problem.code, err: problem.cause }, 'request failed')
  }
  if (res.headersSent) return res.destroy()
  addHeaders(res, problem.headers)
  const text = JSON.stringify(problem.details(res.locals.requestId))
  sendText(res, { status: problem.status, contentType: 'application/problem+json', text }, options)
}

export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error
  if (error instanceof Unavailable) return new Problem(error.reason, { cause: error.cause })
  // Express could not decode the path, so it does not exist.
  if (error instanceof URIError) return new Problem('not_found')
  return new Problem('internal_error', { cause: error })
}

type Reply = { status: number; body: unknown }

/** Sends the reply of an operation, compressed if it is large and the client accepts it. */
export async function sendReply(req: Request, res: Response, { status, body }: Reply, options: Answering) {
  const { compression } = options
  const contentType = 'application/json'
  const text = body instanceof JsonBytes ? body.bytes : JSON.stringify(body)
  if (!compression.isFor({ method: req.method, text })) {
    return sendText(res, { status, contentType, text }, options)
  }
  const compressed = req.acceptsEncodings('gzip') ? await compression.compress(text) : undefined
  // The client may have disconnected meanwhile.
  if (res.closed) throw new ClientDisconnected()
  const coding = { Vary: 'Accept-Encoding', ...(compressed && { 'Content-Encoding': 'gzip' }) }
  sendText(res, { status, contentType, text: compressed ?? text, coding }, options)
}

type Sent = { status: number; contentType: string; text: string | Uint8Array; coding?: Headers }

function sendText(res: Response, { status, contentType, text, coding }: Sent, options: Answering) {
  const bytes = Buffer.byteLength(text)
  // A read can be refused without loss. The response to a change must be written: a refusal would say the opposite.
  const isLargeList = res.req.method === 'GET' && bytes > LARGE_BYTES
  if (isLargeList && !options.answers.makeRoom(ownerOf(res), bytes)) throw new Unavailable('overloaded')
  addHeaders(res, {
    'Content-Type': contentType,
    'Content-Length': String(bytes),
    'Cache-Control': 'no-store',
    ...coding,
  })
  answer(res, { status, body: text }, options)
}

/** More than any problem takes. */
const LARGE_BYTES = 64 * 1024

type Static = { headers: Headers; file: StaticFile }

/** Sends a file with an ETag. Browsers cache it and revalidate it at every visit. */
export async function sendStatic(req: Request, res: Response, { headers, file }: Static, options: Answering) {
  const accepts = (coding: Coding) => Boolean(req.acceptsEncodings(coding))
  const answered = await file.answer({ accepts, ifNoneMatch: req.headers['if-none-match'] })
  // With 304 too, because its headers replace those that the browser has cached.
  addHeaders(res, { ...headers, 'Cache-Control': 'no-cache', ...answered.headers })
  if (answered.body) sendFile(res, { headers: {}, body: answered.body }, options)
  else answer(res, { status: answered.status }, options)
}

/** Sends a file that is not the reply of an operation. */
export function sendFile(
  res: Response,
  { headers, body }: { headers: Headers; body: Buffer },
  options: Answering,
) {
  addHeaders(res, { ...headers, 'Content-Length': String(body.length) })
  answer(res, { status: 200, body }, options)
}

/** Sends the browser to another path. */
export function redirect(res: Response, path: string, options: Answering) {
  addHeaders(res, { Location: path, 'Content-Length': '0' })
  answer(res, { status: 302 }, options)
}

/** Sends the complete response at once, even if the client is still sending. */
export function answer(
  res: Response,
  { status, body = '' }: { status: number; body?: string | Uint8Array },
  { answers, metrics }: Answering,
) {
  res.writeHead(status, headerList(res.locals.headers))
  end(res, body)
  // Nearly every response fits into the kernel's buffers and needs no watching.
  if (res.writableLength > 0) answers.watch(res, peerOf(res, metrics))
}

/** Returns who is to take a response. */
export function peerOf(res: Response, metrics: ServedMetrics): Peer {
  const onCut = () => {
    res.locals.isCut = true
    metrics.peerCut('answer')
  }
  return { owner: ownerOf(res), onCut }
}

/**
 * Ends a response. The client sees the body at once, even if it is still sending; the end of a chunked one once its own rest
 * has been read.
 */
export function end(res: Response, body: string | Uint8Array = '') {
  if (res.req.complete || res.req.destroyed) return res.end(body)
  res.flushHeaders()
  if (body.length > 0) res.write(body)
  drain(res.req, () => res.end())
}
