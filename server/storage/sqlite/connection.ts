import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  readFileSync,
  realpathSync,
  statfsSync,
  statSync,
} from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { errorText } from '../file-errors.ts'
import { makePrivate } from '../private-file.ts'
import { type FileIdentity, isSameFile } from '../same-file.ts'
import { keepPrivate, RESTORED, removeCopy } from './store-files.ts'

export type Connection = Database.Database

/** The index of a write-ahead log grows by this much. If that fails, SQLite only says `disk I/O error`. */
const INDEX_BYTES = 32_768

/** How long a connection waits for another process's write lock. */
export const BUSY_MS = 5000

/** A log that grew during a long read is truncated to this size when it restarts. */
export const LOG_KEPT_BYTES = 64 * 1024 * 1024

/** A file cannot be opened; the message is for the operator. */
class CannotOpen extends Error {
  constructor(path: string, cause: unknown) {
    super(`Cannot open ${path}: ${fullDiskText(path, cause) ?? errorText(cause, path)}`, { cause })
    this.name = 'CannotOpen'
  }
}

/**
 * Opens a file for writing. WAL mode; every commit is on disk when it returns.
 * @param options.create whether to create the file and its folder if they do not exist
 * @throws {CannotOpen}
 */
export function openWritable(path: string, { create }: { create: boolean }): Connection {
  return open(path, { timeout: BUSY_MS, fileMustExist: !create }, (connection) => {
    useWriteAheadLog(connection)
    keepPrivate(realpathSync(path))
    // FULL: after power loss NORMAL may forget commits that were answered with 2xx.
    connection.pragma('synchronous = FULL')
    connection.pragma('foreign_keys = ON')
    // Deleted data is overwritten with zeros, also in pages that become free.
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

/** Default page cache of a reader or of derived data. */
const CACHE_KIB = 16_384

/** Busy timeout for derived data, whose writers can retry. */
const DERIVED_BUSY_MS = 100

/**
 * Opens a file of derived data for writing, and creates it if it does not exist. WAL mode; power loss may lose the last
 * commits, but none before one that survives.
 * @param cache_KiB maximum page cache
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
 * Opens a file read-only that a writable connection has created.
 * @param cache_KiB maximum page cache
 * @throws {CannotOpen}
 */
export function openReadable(path: string, cache_KiB = CACHE_KIB): Connection {
  return open(path, { readonly: true, fileMustExist: true, timeout: BUSY_MS }, (connection) => {
    connection.pragma(`cache_size = -${cache_KiB}`)
  })
}

/**
 * Opens the store of a server read-only, while its writer has it open.
 * @param file the one that the writer has opened
 * @throws {CannotOpen} also if another file has its place: it would be read with the log of the first one, also after
 *   that is back
 */
export function openServed(path: string, file: FileIdentity, cache_KiB?: number): Connection {
  if (isSameFile(statSync(path, { throwIfNoEntry: false }), file)) return openReadable(path, cache_KiB)
  throw new CannotOpen(path, 'it is not the file that the server has opened')
}

/**
 * Whether the files of an open database still have their names. Otherwise SQLite continues to write to what is deleted when
 * it is closed. An open database in WAL mode always has its log and the index of the log (`-shm`).
 * @param file the one that was opened
 */
export function hasItsFiles(path: string, file: FileIdentity): boolean {
  const isInPlace = isSameFile(statSync(path, { throwIfNoEntry: false }), file)
  return isInPlace && existsSync(`${path}-wal`) && existsSync(`${path}-shm`)
}

/**
 * Refuses a file that this process cannot write. SQLite opens it nevertheless, for reading.
 * @throws {CannotOpen}
 */
export function assertWritable(path: string): void {
  try {
    accessSync(path, constants.W_OK)
  } catch (error) {
    throw new CannotOpen(path, error)
  }
}

/**
 * Takes the lock of the only server on this file, and holds it until the connection is closed or the process dies: the
 * operating system then releases it in any case. What a killed restore, which held it too, has left is removed.
 * @returns undefined if another process holds it
 * @throws {CannotOpen} also if the file can be opened by another path, where this lock is not visible
 */
export function takeServerLock(path: string): Connection | undefined {
  // Where there is no file, the holder of the lock may be removing it, or its own was removed: none is created without the lock.
  const isThere = lstatSync(path, { throwIfNoEntry: false }) !== undefined
  const lock = takeLock(isThere ? targetOf(path) : path)
  try {
    if (!lock) return undefined
    const target = targetOf(path)
    assertOnlyPath(target)
    removeCopy(target + RESTORED)
    return lock
  } catch (error) {
    lock?.close()
    throw error
  }
}

/**
 * Refuses a file that can be opened by another path, unless a server holds this one. SQLite keeps the write-ahead log
 * next to the path that it was given, so a user of the other path would not see what is written here.
 * @throws {CannotOpen}
 */
export function assertServedPath(path: string): void {
  if (!existsSync(path)) return
  const target = targetOf(path)
  if (otherPaths(target) !== undefined) takeServerLock(target)?.close()
}

/** Whether a server is running on a file, and does not stop within the busy timeout. */
export function isServed(path: string): boolean {
  const lock = `${targetOf(path)}.lock`
  if (!existsSync(lock)) return false
  try {
    // Reads the schema, for which SQLite waits. Takes no lock, so that other commands are not taken for a server.
    openReadable(lock).close()
    return false
  } catch (error) {
    if (error instanceof CannotOpen && isBusy(error.cause)) return true
    throw error
  }
}

/**
 * Takes the lock beside a file, which need not exist, and holds it likewise.
 * @returns undefined if another process holds it
 * @throws {CannotOpen}
 */
export function takeLock(path: string): Connection | undefined {
  const file = `${path}.lock`
  while (true) {
    makeFile(file)
    const before = statSync(file, { throwIfNoEntry: false })
    const lock = lockFile(file)
    if (!lock || isSameFile(statSync(file, { throwIfNoEntry: false }), before)) return lock
    // Its last holder has removed it since it was opened: nobody else would find it locked.
    lock.close()
  }
}

/** @returns undefined if another process has locked the file */
function lockFile(file: string): Connection | undefined {
  try {
    return open(file, { timeout: 0 }, (lock) => {
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
 * Returns why a file may be in use by a path at which neither our lock nor SQLite's log is found, and what to do;
 * undefined if it has only one path.
 */
function otherPaths(target: string): string | undefined {
  // A lock file in a common folder would not work: services and containers have a /tmp of their own, and a POSIX lock
  // on the file itself would be released whenever SQLite closes one of its descriptors.
  const names = statSync(target).nlink
  if (names > 1) {
    const copy = `cp ${target} ${target}.copy && mv ${target}.copy ${target}`
    return (
      `the file has ${names} names (hard links), and two servers on different names would damage it. ` +
      `Stop every server that uses another name, then remove the other names or make this one a separate file: ${copy}`
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

/** Whether a file is itself a bind mount at this path (Linux, proc_pid_mountinfo(5)). */
function isMounted(target: string): boolean {
  let mounts: string
  try {
    mounts = readFileSync('/proc/self/mountinfo', 'latin1')
  } catch {
    // Other systems mount only folders.
    return false
  }
  const unescaped = (text: string) =>
    text.replace(/\\([0-7]{3})/g, (_, octal) => String.fromCharCode(Number.parseInt(octal, 8)))
  const bytes = Buffer.from(target).toString('latin1')
  return mounts.split('\n').some((line) => unescaped(line.split(' ')[4] ?? '') === bytes)
}

/**
 * Measures the disk of a file, with links followed.
 * @returns undefined if the system does not report it
 */
export function measureDisk(path: string): { bytes: number; free_bytes: number } | undefined {
  try {
    const { bavail, blocks, bsize } = statfsSync(dirname(realpathSync(path)))
    return { bytes: blocks * bsize, free_bytes: bavail * bsize }
  } catch {
    return undefined
  }
}

/** Returns the reason why a file cannot be opened if its disk is full. */
function fullDiskText(path: string, cause: unknown): string | undefined {
  if (!(cause instanceof Database.SqliteError) || !/^SQLITE_(FULL|IOERR)/.test(cause.code)) return undefined
  const { free_bytes = INDEX_BYTES } = measureDisk(path) ?? {}
  if (free_bytes >= INDEX_BYTES) return undefined
  return `its disk is full (${free_bytes} bytes free). Make room.`
}

/** Returns the size of a file's write-ahead log. @param path without links, which SQLite has followed */
export function measureLog(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
}

/** Ends a transaction of reads; after some errors of the disk, SQLite itself has ended it. */
export function endRead(connection: Connection): void {
  if (connection.inTransaction) connection.exec('COMMIT')
}

/** Returns how SQLite or the disk failed; undefined if instead a statement is wrong. */
export function storageFailure(error: unknown): 'storage_unavailable' | 'storage_full' | undefined {
  if (error instanceof CannotOpen) return storageFailure(error.cause) ?? 'storage_unavailable'
  if (!(error instanceof Database.SqliteError) || !FAILURE.test(error.code)) return undefined
  return error.code.startsWith('SQLITE_FULL') ? 'storage_full' : 'storage_unavailable'
}

const FAILURE = /^SQLITE_(BUSY|CANTOPEN|CORRUPT|FULL|IOERR|LOCKED|NOMEM|NOTADB|PROTOCOL|READONLY)/

/** Whether a file is not a SQLite database, or is corrupt. */
export function isDamage(error: unknown): boolean {
  if (error instanceof CannotOpen) return isDamage(error.cause)
  return error instanceof Database.SqliteError && /^SQLITE_(CORRUPT|NOTADB)/.test(error.code)
}

/** Opens a file and configures the connection; if either fails, nothing stays open. */
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
 * Creates a file and its folder. If the folder is not writable, SQLite would only say that it cannot open the file.
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
 * Resolves the symbolic links of a path, so that one file has one lock under all its names.
 * @throws {CannotOpen} if the file does not exist and cannot be created, or is not a regular file
 */
export function targetOf(path: string): string {
  // Created here: a dangling link must not get another lock than the file that SQLite would then create.
  if (!existsSync(path)) makeFile(path)
  const target = realpathSync(path)
  const stats = statSync(target)
  // Before anything is created beside it.
  if (stats.isDirectory()) throw new CannotOpen(target, 'it is a folder. Name a file in it.')
  if (!stats.isFile()) throw new CannotOpen(target, 'it is not a regular file. Choose another path.')
  return target
}

/** Turns on WAL mode. If two processes create a file at once, SQLite does not wait by itself. */
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

/** Whether another connection is writing or holds the lock. */
export function isBusy(error: unknown): boolean {
  return error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY')
}
