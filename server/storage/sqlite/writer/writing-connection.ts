import type { RemovedSlice } from '../../removals/removals.ts'
import type { Disk } from '../../storage.ts'
import { errorOf, type Failure } from '../../unavailable.ts'
import { type Connection, openWritable } from '../connection.ts'
import { Indexer } from '../index/indexer.ts'
import { GREATEST_MEMTABLE_EVENTS, type MemtableRing } from '../index/memtable.ts'
import { MessageIndex } from '../index/message-index.ts'
import { RunStore } from '../index/run-store.ts'
import { EventRemover, type RemovalName } from '../removals/event-remover.ts'
import { failureOf, runStatement, type Statement, type StatementResult } from '../statement.ts'
import { type Unit, Units } from './units.ts'
import type { UnitResult } from './wire-format.ts'
import { WriteAheadLog } from './write-ahead-log.ts'

/** How much of the memtable is read at once when a store is opened; the rest is indexed before anything is written. */
const READ_EVENTS = 2 ** 17

/** Nothing is written, and the connection stays open: it is the only one that can still read the removed log. */
const LACKS_FILES: Failure = {
  message: 'a file of the store was removed or replaced',
  outage: 'storage_unavailable',
}

type Open = { connection: Connection; units: Units; indexer: Indexer; remover: EventRemover }

/** The connection and its prepared statements; opened again after the disk or SQLite failed. */
export class WritingConnection {
  readonly #path: string
  readonly #ring: MemtableRing
  readonly #log: WriteAheadLog
  #open: Open | undefined
  /** Whether the main thread's transaction contains such a statement. */
  #changesReferences = false
  /** Undefined after opening: what others committed before is unknown. */
  #dataVersion: unknown

  /** @param ring where readers look up events that are not indexed yet */
  constructor(path: string, ring: MemtableRing) {
    this.#path = path
    this.#ring = ring
    this.#log = new WriteAheadLog(path)
    this.#opened()
  }

  /** Number of events that are stored but not indexed. */
  get unindexedEvents(): number {
    return this.#open?.units.memtable.length ?? 0
  }

  /**
   * Commits all units in one transaction; if one of them fails, each in its own, so that the others are not affected.
   */
  commitGroup(group: Unit[], now_ms: number): UnitResult[] {
    if (this.#log.lacksFiles) return group.map(() => ({ failure: LACKS_FILES }))
    try {
      const { connection, units } = this.#opened()
      if (units.memtable.length > GREATEST_MEMTABLE_EVENTS) {
        const message = 'the memtable is full because events could not be indexed'
        return group.map(() => ({ failure: { message, outage: 'storage_unavailable' } }))
      }
      connection.exec('BEGIN IMMEDIATE')
      const outcomes = units.run(group, now_ms)
      connection.exec('COMMIT')
      units.committed()
      return outcomes.map((outcome) => ({ outcome }))
    } catch (error) {
      const failure = failureOf(error)
      this.#recover(failure)
      if (group.length === 1 || failure.outage) return group.map(() => ({ failure }))
      return this.#commitOneByOne(group, now_ms)
    }
  }

  /** Stops at the first outage: the other units would meet it too, each after its own wait for the lock. */
  #commitOneByOne(group: Unit[], now_ms: number): UnitResult[] {
    const results: UnitResult[] = []
    for (const unit of group) {
      const last = results.at(-1)
      const isOver = last !== undefined && 'failure' in last && last.failure.outage !== undefined
      results.push(...(isOver ? [last] : this.commitGroup([unit], now_ms)))
    }
    return results
  }

