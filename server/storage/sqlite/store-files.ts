import {
  chmodSync,
  existsSync,
  lstatSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  type Stats,
  statSync,
} from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { FILE_MODE, FOLDER_MODE } from '../private-file.ts'

/**
 * The file of a `sqlite:` URL whose form the configuration has checked. If it is a link, the target: that is where SQLite keeps
 * its log, and the other files beside a store must be the same under all its names.
 */
export function sqlitePath(url: string): string {
  const path = writtenPath(url)
  try {
    if (!lstatSync(path).isSymbolicLink()) return path
    // A target that does not exist yet is created under its own name.
    return existsSync(path) ? realpathSync(path) : resolve(realpathSync(dirname(path)), readlinkSync(path))
  } catch {
    // Missing, or in a folder that we may not enter; opening it will report that.
    return path
  }
}

/** The path of a `sqlite:` URL as it is written. */
function writtenPath(url: string): string {
  return url.replace(/^sqlite:(\/\/(?=\/))?/, '')
}

/**
 * Says which derived files are beside a link to a store, where versions up to 1.1.0 had them. Nothing uses them any more, so that
 * neither time nor an erasure removes anything from them.
 * @returns undefined if there are none
 */
export function leftBesideLink(url: string): string | undefined {
  const left = besideLink(url, DERIVED)
  if (left.length === 0) return undefined
  return (
    `${left.join(', ')}: left by an earlier version, which kept these files beside the link. They are not used any more, ` +
    'and what they contain about customers is never removed. Delete them.'
  )
}

/**
 * The file of erasures beside a link to a store, where versions up to 1.1.0 had it. It outlives the disk of the store, so that
 * it may have what nothing else has.
 * @returns undefined if there is none
 */
export function erasuresBesideLink(url: string): string | undefined {
  return besideLink(url, [ERASURES])[0]
}

function besideLink(url: string, suffixes: readonly string[]): string[] {
  const link = writtenPath(url)
  if (!lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink()) return []
  const files = suffixes.map((suffix) => link + suffix)
  return files.filter((file) => lstatSync(file, { throwIfNoEntry: false })?.isFile())
}

/** Whether there is a store at a path. An empty file is none: it was never written, or its contents are lost. */
export function isStore(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0
}

/** Suffixes of the files that SQLite keeps next to a store. */
export const ENGINE_COMPANIONS = ['-wal', '-shm', '-journal']

/** Suffixes of the files that SQLite and Cairn keep next to a store. */
export const COMPANIONS = [...ENGINE_COMPANIONS, '.lock', '.lock-journal']

/** Suffixes of the files that SQLite keeps next to a file of derived data. */
export const DERIVED_COMPANIONS = ['-wal', '-shm']

/** Suffixes of files next to a store that are derived or short-lived; if missing, they are created anew. Logs first. */
export const DERIVED = ['-standings', '-refusals'].flatMap((file) =>
  [...DERIVED_COMPANIONS, ''].map((suffix) => file + suffix),
)

/** Suffix of the file that must outlive the store: after a restore, the erasures in it are applied again. */
export const ERASURES = '-erasures'

/** Suffix of the file with the key that encrypts secrets in the store. No backup contains it. */
export const ENCRYPTION_KEY = '-encryption-key'

/** Suffix of a copy that will replace the store. Only the holder of the server's lock has one. */
export const RESTORED = '.restored-partial'

/** Removes a copy of a store, and what SQLite and Cairn keep next to it. */
export function removeCopy(path: string): void {
  for (const suffix of ['', ...COMPANIONS]) rmSync(path + suffix, { force: true })
}

/** Set on shared folders like /tmp. */
const STICKY = 0o1000

/**
 * Removes other users' access that an older version, or a copy, left on the store, the files next to it, and its folder
 * if it contains nothing else. Files of another user are left alone.
 */
export function keepPrivate(path: string): void {
  const files = [
    path,
    ...[...COMPANIONS, ...DERIVED, ERASURES, ENCRYPTION_KEY].map((suffix) => path + suffix),
  ]
  for (const file of files) restrict(file, FILE_MODE, statSync)
  const names = files.map((file) => basename(file))
  const folder = dirname(path)
  const isItsOwn = () => readdirSync(folder).every((name) => names.includes(name))
  // A link to a folder was set up on purpose.
  restrict(
    folder,
    FOLDER_MODE,
    lstatSync,
    (stats) => stats.isDirectory() && !(stats.mode & STICKY) && isItsOwn(),
  )
}

function restrict(
  path: string,
  mode: number,
  look: (path: string) => Stats,
  isOurs: (stats: Stats) => boolean = (stats) => stats.isFile(),
) {
  try {
    const stats = look(path)
    if ((stats.mode & 0o077) !== 0 && stats.uid === process.getuid?.() && isOurs(stats)) chmodSync(path, mode)
  } catch {
    // Missing, or not ours to change; opening it will report that.
  }
}
