import { addAbortSignal, type Readable } from 'node:stream'
import type { Schemas } from '../../../client/index.ts'
import { type Line, readLines } from '../lines.ts'
import type { CustomerOutcome, Delivery } from './delivery.ts'
import { LineReader, type LineRecord, type OwnCustomer, type Refusal } from './records.ts'

/** Maximum batches in flight: the server writes one while the next is read. */
const BATCHES = 3

/** Maximum customers in flight. */
const CUSTOMERS = 16

/** The contract's limits for a batch. */
const BATCH_EVENTS = 1000
const BATCH_BYTES = 4 * 1024 * 1024

/** Bytes that may be added to an event: a journey_id and a customer_id of 255 characters each, and a message_id. */
const ADDED_BYTES = 2048

/** Maximum initializations cached, so that each is sent once; a customer takes two entries. */
const KNOWN_CUSTOMERS = 200_000

/** The outcome of the lines so far. */
export type Counts = {
  /** Without blank lines. */
  lines: number
  read_bytes: number
  created: number
  duplicate: number
  refused: number
  /** Customers that were initialized; `new_customers` of them were new. */
  customers: number
  new_customers: number
}

/** A refused line. An event's `message_id` is its own or the generated one. */
export type RefusedLine = Refusal & { line: Line; message_id?: string | undefined }

export type ImporterOptions = {
  delivery: Delivery
  /** The journey for lines without one. */
  journeyId: string | undefined
  /** Only reads: nothing is sent, so what the server would refuse is not detected. */
  dryRun: boolean
  onRefused: (refused: RefusedLine) => void
  /** Stops reading; requests already sent get some seconds more. */
  stop: AbortController
}

type Initialization = {
  /** Undefined if the line did not change the name. */
  name: string | undefined
  outcome: Promise<CustomerOutcome>
  isStored: boolean
}

type Pending = {
  line: Line
  event: Schemas['EventCreation']
  /** The initialization that provides the event's customer_id. */
  customer: Promise<CustomerOutcome> | undefined
}

/**
 * Sends a file's lines to the server: customers before the events that follow them, events in batches, several of them
 * in flight. Its memory does not grow with the file, except for the digests of lines without a `message_id`.
 */
export class Importer {
  readonly counts: Counts = {
    lines: 0,
    read_bytes: 0,
    created: 0,
    duplicate: 0,
    refused: 0,
    customers: 0,
    new_customers: 0,
  }
  readonly #options: ImporterOptions
  readonly #reader: LineReader
  /** The last initialization per customer, and per customer and journey. */
  readonly #customers = new Map<string, Initialization>()
  readonly #customerTasks: Tasks
  readonly #batchTasks: Tasks
  #batch: Pending[] = []
  #batchBytes = ADDED_BYTES
  /** The first response reveals the key's rate limit; until then only one event is sent. */
  #isFirst = true

  constructor(options: ImporterOptions) {
    this.#options = options
    this.#reader = new LineReader(options)
    const onFailure = (error: unknown) => options.stop.abort(error)
    this.#customerTasks = new Tasks(CUSTOMERS, onFailure)
    this.#batchTasks = new Tasks(BATCHES, onFailure)
  }

  /**
   * Resolves when every line has an outcome.
   * @throws the reason for which `stop` was aborted, or an input error, after the responses to what was sent
   */
  async run(input: Readable): Promise<void> {
    const { signal } = this.#options.stop
    try {
      const onRead = (bytes: number) => {
        this.counts.read_bytes += bytes
      }
      // An input without a next line, such as an idle pipe, must not hold the import.
      for await (const lines of readLines(addAbortSignal(signal, input), onRead)) {
        for (const line of lines) {
          signal.throwIfAborted()
          this.counts.lines += 1
          await this.#take(this.#reader.read(line))
        }
      }
      await this.#flush()
    } catch (error) {
      // Every line that was read has an outcome, so that the counts say what is stored.
      if (!signal.aborted) await this.#flush()
      throw error
    } finally {
      await this.#batchTasks.ended()
      await this.#customerTasks.ended()
    }
    signal.throwIfAborted()
  }

  async #take(record: LineRecord): Promise<void> {
    const { line } = record
    if (record.kind === 'refused') return this.#refuse({ ...record.refusal, line })
    if (this.#options.dryRun) return
    if (record.kind === 'customer') {
      await this.#customerTasks.room()
      this.#initialize(record.customer, line)
      return
    }
    const { event, customer } = record
    if (customer && this.#isNews(customer)) {
      await this.#customerTasks.room()
      this.#initialize(customer)
    }
    const bytes = (line.bytes?.length ?? 0) + ADDED_BYTES
    if (this.#batchBytes + bytes > BATCH_BYTES) await this.#flush()
    this.#batch.push({
      line,
      event,
      customer: customer && this.#customers.get(enrolmentKey(customer))?.outcome,
    })
    this.#batchBytes += bytes
    const limit = this.#isFirst ? 1 : Math.min(BATCH_EVENTS, this.#options.delivery.pace.batchSize)
    if (this.#batch.length >= limit) await this.#flush()
  }

