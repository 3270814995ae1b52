import { closeSync, lstatSync, openSync, readdirSync, readSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { openReadable } from '../storage/sqlite/connection.ts'

/** Names from `nameOfBackup`; they sort by time. */
const NAME = /^cairn-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z\.db$/

/** A copy that was never finished, because the machine stopped or the command was killed. */
const PARTIAL = /^\.cairn-copy-[0-9a-f-]{36}\.partial(-journal)?$/

/** Minimum age of an abandoned copy: another backup may be writing one, but none pauses for this long. */
const PARTIAL_MS = 24 * 3_600_000

/**
 * SQLite's magic number, and the field that shows whether a copy was opened for writing since (SQLite file format,
 * 1.3).
 */
const SQLITE = 'SQLite format 3\0'
const WRITE_VERSION = { at: 18, copied: 1 }

/** Returns the name of a backup started at the given time, for example `cairn-2026-11-21T03-10-00-000Z.db`. */
export function nameOfBackup(at_ms: number): string {
  return `cairn-${new Date(at_ms).toISOString().replace(/[:.]/g, '-')}.db`
}

/**
 * Removes all but the newest `keep` backups in a folder, and leftovers of interrupted ones. It removes only files that
 * this command made of the same store and that nothing has written to since. Backups newer than the given one are
 * neither counted nor removed, so that two concurrent commands do not remove each other's backup.
 * @param options.name the backup that was just made; it is checked and on disk
 * @returns the names of the removed files
 * @throws {Error} from the file system
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
 * Identifies a store: its creation time, which all its backups share and which differs between stores.
 * @returns undefined if the file is not a backup, or has been served since
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

/** Reads the file header only: opening a file that is in use would leave files next to it. */
function isUntouchedCopy(path: string): boolean {
  // A symbolic link was set up by someone; leave it alone.
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