  /** One statement of a transaction that the main thread holds. */
  run(statement: Statement): StatementResult {
    // After some failures SQLite ends the transaction; later statements must not be committed one by one.
    const isOver = !this.#open?.connection.inTransaction && statement.sql !== 'BEGIN IMMEDIATE'
    if (isOver && statement.sql === 'ROLLBACK') return { rows: [], changes: 0 }
    if (isOver) return { failure: { message: 'the transaction has failed before' } }
    if (!this.#open?.connection.inTransaction && this.#log.lacksFiles) return { failure: LACKS_FILES }
    // The files are not checked during a transaction, and this one may have been open for long.
    if (statement.sql === 'COMMIT' && !this.#log.hasItsFiles) return { failure: LACKS_FILES }
    let open: Open
    try {
      open = this.#opened()
    } catch (error) {
      return { failure: failureOf(error) }
    }
    if (statement.changesReferences) this.#changesReferences = true
    const result = runStatement(open.connection, statement)
    if ('failure' in result && result.failure.outage) this.#recover(result.failure)
    if (!open.connection.inTransaction) {
      if (this.#changesReferences) open.units.forget()
      this.#changesReferences = false
    }
    return result
  }

  /** Whether another program may have committed since the last call. */
  changedOutside(): boolean {
    try {
      const { connection, units } = this.#opened()
      const dataVersion = connection.pragma('data_version', { simple: true })
      if (dataVersion === this.#dataVersion) return false
      this.#dataVersion = dataVersion
      units.forget()
    } catch (error) {
      this.#recover(failureOf(error))
    }
    return true
  }

  /**
   * Indexes a slice of what is stored, if one is due.
   * @param isIdle whether nothing else waits
   * @returns undefined if there was nothing to do; else whether it succeeded
   */
  index(isIdle: boolean): { failure?: Failure } | undefined {
    // An open transaction of the main thread must not be disturbed between its statements.
    if (!this.#open || this.#open.connection.inTransaction || this.#log.lacksFiles) return undefined
    const { indexer } = this.#open
    if (!indexer.isDue(isIdle)) return undefined
    try {
      indexer.step(isIdle)
      return {}
    } catch (error) {
      const failure = failureOf(error)
      // Whatever failed, the state is read again from disk.
      this.#recover({ ...failure, outage: 'storage_unavailable' })
      return { failure }
    }
  }

  /** Removes a slice of a removal's events. */
  remove(removal: RemovalName): RemovedSlice | { failure: Failure } {
    if (this.#log.lacksFiles) return { failure: LACKS_FILES }
    try {
      const { connection, remover, indexer } = this.#opened()
      connection.exec('BEGIN IMMEDIATE')
      const slice = remover.slice(removal)
      const dropped = slice.isDone ? indexer.dropEmptyRuns() : undefined
      connection.exec('COMMIT')
      dropped?.()
      return slice
    } catch (error) {
      const failure = failureOf(error)
      // As for indexing: the state is read again from disk.
      this.#recover({ ...failure, outage: 'storage_unavailable' })
      return { failure }
    }
  }

  /**
   * Truncates the log after a checkpoint, so that it contains nothing that was removed.
   * @returns false if a long read prevents it
   */
  truncateLog(): boolean {
    if (!this.#open || this.#open.connection.inTransaction) return false
    try {
      return this.#log.truncate(this.#open.connection)
    } catch (error) {
      this.#recover(failureOf(error))
      return false
    }
  }

  /** Whether the log needs a check soon. */
  get hasLogGrown(): boolean {
    return this.#log.hasGrown
  }

  /** Whether the log needs a check before anything is written. */
  get isLogGone(): boolean {
    return this.#log.isGone
  }

  /** State of the log and its disk after maintenance; undefined if they cannot be checked now. */
  checkpointLog(): Disk | undefined {
    if (!this.#open) return this.#log.isReopenable ? undefined : this.#log.measureWithoutFiles()
    if (this.#open.connection.inTransaction) return undefined
    try {
      return this.#log.checkpoint(this.#open.connection)
    } catch {
      // The next write meets the same failure and reports it.
      return undefined
    }
  }

  /** Closes permanently. */
  async end(): Promise<void> {
    await this.#log.close()
    this.close()
  }

  close() {
    if (!this.#open) return
    this.#open.connection.close()
    this.#open = undefined
    this.#log.writerClosed()
  }

  #opened(): Open {
    if (!this.#open) {
      // Another file would get what belongs to this one, its log included.
      if (!this.#log.isReopenable) throw errorOf(LACKS_FILES)
      const connection = openWritable(this.#path, { create: false })
      try {
        const store = new RunStore(connection)
        const messages = new MessageIndex(store)
        const units = new Units(connection, messages, this.#ring)
        const indexer = new Indexer(connection, { memtable: units.memtable, store, messages })
        while (units.readMemtable(READ_EVENTS) === READ_EVENTS) indexer.catchUp()
        const remover = new EventRemover(connection, { store, memtable: units.memtable })
        this.#open = { connection, units, indexer, remover }
      } catch (error) {
        connection.close()
        throw error
      }
      this.#dataVersion = undefined
    }
    return this.#open
  }

  /** Nothing of a failed transaction is acknowledged; the state is read again from disk. */
  #recover(failure: Failure) {
    const open = this.#open
    try {
      if (open?.connection.inTransaction) open.connection.exec('ROLLBACK')
      open?.units.forget()
      if (failure.outage) this.close()
    } catch {
      // The connection is unusable; the next request opens another.
      this.#open = undefined
    }
  }
}
