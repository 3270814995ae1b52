import { readFileSync, writeFileSync } from 'node:fs'
import { argv } from 'node:process'
import { Client } from 'undici'
import {
  BATCH_EVENTS,
  type Breadth,
  CUSTOMERS,
  Events,
  type EventsOptions,
  initializeText,
  type MessageIds,
  newCustomerNumber,
  type Subject,
} from './data.ts'

/**
 * The job of a load process. It keeps `connections` busy, with one request at a time on each and a new body for every
 * request. Kinds:
 *
 * - `customers`: initializes all customers once per journey of their workspace, and writes them to `subjectsFile`
 * - `initialize`: alternately a known and a new customer
 * - `single`: one event per request; `batch`: 1,000
 * - `timeline`: the newest page of a customer's events; `listing`: all events, page by page; `report`: the report of
 *   the first journey
 */
export type Job = {
  kind: 'customers' | 'initialize' | 'single' | 'batch' | 'timeline' | 'listing' | 'report'
  /** Without the base path. */
  url: string
  workspaces: Omit<Subject, 'customerIds'>[]
  subjectsFile: string
  connections: number
  breadth: Breadth
  messageIds: MessageIds
  variables?: EventsOptions['variables']
  /** Load before the measurement starts. */
  warmUpSeconds: number
  /** Ends after this time, not counting the warm-up … */
  seconds: number
  /** … or, if given, when this many requests were answered. */
  requests?: number
  /** For all connections together. By default each sends its next request as soon as it has a response. */
  mostRequestsPerSecond?: number
  /** The server will be killed under this load: a lost connection ends the run without an error. */
  mayLoseServer?: boolean
  /** Every n-th single event names a journey that does not exist, so that it is rejected: 10 for one in ten. */
  refusedEvery?: number
  /** Unexpected responses are counted instead of failing the run. */
  countsRefusals?: boolean
}

/** Figures of the responses after the warm-up; `stored` and `initialized` count the whole run. */
export type Result = {
  requests: number
  requestsPerSecond: number
  p50_ms: number
  p99_ms: number
  /** The longest time between two responses, over all connections. */
  longestGap_ms: number
  /** Events that the server has acknowledged as created. */
  stored: number
  /** Customers that the server has acknowledged as new. */
  initialized: number
  /** Number of unexpected responses in the whole run, and the first ones. */
  refused: number
  refusals: string[]
}

/** Maximum number of unexpected responses reported in full. */
const REPORTED_REFUSALS = 10

type Reply = { status: number; body: string }
type Work = {
  method: 'GET' | 'POST'
  /** The next request: path, and body of a POST. */
  next(connection: number): { path: string; key: string; body?: string }
  /** Counts what a response acknowledges. @throws {Error} if it is not the expected one */
  take(reply: Reply, connection: number): void
  /** Called after the last response. */
  finish?(): void
}

