import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import { pino } from 'pino'
import type { Config } from '../config.ts'
import { startServer } from '../main.ts'
import { makeSetupLink } from '../setup-link.ts'
import type { CommandIo } from './command-io.ts'
import { createWorkspace } from './init.ts'
import { name } from './options.ts'
import { requestLines } from './request-lines.ts'
import { firstSignal, secondSignal } from './signals.ts'
import { inStore } from './store.ts'
import { columns } from './table.ts'

type DevOptions = { journey: string; json?: boolean }

export function defineDev(command: Command, config: () => Config, io: CommandIo): void {
  command
    .option('--journey <name>', 'name of the journey', name, 'Onboarding')
    .option('--json', 'print the URL and the keys as one JSON object, and requests on standard error')
    .action((options: DevOptions) => dev(config(), io, options))
}

/**
 * Serves a new workspace from a temporary file until the process is told to stop or its output is closed; then deletes the
 * file.
 */
async function dev(given: Config, io: CommandIo, { journey, json }: DevOptions) {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-dev-'))
  // Runs however the process ends, except after SIGKILL.
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const stopped = firstSignal()
  const config = { ...given, databaseUrl: `sqlite:${join(folder, 'cairn.db')}` }
  const made = await createWorkspace(config.databaseUrl, { workspace: 'Development', journey })
  const lines = requestLines((line) => (json ? io.stderr : io.stdout).write(line))
  const server = await startServer({ config, log: pino({ level: 'info' }, lines) })
  try {
    const link = { workspace_id: made.workspace_id, baseUrl: server.siteUrl, now_ms: Date.now() }
    const setup_link = await inStore(config.databaseUrl, (db) => makeSetupLink(db, link))
    const told = { url: server.url, ...made, setup_link }
    io.stdout.write(json ? `${JSON.stringify(told)}\n` : report(told))
    await Promise.race([stopped, once(io.stdout, 'error'), server.died])
    secondSignal().then(() => process.exit(1))
  } finally {
    await server.stop()
  }
}

function report(told: Record<string, string>): string {
  return `${columns(Object.entries(told))}\nPress Ctrl+C to stop; all its data is then deleted. Requests:\n\n`
}
