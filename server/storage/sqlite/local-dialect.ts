import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  SqliteAdapter,
  SqliteDialect,
  SqliteDriver,
} from 'kysely'
import { BUSY_MS, type Connection, isBusy } from './connection.ts'

/** Kysely over a connection of this thread. Transactions take the write lock at their start, not half-way. */
export class LocalDialect extends SqliteDialect {
  readonly #database: Connection

  constructor({ database }: { database: Connection }) {
    super({ database })
    this.#database = database
  }

  override createDriver(): Driver {
    return new ImmediateDriver(this.#database)
  }

  override createAdapter(): SqliteAdapter {
    return new TransactionalAdapter()
  }
}

class ImmediateDriver extends SqliteDriver {
  readonly #database: Connection

  constructor(database: Connection) {
    super({ database })
    this.#database = database
  }

  /** Waits for another process's write like SQLite, but without blocking this thread, on which the write may depend. */
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    const run = (statement: string) => connection.executeQuery(CompiledQuery.raw(statement))
    const deadline_ms = Date.now() + BUSY_MS
    await run('pragma busy_timeout = 0')
    while (true) {
      try {
        await run('begin immediate')
        break
      } catch (error) {
        if (!isBusy(error) || Date.now() > deadline_ms) throw error
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
      }
    }
    await run(`pragma busy_timeout = ${BUSY_MS}`)
  }

  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    // After some errors, for example on a full disk, SQLite has rolled back itself. Another rollback would hide the error.
    if (this.#database.inTransaction) await super.rollbackTransaction(connection)
  }
}

/** Polling interval while another process writes. */
const RETRY_MS = 5

/** SQLite can roll back schema changes, so a migration is applied completely or not at all. */
class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl() {
    return true
  }
}
