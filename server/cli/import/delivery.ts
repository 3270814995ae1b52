import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, type Problem, type Schemas, UnexpectedResponseError } from '../../../client/index.ts'
import { isGivenName } from '../../domain/names.ts'
import { CommandFailure, ExitCode } from '../failure.ts'
import { backoff_ms, causeText, noResponse, silence_ms, unavailable } from '../patient-fetch.ts'
import { Pace } from './pace.ts'
import { faultsText, type OwnCustomer, type Refusal } from './records.ts'

/** The outcome of an event. */
export type Outcome = 'created' | 'duplicate' | Refusal

export type CustomerOutcome = { customer_id: string; created: boolean } | Refusal

export type DeliveryOptions = {
  /** Must not retry by itself. */
  client: Client
  baseUrl: string
  /** How long the server may be unavailable before the import gives up. */
  patience_ms: number
  /** Ends every wait; requests already sent get some seconds more. */
  signal: AbortSignal
}

/** How long the response to a request is awaited once the import is stopped, so that the summary counts it. */
const GRACE_MS = 3_000

/** A request without a response for this long is shown as waiting for the server. */
const SLOW_MS = 3_000

type Answer<Data> =
  | { data: Data; error?: undefined; response: Response }
  | { data?: undefined; error: Problem; response: Response }

type Send<Data> = (signal: AbortSignal) => Promise<Answer<Data>>

/** Sends requests until they succeed: retries 429 without limit, and an unavailable server for a limited time. */
export class Delivery {
  readonly pace = new Pace()
  readonly #options: DeliveryOptions
  /** When the server became unavailable; undefined while it responds. */
  #awaySince_ms: number | undefined
  /** When the server last responded. */
  #responded_ms = 0
  /** When the requests in flight were sent, oldest first. */
  readonly #sent = new Set<{ at_ms: number }>()
  /** Set to false once the key turns out to be publishable: it cannot look up customers. */
  #canRead = true

  constructor(options: DeliveryOptions) {
    this.#options = options
  }

  /** Whether the server is unavailable now. */
  get isWaitingForServer(): boolean {
    if (this.#awaySince_ms !== undefined) return true
    const [oldest] = this.#sent
    return oldest !== undefined && Date.now() - Math.max(oldest.at_ms, this.#responded_ms) > SLOW_MS
  }

  /**
   * Creates or finds the customer, and enrols it in the journey.
   * @throws {CommandFailure} if the import cannot continue
   */
  async initialize(customer: OwnCustomer): Promise<CustomerOutcome> {
    const { customer_name = await this.#knownName(customer) } = customer
    if (customer_name === undefined) return nameRequired
    const body = { ...customer, customer_name }
    const { data, error } = await this.#request(1, (signal) =>
      this.#options.client.initializeCustomer({ body, signal }),
    )
    return data ?? refusalOf(error)
  }

  /**
   * Sends events as one batch. If the server refuses the batch because of some events, the others are sent again
   * without them.
   * @returns an outcome per event, in order
   * @throws {CommandFailure} if the import cannot continue
   */
  async createEvents(events: Schemas['EventCreation'][]): Promise<Outcome[]> {
    const body = { events }
    const { data, error } = await this.#request(events.length, (signal) =>
      this.#options.client.createEvents({ body, signal }),
    )
    if (data) return data.results.map(outcomeOf)
    const faulty = faultyEvents(error)
    const whole = refusalOf(error)
    if (events.length === 1) return [faulty.get(0) ?? whole]
    if (faulty.size === 0) {
      // The batch is too large, or the server does not say which event is at fault.
      const half = Math.ceil(events.length / 2)
      const first = await this.createEvents(events.slice(0, half))
      return [...first, ...(await this.createEvents(events.slice(half)))]
    }
    const others = events.filter((_, index) => !faulty.has(index))
    const outcomes = others.length > 0 ? await this.createEvents(others) : []
    let next = 0
    return events.map((_, index) => faulty.get(index) ?? outcomes[next++] ?? whole)
  }

  /**
   * Returns the name to send for a customer whose line has none: its current name, because any other would replace it,
   * or its own identifier if it is new. Undefined if the key may not look it up.
   */
  async #knownName({ customer_type, client_customer_id }: OwnCustomer): Promise<string | undefined> {
    // The initialization will be refused for the identifier, and not also for the name.
    if (typeof client_customer_id !== 'string') return 'unknown'
    if (!this.#canRead) return undefined
    const query = { customer_type, client_customer_id, limit: 1 }
    const { data, error } = await this.#request(1, (signal) =>
      this.#options.client.listCustomers({ query, signal }),
    )
    const known = data?.data[0]?.customer_name
    // A stored name without visible characters would be refused.
    if (data) return known !== undefined && isGivenName(known) ? known : client_customer_id
    if (error.code !== 'secret_key_required') return client_customer_id
    this.#canRead = false
    return undefined
  }

