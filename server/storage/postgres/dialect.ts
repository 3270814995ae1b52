import {
  type CompiledQuery,
  type DatabaseIntrospector,
  type Dialect,
  type Driver,
  type Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryCompiler,
  type QueryResult,
} from 'kysely'
import { type Effect, effectsOf, UNDECLARED } from '../effects.ts'
import { TransactionConnection, TransactionDriver } from '../transaction-driver.ts'
import type { Connection } from './connection/connection.ts'
import { seenFromOutside } from './connection/outages.ts'
import type { Pool } from './connection/pool.ts'

/** Reads one statement. */
export type Read = (sql: string, parameters: readonly unknown[]) => Promise<unknown[]>

/** What other processes must learn of a transaction. */
type Change = {
  /** Whether it may have changed service keys. */
  ofKeys: boolean
  /** The number of the change in `cairn_store`; null if unknown. */
  number: number | null
}

type PoolDialectOptions = {
  read: Read
  /**
   * Where transactions run, and a check before they start; undefined if there are only reads. If the store may be served,
   * their statements declare what they change.
   */
  transactions?: { pool: Pool; assertAvailable?: () => void; areServed?: boolean }
  /** Called when a transaction that others must obey may be on disk, before its caller gets the answer. */
  onChange?: (change: Change) => void
}

/**
 * Kysely over the pools. Statements outside a transaction can only read, each by itself; a transaction has a connection
 * of its own.
 *
 * Transactions are rare and short, and are written for a single writer: they count owners, or use a link once. So they run
 * one after the other on all replicas, and each statement sees what the previous transaction has committed.
 */
export class PoolDialect implements Dialect {
  readonly #options: PoolDialectOptions

  constructor(options: PoolDialectOptions) {
    this.#options = options
  }

  createDriver(): Driver {
    return new TransactionDriver(() => new PoolConnection(this.#options))
  }

  createQueryCompiler(): QueryCompiler {
    return new PostgresQueryCompiler()
  }

  createAdapter(): PostgresAdapter {
    return new UnlockedAdapter()
  }

  createIntrospector(db: Kysely<unknown>): DatabaseIntrospector {
    return new PostgresIntrospector(db)
  }
}

/**
 * Migrations need no lock of their own, because transactions already run one after the other. A session lock would not
 * work through a pooler, and would end before the commit.
 */
class UnlockedAdapter extends PostgresAdapter {
  override async acquireMigrationLock() {}

  override async releaseMigrationLock() {}
}

/**
 * Sets `synchronous_commit` for this transaction: whatever the server, the role or a pooler sets, an answered commit is
 * on disk. A stronger setting is kept.
 */
export const DURABLE = `set_config('synchronous_commit',
  CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, true)`

/** 'cairn' in ASCII. */
const TRANSACTION_LOCK = 0x636169726e

/**
 * Lets Citus read the shards of a table over one connection per node. After a read over several it refuses to change a
 * table that is on every node and that others refer to: who accepts an invitation, found by its token among those of all
 * workspaces, becomes a person. PostgreSQL itself does not know the setting, and ignores it.
 */
export const ONE_SHARD_AT_A_TIME = "set_config('citus.multi_shard_modify_mode', 'sequential', true)"

/**
 * Begins a transaction that waits for those of all processes. Read-write unless the server or the database is read-only, and
 * then the first write is refused as such.
 */
export const TRANSACTION = {
  mode: 'ISOLATION LEVEL READ COMMITTED',
  first: `SELECT ${DURABLE}, ${ONE_SHARD_AT_A_TIME}, pg_advisory_xact_lock(${TRANSACTION_LOCK})`,
}

class PoolConnection extends TransactionConnection {
  readonly #options: PoolDialectOptions
  /** Set during a transaction. */
  #connection: Connection | undefined
  /** Those of the transaction. */
  readonly #effects = new Set<Effect>()
  /** The error of the first failed statement, even if it was caught. */
  #failure: unknown

  constructor(options: PoolDialectOptions) {
    super()
    this.#options = options
  }

  async begin() {
    const { transactions } = this.#options
    if (!transactions) throw new Error('this connection only reads; it has no transactions')
    transactions.assertAvailable?.()
    await this.#translated(async () => {
      const connection = await transactions.pool.acquire()
      this.#connection = connection
      // Kysely does not roll back what has not started, and a connection in a failed transaction is useless.
      await connection.begin(TRANSACTION).catch((error) => {
        connection.close()
        throw error
      })
    })
  }

  async commit() {
    const isHeard = this.#effects.has('replicas')
    const change: Change = { ofKeys: this.#effects.has('keys'), number: null }
    try {
      await this.#translated(async () => {
        const connection = this.#opened()
        const numbered = isHeard ? (await connection.run<{ changes: number }>(NUMBERED)).rows : []
        const { command } = await connection.run('COMMIT')
        // PostgreSQL turns COMMIT into ROLLBACK if a statement has failed before.
        if (command === 'ROLLBACK') throw this.#failure ?? new Error('the transaction has failed before')
        // Without an answer another transaction may get the same number.
        change.number = numbered[0]?.changes ?? null
      })
    } finally {
      // Even if the connection was lost, because the transaction may be on disk all the same.
      if (isHeard) this.#options.onChange?.(change)
    }
  }

  async rollback() {
    const connection = this.#connection
    // The server rolls back the transaction of a lost connection.
    if (!connection?.isUsable) return
    await connection.run('ROLLBACK').catch(() => connection.close())
  }

  release() {
    if (this.#connection) this.#options.transactions?.pool.release(this.#connection)
    this.#connection = undefined
  }

  async executeQuery<Row>({ sql, parameters, query }: CompiledQuery): Promise<QueryResult<Row>> {
    const connection = this.#connection
    if (!connection) {
      if (effectsOf(query) || !READS.test(sql)) throw new Error('a write outside a transaction')
      return { rows: (await this.#translated(() => this.#options.read(sql, parameters))) as Row[] }
    }
    const effects = effectsOf(query)
    for (const effect of effects ?? []) this.#effects.add(effect)
    const { rows, changes, command } = await this.#translated(() => connection.run<Row>(sql, parameters))
    if (!effects && CHANGES.has(command) && this.#options.transactions?.areServed) throw new Error(UNDECLARED)
    return { rows, numAffectedRows: BigInt(changes) }
  }

  #opened(): Connection {
    if (!this.#connection) throw new Error('the transaction has not begun')
    return this.#connection
  }

  async #translated<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work()
    } catch (error) {
      this.#failure ??= error
      throw seenFromOutside(error)
    }
  }
}

const NUMBERED = 'UPDATE cairn_store SET changes = changes + 1 RETURNING changes'

/** What may run outside a transaction, where a write would be committed at once. */
const READS = /^\s*(select|with)\b(?!.*\b(insert into|update|delete from)\b)/is

/** The command tags of statements that change rows, of the outermost part of one. */
const CHANGES = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE'])
