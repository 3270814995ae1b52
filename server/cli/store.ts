import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { DEFAULT_DATABASE_URL } from '../config.ts'
import type { Transaction } from '../storage/database.ts'
import { isFile, openDatabase } from '../storage/open.ts'
import { sqlitePath } from '../storage/sqlite/store-files.ts'
import { CommandFailure, ExitCode } from './failure.ts'
import { quoted } from './table.ts'

/**
 * Runs one transaction on the store of `DATABASE_URL`, beside running servers or without one. No other changes the store
 * between its beginning and its end; servers see the change within a second.
 * @param options.create whether the store is made where there is none
 * @throws {CommandFailure} where there is none and it is not to be made
 */
export async function inStore<Result>(
  databaseUrl: string,
  work: (db: Transaction) => Promise<Result>,
  { create = false }: { create?: boolean } = {},
): Promise<Result> {
  const opened = await openDatabase(databaseUrl, { create })
  if (!opened) throw noStore(isFile(databaseUrl) ? `at ${sqlitePath(databaseUrl)}` : 'in that database')
  const { db, close } = opened
  try {
    return await db.transaction().execute(work)
  } finally {
    await close()
  }
}

/**
 * Refuses to make folders for a store: a store in a wrong place looks like one that has lost everything.
 * @throws {CommandFailure} where the folder is missing, unless it is that of the default
 */
export function assertFolder(databaseUrl: string): void {
  if (!isFile(databaseUrl)) return
  const folder = dirname(resolve(sqlitePath(databaseUrl)))
  if (databaseUrl === DEFAULT_DATABASE_URL || existsSync(folder)) return
  const advice = `Make it (mkdir -p ${quoted(folder)}), or correct DATABASE_URL`
  throw new CommandFailure(`there is no folder ${folder} for the store. ${advice}`, ExitCode.usage)
}

/** @throws {CommandFailure} where there is no store at the path */
export function assertStore(path: string): void {
  if (!existsSync(path)) throw noStore(`at ${path}`)
}

/** @throws {CommandFailure} where the store is no file: what `advice` names does that */
export function assertFile(databaseUrl: string, advice: string): void {
  if (!isFile(databaseUrl)) throw new CommandFailure(advice, ExitCode.usage)
}

function noStore(where: string): CommandFailure {
  const advice = 'Give this command the DATABASE_URL that the server has, or make a store with cairn init'
  return new CommandFailure(`there is no store ${where}. ${advice}`, ExitCode.conflict)
}
