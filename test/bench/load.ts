import { readFileSync, writeFileSync } from 'node:fs'
import { argv } from 'node:process'
import { Client } from 'undici'
import {
  BATCH_EVENTS,
  CUSTOMERS,
  Events,
  initializeText,
  type MessageIds,
  newCustomerNumber,
} from './data.ts'

/**
 * What a load process does: keeps `connections` busy, each with one request at a time, a new body for every request.
 *
 * - `customers`: initializes all customers once and writes their identifiers to `customersFile`
 * - `initialize`: every other request a customer that is known, the rest new ones
 * - `single`: one event a request; `batch`: 1,000
 * - `timeline`: the newest page of a customer's events; `listing`: all events, page after page
 */
export type Job = {
  kind: 'customers' | 'initialize' | 'single' | 'batch' | 'timeline' | 'listing'
  /** Without the base path. */
  url: string
  key: string
  journey_id: string
  customersFile: string
  connections: number
  messageIds: MessageIds
  /** Sent before the measurement starts. */
  warmUpSeconds: number
  /** Ends after this time (the warm-up not counted) … */
  seconds: number
  /** … or, if given, when this many requests were answered. */
  requests?: number
  /** The server will be killed under this load: a lost connection is an end and no failure. */
  mayLoseServer?: boolean
}

/** What was measured, of what was answered after the warm-up; `stored` and `initialized` are of the whole run. */
export type Result = {
  requests: number
  requestsPerSecond: number
  p50_ms: number
  p99_ms: number
  /** Events that the server has acknowledged as created. */
  stored: number
  /** Customers that the server has acknowledged as new. */
  initialized: number
}

type Reply = { status: number; body: string }
type Work = {
  method: 'GET' | 'POST'
  /** The next request: path, and body of a POST. */
  next(connection: number): { path: string; body?: string }
  /** Counts what a reply acknowledges. @throws {Error} where it is not what was promised */
  take(reply: Reply, connection: number): void
}

// undici, because its parser is compiled: 30 µs of processor time a request here, where autocannon 9 takes 48 and
// reaches its own limit before a fast server does.
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

  const keepBusy = async (connection: number) => {
    const client = new Client(job.url, { pipelining: 1, headersTimeout: 60_000, bodyTimeout: 60_000 })
    while (performance.now() < until && sent < (job.requests ?? Number.POSITIVE_INFINITY)) {
      sent += 1
      const request = work.next(connection)
      const sent_ms = performance.now()
      const reply = await send(client, { ...request, method: work.method, key: job.key })
      const now = performance.now()
      work.take(reply, connection)
      answered += 1
      if (now >= from && now <= until) {
        latencies.push(now - sent_ms)
        last = now
      }
    }
    await client.close()
  }

  const progress = job.requests === undefined ? undefined : setInterval(tellProgress, 10_000)
  let told = { answered, at_ms: start }
  function tellProgress() {
    const now = { answered, at_ms: performance.now() }
    const perSecond = Math.round(((now.answered - told.answered) / (now.at_ms - told.at_ms)) * 1000)
    process.stderr.write(`  ${answered} of ${job.requests} requests, ${perSecond} a second\n`)
    told = now
  }
  const connections = Array.from({ length: job.connections }, (_, number) => keepBusy(number))
  if (job.mayLoseServer) await Promise.allSettled(connections)
  else await Promise.all(connections)
  clearInterval(progress)

  latencies.sort((a, b) => a - b)
  const seconds = job.requests === undefined ? job.seconds : (last - from) / 1000
  return {
    requests: latencies.length,
    requestsPerSecond: latencies.length / seconds,
    p50_ms: quantile(latencies, 0.5),
    p99_ms: quantile(latencies, 0.99),
    ...counts,
  }
}

function workOf(job: Job, counts: { stored: number; initialized: number }): Work {
  if (job.kind === 'customers' || job.kind === 'initialize') return initializing(job, counts)
  const customerIds: string[] = JSON.parse(readFileSync(job.customersFile, 'utf8'))
  if (job.kind === 'timeline') {
    return {
      method: 'GET',
      next() {
        const customer = customerIds[Math.floor(Math.random() * customerIds.length)]
        return { path: `/v1/customers/${customer}/events` }
      },
      take: (reply) => expectStatus(reply, [200]),
    }
  }
  if (job.kind === 'listing') return listing()
  const events = new Events({ journey_id: job.journey_id, customerIds, messageIds: job.messageIds })
  if (job.kind === 'single') {
    return {
      method: 'POST',
      next: () => ({ path: '/v1/events/create', body: events.single() }),
      take(reply) {
        expectStatus(reply, [201])
        counts.stored += 1
      },
    }
  }
  return {
    method: 'POST',
    next: () => ({ path: '/v1/events/batch', body: events.batch() }),
    take(reply) {
      expectStatus(reply, [200])
      // Reading a thousand results for the sake of one count would cost the load's core more than making them.
      const created = Number(/"created":(\d+)/.exec(reply.body)?.[1])
      if (created !== BATCH_EVENTS) throw new Error(`a batch of ${BATCH_EVENTS} events created ${created}`)
      counts.stored += created
    },
  }
}

function initializing(job: Job, counts: { initialized: number }): Work {
  const ids: string[] = []
  const numbers: number[] = []
  let made = 0
  return {
    method: 'POST',
    next(connection) {
      const isNew = job.kind === 'initialize' && made % 2 === 0
      const known = job.kind === 'customers' ? made : Math.floor(Math.random() * CUSTOMERS)
      made += 1
      numbers[connection] = isNew ? newCustomerNumber() : known
      return {
        path: '/v1/customers/initialize',
        body: initializeText(job.journey_id, numbers[connection]),
      }
    },
    take(reply, connection) {
      const number = numbers[connection] ?? 0
      const isNew = job.kind === 'customers' || number >= CUSTOMERS
      expectStatus(reply, [isNew ? 201 : 200])
      if (isNew) counts.initialized += 1
      if (job.kind === 'customers') {
        ids[number] = JSON.parse(reply.body).customer_id
        if (counts.initialized === CUSTOMERS) writeFileSync(job.customersFile, JSON.stringify(ids))
      }
    },
  }
}

/** Every connection lists all events, from the newest to the first, and starts again. */
function listing(): Work {
  const cursors: (string | null)[] = []
  return {
    method: 'GET',
    next(connection) {
      const cursor = cursors[connection]
      return { path: `/v1/events?limit=500${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}` }
    },
    take(reply, connection) {
      expectStatus(reply, [200])
      const page: { data: unknown[]; next_cursor: string | null } = JSON.parse(reply.body)
      if (page.data.length === 0) throw new Error('a listing was empty')
      cursors[connection] = page.next_cursor
    },
  }
}

function expectStatus({ status, body }: Reply, statuses: number[]) {
  if (!statuses.includes(status)) throw new Error(`answered ${status}: ${body.slice(0, 500)}`)
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
