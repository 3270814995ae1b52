import { type CompiledQuery, Kysely } from 'kysely'
import type { Reading } from '../../database.ts'
import type { RefusalTable, RefusalTables } from '../../refusals/refusal-table.ts'
import type { Connection } from '../connection/connection.ts'
import type { Pool } from '../connection/pool.ts'
import { PoolDialect, type Read } from '../dialect.ts'
import type { ListReader } from '../reader/list-reader.ts'
import { transactOn } from '../transact-on.ts'

/** The rejected requests of all workspaces, written on a connection of their own and read like lists. */
export class PostgresRefusalTable implements RefusalTable {
  readonly compiler = database(() => Promise.reject(new Error('read through the queue of lists instead')))
  readonly #pool: Pool
  readonly #lists: ListReader

  constructor({ pool, lists }: { pool: Pool; lists: ListReader }) {
    this.#pool = pool
    this.#lists = lists
  }

  lists(reading: Reading): Kysely<RefusalTables> {
    return database((sql, parameters) => this.#lists.rows(sql, parameters, reading))
  }

  run: RefusalTable['run'] = async <Row>(statements: readonly CompiledQuery<Row>[]) => {
    const read = async (connection: Connection) => {
      const found: Row[][] = []
      for (const { sql, parameters } of statements) {
        found.push((await connection.run<Row>(sql, parameters)).rows)
      }
      return found
    }
    // Nothing in it was acknowledged, and ingestion waits for the same disk.
    return await transactOn(this.#pool, read, { first: 'SET LOCAL synchronous_commit TO off' })
  }

  mayHaveRows(): boolean {
    return true
  }

  /** The server's write-ahead log is not ours to truncate. */
  truncateLog: RefusalTable['truncateLog'] = async () => {
    return true
  }

  async close(): Promise<void> {
    await this.#pool.close()
  }
}

function database(read: Read): Kysely<RefusalTables> {
  return new Kysely<RefusalTables>({ dialect: new PoolDialect({ read }) })
}
