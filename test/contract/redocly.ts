import { execFile } from 'node:child_process'

const PROGRAM = 'node_modules/@redocly/cli/bin/cli.js'

/** Above the largest report by far. */
const OUTPUT_BYTES = 64 * 1024 * 1024

/** How a run of Redocly's command line ended, and what it wrote. */
export type RedoclyRun = { exitCode: number; stdout: string; stderr: string }

/**
 * Runs Redocly's command line, which offers nothing to import. It sees only the environment that is given here, and
 * reports to nobody.
 */
export function redocly(args: string[], environment: Record<string, string> = {}): Promise<RedoclyRun> {
  const env = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', ...environment }
  const { promise, resolve } = Promise.withResolvers<RedoclyRun>()
  const options = { env, maxBuffer: OUTPUT_BYTES }
  const child = execFile(process.execPath, [PROGRAM, ...args], options, (_error, stdout, stderr) =>
    resolve({ exitCode: child.exitCode ?? -1, stdout, stderr }),
  )
  return promise
}
