import { readFileSync } from 'node:fs'
import { errorText } from '../storage/file-errors.ts'
import type { CommandIo } from './command-io.ts'
import { CommandFailure, ExitCode } from './failure.ts'
import { assertReadable } from './named-files.ts'

/**
 * Returns the service key for a command that calls the API. It is not an argument, because every user of the machine
 * can see arguments.
 * @param keyFile a file that has it; without one the environment has it
 * @param user what needs it, for example `the import`
 * @throws {CommandFailure} if there is none
 */
export function serviceKey({ env }: CommandIo, keyFile: string | undefined, user: string): string {
  const key = keyFile === undefined ? env.CAIRN_SERVICE_KEY : textOf(keyFile)
  if (key !== undefined && /^[\x21-\x7e]+$/.test(key)) return key
  const place = keyFile ?? 'CAIRN_SERVICE_KEY'
  const fault = key ? `${place} does not contain a service key` : `${user} needs a service key`
  throw new CommandFailure(`${fault}. Set CAIRN_SERVICE_KEY, or name a file with --key-file.`, ExitCode.usage)
}

function textOf(keyFile: string): string {
  assertReadable(keyFile)
  try {
    return readFileSync(keyFile, 'utf8').trim()
  } catch (error) {
    throw new CommandFailure(`cannot read the key file: ${errorText(error)}`, ExitCode.usage)
  }
}
