import { accessSync, constants, existsSync, readFileSync, realpathSync, statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { makePrivate } from '../private-file.ts'
import { keepPrivate } from './store-files.ts'

export type Connection = Database.Database

/** How long a connection waits for another process's write before it gives up. */
export const BUSY_MS = 5000

/** A log that grew while something read for long shrinks to this size at its next beginning. */
export const LOG_KEPT_BYTES = 64 * 1024 * 1024

/** A file cannot be opened; the message is for the operator. */
export class CannotOpen extends Error {
  constructor(path: string, cause: unknown) {
    super(`Cannot open ${path}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    this.name = 'CannotOpen'
  }
}

/**
 * Opens a file to write. WAL; every commit is on disk when it returns.
 * @param options.create whether file and folder are made where there are none
 * @throws {CannotOpen}
 */
export function openWritable(path: string, { create }: { create: boolean }): Connection {
  return open(path, { timeout: BUSY_MS, fileMustExist: !create }, (connection) => {
    useWriteAheadLog(connection)
    keepPrivate(realpathSync(path))
    // FULL: after power loss NORMAL may forget commits that were answered with 2xx.
    connection.pragma('synchronous = FULL')
    connection.pragma('foreign_keys = ON')
    // What is removed is overwritten, wherever the engine has moved it to; also in pages that become free.
    connection.pragma('secure_delete = ON')
    connection.pragma('cache_size = -32768')
    connection.pragma(`journal_size_limit = ${LOG_KEPT_BYTES}`)
    const journal = connection.pragma('journal_mode', { simple: true })
    const synchronous = connection.pragma('synchronous', { simple: true })
    if (journal !== 'wal' || synchronous !== 2) {
      throw new Error(`needs journal_mode wal and synchronous 2, has ${journal} and ${synchronous}`)
    }
  })
}

/** So much of a file is kept in memory, at most, by who reads it or derives it. */
const CACHE_KIB = 16_384

/** How long a connection to derived data waits: whoever writes there can try again. */
const DERIVED_BUSY_MS = 100

/**
 * Opens a file of what can be computed again, to write, and makes it where there is none. WAL; after power loss it may have
 * forgotten the last commits, but has all that went before each that it kept.
 * @param cache_KiB so much of it is kept in memory, at most
 * @throws {CannotOpen}
 */
export function openDerived(path: string, cache_KiB = CACHE_KIB): Connection {
  return open(path, { timeout: DERIVED_BUSY_MS }, (connection) => {
    connection.pragma('journal_mode = WAL')
    connection.pragma('synchronous = NORMAL')
    connection.pragma(`cache_size = -${cache_KiB}`)
    connection.pragma(`journal_size_limit = ${LOG_KEPT_BYTES}`)
  })
}

/**
 * Opens a file that a writable connection has made, to read only.
 * @param cache_KiB so much of it is kept in memory, at most
 * @throws {CannotOpen}
 */
export function openReadable(path: string, cache_KiB = CACHE_KIB): Connection {
  return open(path, { readonly: true, fileMustExist: true, timeout: BUSY_MS }, (connection) => {
    connection.pragma(`cache_size = -${cache_KiB}`)
  })
}

/**
 * Takes the one place of a server on this file and holds it until the connection is closed or the process dies: the
 * operating system then drops the lock, whatever the reason.
 * @returns undefined where another process has it
 * @throws {CannotOpen} also where the file can be opened by another path, at which this lock is not seen
 */
export function takeServerLock(path: string): Connection | undefined {
  const target = targetOf(path)
  const lock = lockOf(target)
  try {
    if (lock) assertOnlyPath(target)
    return lock
  } catch (error) {
    lock?.close()
    throw error
  }
}

/**
 * Refuses a file that can be opened by another path, unless a server holds this one. The engine keeps the log beside the
 * path that it was given, so whoever uses the other path would not see what is written here.
 * @throws {CannotOpen}
 */
export function assertServedPath(path: string): void {
  if (!existsSync(path)) return
  const target = realpathSync(path)
  if (otherPaths(target) !== undefined) takeServerLock(target)?.close()
}

function lockOf(target: string): Connection | undefined {
  try {
    return open(`${target}.lock`, { timeout: 0 }, (lock) => {
      lock.pragma('journal_mode = MEMORY')
      lock.exec('BEGIN EXCLUSIVE')
    })
  } catch (error) {
    if (error instanceof CannotOpen && isBusy(error.cause)) return undefined
    throw error
  }
}

/** @param target without symbolic links @throws {CannotOpen} */
function assertOnlyPath(target: string) {
  const why = otherPaths(target)
  if (why !== undefined) throw new CannotOpen(target, why)
}

/**
 * Why a file may be in use by a path at which neither our lock nor the engine's log is found, and what to do about it;
 * undefined where it has one path.
 */
function otherPaths(target: string): string | undefined {
  // A lock in a place common to all paths would not do: services and containers each have a /tmp of their own, and a POSIX
  // lock on the file itself would be dropped whenever the engine closes one of its descriptors.
  const names = statSync(target).nlink
  if (names > 1) {
    const copy = `cp ${target} ${target}.copy && mv ${target}.copy ${target}`
    return (
      `the file has ${names} names (hard links), and two servers on different names would damage it. ` +
      `Stop every server that uses another name, then remove the other names or make this one a file of its own: ${copy}`
    )
  }
  if (isMounted(target)) {
    return (
      'the file itself is a mount, so its write-ahead log and lock would not be beside the original. ' +
      'Mount the folder that contains it instead.'
    )
  }
  return undefined
}

/** Whether a file is bound to this path by a mount of its own (Linux, proc_pid_mountinfo(5)). */
function isMounted(target: string): boolean {
  let mounts: string
  try {
    mounts = readFileSync('/proc/self/mountinfo', 'latin1')
  } catch {
    // Other systems mount folders only.
    return false
  }
  const unescaped = (text: string) =>
    text.replace(/\\([0-7]{3})/g, (_, octal) => String.fromCharCode(Number.parseInt(octal, 8)))
  const bytes = Buffer.from(target).toString('latin1')
  return mounts.split('\n').some((line) => unescaped(line.split(' ')[4] ?? '') === bytes)
}

/**
 * The disk that a file is on, wherever links lead.
 * @returns undefined where the system does not tell
 */
export function measureDisk(path: string): { bytes: number; free_bytes: number } | undefined {
  try {
    const { bavail, blocks, bsize } = statfsSync(dirname(realpathSync(path)))
    return { bytes: blocks * bsize, free_bytes: bavail * bsize }
  } catch {
    return undefined
  }
}

/** What the log beside a file takes on the disk. @param path without links: the engine has followed them */
export function measureLog(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
}

/** How the engine or the disk under it failed; undefined where a statement is wrong instead. */
export function storageFailure(error: unknown): 'storage_unavailable' | 'storage_full' | undefined {
  if (error instanceof CannotOpen) return storageFailure(error.cause) ?? 'storage_unavailable'
  if (!(error instanceof Database.SqliteError) || !FAILURE.test(error.code)) return undefined
  return error.code.startsWith('SQLITE_FULL') ? 'storage_full' : 'storage_unavailable'
}

const FAILURE = /^SQLITE_(BUSY|CANTOPEN|CORRUPT|FULL|IOERR|LOCKED|NOMEM|NOTADB|PROTOCOL|READONLY)/

/** Whether a file is not one of the engine's, or cannot be read as such any more. */
export function isDamage(error: unknown): boolean {
  if (error instanceof CannotOpen) return isDamage(error.cause)
  return error instanceof Database.SqliteError && /^SQLITE_(CORRUPT|NOTADB)/.test(error.code)
}

/** Opens a file and sets the connection up; where either fails, nothing stays open. */
function open(path: string, options: Database.Options, setUp: (connection: Connection) => void): Connection {
  if (!options.fileMustExist) makeFile(path)
  let connection: Connection | undefined
  try {
    connection = new Database(path, options)
    setUp(connection)
    return connection
  } catch (error) {
    connection?.close()
    throw new CannotOpen(path, error)
  }
}

/**
 * Makes a file and its folder. Where the folder may not be written, the engine would only say that it cannot open the
 * file.
 */
function makeFile(path: string) {
  try {
    makePrivate(path)
    accessSync(dirname(path), constants.W_OK)
  } catch (error) {
    throw new CannotOpen(path, error)
  }
}

/**
 * Where a path leads through symbolic links, so that one file has one lock under all its names.
 * @throws {CannotOpen} where there is no such file and none can be made
 */
export function targetOf(path: string): string {
  // Made here: a link that leads to nothing yet must not have another lock than the file that the engine then makes.
  if (!existsSync(path)) makeFile(path)
  return realpathSync(path)
}

/** Turns the log on. Where two programs make a file at once, the engine does not wait for the other by itself. */
function useWriteAheadLog(connection: Connection) {
  const deadline_ms = Date.now() + BUSY_MS
  while (true) {
    try {
      connection.pragma('journal_mode = WAL')
      return
    } catch (error) {
      if (!isBusy(error) || Date.now() > deadline_ms) throw error
    }
  }
}

/** Whether another connection writes, or holds the lock. */
export function isBusy(error: unknown): boolean {
  return error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY')
}
