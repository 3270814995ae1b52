import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { get } from 'node:http'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { execPath } from 'node:process'
import { fileURLToPath, pathToFileURL } from 'node:url'
import Database from 'better-sqlite3'
import { processEnvironment } from '../../server/config.ts'
import { newId } from '../../server/domain/identifiers.ts'
import { newServiceKey } from '../../server/domain/service-keys.ts'
import { freePort } from '../fixtures/free-port.ts'
import { type Breadth, type Subject, WIDE_JOURNEYS, WIDE_WORKSPACES } from './data.ts'
import type { Job, Result } from './load.ts'

/** Servers run on one core and the load on another, however many there are, so that figures stay comparable. */
const CORES = { server: 0, load: 1 }

const THIS_CHECKOUT = fileURLToPath(new URL('../..', import.meta.url))

const READY_MS = 60_000
const POLL_MS = 2

/** Whether servers and load run on separate cores. */
export const isPinned = availableParallelism() > 1 && spawnSync('taskset', ['-c', '0,1', 'true']).status === 0

/** A server under measurement. */
export type Server = {
  url: string
  workspaces: Workspace[]
  file: string
  subjectsFile: string
  /** From the start of the process to the first 200 of `/readyz`. */
  start_ms: number
  /** Peak resident memory; null if the operating system does not report it. */
  peakMemory_mb(): number | null
  /** Processor time used; NaN if the operating system does not report it. */
  cpu_us(): number
  /** A value from `/metrics`; null if there is no such line. */
  metric(name: string): Promise<number | null>
  signal(signal: NodeJS.Signals): void
  /** Sends the signal and waits for the process to end. */
  end(signal?: NodeJS.Signals): Promise<void>
}

type Workspace = Omit<Subject, 'customerIds'>
export type Store = {
  /** File of a SQLite store; '' on PostgreSQL. */
  file: string
  workspaces: Workspace[]
}

export type StartedOn = {
  breadth?: Breadth
  /** Another checkout of Cairn, with its packages installed, to run instead of this one. */
  checkout?: string
  /** An empty PostgreSQL database; by default a SQLite file in the folder. */
  databaseUrl?: string
  environment?: Record<string, string>
  /** The core for servers (the default), or any. */
  core?: 'server' | 'any'
}

/** Creates a store with one workspace, or with many, and starts our server on it by the command of `npm start`. */
export async function startCairn(
  folder: string,
  { breadth = 'narrow', checkout = THIS_CHECKOUT, databaseUrl, environment = {}, core }: StartedOn = {},
): Promise<Server> {
  const file = databaseUrl === undefined ? join(folder, 'cairn.db') : ''
  const url = databaseUrl ?? `sqlite:${file}`
  const workspaces: Workspace[] = []
  const { createWorkspace } = await initOf(checkout)
  for (let made = 0; made < (breadth === 'wide' ? WIDE_WORKSPACES : 1); made += 1) {
    const names = { workspace: `Example ${made}`, journey: 'Onboarding' }
    const { secret_key: key, journey_id } = await createWorkspace(url, names)
    workspaces.push({ key, journey_ids: [journey_id] })
  }
  const settings = { ...UNLIMITED, DATABASE_URL: url, ...environment }
  const server = await restartCairn({ file, workspaces }, folder, settings, checkout, core)
  if (breadth === 'wide') for (const workspace of workspaces) await addJourneys(server.url, workspace)
  return server
}

/** Loads the function that creates a workspace from that checkout. */
async function initOf(checkout: string): Promise<typeof import('../../server/cli/init.ts')> {
  return await import(pathToFileURL(join(checkout, 'server/cli/init.ts')).href)
}

