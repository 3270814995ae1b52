import type { RemovedSlice } from '../../removals/removals.ts'
import type { Disk } from '../../storage.ts'
import type { Failure } from '../../unavailable.ts'
import { type Connection, openWritable } from '../connection.ts'
import { Indexer } from '../index/indexer.ts'
import { GREATEST_TAIL_EVENTS, type TailRing } from '../index/memtable.ts'
import { MessageIndex } from '../index/message-index.ts'
import { RunStore } from '../index/run-store.ts'
import { EventRemover, type RemovalName } from '../removals/event-remover.ts'
import { failureOf, runStatement, type Statement, type StatementResult } from '../statement.ts'
import { type Unit, Units } from './units.ts'
import type { UnitResult } from './wire-format.ts'
import { WriteAheadLog } from './write-ahead-log.ts'

/** So much of the tail is read at once when a store is opened; what is more is indexed before anything is written. */
const READ_EVENTS = 2 ** 17

type Open = { connection: Connection; units: Units; indexer: Indexer; remover: EventRemover }

/** The connection and what was prepared on it, opened again after the disk or the engine failed under it. */
export class WritingConnection {
  readonly #path: string
  readonly #ring: TailRing
  readonly #log: WriteAheadLog
  #open: Open | undefined
  /** Whether the main thread's transaction has such a statement. */
  #changesReferences = false
  /** Undefined after opening: nobody knows what others have committed before. */
  #dataVersion: unknown

  /** @param ring where readers look up what is not indexed yet */
  constructor(path: string, ring: TailRing) {
    this.#path = path
    this.#ring = ring
    this.#log = new WriteAheadLog(path)
    this.#opened()
  }

  /** Events that are stored but not in the indexes. */
  get unindexedEvents(): number {
    return this.#open?.units.tail.length ?? 0
  }

  /** All units in one transaction; where one of them fails, each in its own, so that its neighbours do not suffer. */
  commitGroup(group: Unit[], now_ms: number): UnitResult[] {
    try {
      const { connection, units } = this.#opened()
      if (units.tail.length > GREATEST_TAIL_EVENTS) {
        const message = 'the indexes cannot be filled, and more events wait for them than there is room for'
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

  /** Up to the first that meets an outage: the others would meet it too, each after a wait of its own for the lock. */
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
    // After some failures the transaction is over; what follows must not be stored piece by piece.
    const isOver = !this.#open?.connection.inTransaction && statement.sql !== 'BEGIN IMMEDIATE'
    if (isOver && statement.sql === 'ROLLBACK') return { rows: [], changes: 0 }
    if (isOver) return { failure: { message: 'the transaction has failed before' } }
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

  /** Whether another program may have committed since the last time this was asked. */
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
   * Fills the indexes with a slice of what is stored, if one is due.
   * @param isIdle whether nothing else waits
   * @returns undefined where there was nothing to do; else whether it could be done
   */
  index(isIdle: boolean): { failure?: Failure } | undefined {
    // Between its statements a transaction of the main thread must not be touched.
    if (!this.#open || this.#open.connection.inTransaction) return undefined
    const { indexer } = this.#open
    if (!indexer.isDue(isIdle)) return undefined
    try {
      indexer.step(isIdle)
      return {}
    } catch (error) {
      const failure = failureOf(error)
      // Whatever it was, the footing is found again from what is on disk.
      this.#recover({ ...failure, outage: 'storage_unavailable' })
      return { failure }
    }
  }

  /** Removes some of the events that a removal is about. */
  remove(removal: RemovalName): RemovedSlice | { failure: Failure } {
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
      // As for indexes: what they know is found again from what is on disk.
      this.#recover({ ...failure, outage: 'storage_unavailable' })
      return { failure }
    }
  }

  /**
   * Takes out of the log what has been moved into the file, so that nothing that was removed is found there.
   * @returns whether it could be done: not while somebody reads for long
   */
  cutLogOff(): boolean {
    if (!this.#open || this.#open.connection.inTransaction) return false
    try {
      return this.#log.cutOff(this.#open.connection)
    } catch (error) {
      this.#recover(failureOf(error))
      return false
    }
  }

  /** Whether the log should be seen to before its time. */
  get hasLogGrown(): boolean {
    return this.#log.hasGrown
  }

  /** How the log and its disk are, when both have been seen to; undefined where they cannot be looked at now. */
  tendLog(): Disk | undefined {
    if (!this.#open || this.#open.connection.inTransaction) return undefined
    try {
      return this.#log.tend(this.#open.connection)
    } catch {
      // The next write meets the same failure, and is told.
      return undefined
    }
  }

  /** Closes for good. */
  async end(): Promise<void> {
    await this.#log.close()
    this.close()
  }

  close() {
    this.#open?.connection.close()
    this.#open = undefined
  }

  #opened(): Open {
    if (!this.#open) {
      const connection = openWritable(this.#path, { create: false })
      try {
        const store = new RunStore(connection)
        const messages = new MessageIndex(store)
        const units = new Units(connection, messages, this.#ring)
        const indexer = new Indexer(connection, { tail: units.tail, store, messages })
        while (units.readTail(READ_EVENTS) === READ_EVENTS) indexer.catchUp()
        const remover = new EventRemover(connection, { store, tail: units.tail })
        this.#open = { connection, units, indexer, remover }
      } catch (error) {
        connection.close()
        throw error
      }
      this.#dataVersion = undefined
    }
    return this.#open
  }

  /** Nothing of a failed transaction is acknowledged; what is on disk is read again. */
  #recover(failure: Failure) {
    const open = this.#open
    try {
      if (open?.connection.inTransaction) open.connection.exec('ROLLBACK')
      open?.units.forget()
      if (failure.outage) this.close()
    } catch {
      // The connection is beyond use; the next request opens another.
      this.#open = undefined
    }
  }
}
