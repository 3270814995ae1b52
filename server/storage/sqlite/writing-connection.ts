import { type Connection, openWritable } from './connection.ts'
import { type Failure, failureOf, runStatement, type Statement, type StatementResult } from './statement.ts'
import { type Unit, Units } from './units.ts'
import type { UnitResult } from './writer-thread.ts'

/** The connection and what was prepared on it, opened again after the disk or the engine failed under it. */
export class WritingConnection {
  readonly #path: string
  #open: { connection: Connection; units: Units; dataVersion: unknown } | undefined

  constructor(path: string) {
    this.#path = path
    this.#opened()
  }

  /** All units in one transaction; where one of them fails, each in its own, so that its neighbours do not suffer. */
  commitGroup(group: Unit[], now_ms: number): UnitResult[] {
    try {
      const { connection, units } = this.#opened()
      connection.exec('BEGIN IMMEDIATE')
      const results = group.map((unit) => ({ outcome: units.run(unit, now_ms) }))
      connection.exec('COMMIT')
      return results
    } catch (error) {
      const failure = this.#recover(error)
      if (group.length === 1 || failure.isStorageFailure) return group.map(() => ({ failure }))
      return group.flatMap((unit) => this.commitGroup([unit], now_ms))
    }
  }

  /** One statement of a transaction that the main thread holds. */
  run(statement: Statement): StatementResult {
    let connection: Connection
    try {
      connection = this.#opened().connection
    } catch (error) {
      return { failure: failureOf(error) }
    }
    const result = runStatement(connection, statement)
    // At its end the transaction may have changed what units have looked up.
    if (!connection.inTransaction) this.#open?.units.forget()
    return result
  }

  /** Whether another program has committed since the last time this was asked. */
  changedOutside(): boolean {
    if (!this.#open) return false
    const dataVersion = this.#open.connection.pragma('data_version', { simple: true })
    if (dataVersion === this.#open.dataVersion) return false
    this.#open.dataVersion = dataVersion
    this.#open.units.forget()
    return true
  }

  close() {
    this.#open?.connection.close()
    this.#open = undefined
  }

  #opened() {
    if (!this.#open) {
      const connection = openWritable(this.#path)
      const dataVersion = connection.pragma('data_version', { simple: true })
      this.#open = { connection, units: new Units(connection), dataVersion }
    }
    return this.#open
  }

  /** Nothing of a failed transaction is acknowledged; what is on disk is read again. */
  #recover(error: unknown): Failure {
    const failure = failureOf(error)
    const open = this.#open
    try {
      if (open?.connection.inTransaction) open.connection.exec('ROLLBACK')
      open?.units.forget()
      if (failure.isStorageFailure) this.close()
    } catch {
      // The connection is beyond use; the next request opens another.
      this.#open = undefined
    }
    return failure
  }
}
