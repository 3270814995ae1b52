import { chmodSync, lstatSync, readdirSync, type Stats, statSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { FILE_MODE, FOLDER_MODE } from '../private-file.ts'

/** The file of a `sqlite:` URL, whose form the configuration has checked. */
export function sqlitePath(url: string): string {
  return url.replace(/^sqlite:(\/\/(?=\/))?/, '')
}

/** What the engine keeps beside a store, by what is added to its name. */
export const ENGINE_COMPANIONS = ['-wal', '-shm', '-journal']

/** What the engine and we keep beside a store. */
export const COMPANIONS = [...ENGINE_COMPANIONS, '.lock', '.lock-journal']

/** What the engine keeps beside a file of derived data. */
export const DERIVED_COMPANIONS = ['-wal', '-shm']

/** What is kept beside a store and is no part of it, derived or of some days; without it, it is made anew. Logs first. */
export const DERIVED = ['-standings', '-refusals'].flatMap((file) =>
  [...DERIVED_COMPANIONS, ''].map((suffix) => file + suffix),
)

/** What is kept beside a store and must outlive it: who was erased is to be erased again in an older one. */
export const ERASURES = '-erasures'

/** Set on folders like /tmp, which are everybody's. */
const STICKY = 0o1000

/**
 * Takes from other users what an older version, or a copy, let them read: the store, what is beside it, and its folder
 * where that holds nothing else. What belongs to another user is left as that user has it.
 */
export function keepPrivate(path: string): void {
  const files = [path, ...[...COMPANIONS, ...DERIVED, ERASURES].map((suffix) => path + suffix)]
  for (const file of files) restrict(file, FILE_MODE, statSync)
  const names = files.map((file) => basename(file))
  const folder = dirname(path)
  const isItsOwn = () => readdirSync(folder).every((name) => names.includes(name))
  // A link to a folder is somebody's arrangement.
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
    // Not there, or not ours to change; whoever needs to open it will say so.
  }
}
