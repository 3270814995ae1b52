import type { Request, Response } from 'express'
import type { Caller, Context, Contract, OperationId, OperationRequest, Route } from '../contract.ts'
import { browserName } from '../domain/browsers.ts'
import { newId } from '../domain/identifiers.ts'
import { journeyContract } from '../domain/journey-contract.ts'
import type { ServedMetrics } from '../metrics/served-metrics.ts'
import type { Reading } from '../storage/database.ts'
import { inTransaction } from '../storage/in-transaction.ts'
import type { ServedStorage } from '../storage/storage.ts'
import { ClientDisconnected, ownerOf } from './answers/answer.ts'
import { journeyContractFile } from './answers/journey-contract-file.ts'
import type { Callers } from './callers/callers.ts'
import { readCookies } from './callers/cookies.ts'
import type { Ingress } from './callers/origins.ts'
import type { ChangeQueue } from './rates/change-queue.ts'
import type { LoopTime } from './rates/loop-scheduler.ts'
import type { RateLimiter } from './rates/rate-limit.ts'
import type { RequestRate } from './rates/request-rate.ts'
import type { RefusedRequest } from './refused-requests.ts'

/** What is shared by the contexts of all requests. */
export type ContextOptions = {
  contract: Contract
  storage: ServedStorage
  callers: Callers
  metrics: ServedMetrics
  limiter: RateLimiter
  passwords: Context['passwords']
  changes: ChangeQueue
  attempts: Context['attempts']
  eventChecks: Context['eventChecks']
  violationTally: Context['violationTally']
  notedReaders: Context['notedReaders']
  sharedViews: Context['sharedViews']
  webhooks: Context['webhooks']
  /** What the operator permits members to do. */
  allowed: Context['allowed']
  /** Public URL of the server, if configured. */
  publicUrl: URL | undefined
  /** Milliseconds since 1970. */
  now: () => number
}

/** A request whose caller is authenticated and whose body is validated. */
type Served = {
  req: Request
  res: Response
  route: Route
  caller: Caller
  /** The owner of its rate limit; undefined if there is none. */
  rate: RequestRate | undefined
  loop: LoopTime
  /** For operations whose refusals are kept. */
  refused: RefusedRequest | undefined
}

/**
 * The context of an operation. Each part is created on access: an event uses four of them, and to create all of them
 * takes 4 kB of memory.
 */
export class RequestContext implements Context {
  readonly #served: Served
  readonly #options: ContextOptions

  constructor(served: Served, options: ContextOptions) {
    this.#served = served
    this.#options = options
  }

  get storage() {
    return this.#options.storage as Context['storage']
  }

  get caller() {
    return this.#served.caller
  }

  get reading() {
    return readingOf(this.#served.caller, this.#served.res)
  }

  get change(): Context['change'] {
    const { caller, route, res } = this.#served
    const { storage, callers, changes } = this.#options
    const owner = { workspaceId: workspaceOf(caller), caller: ownerOf(res) }
    return (work) =>
      changes.run(owner, () =>
        inTransaction(storage.db, async (db) => await work(db, await callers.recheck(db, caller, route))),
      )
  }

  get now() {
    return this.#options.now
  }

  get newId() {
    return newId
  }

  get tallyOf(): Context['tallyOf'] {
    return (key_id) => this.#options.metrics.tallies.of(key_id)
  }

  get checkBody(): Context['checkBody'] {
    return (id, body) => checkBody(id, body, this.#served.loop, this.#options)
  }

  get keepRefusal(): Context['keepRefusal'] {
    const { res, refused } = this.#served
    return (item) => {
      res.locals.rejected ??= {}
      res.locals.rejected[item.code] = (res.locals.rejected[item.code] ?? 0) + 1
      refused?.item(item)
    }
  }

  get refundRate(): Context['refundRate'] {
    const { rate } = this.#served
    return (count) => rate?.refund(count)
  }

  get eventChecks() {
    return this.#options.eventChecks
  }

  get violationTally() {
    return this.#options.violationTally
  }

  get notedReaders() {
    return this.#options.notedReaders
  }

  get sharedViews() {
    return this.#options.sharedViews
  }

  get webhooks() {
    return this.#options.webhooks
  }

  get address() {
    return this.#served.res.locals.address
  }

  get requestId() {
    return this.#served.res.locals.requestId
  }

  get browser() {
    return browserName(this.#served.req.headers['user-agent'])
  }

  get cookies() {
    return readCookies(ingressOf(this.#served.req), this.#options.publicUrl)
  }

  get passwords() {
    return this.#options.passwords
  }

  get attempts() {
    return this.#options.attempts
  }

  get allowed() {
    return this.#options.allowed
  }

  get journeyContract(): Context['journeyContract'] {
    const { document } = this.#options.contract
    return (journey, definitions) => {
      return journeyContractFile(journeyContract(document, journey, definitions), journey.journey_id)
    }
  }
}

/** Returns the workspace that a request is about; empty if it has none. */
export function workspaceOf(caller: Caller): string {
  if (caller.kind === 'key') return caller.key.workspace_id
  return (caller.kind === 'person' && caller.membership?.workspace_id) || ''
}

/** Returns how a request reached the server. */
export function ingressOf(req: Request): Ingress {
  return { headers: req.headers, host: req.host ?? '', isHttps: req.secure }
}

/** Validates a body that did not come as a request of its operation. */
async function checkBody<Id extends OperationId>(
  id: Id,
  body: unknown,
  loop: LoopTime,
  { contract }: ContextOptions,
): Promise<OperationRequest<Id>['body']> {
  const route = contract.routes.find(({ operationId }) => operationId === id)
  if (!route) throw new Error(`the contract has no ${id}`)
  const headers = { 'content-type': 'application/json' }
  const request = { method: route.method, originalUrl: route.path, headers, params: {} }
  // The route belongs to this operation.
  return (await route.check(request, body, loop)).body as OperationRequest<Id>['body']
}

function readingOf(caller: Caller, res: Response): Reading {
  const controller = new AbortController()
  const end = () => {
    if (!res.writableFinished) controller.abort(new ClientDisconnected())
  }
  // The client may have disconnected while its key was looked up.
  if (res.closed) end()
  else res.once('close', end)
  const { signal } = controller
  return { caller: res.locals.owner ?? '', workspaceId: workspaceOf(caller), signal }
}
