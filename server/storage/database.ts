import type { Kysely, Transaction as KyselyTransaction } from 'kysely'
import type { DB } from '../../generated/tables.ts'

/** On whose behalf a list is read, and when it is no longer wanted. */
export type Reading = {
  /** The `key_id` or `person_id`. */
  caller: string
  workspaceId: string
  signal: AbortSignal
}

/** Reads anywhere; writes only inside `transaction()`. */
export type Database = Kysely<DB>

/** The same for those who may only read: the type has no way to begin a transaction. */
export type ReadingDatabase = Database & { transaction: never; startTransaction: never; connection: never }

/** All of it is committed, or nothing. */
export type Transaction = KyselyTransaction<DB>
