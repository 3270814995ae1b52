import { randomUUID } from 'node:crypto'
import { isIP } from 'node:net'
import { extname } from 'node:path'
import express, { type ErrorRequestHandler, type Express, type Request, type Response } from 'express'
import type { Logger } from 'pino'
import { readAdministrationSite } from './administration-site.ts'
import type { AnswerCompression } from './answer-compression.ts'
import type { Attempts } from './attempts.ts'
import type { Callers } from './callers.ts'
import type { Caller, Context, Contract, Operation, OperationId, Route } from './contract.ts'
import { readCookies, writeCookies } from './cookies.ts'
import { corsHeaders, preflightHeaders } from './cors.ts'
import { apiReference, referenceSecurityPolicy } from './docs/api-reference.ts'
import { browserName } from './domain/browsers.ts'
import { newId } from './domain/identifiers.ts'
import { JsonBytes } from './domain/json-bytes.ts'
import { networkOf, plainAddress } from './domain/networks.ts'
import { isServiceKey } from './domain/service-keys.ts'
import { type LoggedFault, loggedFaults } from './log-faults.ts'
import { loggedPaths } from './log-paths.ts'
import { assertHead, noteBegun } from './malformed-http.ts'
import type { Metrics } from './metrics.ts'
import { mayReadMetrics } from './metrics-access.ts'
import { allOperations } from './operations/index.ts'
import type { Reached } from './origins.ts'
import type { Passwords } from './passwords.ts'
import { type Fault, Problem } from './problems.ts'
import type { LimitedKey, RateLimiter } from './rate-limit.ts'
import { sharedLook } from './readiness.ts'
import { type BodyPlaces, drain, ignoreBody } from './request-body.ts'
import { securityHeaders } from './security-headers.ts'
import { type Coding, StaticFile } from './static-file.ts'
import type { Reading, Storage } from './storage/storage.ts'
import { Unavailable } from './storage/unavailable.ts'
import { Tally } from './tally.ts'
import type { Turns } from './turns.ts'
import { ProxyWatch } from './unknown-proxy.ts'
import type { UnreadAnswers } from './unread-answers.ts'

export type AppOptions = {
  contract: Contract
  storage: Storage
  callers: Callers
  passwords: Passwords
  attempts: Attempts
  /** What the operator leaves to members. */
  allowed: Context['allowed']
  /** Where the server is known, if it was told. */
  publicUrl: URL | undefined
  /** Addresses and networks of proxies whose `X-Forwarded-…` headers are believed. */
  trustedProxies: readonly string[]
  limiter: RateLimiter
  turns: Turns
  bodies: BodyPlaces
  answers: UnreadAnswers
  compression: AnswerCompression
  metrics: Metrics
  metricsToken: string | undefined
  log: Logger
  /** Whether the log has the addresses of senders. */
  logAddresses: boolean
  /** Milliseconds since 1970. */
  now: () => number
  /** Whether new work is refused because the process ends. */
  isStopping: () => boolean
}

/** The whole way of a request, in order. */
export function createApp(options: AppOptions): Express {
  const { contract, storage, log, logAddresses, publicUrl } = options
  const proxies = new ProxyWatch({ publicUrl, log, logAddresses })
  const told = {
    path: loggedPaths(contract.routes.map(({ path }) => path)),
    faults: loggedFaults(contract.document),
  }
  const assertWritable = sharedLook(() => storage.assertWritable())
  const app = express()
  app.set('strict routing', true)
  app.set('case sensitive routing', true)
  app.set('query parser', false)
  app.set('etag', false)
  app.set('trust proxy', [...options.trustedProxies])
  app.disable('x-powered-by')
  app.use((req, res, next) => {
    beginRequest(req, res, { ...options, told })
    const peer = plainAddress(req.socket.remoteAddress ?? '')
    proxies.look({ headers: req.headers, peer, address: res.locals.address })
    noteBegun(res, (problem) => refuse(res, problem, options))
    assertHead(req)
    // Only what changes nothing: who sends many events on one connection wants them written together.
    if (req.method === 'GET') options.answers.inTurn(req, res, next)
    else next()
  })

  for (const path of new Set(contract.routes.map((route) => route.path))) {
    mountPath(app, path, options)
  }
  // What is not sent by sendText: documents for people and probes.
  app.use((_req, res, next) => {
    res.setHeaders(new Map(Object.entries({ ...securityHeaders, ...(res.locals.headers as Headers) })))
    next()
  })
  const text = new StaticFile(contract.text)
  app.get(`${contract.basePath}/openapi.yaml`, (req, res) => {
    const headers = { 'Content-Type': 'application/yaml; charset=utf-8' }
    return sendStatic(req, res, { headers, file: text }, options)
  })
  mountReference(app, options)
  mountAdministration(app, options)

  app.get('/healthz', (_req, res) => {
    res.json({ status: 'ok' })
  })
  app.get('/readyz', async (_req, res) => {
    if (options.isStopping()) throw new Unavailable('shutting_down')
    await assertWritable()
    res.json({ status: 'ok' })
  })
  app.all('/metrics', (req, res) => sendMetrics(req, res, options))
  app.use((_req, res) => refuse(res, new Problem('not_found'), options))
  const onError: ErrorRequestHandler = (error, _req, res, _next) => refuse(res, error, options)
  app.use(onError)
  return app
}

