import { accessSync, constants, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { CommandFailure, ExitCode } from './failure.ts'

/**
 * @throws {CommandFailure} if a file to be read does not exist or is a folder
 * @throws {Error} from the file system if it may not be read
 */
export function assertReadable(file: string): void {
  if (!statSync(file, { throwIfNoEntry: false }))
    throw new CommandFailure(`the file ${file} does not exist`, ExitCode.conflict)
  assertNoFolder(file)
  accessSync(file, constants.R_OK)
}

/** @throws {CommandFailure} if the folder of a file to be written does not exist, or the file is itself a folder */
export function assertWritable(file: string): void {
  const folder = dirname(resolve(file))
  if (!statSync(folder, { throwIfNoEntry: false }))
    throw new CommandFailure(`the folder ${folder} does not exist`, ExitCode.conflict)
  if (!isFolder(folder)) throw new CommandFailure(`${folder} is not a folder`, ExitCode.conflict)
  assertNoFolder(file)
}

export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

function assertNoFolder(file: string): void {
  if (isFolder(file)) throw new CommandFailure(`${file} is a folder`, ExitCode.usage)
}
