import type { Kysely, Transaction as KyselyTransaction } from 'kysely'
import type { DB } from '../../generated/tables.ts'

/** The caller of a list read, with the signal that aborts it. */
export type Reading = {
  /** Its `key_id` or `person_id`, or the part of the server that reads by itself, such as `webhooks`. */
  caller: string
  workspaceId: string
  signal: AbortSignal
}

/** Reads anywhere; writes only inside `transaction()`. */
export type Database = Kysely<DB>

/** The same for code that may only read: the type cannot start a transaction. */
export type ReadingDatabase = Database & { transaction: never; startTransaction: never; connection: never }

/** Commits completely or not at all. */
export type Transaction = KyselyTransaction<DB>
