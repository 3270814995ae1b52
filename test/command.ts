import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
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

/** Runs `cairn ARGS` to its end. */
export async function runCairn(args: string[], options?: CommandOptions): Promise<Ended> {
  return await startCommand(process.execPath, [cairnFile, ...args], options).ended
}
