import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The recording of one thread, see profiling.js. */
export type Recording<Profile> = { thread: string; cpu_us: number; profile: Profile }

type Frame = { functionName: string; url: string; lineNumber: number }

export type CpuProfile = {
  nodes: { id: number; callFrame: Frame; children?: number[] }[]
  samples: number[]
  timeDeltas: number[]
}

export type HeapProfile = { head: HeapNode }
type HeapNode = { callFrame: Frame; selfSize: number; children: HeapNode[] }

/** Cost per stage of a request. */
export type Account = Map<string, number>

/** Frames that are not counted: idle time, and the profiler itself. */
const NO_WORK = new Set(['(idle)', 'post node:inspector'])

/** Pseudo-frames of V8, and the stages that they count for. */
const OF_V8 = new Map([
  ['(garbage collector)', 'garbage collection'],
  ['(program)', 'outside JavaScript'],
])

/** The stage for each module; the first match counts. */
const STAGES: readonly (readonly [module: RegExp, stage: string])[] = [
  [/^postMessage$|receiveMessageOnPort|^node:internal\/worker|messageport/, 'messages between threads'],
  [
    /storage\/sqlite\/writer\/(wire-format|units|write-scheduler)|write-queue|fair-queue/,
    'encoding and grouping',
  ],
  [/storage\/sqlite\/index\//, 'indexing'],
  [/event-counter|event-counts|varint|activity/, 'counting'],
  [/better-sqlite3|storage\/sqlite\/(connection|writer\/(writing-connection|write-ahead-log))/, 'engine'],
  [
    /storage\/sqlite|storage\/|domain\/(message-ids|half-sip-hash|name-hashes|event-content|identifiers)/,
    'classifying and writing',
  ],
  [/express-openapi-validator|\/ajv|fast-uri|contract\.ts|http\/checks|ajv-formats/, 'contract validation'],
  [
    /\/(express|router|path-to-regexp|finalhandler|depd|debug|parseurl|encodeurl|setprototypeof|etag|fresh)\//,
    'Express',
  ],
  [/http\/callers|cookie|proxy-addr|ipaddr|domain\/service-keys/, 'caller and key'],
  [/http\/rates|tally/, 'rate limit and scheduling'],
  [/request-body|domain\/json|node:internal\/(streams\/readable|deps\/undici)/, 'body'],
  [/pino|sonic-boom|request-log|log\.ts|fast-redact|safe-stable-stringify|quick-format/, 'log'],
  [/prom-client|metrics\.ts/, 'metrics'],
  [/helmet|security-headers|http\/answers/, 'response'],
  [/server\/operations/, 'operation'],
  [
    /node:(_http|net|internal\/stream_base|internal\/http|http|internal\/streams|events|internal\/net|stream)/,
    'socket and HTTP',
  ],
  [/http\/app|server\/http|server\/main/, 'request path'],
  [/standings/, 'standings'],
]

/** Processor time per stage, in the unit of `cpu_us`. A sample counts for its innermost frame that has a stage. */
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
    let stage = OF_V8.get(name)
    for (let id: number | undefined = sample; id !== undefined && !stage; id = parents.get(id)) {
      stage = stageOf(frames.get(id))
    }
    all += spent
    add(samples, stageInThread(thread, stage), spent)
  }
  return new Map([...samples].map(([stage, spent]) => [stage, (spent / Math.max(all, 1)) * cpu_us]))
}

/** Bytes allocated per stage. */
export function heapAccount({ thread, profile }: Recording<HeapProfile>): Account {
  const bytes: Account = new Map()
  const walk = ({ callFrame, selfSize, children }: HeapNode, above: string | undefined) => {
    const stage = stageOf(callFrame) ?? above
    if (selfSize > 0) add(bytes, stageInThread(thread, stage), selfSize)
    for (const child of children) walk(child, stage)
  }
  walk(profile.head, undefined)
  return bytes
}

export function add(account: Account, stage: string, spent: number): void {
  account.set(stage, (account.get(stage) ?? 0) + spent)
}

/**
 * Frames that no rule matches count as `other`. The standings thread is a single stage, because no event waits for it.
 */
function stageInThread(thread: string, stage = 'other'): string {
  if (thread.includes('standings')) return 'standings'
  if (thread === 'main') return `main: ${stage}`
  return thread.includes('writer') ? `writer: ${stage}` : `${thread}: ${stage}`
}

function stageOf(frame: Frame | undefined): string | undefined {
  if (!frame) return undefined
  const module = frame.url === '' ? frame.functionName : moduleOf(frame)
  return module === '' ? undefined : STAGES.find(([pattern]) => pattern.test(module))?.[1]
}

/** Returns the source module of a frame. In a built file a comment marks the start of each module. */
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
