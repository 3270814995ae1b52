import { existsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { DEFAULT_DATABASE_URL } from '../config.ts'
import type { Transaction } from '../storage/database.ts'
import { errorText } from '../storage/file-errors.ts'
import { inTransaction } from '../storage/in-transaction.ts'
import { isFile, openDatabase } from '../storage/open.ts'
import { storageFailure } from '../storage/sqlite/connection.ts'
import { isStore, sqlitePath } from '../storage/sqlite/store-files.ts'
import { CommandFailure, ExitCode } from './failure.ts'
import { quoted } from './table.ts'

/**
 * Runs one transaction on the store of `DATABASE_URL`, with or without running servers. No other process changes the
 * store meanwhile; servers see the change within a second.
 * @param options.create whether to create the store if there is none
 * @throws {CommandFailure} if there is none and it is not to be created
 * @throws {Error} with a message for the operator if the file of the store cannot be written
 */
export async function inStore<Result>(
  databaseUrl: string,
  work: (db: Transaction) => Promise<Result>,
  { create = false }: { create?: boolean } = {},
): Promise<Result> {
  const opened = await openDatabase(databaseUrl, { create })
  if (!opened) throw isFile(databaseUrl) ? noFile(sqlitePath(databaseUrl)) : noStore('in that database')
  const { db, close } = opened
  try {
    return await inTransaction(db, work)
  } catch (error) {
    if (!isFile(databaseUrl) || !storageFailure(error)) throw error
    const path = sqlitePath(databaseUrl)
    throw new Error(`Cannot write ${path}: ${errorText(error, path)}`, { cause: error })
  } finally {
    await close()
  }
}

/**
 * Refuses to create a folder for a store: a store in the wrong place looks like one that has lost all its data.
 * @param setting what has the URL
 * @throws {CommandFailure} if it is not a folder, or is missing, unless it is the default one
 */
export function assertFolder(databaseUrl: string, setting = 'DATABASE_URL'): void {
  if (!isFile(databaseUrl)) return
  const folder = dirname(resolve(sqlitePath(databaseUrl)))
  const stats = statSync(folder, { throwIfNoEntry: false })
  if (stats?.isDirectory() || (!stats && databaseUrl === DEFAULT_DATABASE_URL)) return
  if (stats) throw new CommandFailure(`${folder} is not a folder. Correct ${setting}`, ExitCode.usage)
  const advice = `Create it (mkdir -p ${quoted(folder)}), or correct ${setting}`
  throw new CommandFailure(`the folder ${folder} of the store does not exist. ${advice}`, ExitCode.usage)
}

/** @throws {CommandFailure} if there is no store at the path */
export function assertStore(path: string): void {
  if (!isStore(path)) throw noFile(path)
}

/** @throws {CommandFailure} if the store is not a file; its message is `advice` */
export function assertFile(databaseUrl: string, advice: string): void {
  if (!isFile(databaseUrl)) throw new CommandFailure(advice, ExitCode.usage)
}

function noFile(path: string): CommandFailure {
  return noStore(`at ${path}${existsSync(path) ? ', whose file is empty' : ''}`)
}

function noStore(where: string): CommandFailure {
  const advice = 'Use the same DATABASE_URL as the server, or create a store with cairn init'
  return new CommandFailure(`there is no store ${where}. ${advice}`, ExitCode.conflict)
}
