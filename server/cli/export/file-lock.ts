import { closeSync, constants, fstatSync, lstatSync, rmSync } from 'node:fs'
import { openPrivateFile } from '../../storage/private-file.ts'
import { isSameFile } from '../../storage/same-file.ts'
import { takeLock } from '../../storage/sqlite/connection.ts'
import { CommandFailure, ExitCode } from '../failure.ts'

/**
 * Writes a file that nobody else writes meanwhile. The operating system releases the lock of a process that dies; its lock
 * file stays, and the next command takes and removes it.
 * @throws {CommandFailure} if another command is writing the file
 */
export async function whileLocked(path: string, write: () => Promise<void>): Promise<void> {
  const release = take(path)
  try {
    await write()
  } finally {
    release()
  }
}

/**
 * Takes the lock beside a file, and removes the lock file on release. A lock that was taken of a file which its last
 * holder had just removed is released and taken again, so that no two commands hold one.
 * @returns the function that releases it
 */
function take(path: string): () => void {
  const lockPath = `${path}.lock`
  for (;;) {
    // Open until the end: its number is given to no other file, and to close it would release the lock.
    const descriptor = openPrivateFile(lockPath, constants.O_RDWR | constants.O_CREAT)
    const lock = takeLock(path)
    if (!lock) {
      closeSync(descriptor)
      throw new CommandFailure(
        `another command is writing ${path}. Wait for it, or choose another file.`,
        ExitCode.conflict,
      )
    }
    const isThere = isAt(lockPath, descriptor)
    const release = () => {
      if (isThere) rmSync(lockPath, { force: true })
      lock.close()
      closeSync(descriptor)
    }
    if (isThere) return release
    release()
  }
}

/** Whether an open file is the one at a path. */
function isAt(path: string, descriptor: number): boolean {
  return isSameFile(fstatSync(descriptor), lstatSync(path, { throwIfNoEntry: false }))
}
