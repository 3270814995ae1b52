import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { constants, setPriority } from 'node:os'
import { argv } from 'node:process'
import { setTimeout as pause } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { Agent, request } from 'undici'
import { BATCH_EVENTS, Events, initializeText, newCustomerNumber, type Subject } from './data.ts'

/** Input of the hostile callers: a server on this machine, and their own workspace. */
export type HostileJob = {
  /** Without the base path. */
  url: string
  /** File with the workspace and its customers. */
  subjectsFile: string
  /** A pair for each kind of caller, so that none uses up another's rate. */
  keys: Keys[]
  /** After this time all callers stop, whatever they are waiting for. */
  seconds: number
}

export type Keys = { secret: string; publishable: string }

/** Number of requests of a kind of caller, and their outcomes: statuses, or how a connection ended. */
type Tally = { requests: number; answers: Record<string, number> }
export type Tallies = Record<string, Tally>

/** What all callers share, and the keys and tally of one kind. */
type Target = Keys & {
  url: string
  subject: Subject
  journey_id: string
  events: Events
  tally: Tally
  isOver: AbortSignal
}

/** A kind of caller: `atOnce` of them repeat the call without a pause. */
type Caller = { atOnce: number; call(target: Target, index: number): Promise<void> }

const KIB = 1024
const MIB = 1024 * KIB

/** Maximum time for which an idle or unread connection is held if the server does not end it. */
const HELD_MS = 30_000

/** Timeout of a response: longer than any pause of a healthy server. */
const ANSWER_MS = 30_000

const callers = {
  'rejected bodies': { atOnce: 4, call: sendRefusedBody },
  'slow announcers': { atOnce: 40, call: announceBody },
  'silent readers': { atOnce: 20, call: askAndNotRead },
  'list walkers': { atOnce: 30, call: walkList },
  'list leavers': { atOnce: 10, call: askAndLeave },
  'password guessers': { atOnce: 4, call: guessPassword },
  'malformed HTTP': { atOnce: 4, call: sendMalformed },
  'nonsense batches': { atOnce: 4, call: sendNonsense },
  'new customers': { atOnce: 4, call: initializeNew },
  'beyond the rate': { atOnce: 16, call: sendEvent },
} as const satisfies Record<string, Caller>

async function run(job: HostileJob): Promise<Tallies> {
  // They share a core with the ordinary senders, whose timing they must not disturb: they attack only the server.
  setPriority(constants.priority.PRIORITY_LOW)
  const subjects: Subject[] = JSON.parse(readFileSync(job.subjectsFile, 'utf8'))
  const [subject] = subjects
  const journey_id = subject?.journey_ids[0]
  if (!subject || journey_id === undefined) throw new Error('the hostile callers have no workspace')
  const events = new Events({ subjects, breadth: 'narrow', messageIds: 'v4' })
  const over = new AbortController()
  // No AbortSignal.timeout: its timer does not keep the process alive, nor do connections that are not being read.
  setTimeout(() => over.abort(), job.seconds * 1000)
  const isOver = over.signal
  const tallies: Tallies = {}
  const calls = Object.entries(callers).flatMap(([name, { atOnce, call }]: [string, Caller], at) => {
    const tally: Tally = { requests: 0, answers: {} }
    tallies[name] = tally
    const keys = job.keys[at]
    if (!keys) throw new Error(`there are no keys for ${name}`)
    const target = { ...keys, url: job.url, subject, journey_id, events, tally, isOver }
    return Array.from({ length: atOnce }, async (_, index) => {
      while (!isOver.aborted) await call(target, index)
    })
  })
  await Promise.all(calls)
  await agent.destroy()
  return tallies
}

/** Bodies of 4 MiB, compressed to a few KiB, which are rejected after most of them has been read. */
const refusedBodies = [
  `{"${'x'.repeat(2000)}":${'['.repeat(37)}${'[],'.repeat((4 * MIB) / 3 - 1000)}[]${']'.repeat(37)}}`,
  `[${','.repeat(4 * MIB - 100)}`,
  `{"events":[${'9e999,'.repeat((4 * MIB) / 6 - 100)}9e999]}`,
  `{"events":[${'{},'.repeat((4 * MIB) / 3 - 100)}{}]}`,
].map((text) => gzipSync(text))

async function sendRefusedBody(target: Target, index: number) {
  const body = refusedBodies[index % refusedBodies.length] ?? ''
  await ask(target, '/events/batch', { body, headers: { 'content-encoding': 'gzip' } })
}

/** Half of them announce a batch of 4 MiB, half a sign-in. Some send an eighth at once; all then send a byte per second. */
async function announceBody(target: Target, index: number) {
  const isSignIn = index % 2 === 0
  const path = isSignIn ? '/session' : '/events/batch'
  const key = isSignIn
    ? { host: new URL(target.url).host, origin: target.url }
    : { 'x-service-key': target.publishable }
  const length = isSignIn ? 16 * KIB : 4 * MIB
  const socket = await connectTo(target)
  socket.write(head('POST', path, { ...key, 'content-type': 'application/json', 'content-length': length }))
  if (index % 4 > 1) socket.write(' '.repeat(length / 8))
  const trickle = setInterval(() => socket.write(' '), 1000)
  await hold(target, socket, HELD_MS)
  clearInterval(trickle)
}

/** Requests 40 pages in one write, and reads none. */
async function askAndNotRead(target: Target, index: number) {
  const path = index % 2 === 0 ? '/events?limit=500' : '/openapi.yaml'
  const socket = await connectTo(target)
  socket.pause()
  socket.write(head('GET', path, { 'x-service-key': target.secret }).repeat(40))
  target.tally.requests += 39
  await hold(target, socket, HELD_MS)
}

