import { MessageChannel, type MessagePort, receiveMessageOnPort, type Worker } from 'node:worker_threads'
import { InUse } from '../../../in-use.ts'
import { collectRows, mayWait } from '../../events/collect-rows.ts'
import { WriteQueue } from '../../events/write-queue.ts'
import type { BegunMigration } from '../../migrate.ts'
import type { RemovedSlice } from '../../removals/removals.ts'
import type { CommittedGroup, Disk, StorageStatistics } from '../../storage.ts'
import { startThread } from '../../threads/thread.ts'
import { threadModule } from '../../threads/thread-module.ts'
import { errorOf, Unavailable } from '../../unavailable.ts'
import type { MemtableRing } from '../index/memtable.ts'
import type { RemovalName } from '../removals/event-remover.ts'
import type { Statement } from '../statement.ts'
import { monotonic_ms } from './indexing-pauses.ts'
import type { Unit, UnitKind, UnitOutcome } from './units.ts'
import { packGroup, type UnitResult, unpackResults } from './wire-format.ts'
import type { Indexing, WriterReply, WriterRequest, WriterThreadData } from './writer-thread.ts'

/**
 * Rows per group (group commit): enough to share one fsync among many requests, few enough to commit in some ten
 * milliseconds.
 */
const GROUP_ROWS = 1_000

/** Reasons for refused writes; only `log` does not need the operator. */
const REFUSALS = { disk: 'storage_full', log: 'overloaded', files: 'storage_unavailable' } as const

type Waiting = {
  unit: Unit
  workspaceId: string
  rows: number
  resolve: (outcome: UnitOutcome) => void
  reject: (error: Error) => void
}
type WaitingTransaction = { begin: () => void; reject: (error: Error) => void }
type WriteSchedulerOptions = {
  path: string
  /** Where readers look up events that are not indexed yet. */
  ring: MemtableRing
  now: () => number
  onMigration: ((begun: BegunMigration) => void) | undefined
  onOutsideChange: () => void
  onDeath: (error: Error) => void
  onGroup: (group: CommittedGroup) => void
  /** Called when indexing fails. Nothing is lost, but reads get slower until it succeeds. */
  onIndexingFailure: (error: Error) => void
  /** Called when writes begin to be refused because of the disk, and when they are accepted again. */
  onDisk: (disk: Disk) => void
}
type Reply<Kind extends WriterReply['kind']> = Extract<WriterReply, { kind: Kind }>

/**
 * The main thread's side of the writer. Units that arrive while a group commits are queued and committed together next
 * (group commit); each is answered after its commit. A transaction of the main thread runs between groups.
 */
export class WriteScheduler {
  readonly #thread: Worker
  readonly #port: MessagePort
  readonly #options: WriteSchedulerOptions
  readonly #waiting = new WriteQueue<Waiting>()
  readonly #transactions: WaitingTransaction[] = []
  #disk: Disk = { log_bytes: 0, unmoved_bytes: 0, free_bytes: null, refusing: null }
  #indexing: Indexing = { unindexedEvents: 0, longestPause_ms: 0 }
  #busy = false
  #hadTransaction = false
  #scheduled = false
  #closed: Unavailable['reason'] | undefined
  /** Whether the thread has ended, or is ending as requested. */
  #isOver = false
  #answer: { resolve: (reply: WriterReply) => void; reject: (error: Error) => void } | undefined