/** All methods of one path: those of the contract, the preflight where browsers may call, and 405 for the rest. */
function mountPath(app: Express, path: string, options: AppOptions) {
  const routes = options.contract.routes.filter((route) => route.path === path)
  const isForBrowsers = routes.some((route) => route.accepts.includes('publishable'))
  const methods = routes.map((route) => route.method)
  const allow = (isForBrowsers ? [...methods, 'OPTIONS'] : methods).join(', ')

  app.all(path, async (req, res) => {
    if (isForBrowsers) addHeaders(res, corsHeaders)
    const route = routes.find((route) => route.method === req.method)
    if (route) return await serve(route, req, res, options)
    if (isForBrowsers && req.method === 'OPTIONS') {
      addHeaders(res, preflightHeaders)
      answer(res, { status: 204 }, options)
    } else {
      refuse(res, new Problem('method_not_allowed', { headers: { Allow: allow } }), options)
    }
  })
}

/** One request of one operation. Each step refuses by throwing; the order is part of the contract. */
async function serve(route: Route, req: Request, res: Response, options: AppOptions) {
  const { bodies, callers, limiter, storage, metrics, publicUrl, turns } = options
  res.locals.operation = route.operationId
  const identify = () => callers.check(req.headers, () => reached(req), route)
  let caller = await identify()
  const key = limitedKey(caller, res)
  if (caller.kind === 'key') res.locals.key_id = caller.key.key_id
  if (caller.kind === 'person') res.locals.person_id = caller.session.person_id
  res.locals.owner = key?.key_id
  const identified_ms = performance.now()
  const share = turns.shareOf({ workspaceId: workspaceOf(caller), caller: ownerOf(res) })
  await share.next()
  if (key) addHeaders(res, limiter.take(key))
  if (options.isStopping()) throw new Unavailable('shutting_down')
  storage.assertAvailable(route.method === 'GET' ? 'read' : 'write', workspaceOf(caller))
  if (!route.hasBody) ignoreBody(req)
  const isNobody = caller.kind === 'nobody'
  const arriving = route.hasBody ? bodies.enter({ owner: ownerOf(res), isNobody }) : undefined
  // Whether what goes wrong is refused for its shape.
  let isRefused = true
  try {
    const body = await arriving?.json(req, route.bodyLimits, share)
    const checked = await route.check(req, body, share)
    isRefused = false
    // Again, because a sender may hold its body back or wait for its turn, and be removed, signed out or revoked meanwhile.
    if (performance.now() - identified_ms > BELIEVED_MS) caller = await identify()
    const count = route.count(body)
    if (key && arriving && count > 1)
      addHeaders(res, limiter.takeRest(key, { count, refusal: arriving.length / LIMITED_EVENT_BYTES }))
    // The table pairs each identifier with its own request and reply; a look-up by a variable loses the pairing.
    const operation = allOperations[route.operationId] as Operation<OperationId>
    const { now, passwords, attempts, allowed } = options
    const replying = operation(
      { workspaceId: workspaceOf(caller), ...checked },
      {
        storage: storage as Context['storage'],
        change: (work) => {
          const transaction = storage.db.transaction()
          return transaction.execute(async (db) => await work(db, await callers.recheck(db, caller, route)))
        },
        now,
        newId,
        tally: caller.kind === 'key' ? metrics.tallies.of(caller.key.key_id) : new Tally(),
        rejected: (count) => key && addHeaders(res, limiter.giveBack(key, count)),
        caller,
        address: res.locals.address,
        // Only when they are asked for: ingestion has no use for them.
        get reading() {
          return readingOf(caller, res)
        },
        get browser() {
          return browserName(req.headers['user-agent'])
        },
        get cookies() {
          return readCookies(reached(req), publicUrl)
        },
        requestId: res.locals.requestId,
        passwords,
        attempts,
        allowed,
      },
    )
    share.rest()
    const reply = await replying
    share.work()
    if (reply.cookies) addHeaders(res, { 'Set-Cookie': writeCookies(reply.cookies, reached(req), publicUrl) })
    const { status, body: replied } = reply
    if (replied === undefined) return answer(res, { status }, options)
    const sending = sendReply(req, res, { status, body: replied }, options)
    share.rest()
    await sending
  } catch (error) {
    // Whom the server has no room for is no worse for it.
    const isOwnFault = isRefused && problemOf(error).status < 500
    if (key && arriving && isOwnFault) limiter.charge(key, arriving.length / REFUSED_EVENT_BYTES)
    throw error
  } finally {
    share.rest()
    arriving?.leave()
  }
}

