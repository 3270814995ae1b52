import {
  type CompiledQuery,
  type DatabaseIntrospector,
  type Dialect,
  type Driver,
  type Kysely,
  type QueryCompiler,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import { type Effect, effectsOf } from '../effects.ts'
import { TransactionConnection, TransactionDriver } from '../transaction-driver.ts'
import type { Statement } from './statement.ts'
import type { WriteScheduler } from './writer/write-scheduler.ts'

/** Reads with one statement. */
type Read = (statement: Statement) => Promise<unknown[]>

type ThreadDialectOptions = {
  read: Read
  /** Where transactions are queued; undefined for a read-only database. */
  scheduler?: WriteScheduler
  /** Called when a transaction that may have changed service keys is on disk. */
  onKeyChange?: () => void
}

/** Kysely over threads: outside a transaction only reads are possible; a transaction has the writer to itself. */
export class ThreadDialect implements Dialect {
  readonly #options: ThreadDialectOptions

  constructor(options: ThreadDialectOptions) {
    this.#options = options
  }

  createDriver(): Driver {
    return new TransactionDriver(() => new ThreadConnection(this.#options))
  }

  createQueryCompiler(): QueryCompiler {
    return new SqliteQueryCompiler()
  }

  createAdapter(): SqliteAdapter {
    return new ConcurrentAdapter()
  }

  createIntrospector(db: Kysely<unknown>): DatabaseIntrospector {
    return new SqliteIntrospector(db)
  }
}

class ConcurrentAdapter extends SqliteAdapter {
  override get supportsMultipleConnections() {
    return true
  }
}

class ThreadConnection extends TransactionConnection {
  readonly #options: ThreadDialectOptions
  #hasTurn = false
  /** Those of the transaction. */
  readonly #effects = new Set<Effect>()

  constructor(options: ThreadDialectOptions) {
    super()
    this.#options = options
  }

  get #scheduler(): WriteScheduler {
    const { scheduler } = this.#options
    if (!scheduler) throw new Error('this connection only reads; it has no transactions')
    return scheduler
  }

  async begin() {
    await this.#scheduler.acquire()
    this.#hasTurn = true
    try {
      await this.#scheduler.run({ sql: 'BEGIN IMMEDIATE', parameters: [] })
    } catch (error) {
      this.#endTurn()
      throw error
    }
  }

  async commit() {
    await this.#end('COMMIT')
    if (this.#effects.has('keys')) this.#options.onKeyChange?.()
  }

  async rollback() {
    await this.#end('ROLLBACK')
  }

  release() {}

  async #end(sql: 'COMMIT' | 'ROLLBACK') {
    try {
      await this.#scheduler.run({ sql, parameters: [] })
      this.#endTurn()
    } catch (error) {
      // Kysely rolls back after a failed COMMIT, before the writer is released.
      if (sql === 'ROLLBACK') this.#endTurn()
      throw error
    }
  }

  async executeQuery<Row>({ sql, parameters, query }: CompiledQuery): Promise<QueryResult<Row>> {
    if (!this.#hasTurn) return { rows: (await this.#options.read({ sql, parameters })) as Row[] }
    const effects = effectsOf(query)
    for (const effect of effects ?? []) this.#effects.add(effect)
    const changesReferences = effects?.includes('references') ?? false
    const { rows, changes } = await this.#scheduler.run({
      sql,
      parameters,
      isRead: !effects,
      changesReferences,
    })
    return { rows: rows as Row[], numAffectedRows: BigInt(changes) }
  }

  #endTurn() {
    this.#hasTurn = false
    this.#scheduler.release()
  }
}
