import express, { type ErrorRequestHandler, type Express, type Request, type Response } from 'express'
import proxyaddr from 'proxy-addr'
import type { Caller, Operation, OperationId, Route } from '../contract.ts'
import type { JsonValue } from '../domain/json.ts'
import { networkOf } from '../domain/networks.ts'
import { allOperations } from '../operations/index.ts'
import { Problem } from '../problems.ts'
import type { CallingKey } from '../storage/tables/service-keys.ts'
import { Unavailable } from '../storage/unavailable.ts'
import { addHeaders, answer, type Headers, ownerOf, problemOf, refuse, sendReply } from './answers/answer.ts'
import { corsHeaders, preflightHeaders } from './answers/cors.ts'
import { securityHeaders } from './answers/security-headers.ts'
import { sendStreamed } from './answers/streamed-file.ts'
import { noteBegun } from './begun-requests.ts'
import { writeCookies } from './callers/cookies.ts'
import { KeyRejected } from './callers/credentials.ts'
import { senderAddress } from './callers/sender-address.ts'
import { unknownProxyWarning } from './callers/unknown-proxy.ts'
import type { ExportPlaces } from './export-places.ts'
import { loggedFaults } from './log-faults.ts'
import { loggedPaths } from './log-paths.ts'
import { assertHead } from './malformed-http.ts'
import type { LimitedKey } from './rates/rate-limit.ts'
import type { Turns } from './rates/turns.ts'
import { sharedLook } from './readiness.ts'
import { isDryRun, RefusedRequest } from './refused-requests.ts'
import { type BodyPlaces, ignoreBody } from './request-body.ts'
import { type ContextOptions, RequestContext, reached, workspaceOf } from './request-context.ts'
import { beginRequest } from './request-log.ts'
import { mountSites, type SiteOptions } from './sites.ts'

export type AppOptions = SiteOptions &
  ContextOptions & {
    /** Addresses and networks of proxies whose `X-Forwarded-…` headers are believed. */
    trustedProxies: readonly string[]
    turns: Turns
    bodies: BodyPlaces
    exports: ExportPlaces
    /** Whether the log has the addresses of senders. */
    logAddresses: boolean
    /** Whether new work is refused because the process ends. */
    isStopping: () => boolean
  }

