import { readFileSync } from 'node:fs'
import Database from 'better-sqlite3'
import { onTestFinished } from 'vitest'
import { sqlitePath } from '../../../server/storage/sqlite/store-files.ts'
import {
  type Store as AnyStore,
  type StoreOptions as AnyStoreOptions,
  openStore as openAnyStore,
} from '../store.ts'

/** An open store whose file the test can reach. */
export type Store = AnyStore & { path: string }

type StoreOptions = Omit<AnyStoreOptions, 'databaseUrl'> & { path?: string }

export async function openStore({ path, ...options }: StoreOptions = {}): Promise<Store> {
  const place = path === undefined ? {} : { databaseUrl: `sqlite:${path}` }
  const store = await openAnyStore({ ...options, ...place })
  return { ...store, path: sqlitePath(store.databaseUrl) }
}

/** The same as `openStore`, for one test: it is closed when the test ends. */
export async function openStoreForTest(options: StoreOptions = {}): Promise<Store> {
  const store = await openStore(options)
  onTestFinished(store.close)
  return store
}

/** Opens another process's connection to the file. It is closed when the test ends. */
export function connect(path: string, options: Database.Options = {}): Database.Database {
  const connection = new Database(path, { fileMustExist: true, ...options })
  onTestFinished(() => {
    connection.close()
  })
  return connection
}

/** Returns the identifiers of the events in the file as other processes see them, in the order of storing. */
export function storedEvents(connection: Database.Database): string[] {
  const rows = connection.prepare<[], { event_id: string }>('SELECT event_id FROM events ORDER BY seq').all()
  return rows.map(({ event_id }) => event_id)
}

/**
 * Returns the number of transactions in the write-ahead log. Each frame has a header of 24 bytes, in which the third
 * number is not 0 for the last frame of a transaction (sqlite.org/fileformat2.html, "The WAL File Format").
 */
export function commitsInLog(path: string): number {
  const log = readFileSync(`${path}-wal`)
  const frame_bytes = 24 + log.readUInt32BE(8)
  const salt = log.subarray(16, 24)
  let commits = 0
  for (let at = 32; at + frame_bytes <= log.length; at += frame_bytes) {
    if (!log.subarray(at + 8, at + 16).equals(salt)) break
    if (log.readUInt32BE(at + 4) !== 0) commits += 1
  }
  return commits
}
