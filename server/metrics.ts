import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { CommittedGroup, StorageStatistics } from './storage/storage.ts'
import { Tallies, Tally } from './tally.ts'

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const ROWS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000]

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
 * What a server tells Prometheus about itself. No label takes what a caller sends: operations and codes are the
 * contract's, keys are named by the `key_id` of keys that exist, and a bounded number of them.
 *
 * Counts that requests and events raise are kept in plain fields and handed to the library when Prometheus asks: an
 * increment of the library takes 0.25 µs, one of a field next to nothing.
 */
export class Metrics {
  readonly tallies = new Tallies()
  readonly #registry = new Registry()
  /** Ended requests by operation, status and code, which hold no space. */
  readonly #requests = new Map<string, number>()
  readonly #durations: Histogram
  readonly #commits: Histogram
  readonly #groups: Histogram
  readonly #failures: Counter
  readonly #keyLookUps: Counter
  readonly #listReads: Counter
  readonly #refusals: Counter
  readonly #refusing: Gauge
  readonly #slowPeers: Counter
  readonly #gauges: { gauge: Gauge; read: (statistics: StorageStatistics) => number }[] = []
  #connections: Gauge | undefined

  /** @param version of the server */
  constructor(version: string) {
    const registers = [this.#registry]
    collectDefaultMetrics({ register: this.#registry })
    new Gauge({
      name: 'cairn_build_info',
      help: 'Always 1; the label tells the version.',
      labelNames: ['version'],
      registers,
    }).set({ version }, 1)
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
    this.#commits = new Histogram({
      name: 'cairn_commit_duration_seconds',
      help: 'What a group of writes took, from being handed to the writer to being on disk.',
      buckets: SECONDS,
      registers,
    })
    this.#groups = new Histogram({
      name: 'cairn_commit_rows',
      help: 'Rows that were committed together.',
      buckets: ROWS,
      registers,
    })
    this.#failures = new Counter({
      name: 'cairn_commit_failures_total',
      help: 'Groups of writes of which not all is on disk.',
      registers,
    })
    this.#keyLookUps = new Counter({
      name: 'cairn_key_lookups_total',
      help: 'Look-ups of a key in the store; keys that are in use are in memory and need none.',
      registers,
    })
    this.#listReads = new Counter({
      name: 'cairn_list_reads_total',
      help: 'Reads for lists and reports by how they ended: answered, refused, overdue, or abandoned by their caller.',
      labelNames: ['outcome'],
      registers,
    })
    this.#refusals = new Counter({
      name: 'cairn_refusals_total',
      help: 'Refusals of what was sent for its content: kept to be looked at, or left out where more came than are kept.',
      labelNames: ['outcome'],
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
    this.#gauge('cairn_waiting_rows', 'Rows that wait to be written.', (now) => now.waitingRows)
    this.#gauge(
      'cairn_waiting_transactions',
      'Transactions that wait for their turn to write.',
      (now) => now.waitingTransactions,
    )
    this.#gauge(
      'cairn_unindexed_events',
      'Events that are stored and readable, but not yet in the indexes (SQLite).',
      (now) => now.unindexedEvents,
    )
    this.#gauge(
      'cairn_indexing_pause_seconds_max',
      'The longest time since the start for which a write has waited for indexing (SQLite).',
      (now) => now.longestIndexingPause_ms / 1000,
    )
    this.#gauge(
      'cairn_log_bytes',
      'What the write-ahead log takes on the disk (SQLite).',
      (now) => now.disk.log_bytes,
    )
    this.#gauge(
      'cairn_log_unmoved_bytes',
      'How much of the write-ahead log is still to be moved into the file (SQLite).',
      (now) => now.disk.unmoved_bytes,
    )
    this.#gauge(
      'cairn_disk_free_bytes',
      "Free room on the store's disk; NaN where the system does not tell, and on PostgreSQL.",
      (now) => now.disk.free_bytes ?? Number.NaN,
    )
    this.#refusing = new Gauge({
      name: 'cairn_writes_refused',
      help: '1 while writes are refused because of the disk (too little room) or the log (too long behind a reader; SQLite).',
      labelNames: ['reason'],
      registers,
    })
    this.#gauge(
      'cairn_waiting_list_reads',
      'Reads for lists and reports that wait for their turn.',
      (now) => now.listReads.waiting,
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

  groupEnded({ rows, commit_ms, failed }: CommittedGroup): void {
    this.#commits.observe(commit_ms / 1000)
    this.#groups.observe(rows)
    if (failed) this.#failures.inc()
  }

  keyLookedUp(): void {
    this.#keyLookUps.inc()
  }

  /** All of it in Prometheus' text format, with the content type to send it as. */
  async exposition(statistics: StorageStatistics): Promise<{ contentType: string; text: string }> {
    for (const { gauge, read } of this.#gauges) gauge.set(read(statistics))
    if (statistics.connections !== undefined) {
      this.#connections ??= new Gauge({
        name: 'cairn_database_connections',
        help: 'Connections to PostgreSQL that this server has open.',
        registers: [this.#registry],
      })
      this.#connections.set(statistics.connections)
    }
    for (const reason of ['disk', 'log']) {
      this.#refusing.set({ reason }, statistics.disk.refusing === reason ? 1 : 0)
    }
    const { kept, leftOut } = statistics.refusals
    this.#refusals.reset()
    this.#refusals.inc({ outcome: 'kept' }, kept)
    this.#refusals.inc({ outcome: 'left_out' }, leftOut)
    const { waiting: _, ...ended } = statistics.listReads
    this.#listReads.reset()
    for (const [outcome, count] of Object.entries(ended)) this.#listReads.inc({ outcome }, count)
    return { contentType: this.#registry.contentType, text: await this.#registry.metrics() }
  }

  #gauge(name: string, help: string, read: (statistics: StorageStatistics) => number) {
    this.#gauges.push({ gauge: new Gauge({ name, help, registers: [this.#registry] }), read })
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
