import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { PasswordStatistics } from './passwords.ts'
import { SECONDS, type ServedMetrics } from './served-metrics.ts'
import type { CommittedGroup, StorageStatistics } from './storage/storage.ts'

const ROWS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000]

/**
 * What a server tells Prometheus about its process and its store. What its requests come to is counted where they are served.
 */
export class Metrics {
  readonly #registry = new Registry()
  readonly #commits: Histogram
  readonly #groups: Histogram
  readonly #failures: Counter
  readonly #listReads: Counter
  readonly #refusals: Counter
  readonly #refusing: Gauge
  readonly #passwordsRefused: Counter
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
    this.#passwordsRefused = new Counter({
      name: 'cairn_passwords_refused_total',
      help: 'Passwords that were not compared or hashed because too many waited (503): of known browsers, sessions and links, or of others.',
      labelNames: ['lane'],
      registers,
    })
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

  groupEnded({ rows, commit_ms, failed }: CommittedGroup): void {
    this.#commits.observe(commit_ms / 1000)
    this.#groups.observe(rows)
    if (failed) this.#failures.inc()
  }

  /**
   * All of it in Prometheus' text format, with the content type to send it as.
   * @param served what the requests have come to
   */
  async exposition(
    statistics: StorageStatistics,
    served: ServedMetrics,
    passwords: Record<string, PasswordStatistics>,
  ): Promise<{ contentType: string; text: string }> {
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
    this.#passwordsRefused.reset()
    for (const [lane, { refused }] of Object.entries(passwords)) this.#passwordsRefused.inc({ lane }, refused)
    this.#refusals.reset()
    this.#refusals.inc({ outcome: 'kept' }, kept)
    this.#refusals.inc({ outcome: 'left_out' }, leftOut)
    const { waiting: _, ...ended } = statistics.listReads
    this.#listReads.reset()
    for (const [outcome, count] of Object.entries(ended)) this.#listReads.inc({ outcome }, count)
    const own = await this.#registry.metrics()
    return { contentType: this.#registry.contentType, text: own + (await served.text()) }
  }

  #gauge(name: string, help: string, read: (statistics: StorageStatistics) => number) {
    this.#gauges.push({ gauge: new Gauge({ name, help, registers: [this.#registry] }), read })
  }
}
