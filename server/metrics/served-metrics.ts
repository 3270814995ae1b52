import { Counter, Histogram, Registry } from 'prom-client'
import type { operations } from '../../generated/contract.ts'
import { Tallies, Tally } from './tally.ts'

/** Buckets of durations in seconds. */
export const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

const INGESTION = ['initializeCustomer', 'createEvent', 'createEvents'] satisfies (keyof operations)[]

/** A request that was answered or abandoned. */
export type EndedRequest = {
  /** Undefined outside the operations of the contract. */
  operation: string | undefined
  status: number | 'aborted'
  /** The problem's code, if it was refused. */
  code: string | undefined
  /** Undefined if no start time is known, because no complete request head arrived. */
  duration_ms: number | undefined
}

/**
 * Prometheus metrics of requests. No label contains caller input: operations and codes come from the contract, keys are
 * named by the `key_id` of existing keys, and their number is bounded.
 *
 * Counts that every request or event raises are plain fields, passed to the library at a scrape: an increment of the
 * library takes 0.25 µs, one of a field next to nothing.
 */
export class ServedMetrics {
  readonly tallies = new Tallies()
  readonly #registry = new Registry()
  /** Finished requests by operation, status and code, separated by spaces (none of them contains one). */
  readonly #requests = new Map<string, number>()
  readonly #durations: Histogram
  readonly #keyLookUps: Counter
  readonly #slowPeers: Counter

  /** @param operations the operations of the contract */
  constructor(operations: readonly string[]) {
    const registers = [this.#registry]
    const requests = this.#requests
    // What operators are woken for is exported as 0 from the start: rate() misses the first increment of a series that
    // appears with 1.
    for (const operation of [...operations, 'none']) requests.set(`${operation} 500 internal_error`, 0)
    for (const operation of INGESTION) requests.set(`${operation} 503 overloaded`, 0)
    new Counter({
      name: 'cairn_requests_total',
      help: 'Requests by operation, status and, if refused, the problem code.',
      labelNames: ['operation', 'status', 'code'],
      registers,
      collect() {
        this.reset()
        for (const [name, count] of requests) {
          const [operation = '', status = '', code = ''] = name.split(' ')
          this.inc({ operation, status, code }, count)
        }
      },
    })
    this.#durations = new Histogram({
      name: 'cairn_request_duration_seconds',
      help: 'Time from the request head to the end of the response.',
      labelNames: ['operation'],
      buckets: SECONDS,
      registers,
    })
    this.#keyLookUps = new Counter({
      name: 'cairn_key_lookups_total',
      help: 'Service key lookups in the store; keys in use are cached in memory.',
      registers,
    })
    this.#slowPeers = new Counter({
      name: 'cairn_slow_peers_total',
      help: 'Connections closed because the client was too slow to send its body or to read its answer.',
      labelNames: ['waiting_for'],
      registers,
    })
    this.#slowPeers.inc({ waiting_for: 'body' }, 0)
    this.#slowPeers.inc({ waiting_for: 'answer' }, 0)
    this.#keyCounter(
      'cairn_events_received_total',
      'Valid events with an outcome: created + duplicate + rejected.',
      ({ received }) => received,
    )
    this.#keyCounter(
      'cairn_events_total',
      'Events by outcome: created, duplicate or rejected.',
      ({ created, duplicate, rejected }) => ({ created, duplicate, rejected }),
    )
    this.#keyCounter(
      'cairn_events_unavailable_total',
      'Valid events that were answered with 5xx; not included in those received.',
      ({ unavailable }) => unavailable,
    )
    this.#keyCounter(
      'cairn_customers_initialized_total',
      'Customer initializations by outcome: created or known.',
      ({ customersCreated, customersKnown }) => ({ created: customersCreated, known: customersKnown }),
    )
  }

  requestEnded({ operation = 'none', status, code = '', duration_ms }: EndedRequest): void {
    const name = `${operation} ${status} ${code}`
    this.#requests.set(name, (this.#requests.get(name) ?? 0) + 1)
    if (duration_ms !== undefined) this.#durations.observe({ operation }, duration_ms / 1000)
  }

  peerCut(waiting_for: 'body' | 'answer'): void {
    this.#slowPeers.inc({ waiting_for })
  }

  keyLookedUp(): void {
    this.#keyLookUps.inc()
  }

  /** Returns all metrics in Prometheus' text format. */
  async text(): Promise<string> {
    return await this.#registry.metrics()
  }

  /** The library collects all counters before its first await, so that their sums agree. */
  #keyCounter(name: string, help: string, read: (tally: Tally) => number | Record<string, number>) {
    const { tallies } = this
    const hasOutcomes = typeof read(new Tally()) === 'object'
    new Counter({
      name,
      help,
      labelNames: hasOutcomes ? ['key_id', 'outcome'] : ['key_id'],
      registers: [this.#registry],
      collect() {
        this.reset()
        for (const [key_id, tally] of tallies.entries()) {
          const counts = read(tally)
          if (typeof counts === 'number') this.inc({ key_id }, counts)
          else for (const outcome in counts) this.inc({ key_id, outcome }, counts[outcome])
        }
      },
    })
  }
}
