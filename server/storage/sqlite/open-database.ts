import { Kysely } from 'kysely'
import type { DB } from '../../../generated/tables.ts'
import type { Database } from '../database.ts'
import type { OpenDatabaseOptions } from '../storage.ts'
import { assertServedPath, openWritable } from './connection.ts'
import { LocalDialect } from './local-dialect.ts'
import { assertMigratable, migrateFile } from './migrate-file.ts'
import { isStore } from './store-files.ts'

/**
 * Opens the store of a command. A transaction takes the write lock at its start.
 * @returns undefined if there is no store and none is to be created
 * @throws {CannotOpen}
 * @throws {InUse} if a server of an earlier version is running on it
 */
export async function openSqliteDatabase(
  path: string,
  { create, onMigration }: OpenDatabaseOptions,
): Promise<{ db: Database; close: () => Promise<void> } | undefined> {
  if (!create && !isStore(path)) return undefined
  assertServedPath(path)
  assertMigratable(path)
  await migrateFile(path, onMigration)
  const database = openWritable(path, { create: false })
  const db = new Kysely<DB>({ dialect: new LocalDialect({ database }) })
  return { db, close: () => db.destroy() }
}
