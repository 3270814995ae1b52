import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'

/** Read and written by the owner, by nobody else. */
export const FILE_MODE = 0o600
export const FOLDER_MODE = 0o700

/**
 * Makes a file that holds customers' data, and its folder, where there are none, so that other users of the machine read
 * neither.
 * @throws {Error} of the file system
 */
export function makePrivate(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: FOLDER_MODE })
  // Before the engine does, which would let everybody read it.
  closeSync(openSync(path, 'a', FILE_MODE))
}

/**
 * Makes a new file for its owner alone. Another file or link at the path is removed, never followed or written to: other
 * users may have put it there.
 * @returns its descriptor, to write
 * @throws {Error} of the file system
 */
export function createPrivateFile(path: string): number {
  rmSync(path, { force: true })
  // O_EXCL: not even a link that somebody puts there now is followed.
  return openSync(path, 'wx', FILE_MODE)
}

/**
 * Opens a file that an earlier run has made, to go on with it, and takes it from other users.
 * @param flags how, of `constants`, for example `O_RDWR`; with `O_CREAT` it is made where there is none
 * @returns its descriptor
 * @throws {Error} where it is a link or has another name, is no plain file or belongs to another user
 */
export function openPrivateFile(path: string, flags: number): number {
  let descriptor: number
  try {
    descriptor = openSync(path, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, FILE_MODE)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ELOOP') throw notOurs(path)
    throw error
  }
  try {
    const stats = fstatSync(descriptor)
    if (!stats.isFile() || stats.nlink > 1 || stats.uid !== process.getuid?.()) throw notOurs(path)
    fchmodSync(descriptor, FILE_MODE)
    return descriptor
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
}

function notOurs(path: string): Error {
  return new Error(`${path} is a link, or belongs to somebody else. Remove it, or name another file.`)
}

/**
 * Writes a file as a whole for its owner alone: beside its place first, so that at the path there is either what was there
 * before or all of it, on disk. A link at the path is replaced, not followed.
 * @throws {Error} of the file system
 */
export function writePrivateFile(path: string, text: string): void {
  const partial = `${path}.partial`
  const descriptor = createPrivateFile(partial)
  try {
    writeFileSync(descriptor, text)
    fsyncSync(descriptor)
    closeSync(descriptor)
    renameSync(partial, path)
  } catch (error) {
    rmSync(partial, { force: true })
    throw error
  }
  syncFile(dirname(path))
}

/** Waits until a file, or the names in a folder, are on disk. */
export function syncFile(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
