import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { runCommand } from '../server/cli/commands.ts'
import { processEnvironment } from '../server/config.ts'

export const cairnFile = fileURLToPath(new URL('../server/cli/cairn.js', import.meta.url))

/** How a command ended, and everything that it printed. */
export type Ended = { code: number | null; signal: NodeJS.Signals | null; stdout: string; stderr: string }

/** A running process. It is killed when the test ends. */
export type Command = {
  process: ChildProcess
  /** What it has printed to standard output so far. */
  stdout(): string
  /** What it has printed to standard error so far. */
  stderr(): string
  ended: Promise<Ended>
}

export type CommandOptions = {
  /** In addition to PATH; nothing else of this process's environment is passed on. */
  environment?: Record<string, string>
  folder?: string
  /** Its standard input; empty by default. */
  stdin?: string
}

export function startCommand(file: string, args: string[], options: CommandOptions = {}): Command {
  const { environment, folder, stdin } = options
  const child = spawn(file, args, {
    env: { PATH: processEnvironment().PATH, ...environment },
    // Without input there is no pipe either: bash would take one for a remote shell and read its settings.
    stdio: [stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    ...(folder !== undefined && { cwd: folder }),
  })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  // Most commands exit without reading their input.
  child.stdin?.on('error', () => {}).end(stdin)
  const printed = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text) => {
      printed[name] += text
    })
  }
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, ...printed }))
  return { process: child, stdout: () => printed.stdout, stderr: () => printed.stderr, ended }
}

/** Starts `cairn ARGS` in a process of its own. */
export function spawnCairn(args: string[], options?: CommandOptions): Command {
  return startCommand(process.execPath, [cairnFile, ...args], options)
}

/**
 * Runs `cairn ARGS` to its end in this process.
 *
 * SQLite also keeps connections of one process apart, so most commands can run beside a server of this process. Commands
 * that take the server's lock cannot (`restore`, `copy`): they open and close its file, and closing any descriptor of a
 * file drops all POSIX locks that the process holds on it. The server would lose its lock, and nothing would be proven
 * about another process. `spawnCairn` is for those, and for commands that run until a signal (`serve`, `dev`), use the
 * working directory, or start at the same time as others.
 */
export async function runCairn(
  args: string[],
  { environment = {}, stdin = '' }: Pick<CommandOptions, 'environment' | 'stdin'> = {},
): Promise<Omit<Ended, 'signal'>> {
  const printed = { stdout: '', stderr: '' }
  const output = (name: keyof typeof printed) =>
    new Writable({
      decodeStrings: false,
      write(text: string, _encoding, done) {
        printed[name] += text
        done()
      },
    })
  const io = {
    env: environment,
    stdin: Readable.from([stdin]),
    stdout: output('stdout'),
    stderr: output('stderr'),
  }
  return { code: await runCommand(args, io), ...printed }
}
