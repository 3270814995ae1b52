import { setTimeout } from 'node:timers/promises'
import { type Client, type Problem, type Schemas, UnexpectedResponseError } from '../../../client/index.ts'
import { isGivenName } from '../../domain/names.ts'
import { CommandFailure, ExitCode } from '../failure.ts'
import { Pace } from './pace.ts'
import { faultsText, type OwnCustomer, type Refusal } from './records.ts'

/** What became of an event or a customer. */
export type Outcome = 'created' | 'duplicate' | Refusal

export type CustomerOutcome = { customer_id: string; created: boolean } | Refusal

export type DeliveryOptions = {
  /** Without retries of its own. */
  client: Client
  baseUrl: string
  /** How long a server may be away before the import gives up. */
  patience_ms: number
  /** Ends every wait; what has been sent is waited for. */
  signal: AbortSignal
}

const FIRST_BACKOFF_MS = 250
const LONGEST_BACKOFF_MS = 5_000

type Answer<Data> =
  | { data: Data; error?: undefined; response: Response }
  | { data?: undefined; error: Problem; response: Response }

/** Sends to the server for as long as it takes: 429 without end, a server that is away for a bounded time. */
export class Delivery {
  readonly pace = new Pace()
  readonly #options: DeliveryOptions
  /** Since when nothing was answered; undefined while all is well. */
  #awaySince_ms: number | undefined
  /** A publishable key cannot look customers up. */
  #canRead = true

  constructor(options: DeliveryOptions) {
    this.#options = options
  }

  /** Whether the server is away now. */
  get isWaitingForServer(): boolean {
    return this.#awaySince_ms !== undefined
  }

