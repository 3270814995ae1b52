import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** A thread's recording, see profiling.js. */
export type Recording<Profile> = { thread: string; cpu_us: number; profile: Profile }

type Frame = { functionName: string; url: string; lineNumber: number }

export type CpuProfile = {
  nodes: { id: number; callFrame: Frame; children?: number[] }[]
  samples: number[]
  timeDeltas: number[]
}

export type HeapProfile = { head: HeapNode }
type HeapNode = { callFrame: Frame; selfSize: number; children: HeapNode[] }

/** Cost by station. */
export type Account = Map<string, number>

/** Waiting, and the recording itself. */
const NO_WORK = new Set(['(idle)', 'post node:inspector'])

/** V8's own work. */
const OF_V8 = new Map([
  ['(garbage collector)', 'collecting garbage'],
  ['(program)', 'outside JavaScript'],
])

/** Stations of a request by the module that runs; the first match counts. */
const STATIONS: readonly (readonly [module: RegExp, station: string])[] = [
  [/^postMessage$|receiveMessageOnPort|^node:internal\/worker|messageport/, 'crossing of threads'],
  [
    /storage\/sqlite\/writer\/(wire-format|units|write-scheduler)|write-queue|fair-queue/,
    'packing and groups',
  ],
  [/storage\/sqlite\/index\//, 'indexing'],
  [/event-counter|event-counts|varint|activity/, 'counting'],
  [/better-sqlite3|storage\/sqlite\/(connection|writer\/(writing-connection|write-ahead-log))/, 'engine'],
  [
    /storage\/sqlite|storage\/|domain\/(message-ids|half-sip-hash|name-hashes|event-content|identifiers)/,
    'classifying and writing',
  ],
  [/express-openapi-validator|\/ajv|fast-uri|contract\.ts|http\/checks|ajv-formats/, 'contract check'],
  [
    /\/(express|router|path-to-regexp|finalhandler|depd|debug|parseurl|encodeurl|setprototypeof|etag|fresh)\//,
    'Express',
  ],
  [/http\/callers|cookie|proxy-addr|ipaddr|domain\/service-keys/, 'caller and key'],
  [/http\/rates|tally/, 'rate limit and turns'],
  [/request-body|domain\/json|node:internal\/(streams\/readable|deps\/undici)/, 'body'],
  [/pino|sonic-boom|request-log|log\.ts|fast-redact|safe-stable-stringify|quick-format/, 'log'],
  [/prom-client|metrics\.ts/, 'metrics'],
  [/helmet|security-headers|http\/answers/, 'answer'],
  [/server\/operations/, 'operation'],
  [
    /node:(_http|net|internal\/stream_base|internal\/http|http|internal\/streams|events|internal\/net|stream)/,
    'socket and HTTP',
  ],
  [/http\/app|server\/http|server\/main/, 'way of a request'],
  [/standings/, 'standings'],
]

/** Processor time by station, in the unit of `cpu_us`: each sample counts for the topmost frame that has a station. */
export function cpuAccount({ thread, cpu_us, profile }: Recording<CpuProfile>): Account {
  const parents = new Map<number, number>()
  const frames = new Map(profile.nodes.map(({ id, callFrame }) => [id, callFrame]))
  for (const { id, children = [] } of profile.nodes) for (const child of children) parents.set(child, id)
  const samples: Account = new Map()
  let all = 0
  for (const [index, sample] of profile.samples.entries()) {
    const spent = profile.timeDeltas[index] ?? 0
    const { functionName: name = '', url = '' } = frames.get(sample) ?? {}
    if (NO_WORK.has(`${name} ${url}`.trim())) continue
    let station = OF_V8.get(name)
    for (let id: number | undefined = sample; id !== undefined && !station; id = parents.get(id)) {
      station = stationOf(frames.get(id))
    }
    all += spent
    add(samples, stationIn(thread, station), spent)
  }
  return new Map([...samples].map(([station, spent]) => [station, (spent / Math.max(all, 1)) * cpu_us]))
}

/** Bytes allocated by station. */
export function heapAccount({ thread, profile }: Recording<HeapProfile>): Account {
  const bytes: Account = new Map()
  const walk = ({ callFrame, selfSize, children }: HeapNode, above: string | undefined) => {
    const station = stationOf(callFrame) ?? above
    if (selfSize > 0) add(bytes, stationIn(thread, station), selfSize)
    for (const child of children) walk(child, station)
  }
  walk(profile.head, undefined)
  return bytes
}

export function add(account: Account, station: string, spent: number): void {
  account.set(station, (account.get(station) ?? 0) + spent)
}

/**
 * Frames without a rule are reported as the rest. The standings' thread is one station, because no event waits for it.
 */
function stationIn(thread: string, station = 'the rest'): string {
  if (thread.includes('standings')) return 'standings'
  if (thread === 'main') return `main: ${station}`
  return thread.includes('writer') ? `writer: ${station}` : `${thread}: ${station}`
}

function stationOf(frame: Frame | undefined): string | undefined {
  if (!frame) return undefined
  const module = frame.url === '' ? frame.functionName : moduleOf(frame)
  return module === '' ? undefined : STATIONS.find(([pattern]) => pattern.test(module))?.[1]
}

/** The source module of a frame: a built file says where each module begins. */
function moduleOf({ url, lineNumber }: Frame): string {
  if (!url.startsWith('file:') || !url.includes('/dist/server/')) return url
  let found = ''
  for (const [line, name] of modulesIn(url)) {
    if (line > lineNumber) break
    found = name
  }
  return found
}

const known = new Map<string, [line: number, name: string][]>()

function modulesIn(url: string): [line: number, name: string][] {
  const before = known.get(url)
  if (before) return before
  const lines = readFileSync(fileURLToPath(url), 'utf8').split('\n')
  const modules = lines.flatMap((line, number): [number, string][] => {
    const name = /^\/\/ (\S+\.[cm]?[jt]s)$/.exec(line)?.[1]
    return name ? [[number, `/${name}`]] : []
  })
  known.set(url, modules)
  return modules
}
