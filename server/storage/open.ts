import type { Database } from './database.ts'
import { openPostgres, openPostgresDatabase } from './postgres/open.ts'
import { openTransferableDatabase } from './postgres/transfer/transferable-database.ts'
import { makePrivate } from './private-file.ts'
import { openSqlite } from './sqlite/open.ts'
import { openSqliteDatabase } from './sqlite/open-database.ts'
import { sqlitePath } from './sqlite/store-files.ts'
import { openTransferableFile } from './sqlite/transfer/transferable-file.ts'
import type { Storage, StorageOptions } from './storage.ts'
import type { TransferableStore } from './transfer/transferable-store.ts'

// The engine is chosen here and nowhere else.

/** Whether a store is a file of this machine, or on a PostgreSQL server. */
export function isFile(url: string): boolean {
  return url.startsWith('sqlite:')
}

/**
 * Opens the store of a serving process.
 * @throws {Error} with a message for the operator where the store cannot be opened
 */
export async function openStorage(options: StorageOptions): Promise<Storage> {
  const { url, erasuresFile } = options
  // Not only when somebody is to be erased.
  if (erasuresFile !== undefined) makePrivate(erasuresFile)
  return isFile(url) ? await openSqlite(sqlitePath(url), options) : await openPostgres(url, options)
}

/**
 * Opens the store of a command, beside running servers or without one, its schema up to date. Its transactions take turns
 * with those of the servers, which see what they change within a second.
 * @param options.create whether the store is made where there is none
 * @returns undefined where there is none and it is not to be made
 */
export async function openDatabase(
  url: string,
  { create }: { create: boolean },
): Promise<{ db: Database; close: () => Promise<void> } | undefined> {
  return isFile(url)
    ? await openSqliteDatabase(sqlitePath(url), { create })
    : await openPostgresDatabase(url, { create })
}

/**
 * Opens a store to copy it, or to copy into it; its schema is up to date then.
 * @throws {Error} with a message for the operator where it cannot be opened, or is served
 */
export async function openTransferableStore(url: string): Promise<TransferableStore> {
  return isFile(url) ? await openTransferableFile(sqlitePath(url)) : await openTransferableDatabase(url)
}
