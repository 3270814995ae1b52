import type { Database } from './database.ts'
import { openPostgres, openPostgresDatabase } from './postgres/open.ts'
import { openTransferableDatabase } from './postgres/transfer/transferable-database.ts'
import { openSqlite } from './sqlite/open.ts'
import { openSqliteDatabase } from './sqlite/open-database.ts'
import { erasuresBesideLink, leftBesideLink, sqlitePath } from './sqlite/store-files.ts'
import { openTransferableFile } from './sqlite/transfer/transferable-file.ts'
import type { OpenDatabaseOptions, Storage, StorageOptions } from './storage.ts'
import type { TransferableStore } from './transfer/transferable-store.ts'

// The only place where the engine is chosen.

/** Whether a store is a file on this machine, and not on a PostgreSQL server. */
export function isFile(url: string): boolean {
  return url.startsWith('sqlite:')
}

/**
 * Opens the store of a serving process.
 * @throws {Error} with a message for the operator if the store cannot be opened
 */
export async function openStorage(options: StorageOptions): Promise<Storage> {
  const { url, onAdvice = () => {} } = options
  if (!isFile(url)) return await openPostgres(url, options)
  const advice = leftBesideLink(url)
  if (advice !== undefined) onAdvice(advice)
  return await openSqlite(sqlitePath(url), { ...options, earlierErasures: erasuresBesideLink(url) })
}

/**
 * Opens the store of a command, with or without running servers, and migrates its schema. Its transactions and
 * those of the servers run one after the other; servers see its changes within a second.
 * @returns undefined if there is none and it is not to be created
 */
export async function openDatabase(
  url: string,
  options: OpenDatabaseOptions,
): Promise<{ db: Database; close: () => Promise<void> } | undefined> {
  return isFile(url)
    ? await openSqliteDatabase(sqlitePath(url), options)
    : await openPostgresDatabase(url, options)
}

/**
 * Opens a store as source or target of a copy, and migrates its schema.
 * @throws {Error} with a message for the operator if it cannot be opened, or is being served
 */
export async function openTransferableStore(url: string): Promise<TransferableStore> {
  return isFile(url) ? await openTransferableFile(sqlitePath(url)) : await openTransferableDatabase(url)
}
