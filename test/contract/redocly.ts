import { execFile } from 'node:child_process'

const PROGRAM = 'node_modules/@redocly/cli/bin/cli.js'

/** Far above the largest report. */
const OUTPUT_BYTES = 64 * 1024 * 1024

/** The result of a run of Redocly's command line. */
export type RedoclyRun = { exitCode: number; stdout: string; stderr: string }

/** Runs Redocly's command line, which has nothing to import. It gets only this environment, and telemetry is off. */
export function redocly(args: string[], environment: Record<string, string> = {}): Promise<RedoclyRun> {
  const env = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', ...environment }
  const { promise, resolve } = Promise.withResolvers<RedoclyRun>()
  const options = { env, maxBuffer: OUTPUT_BYTES }
  const child = execFile(process.execPath, [PROGRAM, ...args], options, (_error, stdout, stderr) =>
    resolve({ exitCode: child.exitCode ?? -1, stdout, stderr }),
  )
  return promise
}
