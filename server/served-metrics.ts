import { Counter, Histogram, Registry } from 'prom-client'
import { Tallies, Tally } from './tally.ts'

/** Bounds of what is told in seconds. */
export const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** A request that has been answered or given up. */
export type EndedRequest = {
  /** Undefined outside the operations of the contract. */
  operation: string | undefined
  status: number | 'aborted'
  /** The problem's code where it was refused. */
  code: string | undefined
  /** Undefined where nobody knows when it began: it was no request. */
  duration_ms: number | undefined
}

/**
 * What requests come to, for Prometheus. No label takes what a caller sends: operations and codes
 * are the contract's, keys are named by the `key_id` of keys that exist, and a bounded number of them.
 *
 * Counts that requests and events raise are kept in plain fields and handed to the library when Prometheus asks: an
 * increment of the library takes 0.25 µs, one of a field next to nothing.
 */
export class ServedMetrics {
  readonly tallies = new Tallies()
  readonly #registry = new Registry()
  /** Ended requests by operation, status and code, which hold no space. */
  readonly #requests = new Map<string, number>()
  readonly #durations: Histogram
  readonly #keyLookUps: Counter
  readonly #slowPeers: Counter

  constructor() {
    const registers = [this.#registry]
    const requests = this.#requests
    new Counter({
      name: 'cairn_requests_total',
      help: 'Requests by operation, status and, where refused, the code of the problem.',
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
      help: 'From the head of a request to the end of its answer.',
      labelNames: ['operation'],
      buckets: SECONDS,
      registers,
    })
    this.#keyLookUps = new Counter({
      name: 'cairn_key_lookups_total',
      help: 'Look-ups of a key in the store; keys that are in use are in memory and need none.',
      registers,
    })
    this.#slowPeers = new Counter({
      name: 'cairn_slow_peers_total',
      help: 'Peers that were too slow: whose body was given up, or that did not take their answer.',
      labelNames: ['waiting_for'],
      registers,
    })
    // From the start: of a count that appears with its first 1, no rate can be told.
    this.#slowPeers.inc({ waiting_for: 'body' }, 0)
    this.#slowPeers.inc({ waiting_for: 'answer' }, 0)
    this.#keyCounter(
      'cairn_events_received_total',
      'Events that passed the check of shape and were decided on: created + duplicate + rejected.',
      ({ received }) => received,
    )
    this.#keyCounter(
      'cairn_events_total',
      'Events by outcome: created, duplicate or rejected.',
      ({ created, duplicate, rejected }) => ({ created, duplicate, rejected }),
    )
    this.#keyCounter(
      'cairn_events_unavailable_total',
      'Events that passed the check of shape but were answered with 5xx; not among those received.',
      ({ unavailable }) => unavailable,
    )
    this.#keyCounter(
      'cairn_customers_initialized_total',
      'Initializations of customers by outcome: created or known.',
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

  /** All of it in Prometheus' text format. */
  async text(): Promise<string> {
    return await this.#registry.metrics()
  }

  /** The library collects all counters before it awaits anything, so that their sums agree. */
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
