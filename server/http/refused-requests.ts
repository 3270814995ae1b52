import type { JsonValue } from '../domain/json-text.ts'
import { SENT_BYTES } from '../domain/sent-head.ts'
import { type Fault, type Problem, type ProblemCode, problems } from '../problems.ts'
import type { Refused, Sent } from '../storage/refusals/refusal-writer.ts'
import type { RefusalStore } from '../storage/refusals/refusals.ts'

/** The identity of a request, whatever its outcome. */
export type Request = Pick<Refused, 'workspace_id' | 'key_id' | 'request_id' | 'operation'>

export type RefusedItem = {
  code: ProblemCode
  status: number
  /** Empty if the code says everything. */
  faults: Fault[]
  /** Its index in the batch. */
  item: number
  /** The event. */
  sent: object
}

/** Statuses of a body that could not be read: it is counted, and nothing of it is kept. */
const UNREAD_STATUSES: readonly (typeof problems)[ProblemCode]['status'][] = [400, 413, 415]

/** Statuses that mean the content of a request was wrong. Not 410: nothing of an erased customer is kept. */
const KEPT_STATUSES: readonly (typeof problems)[ProblemCode]['status'][] = [400, 404, 409]

/** Records what one request was refused for, so that it can be inspected later. */
export class RefusedRequest {
  readonly #refusals: RefusalStore
  readonly #request: Request
  readonly #now: () => number

  constructor(refusals: RefusalStore, request: Request, now: () => number) {
    this.#refusals = refusals
    this.#request = request
    this.#now = now
  }

  /** Records a whole request whose body could be read. @param sent the body as it was sent */
  whole(problem: Problem, body: JsonValue, sent: Sent): void {
    const code = problem.keptAs
    const { status } = problems[code]
    if (!KEPT_STATUSES.includes(status)) return
    const { errors, errors_omitted } = problem.details('')
    const faults = { ...(errors && { errors }), ...(errors_omitted && { errors_omitted }) }
    this.#offer({ code, status, ...faults, item: null, ...namesOf(body) }, () => sent)
  }

  /** Records a whole request whose body could not be read. */
  unread(problem: Problem): void {
    if (UNREAD_STATUSES.some((status) => status === problem.status)) this.count(problem)
  }

  /** Counts the request without keeping its content. */
  count({ code, status }: Problem): void {
    this.#refusals.offer({ ...this.#request, ...NOTHING_NAMED, received_ms: this.#now(), code, status }, null)
  }

  /** Records one item of a batch. */
  item({ code, status, faults, item, sent }: RefusedItem): void {
    if (code === 'customer_erased') return
    const errors = faults.length > 0 && { errors: faults }
    this.#offer({ code, status, ...errors, item, ...namesOf(sent) }, () => {
      const text = Buffer.from(JSON.stringify(sent))
      return { head: text.subarray(0, SENT_BYTES), bytes: text.length }
    })
  }

  #offer(refused: Omit<Refused, keyof Request | 'received_ms'>, sent: () => Sent) {
    this.#refusals.offer({ ...this.#request, received_ms: this.#now(), ...refused }, sent)
  }
}

/**
 * Whether a request was a dry run, which has its answer and is not recorded. Works even if the contract refused the
 * rest of it.
 * @param target including the query
 */
export function isDryRun(target: string): boolean {
  const start = target.indexOf('?')
  return start !== -1 && new URLSearchParams(target.slice(start)).get('dry_run') === 'true'
}

/** Returns what a body refers to, as far as its fields have the contract's types. */
function namesOf(body: object | JsonValue) {
  const name = (field: string) => {
    const value: unknown = Object(body)[field]
    return typeof value === 'string' && NAME.test(value) ? value : null
  }
  return { journey_id: name('journey_id'), customer_id: name('customer_id'), event_id: name('event_id') }
}

const NOTHING_NAMED = { item: null, journey_id: null, customer_id: null, event_id: null }

/** Within the contract's length, and without NUL, which no engine stores. */
const NAME = /^[^\0]{1,255}$/u
