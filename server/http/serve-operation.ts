import type { Request, Response } from 'express'
import type { Caller, Operation, OperationId, OperationRequest, Route } from '../contract.ts'
import { networkOf } from '../domain/addresses.ts'
import type { JsonValue } from '../domain/json-text.ts'
import { allOperations } from '../operations/index.ts'
import type { CallingKey } from '../storage/tables/service-keys.ts'
import { Unavailable } from '../storage/unavailable.ts'
import { type Answering, addHeaders, answer, ownerOf, problemOf, sendReply } from './answers/answer.ts'
import { sendStreamed } from './answers/streamed-file.ts'
import { writeCookies } from './callers/cookies.ts'
import { KeyRejected } from './callers/credentials.ts'
import type { ExportSlots } from './rates/export-slots.ts'
import type { LoopScheduler, LoopTime } from './rates/loop-scheduler.ts'
import type { LimitedKey } from './rates/rate-limit.ts'
import { RequestRate } from './rates/request-rate.ts'
import { isDryRun, RefusedRequest } from './refused-requests.ts'
import { type ArrivingBody, type BodyMemory, ignoreBody } from './request-body.ts'
import { type ContextOptions, ingressOf, RequestContext, workspaceOf } from './request-context.ts'
import { refusalOf } from './requests-by-socket.ts'

export type ServeOptions = ContextOptions &
  Answering & {
    scheduler: LoopScheduler
    bodies: BodyMemory
    exports: ExportSlots
    /** Whether new work is refused because the process is shutting down. */
    isStopping: () => boolean
  }

/** One request and what it is served with. */
type Exchange = {
  route: Route
  req: Request
  res: Response
  options: ServeOptions
  /** What to release once the request has been answered. */
  releases: (() => void)[]
}

/** What is known of a request before its body is read. */
type Admitted = {
  identity: Identity
  loop: LoopTime
  rate: RequestRate | undefined
  body: ArrivingBody | undefined
  refused: RefusedRequest | undefined
}

/** A request that is valid by the contract, with its body as it was sent. */
type Received = { checked: Omit<OperationRequest<OperationId>, 'workspaceId'>; sent: JsonValue | undefined }

type Reply = Awaited<ReturnType<Operation<OperationId>>>

/** Serves one request of an operation in four steps. Each refuses by throwing; their order is part of the contract. */
export async function serveOperation(
  route: Route,
  req: Request,
  res: Response,
  options: ServeOptions,
): Promise<void> {
  const exchange: Exchange = { route, req, res, options, releases: [] }
  res.locals.operation = route.operationId
  try {
    const admitted = await admit(exchange)
    const received = await receive(exchange, admitted)
    const reply = await perform(exchange, admitted, received)
    await send(exchange, admitted, reply)
  } finally {
    for (const release of exchange.releases) release()
  }
}

/**
 * Authenticates the caller, queues if necessary, takes its rate, checks for overload, and reserves memory for the body.
 */
async function admit(exchange: Exchange): Promise<Admitted> {
  const { route, req, res, options, releases } = exchange
  const { bodies, limiter, storage, scheduler } = options
  const identity = new Identity(exchange)
  const caller = await identity.check()
  const key = limitedKey(caller, res)
  if (caller.kind === 'key') res.locals.key_id = caller.key.key_id
  if (caller.kind === 'person') res.locals.person_id = caller.session.person_id
  res.locals.owner = key?.key_id
  const loop = scheduler.begin({ workspaceId: workspaceOf(caller), caller: ownerOf(res) })
  await loop.next()
  releases.push(() => loop.end())
  const rate = key && new RequestRate(limiter, key, res)
  rate?.take()
  if (options.isStopping()) throw new Unavailable('shutting_down')
  storage.assertAvailable(route.method === 'GET' ? 'read' : 'write', workspaceOf(caller))
  const refused = caller.kind === 'key' ? refusedRequest(caller.key, exchange) : undefined
  if (!route.hasBody) {
    ignoreBody(req)
    return { identity, loop, rate, refused, body: undefined }
  }
  const body = bodies.enter({ owner: ownerOf(res), isNobody: caller.kind === 'nobody' })
  releases.push(() => body.leave())
  return { identity, loop, rate, refused, body }
}

/** Reads the body and checks the request against the contract. A malformed request is charged and recorded. */
async function receive({ route, req }: Exchange, admitted: Admitted): Promise<Received> {
  const { body, loop, rate, refused } = admitted
  let sent: JsonValue | undefined
  try {
    sent = await body?.json(req, route.bodyLimits, loop)
    return { checked: await route.check(req, sent, loop), sent }
  } catch (error) {
    const problem = problemOf(error)
    // Nothing of it was parsed.
    if (problem === refusalOf(req)) throw problem
    if (body && sent !== undefined) refused?.whole(problem, sent, body.sent)
    else if (!isCutShort(req)) refused?.unread(problem)
    // A server that is overloaded is not the sender's fault.
    if (body && problem.status < 500) rate?.chargeRejected(body.length)
    throw error
  }
}

