import { sqlitePath } from './sqlite/file-url.ts'
import { openSqlite } from './sqlite/open.ts'
import type { Storage, StorageOptions } from './storage.ts'

/**
 * Opens the store of a serving process: the engine is chosen here and nowhere else.
 * @throws {Error} with a message for the operator where the store cannot be opened
 */
export function openStorage(options: StorageOptions): Promise<Storage> {
  return openSqlite(sqlitePath(options.url), options)
}