async function addJourneys(url: string, { key, journey_ids }: Workspace) {
  while (journey_ids.length < WIDE_JOURNEYS) {
    const headers = { 'x-service-key': key, 'content-type': 'application/json' }
    const body = JSON.stringify({ name: `Journey ${journey_ids.length}` })
    const reply = await fetch(`${url}/v1/journeys`, { method: 'POST', headers, body })
    if (reply.status !== 201) throw new Error(`creating a journey was answered with ${reply.status}`)
    journey_ids.push((await reply.json()).journey_id)
  }
}

/** A rate limit that counts every event and rejects none. */
export const UNLIMITED = { CAIRN_RATE_LIMIT: '1000000' }

/**
 * Restarts our server on an existing store.
 * @param settings environment; `{}` for the default limits and the store's file
 */
export async function restartCairn(
  store: Store,
  folder: string,
  settings: Record<string, string> = UNLIMITED,
  checkout = THIS_CHECKOUT,
  core: StartedOn['core'] = 'server',
): Promise<Server> {
  const port = await freePort()
  const environment = { PORT: String(port), DATABASE_URL: `sqlite:${store.file}`, ...settings }
  const { scripts } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'))
  const command = ['sh', '-c', scripts.start]
  return await startServer({
    command,
    checkout,
    core,
    environment,
    port,
    readyPath: '/readyz',
    store,
    folder,
  })
}

/**
 * Starts a peer, a program in this folder, which creates its own store.
 * @param databaseUrl an empty PostgreSQL database; by default a SQLite file in the folder
 */
export async function startPeer(name: string, folder: string, databaseUrl?: string): Promise<Server> {
  const port = await freePort()
  const file = databaseUrl === undefined ? join(folder, 'peer.db') : ''
  const [key, journey_id] = [newServiceKey('secret'), newId('jrn')]
  const store = { file, workspaces: [{ key, journey_ids: [journey_id] }] }
  const command = [
    execPath,
    programFile(`${name}.ts`),
    JSON.stringify({ port, file, databaseUrl, key, journey_id }),
  ]
  return await startServer({ command, environment: {}, port, readyPath: undefined, store, folder })
}

type StartOptions = {
  command: string[]
  checkout?: string
  core?: StartedOn['core']
  environment: Record<string, string>
  port: number
  /** A path that answers 200 once the server is ready; undefined if any response means ready. */
  readyPath: string | undefined
  store: Store
  folder: string
}

async function startServer(options: StartOptions): Promise<Server> {
  const { command, checkout, core = 'server', environment, port, readyPath, store, folder } = options
  const url = `http://127.0.0.1:${port}`
  // Every server logs to a file on the same disk: writing the log is part of its work.
  const logFile = openSync(join(folder, 'log'), 'a')
  const started = performance.now()
  const child = spawnOn(core, command, { cwd: checkout, environment, stdout: logFile })
  closeSync(logFile)
  const ended = once(child, 'exit')
  try {
    await untilReady(child, `${url}${readyPath ?? '/'}`, readyPath !== undefined)
  } catch (error) {
    child.kill('SIGKILL')
    throw error
  }
  return {
    ...store,
    url,
    subjectsFile: join(folder, 'subjects.json'),
    start_ms: performance.now() - started,
    peakMemory_mb: () => peakMemory_mb(child.pid),
    cpu_us: () => cpu_us(child.pid),
    async metric(name) {
      const line = new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm')
      const { status, body } = await getText(`${url}/metrics`)
      const value = status === 200 ? line.exec(body)?.[1] : undefined
      return value === undefined ? null : Number(value)
    },
    signal: (signal) => void child.kill(signal),
    async end(signal = 'SIGTERM') {
      child.kill(signal)
      await ended
    },
  }
}

/** Runs a load against a server in a separate process, and waits for its end. */
export async function runLoad(
  server: Server,
  job: Omit<Job, 'url' | 'workspaces' | 'subjectsFile' | 'breadth'> & { breadth?: Breadth },
): Promise<Result> {
  const { url, workspaces, subjectsFile } = server
  return await runProgram<Result>('load', 'load.ts', {
    breadth: 'narrow',
    url,
    workspaces,
    subjectsFile,
    ...job,
  } satisfies Job)
}