  private constructor(thread: Worker, port: MessagePort, options: WriteSchedulerOptions) {
    this.#thread = thread
    this.#port = port
    this.#options = options
    port.on('message', (reply: WriterReply) => this.#hear(reply))
    thread.on('error', (error) => this.#die(error))
    thread.on('exit', () => this.#die(new Error('the writing thread has ended')))
  }

  /**
   * @throws {InUse} if another server is running on the file
   * @throws {Error} with a message for the operator if the file cannot be served otherwise
   */
  static async open(options: WriteSchedulerOptions): Promise<WriteScheduler> {
    const { port1, port2 } = new MessageChannel()
    const thread = startThread(threadModule('writer-thread', import.meta.url), {
      workerData: { path: options.path, ring: options.ring.buffer, port: port2 } satisfies WriterThreadData,
      transferList: [port2],
    })
    const scheduler = new WriteScheduler(thread, port1, options)
    const reply = await scheduler.#reply()
    if (reply.kind === 'refused') {
      await thread.terminate()
      throw reply.isInUse ? new InUse(reply.message) : new Error(reply.message)
    }
    return scheduler
  }

  /**
   * @param workspaceId workspace of the unit; '' if it has none
   * @throws {Unavailable} if a unit would be refused
   */
  assertAvailable(workspaceId = ''): void {
    if (this.#busy) this.#hearAll()
    if (this.#closed) throw new Unavailable(this.#closed)
    if (this.#disk.refusing) throw new Unavailable(REFUSALS[this.#disk.refusing])
    if (!this.#waiting.hasRoom(workspaceId, this.#transactions.length)) throw new Unavailable('overloaded')
  }

  statistics(): Omit<StorageStatistics, 'listReads' | 'refusals'> {
    const { unindexedEvents, longestPause_ms } = this.#indexing
    return {
      waitingRows: this.#waiting.rows,
      waitingTransactions: this.#transactions.length,
      unindexedEvents,
      longestIndexingPause_ms: longestPause_ms,
      disk: this.#disk,
    }
  }

  /** Resolves when the unit is on disk. */
  submit<Kind extends UnitKind>(unit: Unit & { kind: Kind }): Promise<UnitOutcome<Kind>> {
    return new Promise((resolve, reject) => {
      const workspaceId = 'workspace_id' in unit ? unit.workspace_id : ''
      this.assertAvailable(workspaceId)
      const rows = 'events' in unit ? unit.events.length : 1
      this.#waiting.add({ unit, workspaceId, rows, resolve, reject })
      this.#schedule()
    })
  }

  /** Waits until the writer is free, and reserves it for the caller's statements; the caller must call `release`. */
  acquire(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.assertAvailable()
      this.#transactions.push({ begin: resolve, reject })
      this.#schedule()
    })
  }

  release(): void {
    this.#busy = false
    this.#schedule()
  }

  /** Runs one statement. The caller must have acquired the writer. */
  async run(statement: Statement): Promise<{ rows: unknown[]; changes: number }> {
    const { result } = await this.#ask<'statement'>({ kind: 'statement', statement })
    if (!('failure' in result)) return result
    const error = errorOf(result.failure)
    if (error instanceof Unavailable) this.#refuseWaiting(error)
    throw error
  }

  /** Removes a slice of a removal's events, between groups. @throws {Unavailable} */
  async remove(removal: RemovalName): Promise<RemovedSlice> {
    const { slice } = await this.#exclusively(() => this.#ask<'removed'>({ kind: 'remove', removal }))
    if ('failure' in slice) throw errorOf(slice.failure)
    return slice
  }

  /** Truncates the log. @returns false if a reader prevents it; try again. @throws {Unavailable} */
  async truncateLog(): Promise<boolean> {
    return (await this.#exclusively(() => this.#ask<'log-truncated'>({ kind: 'truncate-log' }))).isEmpty
  }

  async #exclusively<Result>(work: () => Promise<Result>): Promise<Result> {
    await this.acquire()
    try {
      return await work()
    } finally {
      this.release()
    }
  }

  /**
   * Refuses new work, finishes accepted work, and closes the file.
   * @param readers resolves when readers have closed it: the last connection to close truncates the log, so it must be
   *   a writing one
   */
  async close(readers: Promise<unknown>): Promise<void> {
    if (this.#closed) return void (await readers)
    this.#closed = 'shutting_down'
    const exited = new Promise((resolve) => this.#thread.once('exit', resolve))
    await new Promise<void>((resolve) => {
      this.#transactions.push({ begin: resolve, reject: () => resolve() })
      this.#schedule()
    })
    await readers
    this.#isOver = true
    this.#port.postMessage({ kind: 'close' } satisfies WriterRequest)
    await exited
  }

  #schedule() {
    if (this.#scheduled || this.#busy) return
    this.#scheduled = true
    const isFree = () => !this.#busy && this.#transactions.length === 0
    collectRows(
      () => (isFree() ? this.#waiting.rows : Number.POSITIVE_INFINITY),
      () => {
        this.#scheduled = false
        if (!this.#busy) this.#next()
      },
    )
  }

  #next() {
    // Consecutive transactions must not starve ingestion. On close, accepted units go first.
    const isForUnits = !this.#waiting.isEmpty && (this.#hadTransaction || this.#closed)
    const transaction = isForUnits ? undefined : this.#transactions.shift()
    this.#hadTransaction = transaction !== undefined
    if (transaction) {
      this.#busy = true
      transaction.begin()
    } else if (!this.#waiting.isEmpty) {
      this.#busy = true
      void this.#commit(this.#waiting.take(GROUP_ROWS))
    }
  }

  /**
   * Receives the thread's messages synchronously. A busy event loop delivers them only after everything else that is
   * ready, once per group that a request waits for: with 10 ms a round, an event took 19 ms although its commit took 1.
   */
  #hearAll() {
    for (let said = receiveMessageOnPort(this.#port); said; said = receiveMessageOnPort(this.#port)) {
      this.#hear(said.message)
    }
  }

  #hear(reply: WriterReply) {
    if (reply.kind === 'changed-outside') this.#options.onOutsideChange()
    else if (reply.kind === 'migrating') this.#options.onMigration?.(reply.begun)
    else if (reply.kind === 'indexed') this.#indexed(reply.indexing)
    else if (reply.kind === 'disk') this.#diskSeen(reply.disk)
    else this.#answer?.resolve(reply)
    // Its end is then not a failure.
    if (reply.kind === 'refused') this.#isOver = true
  }

  #indexed(indexing: Indexing) {
    this.#indexing = indexing
    if (indexing.failure) this.#options.onIndexingFailure(errorOf(indexing.failure))
  }

  #diskSeen(disk: Disk) {
    const hasTurned = disk.refusing !== this.#disk.refusing
    this.#disk = disk
    if (hasTurned) this.#options.onDisk(disk)
  }

  async #commit(group: Waiting[]) {
    const began_ms = performance.now()
    let failed = true
    try {
      const units = packGroup(group.map(({ unit }) => unit))
      const sent_ms = monotonic_ms()
      const reply = await this.#ask<'group'>({ kind: 'group', units, now_ms: this.#options.now(), sent_ms })
      this.#indexing = { ...this.#indexing, unindexedEvents: reply.unindexedEvents }
      const results = unpackResults(reply.results)
      failed = results.some((result) => 'failure' in result)
      for (const [index, { resolve, reject }] of group.entries()) {
        const result = results[index] as UnitResult
        if ('outcome' in result) resolve(result.outcome)
        else reject(errorOf(result.failure))
      }
      const last = results.at(-1)
      if (last && 'failure' in last && last.failure.outage) this.#refuseWaiting(errorOf(last.failure))
    } catch (error) {
      for (const { reject } of group) reject(error as Error)
    }
    const rows = group.reduce((sum, waiting) => sum + waiting.rows, 0)
    this.#options.onGroup({ rows, commit_ms: performance.now() - began_ms, failed })
    this.#busy = false
    // What arrived during the commit has waited long enough, unless a few rows may get company.
    if (mayWait(this.#waiting)) this.#schedule()
    else this.#next()
  }

  async #ask<Kind extends WriterReply['kind']>(request: WriterRequest): Promise<Reply<Kind>> {
    if (this.#closed === 'storage_unavailable') throw new Unavailable(this.#closed)
    this.#port.postMessage(request)
    return (await this.#reply()) as Reply<Kind>
  }

  #reply(): Promise<WriterReply> {
    return new Promise((resolve, reject) => {
      this.#answer = { resolve, reject }
    })
  }

  /** Queued work would meet the same storage failure, each after its own wait for the lock. */
  #refuseWaiting(error: Error) {
    for (const { reject } of [...this.#waiting.takeAll(), ...this.#transactions.splice(0)]) reject(error)
  }

  #die(error: Error) {
    // Its last messages may arrive after the exit event, because they use another channel.
    this.#hearAll()
    if (this.#isOver) return
    this.#isOver = true
    this.#closed = 'storage_unavailable'
    const unavailable = new Unavailable('storage_unavailable', error)
    this.#answer?.reject(unavailable)
    this.#refuseWaiting(unavailable)
    this.#options.onDeath(error)
  }
}
