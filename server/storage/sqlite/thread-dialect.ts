import {
  type CompiledQuery,
  type DatabaseConnection,
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
    return new ThreadDriver(this.#options)
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

class ThreadDriver implements Driver {
  readonly #options: ThreadDialectOptions

  constructor(options: ThreadDialectOptions) {
    this.#options = options
  }

  async init() {}

  async acquireConnection() {
    return new ThreadConnection(this.#options)
  }

  async beginTransaction(connection: ThreadConnection) {
    await connection.begin()
  }

  async commitTransaction(connection: ThreadConnection) {
    await connection.end('COMMIT')
    if (connection.effects.has('keys')) this.#options.onKeyChange?.()
  }

  async rollbackTransaction(connection: ThreadConnection) {
    await connection.end('ROLLBACK')
  }

  async releaseConnection() {}

  async destroy() {}
}

class ThreadConnection implements DatabaseConnection {
  readonly #read: Read
  readonly #givenScheduler: WriteScheduler | undefined
  #hasTurn = false
  /** Those of the transaction. */
  readonly effects = new Set<Effect>()

  constructor({ read, scheduler }: ThreadDialectOptions) {
    this.#read = read
    this.#givenScheduler = scheduler
  }

  get #scheduler(): WriteScheduler {
    if (!this.#givenScheduler) throw new Error('this connection only reads; it has no transactions')
    return this.#givenScheduler
  }

  async begin() {
    await this.#scheduler.acquire()
    this.#hasTurn = true
    try {
      await this.#scheduler.run({ sql: 'BEGIN IMMEDIATE', parameters: [] })
    } catch (error) {
      this.#release()
      throw error
    }
  }

  async end(sql: 'COMMIT' | 'ROLLBACK') {
    try {
      await this.#scheduler.run({ sql, parameters: [] })
      this.#release()
    } catch (error) {
      // Kysely rolls back after a failed COMMIT, before the writer is released.
      if (sql === 'ROLLBACK') this.#release()
      throw error
    }
  }

  async executeQuery<Row>({ sql, parameters, query }: CompiledQuery): Promise<QueryResult<Row>> {
    if (!this.#hasTurn) return { rows: (await this.#read({ sql, parameters })) as Row[] }
    const effects = effectsOf(query)
    for (const effect of effects ?? []) this.effects.add(effect)
    const changesReferences = effects?.includes('references') ?? false
    const { rows, changes } = await this.#scheduler.run({
      sql,
      parameters,
      isRead: !effects,
      changesReferences,
    })
    return { rows: rows as Row[], numAffectedRows: BigInt(changes) }
  }

  // biome-ignore lint/correctness/useYield: Kysely requires a generator; results are read page by page instead
  async *streamQuery(): AsyncGenerator<never> {
    throw new Error('Streaming is not supported; read page by page.')
  }

  #release() {
    this.#hasTurn = false
    this.#scheduler.release()
  }
}
