import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  SqliteAdapter,
  SqliteDialect,
  type SqliteDialectConfig,
  SqliteDriver,
} from 'kysely'
import { BUSY_MS, isBusy } from './connection.ts'

/** Kysely over a connection of this thread. Transactions take the write lock when they begin, not half-way. */
export class LocalDialect extends SqliteDialect {
  readonly #config: SqliteDialectConfig

  constructor(config: SqliteDialectConfig) {
    super(config)
    this.#config = config
  }

  override createDriver(): Driver {
    return new ImmediateDriver(this.#config)
  }

  override createAdapter(): SqliteAdapter {
    return new TransactionalAdapter()
  }
}

class ImmediateDriver extends SqliteDriver {
  /** Waits for another program's write like the engine, but lets this thread go on: the write may depend on it. */
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
}

/** Between two looks whether another program has ended its write. */
const RETRY_MS = 5

/** SQLite can undo changes of the schema, so that a migration is whole or not at all. */
class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl() {
    return true
  }
}
