import type { JsonValue } from '../domain/json.ts'
import { SENT_BYTES } from '../domain/sent-head.ts'
import { type Problem, type ProblemCode, problems } from '../problems.ts'
import type { RefusalStore, Refused, Sent } from '../storage/refusals/refusals.ts'

/** What a request says of itself, whatever becomes of it. */
export type Request = Pick<Refused, 'workspace_id' | 'key_id' | 'request_id' | 'operation'>

export type RefusedItem = {
  code: ProblemCode
  status: number
  /** Its place in the batch. */
  item: number
  /** The event. */
  sent: object
}

/** A body that could not be read: it is counted, and nothing of it is kept. */
const UNREAD_STATUSES: readonly (typeof problems)[ProblemCode]['status'][] = [400, 413, 415]

/** Those that tell a sender that its request is wrong in its content; not 410: of who was erased nothing is kept. */
const KEPT_STATUSES: readonly (typeof problems)[ProblemCode]['status'][] = [400, 404, 409]

/** Offers what one request was refused for to those who look for it later. */
export class RefusedRequest {
  readonly #refusals: RefusalStore
  readonly #request: Request
  readonly #now: () => number

  constructor(refusals: RefusalStore, request: Request, now: () => number) {
    this.#refusals = refusals
    this.#request = request
    this.#now = now
  }

  /** The request as a whole, whose body could be read. @param sent the body as it was sent */
  whole(problem: Problem, body: JsonValue, sent: Sent): void {
    const code = problem.keptAs
    const { status } = problems[code]
    if (!KEPT_STATUSES.some((kept) => kept === status)) return
    const { errors, errors_omitted } = problem.details('')
    const faults = { ...(errors && { errors }), ...(errors_omitted && { errors_omitted }) }
    this.#offer({ code, status, ...faults, item: null, ...namesOf(body) }, () => sent)
  }

  /** The request as a whole, whose body could not be read. */
  unread(problem: Problem): void {
    if (UNREAD_STATUSES.some((status) => status === problem.status)) this.count(problem)
  }

  /** Counts the request, of which nothing is kept. */
  count({ code, status }: Problem): void {
    this.#refusals.offer({ ...this.#request, ...NOTHING_NAMED, received_ms: this.#now(), code, status }, null)
  }

  /** One item of a batch. */
  item({ code, status, item, sent }: RefusedItem): void {
    if (code === 'customer_erased') return
    this.#offer({ code, status, item, ...namesOf(sent) }, () => {
      const text = Buffer.from(JSON.stringify(sent))
      return { head: text.subarray(0, SENT_BYTES), bytes: text.length }
    })
  }

  #offer(
    refused: Omit<Refused, 'workspace_id' | 'key_id' | 'request_id' | 'operation' | 'received_ms'>,
    sent: () => Sent,
  ) {
    this.#refusals.offer({ ...this.#request, received_ms: this.#now(), ...refused }, sent)
  }
}

/**
 * Whether a request was a question, which has its answer. Also where the contract has refused the rest of it.
 * @param target with the query
 */
export function isDryRun(target: string): boolean {
  const start = target.indexOf('?')
  return start !== -1 && new URLSearchParams(target.slice(start)).get('dry_run') === 'true'
}

/** What a body refers to, as far as it says so in the way of the contract. */
function namesOf(body: object | JsonValue) {
  const name = (field: string) => {
    const value: unknown = Object(body)[field]
    return typeof value === 'string' && NAME.test(value) ? value : null
  }
  return { journey_id: name('journey_id'), customer_id: name('customer_id'), event_id: name('event_id') }
}

const NOTHING_NAMED = { item: null, journey_id: null, customer_id: null, event_id: null }

/** Of the contract's length, and without NUL, which no engine keeps. */
const NAME = /^[^\0]{1,255}$/u