  /**
   * Makes the customer or finds it, and enters it in the journey.
   * @throws {CommandFailure} where the import cannot go on
   */
  async initialize(customer: OwnCustomer): Promise<CustomerOutcome> {
    const { customer_name = await this.#knownName(customer) } = customer
    if (customer_name === undefined) return nameRequired
    const body = { ...customer, customer_name }
    const { data, error } = await this.#request(1, () => this.#options.client.initializeCustomer({ body }))
    return data ?? refusalOf(error)
  }

  /**
   * Sends events as one batch. Where the server refuses the batch for some of them, the others are sent again without.
   * @returns an outcome for each, in order
   * @throws {CommandFailure} where the import cannot go on
   */
  async createEvents(events: Schemas['EventCreation'][]): Promise<Outcome[]> {
    const body = { events }
    const { data, error } = await this.#request(events.length, () =>
      this.#options.client.createEvents({ body }),
    )
    if (data) return data.results.map(outcomeOf)
    const faulty = faultyEvents(error)
    const whole = refusalOf(error)
    if (events.length === 1) return [faulty.get(0) ?? whole]
    if (faulty.size === 0) {
      // It is too large, or the server does not tell which event is at fault.
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
   * The name to send for a customer whose line has none: the one that it has, because another would replace it, or else
   * its own identifier. Undefined where the key may not look it up.
   */
  async #knownName({ customer_type, client_customer_id }: OwnCustomer): Promise<string | undefined> {
    // What is no identifier is refused with the initialization.
    if (typeof client_customer_id !== 'string') return ''
    if (!this.#canRead) return undefined
    const query = { customer_type, client_customer_id, limit: 1 }
    const { data, error } = await this.#request(1, () => this.#options.client.listCustomers({ query }))
    const known = data?.data[0]?.customer_name
    // A name that nobody can see would be refused.
    if (data) return known !== undefined && isGivenName(known) ? known : client_customer_id
    if (error.code !== 'secret_key_required') return client_customer_id
    this.#canRead = false
    return undefined
  }

  /** Sends until there is an answer that is about the request and not about the moment. */
  async #request<Data>(events: number, send: () => Promise<Answer<Data>>): Promise<Answer<Data>> {
    const { signal } = this.#options
    for (let attempt = 0; ; attempt += 1) {
      signal.throwIfAborted()
      await this.pace.take(events, signal)
      let answer: Answer<Data> | undefined
      let response: Response | undefined
      let reason: string
      try {
        answer = await send()
        response = answer.response
        reason = `${response.status} ${answer.error?.code}, request ${answer.error?.request_id}`
      } catch (error) {
        // A proxy has its own words for 429 and 503.
        if (error instanceof UnexpectedResponseError) response = error.response
        reason = causeOf(error)
      }
      this.pace.settle(events, response)
      const status = response?.status ?? 503
      if (!answer && status < 500 && status !== 429) {
        throw new CommandFailure(`${reason.replace('baseUrl', '--base-url')} ${AGAIN}`)
      }
      if (status < 500) this.#awaySince_ms = undefined
      if (answer?.error && (status === 401 || answer.error.code === 'origin_not_allowed')) {
        const { code, detail } = answer.error
        throw new CommandFailure(`the server refuses the key: ${code}. ${detail} ${AGAIN}`, ExitCode.usage)
      }
      if (answer && status < 500 && status !== 429) return answer
      if (status >= 500)
        await this.#wait({ attempt, reason, retryAfter: response?.headers.get('retry-after') })
    }
  }

  /** @throws {CommandFailure} where the server has been away for too long */
  async #wait(why: {
    attempt: number
    reason: string
    retryAfter: string | null | undefined
  }): Promise<void> {
    const { baseUrl, patience_ms, signal } = this.#options
    const now_ms = Date.now()
    this.#awaySince_ms ??= now_ms
    const left_ms = this.#awaySince_ms + patience_ms - now_ms
    if (left_ms <= 0) {
      const seconds = Math.round(patience_ms / 1000)
      throw new CommandFailure(`${baseUrl} could not take anything for ${seconds} s: ${why.reason}. ${AGAIN}`)
    }
    const backoff_ms = Math.min(FIRST_BACKOFF_MS * 2 ** Math.min(why.attempt, 10), LONGEST_BACKOFF_MS)
    // With jitter, so that several do not come back together.
    const wait_ms = Math.max((Number(why.retryAfter) || 0) * 1000, backoff_ms * (0.5 + Math.random() / 2))
    await setTimeout(Math.min(wait_ms, left_ms), undefined, { signal })
  }
}

/** What a message ends with where the import did not come to its end. */
export const AGAIN =
  'Run the same command again to go on: what is stored already is recognised and not stored twice.'

const nameRequired: Refusal = {
  code: 'customer_name_required',
  detail:
    'Give customer_name, or use a secret key, with which the name that the customer has can be looked up.',
}

function outcomeOf(result: Schemas['EventResult']): Outcome {
  const { status, problem } = result
  if (problem) return { code: problem.code, detail: problem.detail }
  if (status === 'rejected') throw new Error('the server rejected an event without saying why')
  return status
}

/** Refusals of what was sent, as opposed to how: the line is at fault and the next one may be well. */
const LINE_CODES: ReadonlySet<string> = new Set<Refusal['code']>([
  'invalid_request',
  'invalid_json',
  'body_too_large',
  'journey_not_found',
  'journey_archived',
])

/** @throws {CommandFailure} where every other line would be refused for the same */
function refusalOf({ code, detail, errors = [], request_id }: Problem): Refusal {
  if (!LINE_CODES.has(code)) {
    const advice = code === 'not_found' ? 'Check --base-url: it ends with /v1.' : AGAIN
    throw new CommandFailure(
      `the server refuses the import: ${code}. ${detail} (request ${request_id}) ${advice}`,
    )
  }
  return { code, detail: faultsText(errors) || detail }
}

/** The events of a batch that the problem points at, and what is wrong with each. */
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

/** Why fetch found no answer: its own error only says that it failed. */
function causeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if (!(cause instanceof Error)) return String(cause)
  return cause.message || ('code' in cause ? String(cause.code) : cause.name)
}