  /**
   * Whether no line so far has enrolled the customer in the journey, or the last line with the customer had another
   * name. An initialization in flight for another journey does not count: it may be refused, and its name with it.
   */
  #isNews(customer: OwnCustomer): boolean {
    const { customer_name } = customer
    const entered = this.#customers.get(enrolmentKey(customer))
    if (!entered) return true
    if (customer_name === undefined) return false
    const last = this.#customers.get(customerKey(customer))
    return last?.name !== customer_name || (last !== entered && !last.isStored)
  }

  /** @param line set if the line is about the customer itself and not an event */
  #initialize(customer: OwnCustomer, line?: Line) {
    // One after the other, because the server keeps the name that it receives last.
    const before = this.#customers.get(customerKey(customer))?.outcome
    const outcome = this.#customerTasks.start(async () => {
      await before?.catch(() => {})
      const outcome = await this.#options.delivery.initialize(customer)
      if ('customer_id' in outcome) this.#countCustomer(outcome)
      else if (line) this.#refuse({ ...outcome, line })
      return outcome
    })
    const initialization: Initialization = { name: customer.customer_name, outcome, isStored: false }
    this.#remember(customerKey(customer), initialization)
    this.#remember(enrolmentKey(customer), initialization)
  }

  /** Caches an initialization; a refused one is removed again, because a later line may be correct. */
  #remember(key: string, initialization: Initialization) {
    this.#customers.delete(key)
    this.#customers.set(key, initialization)
    const [oldest] = this.#customers.keys()
    if (this.#customers.size > KNOWN_CUSTOMERS && oldest !== undefined) this.#customers.delete(oldest)
    const forgetRefused = (customer?: CustomerOutcome) => {
      const isRefused = customer === undefined || 'code' in customer
      initialization.isStored = !isRefused
      if (isRefused && this.#customers.get(key) === initialization) this.#customers.delete(key)
    }
    initialization.outcome.then(forgetRefused, () => forgetRefused())
  }

  #countCustomer({ created }: { created: boolean }) {
    this.counts.customers += 1
    if (created) this.counts.new_customers += 1
  }

  async #flush(): Promise<void> {
    const batch = this.#batch
    this.#batch = []
    this.#batchBytes = ADDED_BYTES
    if (batch.length === 0) return
    // An event's customer_id may refer to a customer that an earlier line enrols in the journey.
    const before = this.#customerTasks.ended()
    await this.#batchTasks.room()
    const sent = this.#batchTasks.start(async () => {
      await before
      await this.#send(batch)
    })
    if (this.#isFirst) await sent
    this.#isFirst = false
  }

  async #send(batch: Pending[]): Promise<void> {
    const ready: { event: Schemas['EventCreation']; line: Line }[] = []
    for (const { line, event, customer } of batch) {
      const outcome = await customer
      if (outcome && 'code' in outcome) this.#refuse({ ...outcome, line, message_id: event.message_id })
      else ready.push({ line, event: outcome ? { ...event, customer_id: outcome.customer_id } : event })
    }
    if (ready.length === 0) return
    const outcomes = await this.#options.delivery.createEvents(ready.map(({ event }) => event))
    for (const [index, { line, event }] of ready.entries()) {
      const outcome = outcomes[index]
      if (outcome === 'created' || outcome === 'duplicate') this.counts[outcome] += 1
      else if (outcome) this.#refuse({ ...outcome, line, message_id: event.message_id })
    }
  }

  #refuse(refused: RefusedLine) {
    this.#options.onRefused(refused)
    this.counts.refused += 1
  }
}

/** Without the journey: a customer has one name in all journeys. */
function customerKey({ customer_type, client_customer_id }: OwnCustomer): string {
  return JSON.stringify([customer_type, client_customer_id])
}

function enrolmentKey({ journey_id, customer_type, client_customer_id }: OwnCustomer): string {
  return JSON.stringify([journey_id, customer_type, client_customer_id])
}

/** Runs tasks concurrently, up to a limit. */
class Tasks {
  readonly #limit: number
  readonly #onFailure: (error: unknown) => void
  readonly #running = new Set<Promise<void>>()

  constructor(limit: number, onFailure: (error: unknown) => void) {
    this.#limit = limit
    this.#onFailure = onFailure
  }

  /** Resolves when another task may start. */
  async room(): Promise<void> {
    while (this.#running.size >= this.#limit) await Promise.race(this.#running)
  }

  /** Starts a task. A failure is also reported to `onFailure`, so the result need not be awaited. */
  start<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = work()
    const settled = result
      .then(() => {}, this.#onFailure)
      .finally(() => {
        this.#running.delete(settled)
      })
    this.#running.add(settled)
    return result
  }

  /** Resolves when all tasks running now have ended, successfully or not. */
  async ended(): Promise<void> {
    await Promise.all(this.#running)
  }
}
