import { closeSync, constants, existsSync, rmSync } from 'node:fs'
import { openPrivateFile } from '../../storage/private-file.ts'
import { takeLock } from '../../storage/sqlite/connection.ts'
import { CommandFailure, ExitCode } from '../failure.ts'

/**
 * Writes a file that nobody else writes meanwhile. The operating system releases the lock of a process that dies.
 * @param write checks that the file does not exist: the lock file is removed once it does
 * @throws {CommandFailure} if another command is writing the file
 */
export async function whileLocked(path: string, write: () => Promise<void>): Promise<void> {
  const lockPath = `${path}.lock`
  closeSync(openPrivateFile(lockPath, constants.O_RDWR | constants.O_CREAT))
  const lock = takeLock(path)
  if (!lock) {
    throw new CommandFailure(
      `another command is writing ${path}. Wait for it, or choose another file.`,
      ExitCode.conflict,
    )
  }
  try {
    await write()
  } finally {
    if (existsSync(path)) rmSync(lockPath, { force: true })
    lock.close()
  }
}
