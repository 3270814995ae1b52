import { Command, CommanderError } from 'commander'
import { processEnvironment, readConfig, settings } from '../config.ts'
import { version } from '../version.ts'
import { addBackup } from './backup.ts'
import { CommandFailure, ExitCode } from './failure.ts'
import { addImport } from './import.ts'
import { addInit } from './init.ts'
import { addKey } from './key.ts'
import { addMember } from './member.ts'
import { addRestore } from './restore.ts'
import { addServe } from './serve.ts'
import { addSetupLink } from './setup-link.ts'

const program = new Command('cairn')
  .description('Registers customers and takes in their events, journey by journey.')
  .version(version)
  .exitOverride()
  .configureHelp({ showGlobalOptions: true })
  .addHelpText('after', () => `\n${environmentHelp()}\n${exitCodeHelp()}`)

const config = () => {
  try {
    return readConfig(processEnvironment())
  } catch (error) {
    throw new CommandFailure(error instanceof Error ? error.message : String(error), ExitCode.usage)
  }
}
addServe(program, config)
addInit(program, config)
addKey(program, config)
addMember(program, config)
addSetupLink(program, config)
addBackup(program, config)
addRestore(program, config)
addImport(program, config)

try {
  await program.parseAsync()
} catch (error) {
  process.exitCode = report(error)
}

function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : ExitCode.usage
  const message = error instanceof Error ? error.message : String(error)
  process.stderr.write(`cairn: ${message}\n`)
  return error instanceof CommandFailure ? error.exitCode : ExitCode.failed
}

function environmentHelp(): string {
  const rows = settings.map(({ name, default: value, description }) => {
    return `  ${name.padEnd(23)}${description} (default: ${value || 'none'})`
  })
  return `Environment:\n${rows.join('\n')}\n`
}

function exitCodeHelp(): string {
  return (
    'Exit codes: 0 done, 1 failed, 2 wrong usage or configuration, 3 exists already or does not exist,\n' +
    '            4 part of it was refused, 130 interrupted.'
  )
}
