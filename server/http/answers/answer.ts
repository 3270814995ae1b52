import type { Request, Response } from 'express'
import type { Logger } from 'pino'
import { JsonBytes } from '../../domain/json-bytes.ts'
import { networkOf } from '../../domain/networks.ts'
import { Problem } from '../../problems.ts'
import type { ServedMetrics } from '../../served-metrics.ts'
import { Unavailable } from '../../storage/unavailable.ts'
import { drain } from '../request-body.ts'
import type { AnswerCompression } from './answer-compression.ts'
import { securityHeaders } from './security-headers.ts'
import type { Coding, StaticFile } from './static-file.ts'
import type { UnreadAnswers } from './unread-answers.ts'

/** What an answer needs beside the request. */
export type Answering = {
  answers: UnreadAnswers
  compression: AnswerCompression
  metrics: ServedMetrics
  log: Logger
}

export type Headers = Record<string, string | string[]>

/**
 * The headers of an answer with those that every answer carries, in the form in which Node writes them with the least work:
 * names and values in turns.
 */
export function headerList(headers: Readonly<Headers>): (string | string[])[] {
  const list: (string | string[])[] = []
  for (const name in securityHeaders) if (!(name in headers)) list.push(name, securityHeaders[name] ?? '')
  for (const name in headers) list.push(name, headers[name] ?? '')
  return list
}

/** For the answer. Not set one by one: that would take 10 µs of every request. */
export function addHeaders(res: Response, headers: Readonly<Headers>) {
  Object.assign(res.locals.headers, headers)
}

/** Nobody waits for the answer any more. */
export class CallerHasGone extends Error {}

/** Who pays for the memory that a request takes: the key or the person, else the network. */
export function ownerOf({ locals }: Response): string {
  return locals.owner ?? networkOf(locals.address)
}

/** Answers with a problem. */
export function refuse(res: Response, error: unknown, options: Answering) {
  if (error instanceof CallerHasGone) return
  const { log } = options
  const problem = problemOf(error)
  res.locals.code = problem.code
  res.locals.faults = problem.faults
  // An overload or a stop has no cause to look for, and must not fill the log.
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
  // Express could not decode a path: there is no such one.
  if (error instanceof URIError) return new Problem('not_found')
  return new Problem('internal_error', { cause: error })
}

type Reply = { status: number; body: unknown }

/** What an operation answers: compressed where it is large and the caller takes that. */
export async function sendReply(req: Request, res: Response, { status, body }: Reply, options: Answering) {
  const { compression } = options
  const contentType = 'application/json'
  const text = body instanceof JsonBytes ? body.bytes : JSON.stringify(body)
  if (!compression.isFor({ method: req.method, text })) {
    return sendText(res, { status, contentType, text }, options)
  }
  const compressed = req.acceptsEncodings('gzip') ? await compression.compress(text) : undefined
  // Meanwhile it may have gone.
  if (res.closed) throw new CallerHasGone()
  const coding = { Vary: 'Accept-Encoding', ...(compressed && { 'Content-Encoding': 'gzip' }) }
  sendText(res, { status, contentType, text: compressed ?? text, coding }, options)
}

type Sent = { status: number; contentType: string; text: string | Uint8Array; coding?: Headers }

function sendText(res: Response, { status, contentType, text, coding }: Sent, options: Answering) {
  const bytes = Buffer.byteLength(text)
  // Nothing is lost by it, and it is told. Answers to changes are written: refused now they would say the opposite.
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

/** More than a problem takes. */
const LARGE_BYTES = 64 * 1024

type Static = { headers: Headers; file: StaticFile }

/** Sent once to each browser, which asks at every visit whether it still is the same. */
export async function sendStatic(req: Request, res: Response, { headers, file }: Static, options: Answering) {
  const accepts = (coding: Coding) => Boolean(req.acceptsEncodings(coding))
  const answered = await file.answer({ accepts, ifNoneMatch: req.headers['if-none-match'] })
  // With 304 too: its headers take the place of those that the browser has kept.
  addHeaders(res, { ...headers, 'Cache-Control': 'no-cache', ...answered.headers })
  if (answered.body) sendFile(res, { headers: {}, body: answered.body }, options)
  else answer(res, { status: answered.status }, options)
}

/** Sends what is no operation's reply as it is. */
export function sendFile(
  res: Response,
  { headers, body }: { headers: Headers; body: Buffer },
  options: Answering,
) {
  addHeaders(res, { ...headers, 'Content-Length': String(body.length) })
  answer(res, { status: 200, body }, options)
}

/** Sends the answer whole at once, also to a sender that is still sending. */
export function answer(
  res: Response,
  { status, body = '' }: { status: number; body?: string | Uint8Array },
  { answers, metrics }: Answering,
) {
  res.writeHead(status, headerList(res.locals.headers))
  if (res.req.complete || res.req.destroyed) {
    res.end(body)
  } else {
    res.flushHeaders()
    if (body.length > 0) res.write(body)
    drain(res.req, () => res.end())
  }
  // What the kernel has taken, as nearly every answer, needs no looking after.
  if (res.writableLength === 0) return
  const onCut = () => {
    res.locals.isCut = true
    metrics.peerCut('answer')
  }
  answers.watch(res, { owner: ownerOf(res), onCut })
}