// undici, because its parser is compiled: a request takes 30 µs of processor time here. autocannon 9 takes 48 µs and
// reaches its limit before a fast server does.
async function run(job: Job): Promise<Result> {
  const counts = { stored: 0, initialized: 0 }
  const work = workOf(job, counts)
  const latencies: number[] = []
  let answered = 0
  const start = performance.now()
  const from = start + job.warmUpSeconds * 1000
  const until = job.requests === undefined ? from + job.seconds * 1000 : Number.POSITIVE_INFINITY
  let sent = 0
  let last = from
  let longestGap_ms = 0
  let refused = 0
  const refusals: string[] = []
  const between_ms = job.mostRequestsPerSecond ? (1000 * job.connections) / job.mostRequestsPerSecond : 0

  const keepBusy = async (connection: number) => {
    const client = new Client(job.url, { pipelining: 1, headersTimeout: 60_000, bodyTimeout: 60_000 })
    let due_ms = start + (between_ms * connection) / job.connections
    while (performance.now() < until && sent < (job.requests ?? Number.POSITIVE_INFINITY)) {
      const request = work.next(connection)
      const sent_ms = await whenDue(due_ms)
      due_ms += between_ms
      sent += 1
      try {
        const reply = await send(client, { ...request, method: work.method })
        work.take(reply, connection)
      } catch (error) {
        if (!job.countsRefusals) throw error
        refused += 1
        if (refusals.length < REPORTED_REFUSALS) refusals.push(String(error))
        continue
      }
      const now = performance.now()
      answered += 1
      if (now >= from && now <= until) {
        latencies.push(now - sent_ms)
        longestGap_ms = Math.max(longestGap_ms, now - last)
        last = now
      }
    }
    await client.close()
  }

  /** @returns the time from which the request counts: when it was due, even if a slow response delayed its sender */
  async function whenDue(due_ms: number): Promise<number> {
    const now = performance.now()
    if (between_ms === 0) return now
    if (now >= due_ms) return due_ms
    await new Promise((resolve) => setTimeout(resolve, due_ms - now))
    return performance.now()
  }

  const progress = job.requests === undefined ? undefined : setInterval(reportProgress, 10_000)
  let reported = { answered, at_ms: start }
  function reportProgress() {
    const now = { answered, at_ms: performance.now() }
    const perSecond = Math.round(((now.answered - reported.answered) / (now.at_ms - reported.at_ms)) * 1000)
    process.stderr.write(`  ${answered} of ${job.requests} requests, ${perSecond} per second\n`)
    reported = now
  }
  const connections = Array.from({ length: job.connections }, (_, number) => keepBusy(number))
  if (job.mayLoseServer) await Promise.allSettled(connections)
  else await Promise.all(connections)
  clearInterval(progress)
  work.finish?.()

  latencies.sort((a, b) => a - b)
  const seconds = job.requests === undefined ? job.seconds : (last - from) / 1000
  return {
    requests: latencies.length,
    requestsPerSecond: latencies.length / seconds,
    p50_ms: quantile(latencies, 0.5),
    p99_ms: quantile(latencies, 0.99),
    longestGap_ms,
    refused,
    refusals,
    ...counts,
  }
}

function workOf(job: Job, counts: { stored: number; initialized: number }): Work {
  if (job.kind === 'customers' || job.kind === 'initialize') return initializing(job, counts)
  const subjects: Subject[] = JSON.parse(readFileSync(job.subjectsFile, 'utf8'))
  const [first] = subjects
  if (!first) throw new Error('there are no customers to send events for')
  if (job.kind === 'timeline') {
    return {
      method: 'GET',
      next() {
        const { key, customerIds } = first
        const customer = customerIds[Math.floor(Math.random() * customerIds.length)]
        return { key, path: `/v1/customers/${customer}/events` }
      },
      take: (reply) => expectStatus(reply, [200]),
    }
  }
  if (job.kind === 'report') {
    const path = `/v1/journeys/${first.journey_ids[0]}/report`
    return {
      method: 'GET',
      next: () => ({ key: first.key, path }),
      take: (reply) => expectStatus(reply, [200]),
    }
  }
  if (job.kind === 'listing') return listing(first.key)
  const events = new Events({
    subjects,
    breadth: job.breadth,
    messageIds: job.messageIds,
    variables: job.variables,
  })
  if (job.kind === 'single') return singles(events, job, counts)
  return {
    method: 'POST',
    next: () => ({ path: '/v1/events/batch', ...events.batch() }),
    take(reply) {
      expectStatus(reply, [200])
      // Parsing a thousand results for one count would cost the load's core more than generating them.
      const created = Number(/"created":(\d+)/.exec(reply.body)?.[1])
      if (created !== BATCH_EVENTS) throw new Error(`a batch of ${BATCH_EVENTS} events created ${created}`)
      counts.stored += created
    },
  }
}

function singles(events: Events, { refusedEvery }: Job, counts: { stored: number }): Work {
  let made = 0
  const isRefused: boolean[] = []
  return {
    method: 'POST',
    next(connection) {
      const { key, body } = events.single()
      made += 1
      const refused = refusedEvery !== undefined && made % refusedEvery === 0
      isRefused[connection] = refused
      return { path: '/v1/events/create', key, body: refused ? withUnknownJourney(body) : body }
    },
    take(reply, connection) {
      expectStatus(reply, [isRefused[connection] ? 404 : 201])
      if (!isRefused[connection]) counts.stored += 1
    },
  }
}