/** Starts a program in this folder. */
export function startProgram(core: keyof typeof CORES | 'any', name: string, options: object): ChildProcess {
  return spawnOn(core, [execPath, programFile(name), JSON.stringify(options)], {
    environment: {},
    stdout: 'pipe',
  })
}

/**
 * Runs a program in this folder, and waits for its end.
 * @returns the JSON that it prints
 */
export async function runProgram<Printed>(
  core: keyof typeof CORES,
  name: string,
  options: object,
): Promise<Printed> {
  const child = startProgram(core, name, options)
  let printed = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    printed += text
  })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${name} failed`)
  return JSON.parse(printed)
}

/** Number of events in a store. */
export function countEvents(file: string): number {
  const database = new Database(file, { readonly: true })
  try {
    const row = database.prepare<[], { count: number }>('SELECT count(*) AS count FROM events').get()
    return row?.count ?? 0
  } finally {
    database.close()
  }
}

/** Number of customers in a store. */
export function countCustomers(file: string): number {
  const database = new Database(file, { readonly: true })
  try {
    const row = database.prepare<[], { count: number }>('SELECT count(*) AS count FROM customers').get()
    return row?.count ?? 0
  } finally {
    database.close()
  }
}

/** Checkpoints the write-ahead log of a store. Nobody may be writing to the store. */
export function checkpoint(file: string): void {
  const database = new Database(file)
  database.pragma('wal_checkpoint(TRUNCATE)')
  database.close()
}

function spawnOn(
  core: keyof typeof CORES | 'any',
  command: string[],
  {
    cwd = THIS_CHECKOUT,
    environment,
    stdout,
  }: { cwd?: string | undefined; environment: Record<string, string>; stdout: number | 'pipe' },
): ChildProcess {
  const [file = '', ...rest] =
    isPinned && core !== 'any' ? ['taskset', '-c', String(CORES[core]), ...command] : command
  const child = spawn(file, rest, {
    cwd,
    env: { PATH: processEnvironment().PATH, ...environment },
    stdio: ['ignore', stdout, 'inherit'],
  })
  children.add(child)
  child.once('exit', () => children.delete(child))
  return child
}

const children = new Set<ChildProcess>()

/** Kills every process that was started and is still running. */
export function killAll(): void {
  for (const child of children) child.kill('SIGKILL')
}

function programFile(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url))
}

async function untilReady(child: ChildProcess, url: string, mustBeReady: boolean): Promise<void> {
  const deadline = performance.now() + READY_MS
  while (performance.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`a server exited with ${child.exitCode}`)
    const status = await getText(url).then(
      (reply) => reply.status,
      () => undefined,
    )
    if (status === 200 || (status !== undefined && !mustBeReady)) return
    await pause(POLL_MS)
  }
  throw new Error(`a server was not ready within ${READY_MS / 1000} s`)
}

/** Resolves after this time. */
export async function pause(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms))
}

async function getText(url: string): Promise<{ status: number; body: string }> {
  return await new Promise((resolve, reject) => {
    get(url, { agent: false }, (res) => {
      let body = ''
      res.setEncoding('utf8').on('data', (text) => {
        body += text
      })
      res.once('end', () => resolve({ status: res.statusCode ?? 0, body }))
      res.once('error', reject)
    }).once('error', reject)
  })
}

function peakMemory_mb(pid: number | undefined): number | null {
  try {
    const kilobytes = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return kilobytes === undefined ? null : Number(kilobytes) / 1024
  } catch {
    return null
  }
}

function cpu_us(pid: number | undefined): number {
  try {
    // After the program's name in brackets, the 12th and 13th fields are user and system time in ticks of 10 ms.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ')
    return (Number(fields[11]) + Number(fields[12])) * 10_000
  } catch {
    return Number.NaN
  }
}
