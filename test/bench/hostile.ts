import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createWorkspace } from '../../server/cli/init.ts'
import { createKey } from '../fixtures/service-keys.ts'
import { BATCH_EVENTS } from './data.ts'
import type { HostileJob, Keys, Tallies } from './hostile-callers.ts'
import { restartCairn, runLoad, runProgram, type Server, startPeer } from './processes.ts'
import { type Settings, say } from './settings.ts'
import {
  BATCH_CONNECTIONS,
  expectStored,
  initializeCustomers,
  startCairnWithCustomers,
  untilIndexed,
} from './windows.ts'

/** Number of kinds of callers; each has its own keys. */
const CALLERS = 10

/** Events in the workspace of the hostile callers, so that their lists have something to read. */
const LISTED_EVENTS = 300_000

/**
 * The ordinary load: below the rate limit of a key (500 per second), and a small part of what one core can process, so
 * that without hostile callers it measures how long an event takes and not how long it queues.
 */
const ORDINARY = {
  kind: 'single',
  connections: 16,
  mostRequestsPerSecond: 320,
  messageIds: 'mixed',
  countsRefusals: true,
} as const

export type HostileFigures = {
  /**
   * Ordinary senders, one number per round; `alone` is the mean of before and after. `bare` has the same callers and senders
   * on a server that does nothing for either: no server with one event loop can be faster.
   */
  single_p99_ms: { alone: number[]; beside: number[]; bare: number[] }
  /** The longest gap between two responses to ordinary senders beside hostile callers; one number per round. */
  ack_gap_ms: number[]
  /** Number of ordinary events without a 201 in all rounds and windows, and the outcomes of the first ones. */
  refused: number
  refusals: string[]
  /** Peak resident memory of the server; null if the operating system does not report it. */
  rss_mb: number | null
  callers: Tallies
}

/**
 * Measures ordinary senders alone, beside hostile callers of another workspace, and alone again, with the default limits;
 * and beside the same callers of `bare`.
 * @throws {Error} if a store does not contain what was acknowledged to the ordinary senders
 */
export async function measureHostile(folder: string, settings: Settings): Promise<HostileFigures> {
  const figures: HostileFigures = {
    single_p99_ms: { alone: [], beside: [], bare: [] },
    ack_gap_ms: [],
    refused: 0,
    refusals: [],
    rss_mb: null,
    callers: {},
  }
  for (let round = 1; round <= settings.rounds; round += 1) {
    const inner = join(folder, 'hostile')
    mkdirSync(inner)
    await measureRound(inner, { settings, figures, round })
    rmSync(inner, { recursive: true })
  }
  return figures
}

type Round = { settings: Settings; figures: HostileFigures; round: number }

async function measureRound(folder: string, { settings, figures, round }: Round) {
  say(`hostile callers, round ${round}: filling a store`)
  const { store, target } = await filled(folder)
  const server = await restartCairn(store, folder, {})
  const { soakSeconds, warmUpSeconds } = settings
  const soak = { ...ORDINARY, warmUpSeconds, seconds: soakSeconds }
  const alone = { ...ORDINARY, warmUpSeconds, seconds: soakSeconds / 5 }

  say(`hostile callers, round ${round}: ordinary senders alone`)
  const before = await runLoad(server, alone)
  say(`hostile callers, round ${round}: ordinary senders beside hostile callers, ${soakSeconds} s`)
  const job: HostileJob = { ...target, url: server.url, seconds: warmUpSeconds + soakSeconds }
  const [beside, callers] = await Promise.all([
    runLoad(server, soak),
    runProgram<Tallies>('load', 'hostile-callers.ts', job),
  ])
  // Immediately, without waiting for after-effects: there must be none.
  say(`hostile callers, round ${round}: ordinary senders alone again`)
  const after = await runLoad(server, alone)

  figures.single_p99_ms.alone.push((before.p99_ms + after.p99_ms) / 2)
  figures.single_p99_ms.beside.push(beside.p99_ms)
  figures.ack_gap_ms.push(beside.longestGap_ms)
  for (const { refused, refusals } of [before, beside, after]) {
    figures.refused += refused
    figures.refusals.push(...refusals)
  }
  const rss_mb = server.peakMemory_mb()
  if (rss_mb !== null) figures.rss_mb = Math.max(rss_mb, figures.rss_mb ?? 0)
  addTallies(figures.callers, callers)
  await server.end()
  say(`hostile callers, round ${round}: the same beside a server that does nothing, ${soakSeconds} s`)
  const bare = await startPeer('bare', folder)
  const [floor] = await Promise.all([
    runLoad({ ...bare, workspaces: store.workspaces }, soak),
    runProgram<Tallies>('load', 'hostile-callers.ts', { ...job, url: bare.url } satisfies HostileJob),
  ])
  figures.single_p99_ms.bare.push(floor.p99_ms)
  await bare.end()
  // No upper bound: hostile callers that disconnect do not know which of their events were stored.
  const least = LISTED_EVENTS + before.stored + beside.stored + after.stored
  expectStored(server.file, { least, most: Number.POSITIVE_INFINITY })
}

/** Creates a store with the workspace of the ordinary senders, and that of the hostile callers with its events. */
async function filled(folder: string) {
  const ordinary = await startCairnWithCustomers(folder)
  const databaseUrl = `sqlite:${ordinary.file}`
  const made = await createWorkspace(databaseUrl, { workspace: 'Hostile', journey: 'Onboarding' })
  const subjectsFile = join(folder, 'hostile-subjects.json')
  const workspaces = [{ key: made.secret_key, journey_ids: [made.journey_id] }]
  const hostile: Server = { ...ordinary, workspaces, subjectsFile }
  await initializeCustomers(hostile)
  await runLoad(hostile, {
    kind: 'batch',
    connections: BATCH_CONNECTIONS,
    messageIds: 'mixed',
    warmUpSeconds: 0,
    seconds: 0,
    requests: LISTED_EVENTS / BATCH_EVENTS,
  })
  await untilIndexed(ordinary)
  await ordinary.end()
  const keys: Keys[] = []
  while (keys.length < CALLERS) {
    const { key: secret } = await createKey({ databaseUrl }, made, 'secret')
    const { key: publishable } = await createKey({ databaseUrl }, made, 'publishable')
    keys.push({ secret, publishable })
  }
  const { file } = ordinary
  const target = { subjectsFile, keys }
  return { store: { file, workspaces: ordinary.workspaces }, target }
}

function addTallies(sums: Tallies, tallies: Tallies) {
  for (const [name, { requests, answers }] of Object.entries(tallies)) {
    const sum = sums[name] ?? { requests: 0, answers: {} }
    sum.requests += requests
    for (const [answer, count] of Object.entries(answers)) {
      sum.answers[answer] = (sum.answers[answer] ?? 0) + count
    }
    sums[name] = sum
  }
}