/** Replaces the journey by one that does not exist, of the same length. */
function withUnknownJourney(body: string): string {
  return body.replace(/"jrn_\w+"/, '"jrn_01jd3z9k4n8q1s4v7y0b3e6g9j"')
}

function initializing(job: Job, counts: { initialized: number }): Work {
  const { workspaces } = job
  const subjects = workspaces.map((workspace): Subject => ({ ...workspace, customerIds: [] }))
  const [first] = subjects
  if (!first) throw new Error('there is no workspace')
  const isFilling = job.kind === 'customers'
  const journeys = first.journey_ids.length
  const numbers: number[] = []
  let made = 0
  return {
    method: 'POST',
    next(connection) {
      const isNew = !isFilling && made % 2 === 0
      const known = isFilling ? Math.floor(made / journeys) : Math.floor(Math.random() * CUSTOMERS)
      const number = isNew ? newCustomerNumber() : known
      const { key, journey_ids } = subjects[number % subjects.length] ?? first
      const journey_id = journey_ids[made % journeys] ?? ''
      made += 1
      numbers[connection] = number
      return { key, path: '/v1/customers/initialize', body: initializeText(journey_id, number) }
    },
    take(reply, connection) {
      const number = numbers[connection] ?? 0
      const { customer_id, created } = JSON.parse(reply.body)
      // With several journeys, requests for one customer are concurrent, and any of them may be the first.
      const isNew = journeys > 1 ? created : isFilling || number >= CUSTOMERS
      expectStatus(reply, [isNew ? 201 : 200])
      if (isNew) counts.initialized += 1
      if (!isFilling) return
      const { customerIds } = subjects[number % subjects.length] ?? first
      customerIds[Math.floor(number / subjects.length)] = customer_id
    },
    finish() {
      if (isFilling) writeFileSync(job.subjectsFile, JSON.stringify(subjects))
    },
  }
}

/** Each connection lists all events, newest first, and then starts again. */
function listing(key: string): Work {
  const cursors: (string | null)[] = []
  return {
    method: 'GET',
    next(connection) {
      const cursor = cursors[connection]
      return { key, path: `/v1/events?limit=500${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}` }
    },
    take(reply, connection) {
      expectStatus(reply, [200])
      const page: { data: unknown[]; next_cursor: string | null } = JSON.parse(reply.body)
      if (page.data.length === 0) throw new Error('a page of events was empty')
      cursors[connection] = page.next_cursor
    },
  }
}

function expectStatus({ status, body }: Reply, statuses: number[]) {
  if (!statuses.includes(status)) throw new Error(`answered with ${status}: ${body.slice(0, 500)}`)
}

type Sent = { method: 'GET' | 'POST'; path: string; body?: string; key: string }

function send(client: Client, { method, path, body, key }: Sent): Promise<Reply> {
  const headers = ['x-service-key', key]
  if (body !== undefined) headers.push('content-type', 'application/json')
  return new Promise((resolve, reject) => {
    const reply = { status: 0, body: '' }
    const chunks: Buffer[] = []
    client.dispatch(
      { method, path, headers, ...(body !== undefined && { body }) },
      {
        onRequestStart() {},
        onResponseStart(_controller, status) {
          reply.status = status
        },
        onResponseData(_controller, chunk) {
          chunks.push(chunk)
        },
        onResponseEnd() {
          reply.body = chunks.length === 1 ? String(chunks[0]) : String(Buffer.concat(chunks))
          resolve(reply)
        },
        onResponseError: (_controller, error) => reject(error),
      },
    )
  })
}

function quantile(sorted: number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
}

const [, , jobText] = argv
if (jobText !== undefined) process.stdout.write(JSON.stringify(await run(JSON.parse(jobText))))
