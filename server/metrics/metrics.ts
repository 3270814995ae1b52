import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { PasswordStatistics } from '../http/callers/passwords.ts'
import type { CommittedGroup, StorageStatistics } from '../storage/storage.ts'
import type { WebhookStatistics } from '../webhooks/webhook-work.ts'
import { SECONDS, type ServedMetrics } from './served-metrics.ts'

const ROWS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000]

/** What parts of the server have counted. */
type Statistics = {
  storage: StorageStatistics
  passwords: Record<string, PasswordStatistics>
  webhooks: WebhookStatistics
  views: { enrolments: number }
  /** Whether the store can be written to, as `/readyz` says. */
  ready: boolean
}

/**
 * Prometheus metrics of the process and its store. Metrics of requests are counted in `ServedMetrics`, where requests
 * are served.
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
  readonly #webhooks: Gauge
  readonly #deliveries: Counter
  readonly #readAhead: Counter
  readonly #ready: Gauge
  readonly #gauges: { gauge: Gauge; read: (statistics: StorageStatistics) => number }[] = []
  #connections: Gauge | undefined

  /** @param version of the server */
  constructor(version: string) {
    const registers = [this.#registry]
    collectDefaultMetrics({ register: this.#registry })
    new Gauge({
      name: 'cairn_build_info',
      help: 'Always 1; the label has the version.',
      labelNames: ['version'],
      registers,
    }).set({ version }, 1)
    this.#commits = new Histogram({
      name: 'cairn_commit_duration_seconds',
      help: 'Duration of a group commit, from handing the group to the writer until it is on disk.',
      buckets: SECONDS,
      registers,
    })
    this.#groups = new Histogram({
      name: 'cairn_commit_rows',
      help: 'Rows per group commit.',
      buckets: ROWS,
      registers,
    })
    this.#failures = new Counter({
      name: 'cairn_commit_failures_total',
      help: 'Group commits that failed entirely or in part.',
      registers,
    })
    this.#listReads = new Counter({
      name: 'cairn_list_reads_total',
      help: 'List and report reads by outcome: answered, refused, overdue (past the deadline), or abandoned (the client disconnected).',
      labelNames: ['outcome'],
      registers,
    })
    this.#refusals = new Counter({
      name: 'cairn_refusals_total',
      help: 'Requests and batch items rejected for their contents: kept for inspection, or left_out because of a limit on what is kept.',
      labelNames: ['outcome'],
      registers,
    })
    this.#passwordsRefused = new Counter({
      name: 'cairn_passwords_refused_total',
      help: 'Password checks and hashes refused with 503 because the queue was full, by queue: known (known browsers, sessions and one-time links) or other.',
      labelNames: ['lane'],
      registers,
    })
    this.#webhooks = new Gauge({
      name: 'cairn_webhooks',
      help: 'Webhooks by state: enabled, failing (enabled, and the last attempt failed) or disabled.',
      labelNames: ['state'],
      registers,
    })
    this.#deliveries = new Counter({
      name: 'cairn_webhook_attempts_total',
      help: 'Requests to webhooks by outcome: succeeded or failed.',
      labelNames: ['outcome'],
      registers,
    })
    this.#readAhead = new Counter({
      name: 'cairn_view_enrolments_read_total',
      help: 'Enrolments whose variables were read ahead for saved views.',
      registers,
    })
    this.#ready = new Gauge({
      name: 'cairn_ready',
      help: '1 if the store can be written to now, as /readyz says; 0 if not.',
      registers,
    })
    this.#gauge('cairn_waiting_rows', 'Rows waiting to be written.', (now) => now.waitingRows)
    this.#gauge(
      'cairn_waiting_transactions',
      'Transactions waiting to write.',
      (now) => now.waitingTransactions,
    )
    this.#gauge(
      'cairn_unindexed_events',
      'Events that are stored and readable but not yet indexed (SQLite).',
      (now) => now.unindexedEvents,
    )
    this.#gauge(
      'cairn_indexing_pause_seconds_max',
      'Longest time that a write has waited for indexing since the server started (SQLite).',
      (now) => now.longestIndexingPause_ms / 1000,
    )
    this.#gauge(
      'cairn_log_bytes',
      'Size of the write-ahead log on disk (SQLite).',
      (now) => now.disk.log_bytes,
    )
    this.#gauge(
      'cairn_log_unmoved_bytes',
      'Bytes of the write-ahead log that are not checkpointed yet (SQLite).',
      (now) => now.disk.unmoved_bytes,
    )
    this.#gauge(
      'cairn_disk_free_bytes',
      "Free space on the store's disk; NaN if unknown, and on PostgreSQL.",
      (now) => now.disk.free_bytes ?? Number.NaN,
    )
    this.#refusing = new Gauge({
      name: 'cairn_writes_refused',
      help: '1 while writes are refused because of disk (too little free space), log (write-ahead log too long because of a long read; SQLite) or files (a file of the store was removed or replaced; SQLite).',
      labelNames: ['reason'],
      registers,
    })
    this.#gauge(
      'cairn_waiting_list_reads',
      'List and report reads waiting in the queue.',
      (now) => now.listReads.waiting,
    )
  }

  groupEnded({ rows, commit_ms, failed }: CommittedGroup): void {
    this.#commits.observe(commit_ms / 1000)
    this.#groups.observe(rows)
    if (failed) this.#failures.inc()
  }

  /**
   * Returns all metrics in Prometheus' text format, with the content type to send.
   * @param served the metrics of requests
   */
  async exposition(
    served: ServedMetrics,
    { storage: statistics, passwords, webhooks, views, ready }: Statistics,
  ): Promise<{ contentType: string; text: string }> {
    for (const { gauge, read } of this.#gauges) gauge.set(read(statistics))
    if (statistics.connections !== undefined) {
      this.#connections ??= new Gauge({
        name: 'cairn_database_connections',
        help: 'Open connections from this server to PostgreSQL.',
        registers: [this.#registry],
      })
      this.#connections.set(statistics.connections)
    }
    for (const reason of ['disk', 'log', 'files']) {
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
    this.#webhooks.set({ state: 'enabled' }, webhooks.enabled)
    this.#webhooks.set({ state: 'failing' }, webhooks.failing)
    this.#webhooks.set({ state: 'disabled' }, webhooks.disabled)
    this.#deliveries.reset()
    this.#deliveries.inc({ outcome: 'succeeded' }, webhooks.succeeded)
    this.#deliveries.inc({ outcome: 'failed' }, webhooks.failed)
    this.#readAhead.reset()
    this.#readAhead.inc(views.enrolments)
    this.#ready.set(ready ? 1 : 0)
    const own = await this.#registry.metrics()
    return { contentType: this.#registry.contentType, text: own + (await served.text()) }
  }

  #gauge(name: string, help: string, read: (statistics: StorageStatistics) => number) {
    this.#gauges.push({ gauge: new Gauge({ name, help, registers: [this.#registry] }), read })
  }
}
