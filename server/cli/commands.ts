import { Command, CommanderError } from 'commander'
import { type Config, readConfig, settings } from '../config.ts'
import { version } from '../version.ts'
import { type CommandIo, widthOf } from './command-io.ts'
import { CommandFailure, ExitCode } from './failure.ts'

type Listed = {
  description: string
  /** Loads the file of the command, which gives it its options and what it does. */
  load: () => Promise<(command: Command, config: () => Config, io: CommandIo) => void>
}

/** Each is loaded when it is asked for: what a server or an import needs would keep every other command waiting. */
const commands: Record<string, Listed> = {
  serve: {
    description: 'run the server until it is told to stop (SIGTERM, SIGINT)',
    load: async () => (await import('./serve.ts')).defineServe,
  },
  dev: {
    description:
      'serve a new workspace that is gone when it stops, and say of each request what became of it',
    load: async () => (await import('./dev.ts')).defineDev,
  },
  init: {
    description: 'make a workspace with an active journey, a secret and a publishable key',
    load: async () => (await import('./init.ts')).defineInit,
  },
  key: {
    description: 'make and manage service keys',
    load: async () => (await import('./key.ts')).defineKey,
  },
  member: {
    description: 'make and list the people who sign in',
    load: async () => (await import('./member.ts')).defineMember,
  },
  'setup-link': {
    description: 'make a one-time link that creates a first person, an owner, in the browser',
    load: async () => (await import('./setup-link.ts')).defineSetupLink,
  },
  backup: {
    description: 'copy the store to a file, beside a running server or without one',
    load: async () => (await import('./backup.ts')).defineBackup,
  },
  restore: {
    description: 'put a backup in the place of the store, while no server runs',
    load: async () => (await import('./restore.ts')).defineRestore,
  },
  copy: {
    description: 'copy a whole store into an empty one, also on another engine, while no server runs',
    load: async () => (await import('./copy.ts')).defineCopy,
  },
  migrate: {
    description: 'bring the schema of the store up to date before a server of a new version starts',
    load: async () => (await import('./migrate.ts')).defineMigrate,
  },
  import: {
    description: 'send the events and customers of a file through the API',
    load: async () => (await import('./import.ts')).defineImport,
  },
  export: {
    description: 'write the events or the customers of a workspace to a file, through the API',
    load: async () => (await import('./export.ts')).defineExport,
  },
}

/**
 * Runs `cairn ARGS` to its end.
 * @param args without the program and its name
 * @returns the exit code
 */
export async function runCommand(args: readonly string[], io: CommandIo): Promise<number> {
  try {
    const program = newProgram(io)
    const config = () => configOf(io.env)
    // Of `cairn key list` and `cairn help key` alike.
    const asked = args.slice(0, 2)
    for (const [name, { description, load }] of Object.entries(commands)) {
      const command = program.command(name).description(description)
      if (asked.includes(name)) (await load())(command, config, io)
    }
    await program.parseAsync(args, { from: 'user' })
    return 0
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : ExitCode.usage
    const message = error instanceof Error ? error.message : String(error)
    io.stderr.write(`cairn: ${message}\n`)
    return error instanceof CommandFailure ? error.exitCode : ExitCode.failed
  }
}

function newProgram({ stdout, stderr }: CommandIo): Command {
  return new Command('cairn')
    .description('Registers customers and takes in their events, journey by journey.')
    .version(version)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      getOutHelpWidth: () => widthOf(stdout),
      getErrHelpWidth: () => widthOf(stderr),
    })
    .configureHelp({ showGlobalOptions: true })
    .addHelpText('after', () => `\n${environmentHelp()}\n${exitCodeHelp()}`)
}

function configOf(environment: NodeJS.ProcessEnv): Config {
  try {
    return readConfig(environment)
  } catch (error) {
    throw new CommandFailure(error instanceof Error ? error.message : String(error), ExitCode.usage)
  }
}

function environmentHelp(): string {
  const width = Math.max(...settings.map(({ name }) => name.length)) + 1
  const rows = settings.map(({ name, default: value, description }) => {
    return `  ${name.padEnd(width)}${description} (default: ${value || 'none'})`
  })
  return `Environment:\n${rows.join('\n')}\n`
}

function exitCodeHelp(): string {
  return (
    'Exit codes: 0 done, 1 failed, 2 wrong usage or configuration, 3 exists already or does not exist,\n' +
    '            4 part of it was refused, 130 interrupted.'
  )
}
