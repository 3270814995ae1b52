import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from 'kysely'

/** A connection that begins and ends its transactions itself. */
export abstract class TransactionConnection implements DatabaseConnection {
  abstract begin(): Promise<void>
  abstract commit(): Promise<void>
  abstract rollback(): Promise<void>
  /** Called after its use, of whatever kind. */
  abstract release(): void
  abstract executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>>

  // biome-ignore lint/correctness/useYield: Kysely requires a generator; pages are read instead
  async *streamQuery(): AsyncGenerator<never> {
    throw new Error('Streaming is not supported; read page by page.')
  }
}

/** Kysely's driver over such connections, a new one for each use. */
export class TransactionDriver implements Driver {
  readonly #open: () => TransactionConnection

  constructor(open: () => TransactionConnection) {
    this.#open = open
  }

  async init() {}

  async acquireConnection() {
    return this.#open()
  }

  async beginTransaction(connection: TransactionConnection) {
    await connection.begin()
  }

  async commitTransaction(connection: TransactionConnection) {
    await connection.commit()
  }

  async rollbackTransaction(connection: TransactionConnection) {
    await connection.rollback()
  }

  async releaseConnection(connection: TransactionConnection) {
    connection.release()
  }

  async destroy() {}
}