function workspaceOf(caller: Caller): string {
  if (caller.kind === 'key') return caller.key.workspace_id
  return (caller.kind === 'person' && caller.membership?.workspace_id) || ''
}

/**
 * By what the rate is counted: by key, a publishable one also by network, or by person. Nobody has none; attempts without
 * a credential are throttled.
 */
function limitedKey(caller: Caller, { locals }: Response): LimitedKey | undefined {
  if (caller.kind === 'key') {
    const { key_id, rate_limit, kind } = caller.key
    return kind === 'secret' ? caller.key : { key_id, rate_limit, network: networkOf(locals.address) }
  }
  return caller.kind === 'person' ? { key_id: caller.session.person_id, rate_limit: null } : undefined
}

/** Nobody waits for the answer any more. */
class CallerHasGone extends Error {}

function readingOf(caller: Caller, res: Response): Reading {
  const controller = new AbortController()
  const end = () => {
    if (!res.writableFinished) controller.abort(new CallerHasGone())
  }
  // It may have gone already, while its key was looked up.
  if (res.closed) end()
  else res.once('close', end)
  const { signal } = controller
  return { caller: res.locals.owner ?? '', workspaceId: workspaceOf(caller), signal }
}

/** Who pays for the memory that a request takes: the key or the person, else the network. */
function ownerOf({ locals }: Response): string {
  return locals.owner ?? networkOf(locals.address)
}

function reached(req: Request): Reached {
  return { headers: req.headers, host: req.host ?? '', isHttps: req.secure }
}

/** The caller's address in its plain form: what a proxy says is believed only where it is one. */
function addressOf({ ip = '', socket }: Request): string {
  return plainAddress(isIP(ip) ? ip : (socket.remoteAddress ?? ''))
}

type Logged = Pick<AppOptions, 'log' | 'logAddresses' | 'metrics'> & {
  /** What of a request is fit for the log. */
  told: { path: (target: string) => string; faults: (faults: readonly Fault[]) => LoggedFault[] }
}

function beginRequest(req: Request, res: Response, { log, logAddresses, metrics, told }: Logged) {
  const started = performance.now()
  const given = req.get('x-request-id') ?? ''
  // A key that someone puts here by mistake would be logged.
  const isValid = /^[A-Za-z0-9_.:-]{1,128}$/.test(given) && !isServiceKey(given)
  const requestId = isValid ? given : randomUUID()
  res.locals.requestId = requestId
  // Now: a connection that is closed has none any more.
  const address = addressOf(req)
  res.locals.address = address
  res.locals.headers = { 'X-Request-Id': requestId }
  res.once('close', () => {
    const { operation, key_id, person_id, code, faults = [] } = res.locals
    const duration_ms = Math.round((performance.now() - started) * 1000) / 1000
    const status = res.headersSent && !res.locals.isCut ? res.statusCode : 'aborted'
    metrics.requestEnded({ operation, status, code, duration_ms })
    log.info({
      request_id: requestId,
      address: logAddresses ? address : undefined,
      method: req.method,
      operation,
      path: operation === undefined ? told.path(req.originalUrl) : undefined,
      status,
      code,
      errors: faults.length > 0 ? told.faults(faults) : undefined,
      key_id,
      person_id,
      duration_ms,
    })
  })
}

function refuse(res: Response, error: unknown, options: AppOptions) {
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

function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error
  if (error instanceof Unavailable) return new Problem(error.reason, { cause: error.cause })
  // Express could not decode a path: there is no such one.
  if (error instanceof URIError) return new Problem('not_found')
  return new Problem('internal_error', { cause: error })
}

type Reply = { status: number; body: unknown }