/** Performs the operation and records its refusals. */
async function perform(exchange: Exchange, admitted: Admitted, received: Received): Promise<Reply> {
  const { route, req, res, options, releases } = exchange
  const { identity, loop, rate, body, refused } = admitted
  const { checked, sent } = received
  try {
    // Again, because the caller may have been removed, signed out or revoked while it sent its body or was queued.
    const caller = await identity.checkAfter(BELIEVED_MS)
    const refusal = refusalOf(req)
    if (refusal) throw refusal
    if (route.isFile) {
      releases.push(options.exports.enter({ workspaceId: workspaceOf(caller), caller: ownerOf(res) }))
    }
    if (body) rate?.takeRest(route.count(sent), body.length)
    // The table pairs each operationId with its own request and reply type; a lookup by a variable loses the pairing.
    const operation = allOperations[route.operationId] as Operation<OperationId>
    const context = new RequestContext({ req, res, route, caller, rate, loop, refused }, options)
    return await loop.away(operation({ workspaceId: workspaceOf(caller), ...checked }, context))
  } catch (error) {
    if (body && sent !== undefined) refused?.whole(problemOf(error), sent, body.sent)
    throw error
  }
}

async function send(exchange: Exchange, { identity, loop }: Admitted, reply: Reply): Promise<void> {
  const { req, res, options } = exchange
  const { status, body, file, cookies } = reply
  if (cookies) addHeaders(res, { 'Set-Cookie': writeCookies(cookies, ingressOf(req), options.publicUrl) })
  if (file) {
    const assertAllowed = async () => {
      if (options.isStopping()) throw new Unavailable('shutting_down')
      await identity.checkAfter(RECHECKED_MS)
    }
    return await loop.away(sendStreamed(req, res, { status, file, assertAllowed }, options))
  }
  if (body === undefined) return answer(res, { status }, options)
  await loop.away(sendReply(req, res, { status, body }, options))
}

/** The caller of a request, as of the last check. */
class Identity {
  readonly #exchange: Exchange
  #caller: Caller | undefined
  #checked_ms = 0

  constructor(exchange: Exchange) {
    this.#exchange = exchange
  }

  /** @throws {Problem} 401 or 403 if the caller may not perform the operation */
  async check(): Promise<Caller> {
    const { route, req, res, options } = this.#exchange
    const sender = { ingress: () => ingressOf(req), network: () => networkOf(res.locals.address) }
    try {
      this.#caller = await options.callers.check(req.headers, sender, route, this.#caller)
    } catch (error) {
      if (error instanceof KeyRejected) refusedRequest(error.key, this.#exchange)?.count(error)
      throw error
    }
    this.#checked_ms = performance.now()
    return this.#caller
  }

  /** Checks again, unless the last check is recent. */
  async checkAfter(age_ms: number): Promise<Caller> {
    const isRecent = performance.now() - this.#checked_ms <= age_ms
    return this.#caller && isRecent ? this.#caller : await this.check()
  }
}

/**
 * Returns where to record refusals. Only for operations that browsers call, because there nobody reads the response.
 */
function refusedRequest(
  { workspace_id, key_id }: CallingKey,
  { req, res, route, options }: Exchange,
): RefusedRequest | undefined {
  const { accepts, operationId } = route
  if (!accepts.includes('publishable') || isDryRun(req.originalUrl)) return undefined
  const request = { workspace_id, key_id, request_id: res.locals.requestId, operation: operationId }
  return new RefusedRequest(options.storage.refusals, request, options.now)
}

/** Whether the client disconnected before its body had arrived. */
function isCutShort(req: Request): boolean {
  return req.destroyed && !req.complete
}

/**
 * Returns what the rate is counted by: the key, for a publishable one also the network, or the person. Attempts without
 * a credential are throttled elsewhere.
 */
function limitedKey(caller: Caller, { locals }: Response): LimitedKey | undefined {
  if (caller.kind === 'key') {
    const { key_id, rate_limit, kind } = caller.key
    return kind === 'secret' ? caller.key : { key_id, rate_limit, network: networkOf(locals.address) }
  }
  return caller.kind === 'person' ? { key_id: caller.session.person_id, rate_limit: null } : undefined
}

/** Maximum age of an authentication when the operation starts. */
const BELIEVED_MS = 50

/** Interval of re-authentication during a long response, so that revoking a key ends it. */
const RECHECKED_MS = 1_000
