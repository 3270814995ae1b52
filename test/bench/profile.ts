import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import {
  type Account,
  add,
  type CpuProfile,
  cpuAccount,
  type HeapProfile,
  heapAccount,
  type Recording,
} from './account.ts'
import { BATCH_EVENTS } from './data.ts'
import { pause, runLoad, type Server, startCairn } from './processes.ts'
import { type Settings, say } from './settings.ts'
import { BATCH_CONNECTIONS, CONNECTIONS, initializeCustomers } from './windows.ts'

export type Profiled = (typeof KINDS)[number]

/** Cost of one event, or of one initialization. */
export type ProfileFigures = {
  /** Processor time of the whole process, from a window without a recording. */
  cpu_us: number
  /** Microseconds of processor time per stage. */
  stages: Account
  /** Bytes allocated on JavaScript heaps per stage. */
  allocated: Account
}

const KINDS = ['single', 'initialize', 'batch'] as const

/** Time limit for a thread to write its recording. */
const WRITTEN_MS = 60_000

/** Measures the cost of an event at each stage of its processing, each kind on a new store. */
export async function measureProfile(
  folder: string,
  settings: Settings,
): Promise<Record<Profiled, ProfileFigures>> {
  const figures: Partial<Record<Profiled, ProfileFigures>> = {}
  for (const kind of KINDS) {
    say(`profile: ${kind}`)
    figures[kind] = await profiled(kind, join(folder, `profile-${kind}`), settings)
  }
  return figures as Record<Profiled, ProfileFigures>
}

async function profiled(kind: Profiled, folder: string, settings: Settings): Promise<ProfileFigures> {
  mkdirSync(folder)
  const hook = pathToFileURL(join(import.meta.dirname, 'profiling.js'))
  hook.searchParams.set('folder', folder)
  const server = await startCairn(folder, { environment: { NODE_OPTIONS: `--import=${hook}` } })
  await initializeCustomers(server)
  const { seconds, warmUpSeconds } = settings
  const load = runLoad(server, {
    kind,
    connections: kind === 'batch' ? BATCH_CONNECTIONS : CONNECTIONS,
    messageIds: 'mixed',
    warmUpSeconds,
    seconds: 3 * seconds + 10,
  })
  await pause(warmUpSeconds * 1000)
  const plain = await during(server, seconds, async () => {})
  const cpu = await during(server, seconds, () => toggleRecording(server, folder, 'cpu'))
  const heap = await during(server, seconds, () => toggleRecording(server, folder, 'heap'))
  await load
  await server.end()
  const stages: Account = new Map()
  for (const recording of recordings<CpuProfile>(folder, 'cpu'))
    addAll(stages, cpuAccount(recording), cpu.events)
  // The rest of the process, beside the threads that run JavaScript: thread pool, compiler, garbage collector.
  const ofThreads = [...stages.values()].reduce((sum, spent) => sum + spent, 0)
  add(stages, 'helper threads', Math.max(0, cpu.cpu_us / cpu.events - ofThreads))
  const allocated: Account = new Map()
  for (const recording of recordings<HeapProfile>(folder, 'heap'))
    addAll(allocated, heapAccount(recording), heap.events)
  return { cpu_us: plain.cpu_us / plain.events, stages, allocated }
}

/** The processor time of the process and the number of rows written in a window, with `record` at its start and end. */
async function during(server: Server, seconds: number, record: () => Promise<void>) {
  await record()
  const before = { cpu_us: server.cpu_us(), rows: await rowsOf(server) }
  await pause(seconds * 1000)
  const after = { cpu_us: server.cpu_us(), rows: await rowsOf(server) }
  await record()
  const events = after.rows - before.rows
  if (events < BATCH_EVENTS) throw new Error(`only ${events} events were written during a recording`)
  return { cpu_us: after.cpu_us - before.cpu_us, events }
}

async function rowsOf(server: Server): Promise<number> {
  const rows = await server.metric('cairn_commit_rows_sum')
  if (rows === null) throw new Error('the server does not report how many rows it has written')
  return rows
}

/** Starts a recording; if one is running, stops it and waits until every thread has written its part. */
async function toggleRecording(server: Server, folder: string, kind: 'cpu' | 'heap'): Promise<void> {
  server.signal('SIGUSR2')
  if (!existsSync(join(folder, `began-${kind}`))) {
    mkdirSync(join(folder, `began-${kind}`))
    return
  }
  const threads = readdirSync(folder).filter((name) => name.startsWith('thread-'))
  const files = threads.map((name) => join(folder, `${kind}-${name.slice('thread-'.length)}.json`))
  const deadline = performance.now() + WRITTEN_MS
  while (!files.every((file) => existsSync(file))) {
    if (performance.now() > deadline) throw new Error('a thread did not write its recording in time')
    await pause(50)
  }
}

function recordings<Profile>(folder: string, kind: 'cpu' | 'heap'): Recording<Profile>[] {
  const files = readdirSync(folder).filter((name) => name.startsWith(`${kind}-`))
  return files.map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')))
}

function addAll(sum: Account, account: Account, events: number) {
  for (const [stage, spent] of account) add(sum, stage, spent / events)
}
