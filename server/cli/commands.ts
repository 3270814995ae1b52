import { Command, CommanderError } from 'commander'
import { type Config, readConfig, settings } from '../config.ts'
import { InUse } from '../in-use.ts'
import { version } from '../version.ts'
import { type CommandIo, widthOf } from './command-io.ts'
import { CommandFailure, ExitCode } from './failure.ts'
import { unknownVariables } from './unknown-variables.ts'

type Listed = {
  description: string
  /** Loads the command's file, which defines its options and action. */
  load: () => Promise<(command: Command, config: () => Config, io: CommandIo) => void>
}

/** Each command is loaded on demand, so that a short command need not wait for what a server or an import loads. */
const commands: Record<string, Listed> = {
  serve: {
    description: 'run the server until SIGTERM, SIGINT or SIGHUP',
    load: async () => (await import('./serve.ts')).defineServe,
  },
  dev: {
    description:
      'run a server with a temporary workspace, deleted on exit, and print each request with its outcome',
    load: async () => (await import('./dev.ts')).defineDev,
  },
  init: {
    description: 'create a workspace with an active journey, a secret key and a publishable key',
    load: async () => (await import('./init.ts')).defineInit,
  },
  key: {
    description: 'create and manage service keys',
    load: async () => (await import('./key.ts')).defineKey,
  },
  member: {
    description: 'add and list people who sign in',
    load: async () => (await import('./member.ts')).defineMember,
  },
  'setup-link': {
    description: 'create a one-time link with which a new person becomes an owner',
    load: async () => (await import('./setup-link.ts')).defineSetupLink,
  },
  backup: {
    description: 'copy the store to a file, with or without a running server',
    load: async () => (await import('./backup.ts')).defineBackup,
  },
  restore: {
    description: 'replace the store with a backup, while no server is running',
    load: async () => (await import('./restore.ts')).defineRestore,
  },
  copy: {
    description: 'copy a store to an empty one, on either engine, while no server is running',
    load: async () => (await import('./copy.ts')).defineCopy,
  },
  migrate: {
    description: 'migrate the schema before a new version of the server starts',
    load: async () => (await import('./migrate.ts')).defineMigrate,
  },
  import: {
    description: 'import events and customers from a file through the API',
    load: async () => (await import('./import.ts')).defineImport,
  },
  export: {
    description: 'export a workspace, or its events or customers, through the API',
    load: async () => (await import('./export.ts')).defineExport,
  },
  plan: {
    description: 'keep the event definitions of a workspace as a file',
    load: async () => (await import('./plan.ts')).definePlan,
  },
  webhooks: {
    description: 'try a receiver of webhooks on this machine',
    load: async () => (await import('./webhooks.ts')).defineWebhooks,
  },
}

/**
 * Runs `cairn ARGS` to its end.
 * @param args without the program and its name
 * @returns the exit code
 */
export async function runCommand(args: readonly string[], io: CommandIo): Promise<number> {
  try {
    const program = newProgram(io, args)
    const config = () => configOf(io.env)
    // For `cairn key list` and for `cairn help key`.
    const asked = args.slice(0, 2)
    for (const [name, { description, load }] of Object.entries(commands)) {
      const command = program.command(name).description(description)
      if (asked.includes(name)) (await load())(command, config, io)
    }
    const [first, second = '', ...rest] = args
    const hasCommands = program.commands.some((each) => each.name() === second && each.commands.length > 0)
    // Commander's own help looks up only the first of two words: `cairn help key create`.
    const words = first === 'help' && hasCommands ? [second, first, ...rest] : args
    // It answers a misspelt name that asks for help with the help of all commands, and without an error.
    const names = args.filter((word) => !/^(help|-h|--help)$/.test(word))
    await program.parseAsync(isUnknown(program, names) ? names : words, { from: 'user' })
    return 0
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : ExitCode.usage
    const { errorText } = await import('../storage/file-errors.ts')
    const { causeOf } = await import('../storage/unavailable.ts')
    io.stderr.write(`cairn: ${errorText(causeOf(error))}\n`)
    if (error instanceof InUse) return ExitCode.conflict
    return error instanceof CommandFailure ? error.exitCode : ExitCode.failed
  }
}

/** Whether one of the names is not that of a command, up to the first option or argument. */
function isUnknown({ commands }: Command, [name, ...rest]: readonly string[]): boolean {
  if (!name || name.startsWith('-') || commands.length === 0) return false
  const command = commands.find((each) => each.name() === name)
  return !command || isUnknown(command, rest)
}

function newProgram({ env, stdout, stderr }: CommandIo, args: readonly string[]): Command {
  return new Command('cairn')
    .description('Registers customers and ingests their events, journey by journey.')
    .version(version)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      getOutHelpWidth: () => widthOf(stdout),
      getErrHelpWidth: () => widthOf(stderr),
    })
    .configureHelp({ showGlobalOptions: true })
    .hook('preAction', (_program, action) => {
      // As `cairn backup "$FILE"` leaves it. Node would take it for the working directory.
      if (args.some((word) => /^(--[a-z-]+=)?$/.test(word))) {
        throw new CommandFailure('an argument is empty, perhaps a variable that is not set', ExitCode.usage)
      }
      // A server has a log for them.
      if (action.name() === 'serve') return
      for (const warning of unknownVariables(env)) stderr.write(`cairn: ${warning}\n`)
    })
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
    'Exit codes: 0 done, 1 failed, 2 wrong usage or configuration, 3 already exists, not found or in use,\n' +
    '            4 partly refused, 5 an additive and 6 a breaking difference, 130 interrupted.\n' +
    'They are the same if the reader of standard output closes it, as head does: the command finishes its work.'
  )
}
