import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { argv } from 'node:process'
import { measureBreakdown } from './breakdown.ts'
import { measureBuilds } from './builds.ts'
import { measureDefinitions } from './definitions.ts'
import { measureExports } from './exports.ts'
import { measureFullStores } from './full-stores.ts'
import { measureGrown } from './grown.ts'
import { measureHostile } from './hostile.ts'
import { measureJourneys } from './journeys.ts'
import { measureKilledWebhooks } from './killed-webhooks.ts'
import { measureMachine } from './machine.ts'
import { measurePeers } from './peers.ts'
import { measurePostgres } from './postgres/measure.ts'
import { isPinned, killAll } from './processes.ts'
import { measureProfile } from './profile.ts'
import { measureRefused } from './refused.ts'
import { machineLine, nearCeiling, type Parts, ratiosOf, tableOf } from './report.ts'
import { measureRetention } from './retention.ts'
import { readSettings, type Settings, say } from './settings.ts'
import { Watched } from './watched.ts'
import { measureWebhooks } from './webhooks.ts'

/** File systems in memory, on which a commit costs nothing: tmpfs, ramfs. */
const MEMORY_FILE_SYSTEMS = [0x01021994, 0x858458f6]

async function main(settings: Settings) {
  const parent = settings.folder ?? tmpdir()
  if (MEMORY_FILE_SYSTEMS.includes(statfsSync(parent).type)) {
    throw new Error(
      `${parent} is in memory, where a commit costs nothing; give a folder on a disk with --folder`,
    )
  }
  const folder = mkdtempSync(join(parent, 'cairn-bench-'))
  process.once('exit', () => {
    killAll()
    rmSync(folder, { recursive: true, force: true })
  })
  // Load of the last minute, before anything is started. Above about 0.3, other programs are running and affect the figures.
  const [load_average = Number.NaN] = loadavg()
  const started = performance.now()
  const watched = new Watched()
  const machine = await measureMachine(folder, settings)
  say(machineLine(machine))
  const { only } = settings
  const options = { settings, watched }
  const parts: Parts = {
    peers: !only || only === 'peers' ? await measurePeers(folder, options) : undefined,
    store: !only || only === 'store' ? await measureFullStores(folder, options) : undefined,
    hostile: only === 'hostile' ? await measureHostile(folder, settings) : undefined,
    postgres: only === 'postgres' ? await measurePostgres(folder, settings) : undefined,
    journeys: only === 'report' ? await measureJourneys(folder, options) : undefined,
    profile: only === 'profile' ? await measureProfile(folder, settings) : undefined,
    exports: only === 'export' ? await measureExports(folder, options) : undefined,
    refused: only === 'refused' ? await measureRefused(folder, options) : undefined,
    retention: only === 'retention' ? await measureRetention(folder, options) : undefined,
    builds: only === 'builds' ? await measureBuilds(folder, options) : undefined,
    grown: only === 'grown' ? await measureGrown(folder, options) : undefined,
    definitions: only === 'definitions' ? await measureDefinitions(folder, options) : undefined,
    webhooks: only === 'webhooks' ? await measureWebhooks(folder, options) : undefined,
    killedWebhooks: only === 'webhooks-killed' ? await measureKilledWebhooks(folder, settings) : undefined,
    breakdown: only === 'breakdown' ? await measureBreakdown(folder, options) : undefined,
  }
  const report = {
    ratios: ratiosOf({ ...parts, watched }),
    does_not_count: parts.peers ? nearCeiling(parts.peers) : [],
    node: process.version,
    cpu: `${availableParallelism()} × ${cpus()[0]?.model ?? 'unknown'}`,
    rounds: settings.rounds,
    quick: settings.isQuick,
    stored_events: settings.storedEvents,
    separate_cores: isPinned,
    load_average,
    machine,
    minutes: (performance.now() - started) / 60_000,
    watched: watched.parts,
    ...parts,
  }
  process.stdout.write(tableOf(report))
  if (settings.json !== undefined) writeFileSync(settings.json, `${JSON.stringify(report, null, 2)}\n`)
}

// Exit through the handler above, which removes the folder and ends all processes.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
const settings = readSettings(argv.slice(2))
if (settings) await main(settings)