const longLists = [
  '/events?limit=500',
  '/events?limit=500&event_id=never_happened',
  '/customers?limit=500&search=zo',
  '/customers?limit=500&customer_type=account',
]

/** Reads a list page by page; most of the lists have a filter that hardly any item matches. */
async function walkList(target: Target, index: number) {
  const list = longLists[index % longLists.length] ?? ''
  let cursor: string | null = ''
  while (cursor !== null && !target.isOver.aborted) {
    const path: string = cursor === '' ? list : `${list}&cursor=${encodeURIComponent(cursor)}`
    const page = await ask(target, path, { key: target.secret })
    cursor = /"next_cursor":"([^"]+)"/.exec(page)?.[1] ?? null
  }
}

async function askAndLeave(target: Target, index: number) {
  const socket = await connectTo(target)
  socket.write(head('GET', longLists[index % longLists.length] ?? '', { 'x-service-key': target.secret }))
  await pause(5)
  socket.destroy()
  count(target, 'left')
}

async function guessPassword(target: Target, index: number) {
  const body = JSON.stringify({ email: `person-${index}@example.com`, password: `guess ${Math.random()}` })
  await ask(target, '/session', { body, key: null, headers: { origin: target.url } })
}

const malformed = [
  'GET / HTTP/9.9\r\n\r\n',
  '\u0016\u0003\u0001\u0002',
  'POST /v1/events/create HTTP/1.1\r\nhost: cairn\r\ncontent-length: -1\r\n\r\n',
  `GET /v1/events HTTP/1.1\r\nhost: cairn\r\nx-long: ${'x'.repeat(60 * KIB)}\r\n\r\n`,
  `GET /v1/events HTTP/1.1\r\nhost: cairn\r\n${'x-many: 1\r\n'.repeat(1900)}\r\n`,
  'POST /v1/session HTTP/1.1\r\nhost: cairn\r\ntransfer-encoding: chunked\r\ncontent-length: 5\r\n\r\nzzz\r\n',
]
let sentMalformed = 0

async function sendMalformed(target: Target) {
  sentMalformed += 1
  const socket = await connectTo(target)
  socket.write(malformed[sentMalformed % malformed.length] ?? '')
  await hold(target, socket, 1000)
}

/** Sends a thousand events for a customer that does not exist, or the same event a thousand times. */
async function sendNonsense(target: Target, index: number) {
  const { journey_id, events, subject } = target
  const { message_id, customer_id } = events.next(subject)
  const event = { journey_id, customer_id, event_id: 'signed_up', message_id }
  const unknown = { ...event, customer_id: 'cus_00000000000000000000000000', message_id: undefined }
  const body = JSON.stringify({ events: Array(BATCH_EVENTS).fill(index % 2 === 0 ? unknown : event) })
  await ask(target, '/events/batch', { body })
}

async function initializeNew(target: Target) {
  await ask(target, '/customers/initialize', { body: initializeText(target.journey_id, newCustomerNumber()) })
}

/** Sends events with random message_ids, with a key whose rate is soon used up. */
async function sendEvent(target: Target) {
  await ask(target, '/events/create', { body: target.events.single().body })
}

const agent = new Agent({ headersTimeout: ANSWER_MS, bodyTimeout: ANSWER_MS })

type Question = { body?: string | Buffer; key?: string | null; headers?: Record<string, string> }

/**
 * Sends a POST if there is a body, otherwise a GET.
 * @param question.key the publishable key by default; null for none
 * @returns the body of the response; '' if there was no response
 */
async function ask(target: Target, path: string, { body, key, headers }: Question): Promise<string> {
  const { url, publishable, isOver } = target
  try {
    const reply = await request(`${url}/v1${path}`, {
      dispatcher: agent,
      signal: isOver,
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        ...(key !== null && { 'x-service-key': key ?? publishable }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body }),
    })
    const text = await reply.body.text()
    count(target, String(reply.statusCode))
    return text
  } catch {
    count(target, isOver.aborted ? 'over' : 'cut off')
    return ''
  }
}

function head(method: string, path: string, headers: Record<string, string | number>): string {
  const lines = Object.entries({ host: 'cairn', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} /v1${path} HTTP/1.1\r\n${lines.join('')}\r\n`
}

async function connectTo({ url, isOver }: Target): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port) })
  // A lost or refused connection is counted by the caller of this function.
  socket.on('error', () => {})
  await once(socket, 'connect', { signal: isOver }).catch(() => socket.destroy())
  return socket
}

/** Waits until the connection is closed or the time is over, and counts the outcome. */
async function hold(target: Target, socket: Socket, most_ms: number) {
  let answer = 'let go'
  // A paused socket stays paused.
  socket.on('data', (bytes) => {
    answer = /^HTTP\/1.1 (\d+)/.exec(String(bytes))?.[1] ?? answer
  })
  const signal = AbortSignal.any([target.isOver, AbortSignal.timeout(most_ms)])
  const isCut = socket.destroyed || (await once(socket, 'close', { signal }).then(Boolean, () => false))
  socket.destroy()
  count(target, isCut && answer === 'let go' ? 'cut off' : answer)
}

function count({ tally }: Target, answer: string) {
  tally.requests += 1
  tally.answers[answer] = (tally.answers[answer] ?? 0) + 1
}

const [, , jobText] = argv
if (jobText !== undefined) process.stdout.write(JSON.stringify(await run(JSON.parse(jobText))))
