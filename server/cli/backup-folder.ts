import { closeSync, lstatSync, openSync, readdirSync, readSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { openReadable } from '../storage/sqlite/connection.ts'

/** A time as `nameOfBackup` writes it, so that names sort by time. */
const NAME = /^cairn-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z\.db$/

/** A copy that was never finished: the machine stopped, or somebody killed the command. */
const PARTIAL = /^\.cairn-copy-[0-9a-f-]{36}\.partial(-journal)?$/

/** Another backup may be at its copy; none leaves it alone for so long. */
const PARTIAL_MS = 24 * 3_600_000

/** SQLite's own mark, and how it says that a file has been opened to write since it was copied (its file format, 1.3). */
const SQLITE = 'SQLite format 3\0'
const WRITE_VERSION = { at: 18, copied: 1 }

/** The name of a backup that was begun at the instant, for example `cairn-2026-11-21T03-10-00-000Z.db`. */
export function nameOfBackup(at_ms: number): string {
  return `cairn-${new Date(at_ms).toISOString().replace(/[:.]/g, '-')}.db`
}

/**
 * Removes the oldest backups of a folder but so many, and what interrupted ones have left. Only what this command has made
 * of the same store and nobody has written to since is removed. Those newer than the given one are neither counted nor
 * removed: two commands at a time must not remove each other's.
 * @param options.name the backup that was just made, checked and is on disk
 * @returns the names of those removed
 * @throws {Error} of the file system
 */
export function removeOldBackups(folder: string, { name, keep }: { name: string; keep: number }): string[] {
  const store = originOf(join(folder, name))
  const names = readdirSync(folder).sort().reverse()
  const older = names.filter((other) => {
    return NAME.test(other) && other < name && store !== undefined && originOf(join(folder, other)) === store
  })
  const abandoned = names.filter((other) => PARTIAL.test(other) && isAbandoned(join(folder, other)))
  const removed = older.slice(keep - 1)
  for (const other of [...removed, ...abandoned]) rmSync(join(folder, other), { force: true })
  return removed
}

/**
 * What is the same for a store and all its backups, and differs between stores: when it was made.
 * @returns undefined where the file is no backup, or was one and has been served since
 */
function originOf(path: string): string | undefined {
  if (!isUntouchedCopy(path)) return undefined
  try {
    const copy = openReadable(path)
    try {
      return String(copy.prepare('SELECT timestamp FROM kysely_migration ORDER BY name').pluck().get())
    } finally {
      copy.close()
    }
  } catch {
    return undefined
  }
}

/** By its head alone: to open a file that is in use would leave files beside it. */
function isUntouchedCopy(path: string): boolean {
  // A link is somebody's arrangement.
  if (!lstatSync(path, { throwIfNoEntry: false })?.isFile()) return false
  const head = Buffer.alloc(WRITE_VERSION.at + 1)
  const descriptor = openSync(path, 'r')
  try {
    readSync(descriptor, head)
  } finally {
    closeSync(descriptor)
  }
  return (
    head.toString('latin1', 0, SQLITE.length) === SQLITE && head[WRITE_VERSION.at] === WRITE_VERSION.copied
  )
}

function isAbandoned(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  return stats?.isFile() === true && Date.now() - stats.mtimeMs > PARTIAL_MS
}