/** The whole way of a request, in order. */
export function createApp(options: AppOptions): Express {
  const { contract, storage } = options
  const warnOfUnknownProxy = unknownProxyWarning(options)
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
  const isTrusted = proxyaddr.compile([...options.trustedProxies])
  app.set('trust proxy', isTrusted)
  app.disable('x-powered-by')
  app.use((req, res, next) => {
    // Now: a connection that is closed has no address any more.
    const address = senderAddress(req, (address) => isTrusted(address, 0))
    res.locals.address = address
    beginRequest(req, res, { ...options, told })
    warnOfUnknownProxy(req.headers, address)
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
  mountSites(app, options)

  app.get('/healthz', (_req, res) => {
    res.json({ status: 'ok' })
  })
  app.get('/readyz', async (_req, res) => {
    if (options.isStopping()) throw new Unavailable('shutting_down')
    await assertWritable()
    res.json({ status: 'ok' })
  })
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
  const { bodies, callers, limiter, storage, publicUrl, turns } = options
  res.locals.operation = route.operationId
  const identify = async () => {
    try {
      return await callers.check(req.headers, () => reached(req), route)
    } catch (error) {
      if (error instanceof KeyRejected) refusedRequest(error.key, req, res, route, options)?.count(error)
      throw error
    }
  }
  let caller = await identify()
  const key = limitedKey(caller, res)
  if (caller.kind === 'key') res.locals.key_id = caller.key.key_id
  if (caller.kind === 'person') res.locals.person_id = caller.session.person_id
  res.locals.owner = key?.key_id
  let identified_ms = performance.now()
  const share = turns.shareOf({ workspaceId: workspaceOf(caller), caller: ownerOf(res) })
  await share.next()
  if (key) addHeaders(res, limiter.take(key))
  if (options.isStopping()) throw new Unavailable('shutting_down')
  storage.assertAvailable(route.method === 'GET' ? 'read' : 'write', workspaceOf(caller))
  if (!route.hasBody) ignoreBody(req)
  const isNobody = caller.kind === 'nobody'
  const arriving = route.hasBody ? bodies.enter({ owner: ownerOf(res), isNobody }) : undefined
  const refused = caller.kind === 'key' ? refusedRequest(caller.key, req, res, route, options) : undefined
  let isChecked = false
  let leaveExports: (() => void) | undefined
  let body: JsonValue | undefined
  try {
    body = await arriving?.json(req, route.bodyLimits, share)
    const checked = await route.check(req, body, share)
    isChecked = true
    // Again, because a sender may hold its body back or wait for its turn, and be removed, signed out or revoked meanwhile.
    if (performance.now() - identified_ms > BELIEVED_MS) caller = await identify()
    const count = route.count(body)
    if (route.isFile) {
      leaveExports = options.exports.enter({ workspaceId: workspaceOf(caller), caller: ownerOf(res) })
    }
    if (key && arriving && count > 1)
      addHeaders(res, limiter.takeRest(key, { count, refusal: arriving.length / LIMITED_EVENT_BYTES }))
    // The table pairs each identifier with its own request and reply; a look-up by a variable loses the pairing.
    const operation = allOperations[route.operationId] as Operation<OperationId>
    const context = new RequestContext({ req, res, route, caller, key, share, refused }, options)
    const replying = operation({ workspaceId: workspaceOf(caller), ...checked }, context)
    share.rest()
    const reply = await replying
    share.work()
    if (reply.cookies) addHeaders(res, { 'Set-Cookie': writeCookies(reply.cookies, reached(req), publicUrl) })
    const { status, body: replied, file } = reply
    if (file) {
      share.rest()
      const assertAllowed = async () => {
        if (options.isStopping()) throw new Unavailable('shutting_down')
        if (performance.now() - identified_ms < RECHECKED_MS) return
        identified_ms = performance.now()
        await identify()
      }
      return await sendStreamed(req, res, { status, file, assertAllowed }, options)
    }
    if (replied === undefined) return answer(res, { status }, options)
    const sending = sendReply(req, res, { status, body: replied }, options)
    share.rest()
    await sending
  } catch (error) {
    const problem = problemOf(error)
    if (body !== undefined && arriving) {
      refused?.whole(problem, body, { head: arriving.head, bytes: arriving.length })
    } else if (!isChecked && !isCutShort(req)) {
      refused?.unread(problem)
    }
    // For its shape; whom the server has no room for is no worse for it.
    const isRefused = !isChecked && problem.status < 500
    if (key && arriving && isRefused) limiter.charge(key, arriving.length / REFUSED_EVENT_BYTES)
    throw error
  } finally {
    share.rest()
    arriving?.leave()
    leaveExports?.()
  }
}

/** What is refused of a request is kept where it is of an operation that senders in browsers call: nobody reads the answer. */
function refusedRequest(
  { workspace_id, key_id }: CallingKey,
  req: Request,
  { locals }: Response,
  { accepts, operationId }: Route,
  { storage, now }: AppOptions,
): RefusedRequest | undefined {
  if (!accepts.includes('publishable') || isDryRun(req.originalUrl)) return undefined
  const request = { workspace_id, key_id, request_id: locals.requestId, operation: operationId }
  return new RefusedRequest(storage.refusals, request, now)
}

/** Whether the client disconnected before its body had arrived. */
function isCutShort(req: Request): boolean {
  return req.destroyed && !req.complete
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

/** A body that is refused for its shape counts one event for each so many bytes, as a batch of small events has. */
const REFUSED_EVENT_BYTES = 4 * 1024

/** One that is refused for its rate has been read and checked too, and takes as long as an event for so many bytes. */
const LIMITED_EVENT_BYTES = 16 * 1024

/** A caller is believed for so long without another look. */
const BELIEVED_MS = 50

/** Whoever takes a long answer is looked at again after so long: what ends its power ends the answer. */
const RECHECKED_MS = 1_000