  /** Sends until the response is final, that is, neither a rate limit nor an outage. */
  async #request<Data>(events: number, send: Send<Data>): Promise<Answer<Data>> {
    const { signal } = this.#options
    for (let attempt = 0; ; attempt += 1) {
      signal.throwIfAborted()
      await this.pace.take(events, signal)
      let answer: Answer<Data> | undefined
      let response: Response | undefined
      let reason: string
      const sent = { at_ms: Date.now() }
      this.#sent.add(sent)
      try {
        answer = await this.#attempt(send)
        response = answer.response
        reason = `${response.status} ${answer.error?.code}, request ${answer.error?.request_id}`
      } catch (error) {
        // A proxy answers 413, 429 and 503 in its own format.
        if (error instanceof UnexpectedResponseError) response = error.response
        reason = causeText(error)
      } finally {
        this.#sent.delete(sent)
      }
      this.pace.settle(events, response)
      const status = response?.status ?? 503
      if (!answer && response?.status === 413) answer = { error: tooLargeForProxy, response }
      if (!answer && status < 500 && status !== 429) {
        throw new CommandFailure(`${reason}. ${AGAIN}`)
      }
      if (status < 500) {
        this.#awaySince_ms = undefined
        this.#responded_ms = Date.now()
      }
      if (answer?.error && (status === 401 || answer.error.code === 'origin_not_allowed')) {
        const { code, detail } = answer.error
        throw new CommandFailure(`the server refused the key: ${code}. ${detail} ${AGAIN}`, ExitCode.usage)
      }
      if (answer && status < 500 && status !== 429) return answer
      if (status >= 500) {
        this.#awaySince_ms ??= Math.max(sent.at_ms, this.#responded_ms)
        await this.#wait(reason, backoff_ms(attempt, response?.headers.get('retry-after')))
      }
    }
  }

  /** Sends once. A request without a response is given up after a time: resending it is safe. */
  async #attempt<Data>(send: Send<Data>): Promise<Answer<Data>> {
    const { patience_ms, signal } = this.#options
    const cut = new AbortController()
    const cutAfter = (limit_ms: number) => setTimeout(() => cut.abort(noResponse(limit_ms)), limit_ms)
    const timers = [cutAfter(silence_ms(patience_ms))]
    const stopped = () => timers.push(cutAfter(GRACE_MS))
    signal.addEventListener('abort', stopped)
    try {
      return await send(cut.signal)
    } finally {
      signal.removeEventListener('abort', stopped)
      for (const timer of timers) clearTimeout(timer)
    }
  }

  /** @throws {CommandFailure} if the server has been unavailable for too long */
  async #wait(reason: string, wait_ms: number): Promise<void> {
    const { baseUrl, patience_ms, signal } = this.#options
    const left_ms = (this.#awaySince_ms ?? 0) + patience_ms - Date.now()
    if (left_ms <= 0) throw unavailable(baseUrl, { patience_ms, reason, advice: AGAIN })
    await sleep(Math.min(wait_ms, left_ms), undefined, { signal })
  }
}

/** Ends the message of an unfinished import. */
export const AGAIN =
  'Run the same command again to resume: events that are already stored are not stored twice.'

/** A proxy's own 413: to the import the same as the server's. */
const tooLargeForProxy: Problem = {
  type: 'about:blank',
  title: 'The body is too large for a proxy',
  status: 413,
  code: 'body_too_large',
  detail:
    'A proxy in front of the server refuses a request with this line alone. Raise its limit (nginx: client_max_body_size).',
  request_id: '',
}

const nameRequired: Refusal = {
  code: 'customer_name_required',
  detail: 'Add customer_name, or use a secret key, which can look up the current name.',
}

function outcomeOf(result: Schemas['EventResult']): Outcome {
  const { status, problem } = result
  if (problem) return { code: problem.code, detail: faultsText(problem.errors ?? []) || problem.detail }
  if (status === 'rejected') throw new Error('the server rejected an event without a reason')
  return status
}

/** Codes for a fault in one line, as opposed to the request: the next line may be valid. */
const LINE_CODES: ReadonlySet<string> = new Set<Refusal['code']>([
  'invalid_request',
  'invalid_json',
  'body_too_large',
  'journey_not_found',
  'journey_archived',
])

/** @throws {CommandFailure} if every other line would be refused for the same reason */
function refusalOf({ code, detail, errors = [], request_id }: Problem): Refusal {
  if (!LINE_CODES.has(code)) {
    const isElsewhere = code === 'not_found' || code === 'method_not_allowed'
    const advice = isElsewhere ? 'Check --base-url: it ends with /v1.' : AGAIN
    throw new CommandFailure(
      `the server refused the import: ${code}. ${detail} (request ${request_id}) ${advice}`,
    )
  }
  return { code, detail: faultsText(errors) || detail }
}

/** Returns the events of a batch that the problem points at, with what is wrong with each. */
function faultyEvents({ code, errors = [] }: Problem): Map<number, Refusal> {
  const faults = Map.groupBy(errors, ({ pointer }) => /^\/events\/(\d+)(?:\/|$)/.exec(pointer ?? '')?.[1])
  const refusals = new Map<number, Refusal>()
  for (const [index, of] of faults) {
    if (index === undefined) continue
    const own = of.map(({ detail, pointer = '' }) => ({
      detail,
      pointer: pointer.replace(`/events/${index}`, ''),
    }))
    refusals.set(Number(index), { code, detail: faultsText(own) })
  }
  return refusals
}
