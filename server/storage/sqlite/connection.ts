import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'

export type Connection = Database.Database

/** How long a connection waits for another process's write before it gives up. */
const BUSY_MS = 5000

/** Opens a file to write, and makes it where there is none. WAL; every commit is on disk when it returns. */
export function openWritable(path: string): Connection {
  mkdirSync(dirname(path), { recursive: true })
  const connection = new Database(path, { timeout: BUSY_MS })
  connection.pragma('journal_mode = WAL')
  // FULL: after power loss NORMAL may forget commits that were answered with 2xx.
  connection.pragma('synchronous = FULL')
  connection.pragma('foreign_keys = ON')
  connection.pragma('cache_size = -65536')
  const journal = connection.pragma('journal_mode', { simple: true })
  const synchronous = connection.pragma('synchronous', { simple: true })
  if (journal !== 'wal' || synchronous !== 2) {
    connection.close()
    throw new Error(`${path}: needs journal_mode wal and synchronous 2, has ${journal} and ${synchronous}`)
  }
  return connection
}

/** Opens a file that a writable connection has made, to read only. */
export function openReadable(path: string): Connection {
  const connection = new Database(path, { readonly: true, fileMustExist: true, timeout: BUSY_MS })
  connection.pragma('cache_size = -32768')
  return connection
}

/**
 * Takes the one place of a server on this file and holds it until the connection is closed or the process dies: the
 * operating system then drops the lock, whatever the reason.
 * @returns undefined where another process has it
 */
export function takeServerLock(path: string): Connection | undefined {
  mkdirSync(dirname(path), { recursive: true })
  const lock = new Database(`${path}.lock`, { timeout: 0 })
  try {
    lock.pragma('journal_mode = MEMORY')
    lock.exec('BEGIN EXCLUSIVE')
    return lock
  } catch (error) {
    lock.close()
    if (isBusy(error)) return undefined
    throw error
  }
}

/** Whether the engine or the disk under it failed, as opposed to a statement that is wrong. */
export function isStorageFailure(error: unknown): boolean {
  return error instanceof Database.SqliteError && STORAGE_FAILURE.test(error.code)
}

const STORAGE_FAILURE = /^SQLITE_(BUSY|CANTOPEN|CORRUPT|FULL|IOERR|LOCKED|NOMEM|NOTADB|PROTOCOL|READONLY)/

function isBusy(error: unknown): boolean {
  return error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY')
}