/** What an operation answers: compressed where it is large and the caller takes that. */
async function sendReply(req: Request, res: Response, { status, body }: Reply, options: AppOptions) {
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

function sendText(res: Response, { status, contentType, text, coding }: Sent, options: AppOptions) {
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

async function sendMetrics(req: Request, res: Response, options: AppOptions) {
  const { metrics, metricsToken, storage } = options
  if (req.method !== 'GET') throw new Problem('method_not_allowed', { headers: { Allow: 'GET' } })
  if (!mayReadMetrics(req, metricsToken)) {
    // Not 404: that the path exists is in the README, and an operator is to see what is missing.
    throw new Problem('unauthorized', {
      detail: 'Send CAIRN_METRICS_TOKEN as Authorization: Bearer, or ask on its own machine without a proxy.',
      headers: { 'WWW-Authenticate': 'Bearer' },
    })
  }
  const { contentType, text } = await metrics.exposition(storage.statistics())
  const headers = { 'Content-Type': contentType, 'Cache-Control': 'no-store' }
  sendFile(res, { headers, body: Buffer.from(text) }, options)
}

type Static = { headers: Headers; file: StaticFile }

/** Sent once to each browser, which asks at every visit whether it still is the same. */
async function sendStatic(req: Request, res: Response, { headers, file }: Static, options: AppOptions) {
  const accepts = (coding: Coding) => Boolean(req.acceptsEncodings(coding))
  const answered = await file.answer({ accepts, ifNoneMatch: req.headers['if-none-match'] })
  // With 304 too: its headers take the place of those that the browser has kept.
  addHeaders(res, { ...headers, 'Cache-Control': 'no-cache', ...answered.headers })
  if (answered.body) sendFile(res, { headers: {}, body: answered.body }, options)
  else answer(res, { status: answered.status }, options)
}

function sendFile(res: Response, { headers, body }: { headers: Headers; body: Buffer }, options: AppOptions) {
  addHeaders(res, { ...headers, 'Content-Length': String(body.length) })
  answer(res, { status: 200, body }, options)
}

/** Sends the answer whole at once, also to a sender that is still sending. */
function answer(
  res: Response,
  { status, body = '' }: { status: number; body?: string | Uint8Array },
  { answers, metrics }: AppOptions,
) {
  res.writeHead(status, { ...securityHeaders, ...(res.locals.headers as Headers) })
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

/** A body that is refused for its shape counts one event for each so many bytes, as a batch of small events has. */
const REFUSED_EVENT_BYTES = 4 * 1024

/** One that is refused for its rate has been read and checked too, and takes as long as an event for so many bytes. */
const LIMITED_EVENT_BYTES = 16 * 1024

/** A caller is believed for so long without another look. */
const BELIEVED_MS = 50

type Headers = Record<string, string | string[]>

/** For the answer. Not set one by one: that would take 10 µs of every request. */
function addHeaders(res: Response, headers: Readonly<Headers>) {
  Object.assign(res.locals.headers, headers)
}

function mountReference(app: Express, options: AppOptions) {
  let site: ReadonlyMap<string, { contentType: string; file: StaticFile }> | undefined
  const readSite = () => {
    const files = [...apiReference({ contract: options.contract.document })]
    return new Map(
      files.map(([name, { contentType, body }]) => [name, { contentType, file: new StaticFile(body) }]),
    )
  }
  app.get('/docs', (_req, res) => res.redirect('/docs/'))
  app.get('/docs/{*path}', async (req, res, next) => {
    // At the first request: most starts are followed by none.
    site ??= readSite()
    const found = site.get(req.path.slice('/docs/'.length))
    if (!found) return next()
    const { contentType, file } = found
    const headers = { 'Content-Type': contentType, 'Content-Security-Policy': referenceSecurityPolicy }
    await sendStatic(req, res, { headers, file }, options)
  })
}

/** The administration interface. Its paths are the browser's own: each of them shows the same page. */
function mountAdministration(app: Express, options: AppOptions) {
  let site: ReturnType<typeof readAdministrationSite> | undefined
  app.get(['/', '/admin'], (_req, res) => res.redirect('/admin/'))
  app.use('/admin', (req, res) => {
    if (req.method !== 'GET' && req.method !== 'HEAD') {
      throw new Problem('method_not_allowed', { headers: { Allow: 'GET, HEAD' } })
    }
    // At the first request: most starts are followed by none.
    site ??= readAdministrationSite()
    if (site.size === 0) {
      throw new Problem('not_found', {
        detail: 'The administration interface is not built; run npm run build.',
      })
    }
    const file =
      site.get(req.path.slice(1)) ?? (extname(req.path) === '' ? site.get('index.html') : undefined)
    if (!file) throw new Problem('not_found')
    const { headers, plain, br, gzip } = file
    const encoding = [br && 'br', gzip && 'gzip'].find((name) => name && req.acceptsEncodings(name))
    if (encoding) addHeaders(res, { 'Content-Encoding': encoding })
    const body = { br, gzip }[encoding ?? ''] ?? plain
    sendFile(res, { headers, body }, options)
  })
}
