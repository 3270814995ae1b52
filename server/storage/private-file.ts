import {
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import { errorText } from './file-errors.ts'

/** Accessible only to the owner. */
export const FILE_MODE = 0o600
export const FOLDER_MODE = 0o700

/**
 * Creates a file for customers' data, and its folder, if they do not exist, so that other users of the machine can read
 * neither.
 * @throws {Error} from the file system
 */
export function makePrivate(path: string): void {
  makePrivateFolder(dirname(path))
  // Before the engine does, which would make it readable for everyone.
  makePrivateFile(path)
}

/**
 * Creates a file that only its owner can access, if it does not exist. In a folder of another user, root gives it to that
 * user.
 * @throws {Error} from the file system
 */
export function makePrivateFile(path: string): void {
  let descriptor: number
  try {
    // Exclusively: root must not give away the target of a link.
    descriptor = openSync(path, 'wx', FILE_MODE)
  } catch {
    closeSync(openSync(path, 'a', FILE_MODE))
    return
  }
  giveToOwnerOf(dirname(path), descriptor)
  closeSync(descriptor)
}

/**
 * Gives what root has created to the owner of another file or folder, so that a service which runs as that user can use
 * it. Does nothing for any other user, or where even root cannot, as on some network file systems.
 */
function giveToOwnerOf(model: string, descriptor: number): void {
  if (!isRoot()) return
  try {
    const { uid, gid } = statSync(model)
    fchownSync(descriptor, uid, gid)
  } catch {
    // Opening it as that user will report it.
  }
}

function isRoot(): boolean {
  return process.geteuid?.() === 0
}

/** Creates a folder accessible only to its owner. @param model see `giveToOwnerOf` @throws {Error} from the file system */
export function createPrivateFolder(path: string, model: string): void {
  mkdirSync(path, { mode: FOLDER_MODE })
  const descriptor = openSync(path, constants.O_DIRECTORY | constants.O_NOFOLLOW)
  giveToOwnerOf(model, descriptor)
  closeSync(descriptor)
}

/**
 * Creates a folder accessible only to its owner, who is that of the folder above, and those that it is in, if they do not exist.
 * @throws {Error} with a message for the operator
 */
export function makePrivateFolder(path: string): void {
  // Not by mkdir's own recursion, which never ends where a file system answers ENOENT in a folder that exists, as /proc.
  const parent = dirname(resolve(path))
  if (!existsSync(parent)) makePrivateFolder(parent)
  try {
    createPrivateFolder(path, parent)
  } catch (error) {
    // Another process may just have created it.
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return
    throw new Error(`Cannot create the folder ${path}: ${errorText(error)}`, { cause: error })
  }
}

/**
 * Creates a new file readable only by its owner. Another file or link at the path is removed, never followed or written
 * to, because other users may have put it there.
 * @param model see `giveToOwnerOf`; without it, the file belongs to the user of this process
 * @returns its descriptor, for writing
 * @throws {Error} from the file system
 */
export function createPrivateFile(path: string, model?: string): number {
  rmSync(path, { force: true })
  // O_EXCL: not even a link that is created at this moment is followed.
  const descriptor = openSync(path, 'wx', FILE_MODE)
  if (model !== undefined) giveToOwnerOf(model, descriptor)
  return descriptor
}

/**
 * Opens a file of an earlier run to continue it, and makes it inaccessible to other users.
 * @param flags from `constants`, for example `O_RDWR`; with `O_CREAT` it is created if it does not exist
 * @returns its descriptor
 * @throws {Error} if it is a link or has another name, is not a regular file or belongs to another user. Root may read what
 *   belongs to the owner of the folder
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
    const isReadByRoot = isRoot() && flags === constants.O_RDONLY && stats.uid === statSync(dirname(path)).uid
    const isOurs = isReadByRoot || stats.uid === process.getuid?.()
    if (!stats.isFile() || stats.nlink > 1 || !isOurs) throw notOurs(path)
    fchmodSync(descriptor, FILE_MODE)
    return descriptor
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
}

function notOurs(path: string): Error {
  return new Error(
    `${path} is a link, not a regular file, or owned by another user. Remove it, or choose another path.`,
  )
}

/**
 * Writes a file atomically, readable only by its owner: to a temporary file first, so that the path has either the
 * previous contents or the complete new ones, on disk. A link at the path is replaced, not followed.
 * @param model see `createPrivateFile`
 * @throws {Error} from the file system
 */
export function writePrivateFile(path: string, text: string, model?: string): void {
  replace(path, text, FILE_MODE, model)
}

/**
 * Writes a file atomically, likewise, with the mode that it has, or that any new file gets. A link is followed. What is not a
 * regular file, such as /dev/stdout, is written to as it is.
 * @throws {Error} from the file system
 */
export function writeWholeFile(path: string, text: string): void {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats) replace(path, text, 0o666 & ~process.umask())
  else if (stats.isFile()) replace(realpathSync(path), text, stats.mode & 0o777)
  else writeFileSync(path, text)
}

function replace(path: string, text: string, mode: number, model?: string) {
  const partial = `${path}.partial`
  const descriptor = createPrivateFile(partial, model)
  try {
    writeFileSync(descriptor, text)
    fchmodSync(descriptor, mode)
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
