import { Kysely, type Transaction } from 'kysely'
import type { DB } from '../../generated/tables.ts'
import { migrate } from '../storage/migrate.ts'
import { openWritable } from '../storage/sqlite/connection.ts'
import { LocalDialect } from '../storage/sqlite/dialect.ts'
import { sqlitePath } from '../storage/storage.ts'

/**
 * Runs one transaction on the store of `DATABASE_URL`, beside a running server or without one. It takes the write lock
 * when it begins; the server sees the change within a second.
 */
export async function inStore<Result>(
  databaseUrl: string,
  work: (db: Transaction<DB>) => Promise<Result>,
): Promise<Result> {
  const database = openWritable(sqlitePath(databaseUrl), { create: true })
  const db = new Kysely<DB>({ dialect: new LocalDialect({ database }) })
  try {
    await migrate(db)
    return await db.transaction().execute(work)
  } finally {
    await db.destroy()
  }
}
