import { closeSync, mkdirSync, openSync } from 'node:fs'
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
