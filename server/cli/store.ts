import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { Kysely, type Transaction } from 'kysely'
import type { DB } from '../../generated/tables.ts'
import { DEFAULT_DATABASE_URL } from '../config.ts'
import { openWritable } from '../storage/sqlite/connection.ts'
import { LocalDialect } from '../storage/sqlite/dialect.ts'
import { sqlitePath } from '../storage/sqlite/file-url.ts'
import { migrateFile } from '../storage/sqlite/migrate-file.ts'
import { CommandFailure, ExitCode } from './failure.ts'
import { quoted } from './table.ts'

/**
 * Runs one transaction on the store of `DATABASE_URL`, beside a running server or without one. It takes the write lock
 * when it begins; the server sees the change within a second.
 * @param options.create whether the store is made where there is none
 * @throws {CommandFailure} where there is none and it is not to be made
 */
export async function inStore<Result>(
  databaseUrl: string,
  work: (db: Transaction<DB>) => Promise<Result>,
  { create = false }: { create?: boolean } = {},
): Promise<Result> {
  const path = sqlitePath(databaseUrl)
  if (!create) assertStore(path)
  await migrateFile(path)
  const database = openWritable(path, { create: false })
  const db = new Kysely<DB>({ dialect: new LocalDialect({ database }) })
  try {
    return await db.transaction().execute(work)
  } finally {
    await db.destroy()
  }
}

/**
 * Refuses to make folders for a store: a store in a wrong place looks like one that has lost everything.
 * @throws {CommandFailure} where the folder is missing, unless it is that of the default
 */
export function assertFolder(databaseUrl: string): void {
  const folder = dirname(resolve(sqlitePath(databaseUrl)))
  if (databaseUrl === DEFAULT_DATABASE_URL || existsSync(folder)) return
  const advice = `Make it (mkdir -p ${quoted(folder)}), or correct DATABASE_URL`
  throw new CommandFailure(`there is no folder ${folder} for the store. ${advice}`, ExitCode.usage)
}

/** @throws {CommandFailure} where there is no store at the path */
export function assertStore(path: string): void {
  if (existsSync(path)) return
  const advice = 'Give this command the DATABASE_URL that the server has, or make a store with cairn init'
  throw new CommandFailure(`there is no store at ${path}. ${advice}`, ExitCode.conflict)
}
