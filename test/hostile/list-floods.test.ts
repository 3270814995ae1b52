// engines: sqlite (reading and writing share one process only here)

import { once } from 'node:events'
import { connect as connectSocket } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Client } from '../../client/index.ts'
import { createWorkspace } from '../../server/cli/init.ts'
import { sqlitePath } from '../../server/storage/sqlite/store-files.ts'
import { startCairnForTest, temporaryFolder } from '../fixtures/cairn.ts'
import { type ChildServer, startChildServer } from '../fixtures/child-server.ts'
import { customerInJourney, initialize } from '../fixtures/customer.ts'
import { scrape, sumOf } from '../fixtures/exposition.ts'
import { connect } from '../fixtures/file-store.ts'
import { withPatience } from '../fixtures/patience.ts'
import { signUp } from '../fixtures/people.ts'
import { createKey } from '../fixtures/service-keys.ts'
import { within } from '../fixtures/within.ts'

/** So many that a page ends before it reaches the matches of a search: the oldest. */
const CUSTOMERS = 100_000
const FOUND = 12_000

/** Measurements, alternately with and without hostile load. */
const ROUNDS = 25

/** Acceptable slowdown for a neighbour. In one queue with the others' lists it would wait hundreds of times as long. */
const NOTICEABLE = 12

/** A server with a workspace that has many customers, and a neighbouring one with few. */
async function startWithNeighbours() {
  const path = join(temporaryFolder(), 'cairn.db')
  const databaseUrl = `sqlite:${path}`
  const hostile = await createWorkspace(databaseUrl, { workspace: 'Hostile', journey: 'Onboarding' })
  const neighbour = await createWorkspace(databaseUrl, { workspace: 'Neighbour', journey: 'Onboarding' })
  connect(
    path,
  ).exec(`WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${CUSTOMERS})
    INSERT INTO customers (workspace_id, customer_id, customer_type, client_customer_id, customer_name, name_key,
      created_ms, updated_ms)
    SELECT '${hostile.workspace_id}', 'cus_' || n, 'contact', 'user-' || n,
      iif(n <= ${FOUND}, 'Zoe', 'Ada'), iif(n <= ${FOUND}, ' zoe', ' ada'), n, n FROM numbers;
    INSERT INTO customer_words SELECT workspace_id, substr(name_key, 2), created_ms, customer_id FROM customers`)
  const server = await startChildServer({ databaseUrl })
  const ours = { ...neighbour, client: server.client(neighbour.secret_key) }
  const customer_id = await initialize(ours, 'user-1')
  const event = { journey_id: neighbour.journey_id, customer_id, event_id: 'signed_up' }
  return {
    server,
    databaseUrl,
    hostile: { ...hostile, client: server.client(hostile.secret_key) },
    ours,
    event,
  }
}

/** Repeats a request from thirty concurrent callers, without pause, until it is stopped or the test ends. */
function flood(ask: () => Promise<unknown>) {
  let isOver = false
  const callers = Array.from({ length: 30 }, async () => {
    while (!isOver) await ask()
  })
  const ended = Promise.allSettled(callers)
  const stop = async () => {
    isOver = true
    await ended
    await Promise.all(callers)
  }
  onTestFinished(() => stop().catch(() => {}))
  return stop
}

/** Requests a list whose page examines as many customers as allowed, and finds none. */
function listNone(client: Client) {
  return client.listCustomers({ query: { search: 'zo' } })
}

/** Median duration of a round in milliseconds. */
async function median_ms(round: (index: number) => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let index = 0; index < ROUNDS; index += 1) {
    const from_ms = performance.now()
    await round(index)
    times.push(performance.now() - from_ms)
  }
  return times.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? Number.NaN
}

async function readsOf(server: ChildServer) {
  const samples = await scrape(server)
  const of = (outcome: string) => sumOf(samples, 'cairn_list_reads_total', { outcome })
  return {
    waiting: sumOf(samples, 'cairn_waiting_list_reads'),
    answered: of('answered'),
    abandoned: of('abandoned'),
  }
}

describe('thirty lists of one key at a time', () => {
  it("delay neither another workspace's events, by keys that must be looked up, nor its lists", async () => {
    const { server, databaseUrl, hostile, ours, event } = await startWithNeighbours()
    const made = await Promise.all(
      Array.from({ length: 2 * ROUNDS }, () => createKey({ databaseUrl }, ours, 'secret')),
    )
    const clients = made.map(({ key }) => server.client(key))
    const send = async (index: number) => {
      expect((await clients[index]?.createEvent({ body: event }))?.response.status).toBe(201)
    }
    const list = async () => expect((await ours.client.listCustomers()).data?.data).toHaveLength(1)

    const alone = { send: await median_ms(send), list: await median_ms(list) }
    const stop = flood(async () => expect((await listNone(hostile.client)).data?.data).toEqual([]))
    await vi.waitUntil(async () => (await readsOf(server)).waiting > 0, withPatience)
    const beside = { send: await median_ms((index) => send(ROUNDS + index)), list: await median_ms(list) }
    await stop()
    expect(beside.send / alone.send).toBeLessThan(NOTICEABLE)
    expect(beside.list / alone.list).toBeLessThan(NOTICEABLE)
  })
})

describe('lists whose clients disconnected', () => {
  it('are not read', async () => {
    const { server, hostile } = await startWithNeighbours()
    const { hostname, port } = new URL(server.url)
    const before = (await listNone(hostile.client)).response.status
    const { answered: statements } = await readsOf(server)
    expect([before, statements > 0]).toEqual([200, true])
    const sockets = await Promise.all(
      Array.from({ length: 40 }, async () => {
        const socket = connectSocket(Number(port), hostname)
        onTestFinished(() => void socket.destroy())
        await once(socket, 'connect')
        return socket
      }),
    )
    // So that all have disconnected when the server processes the first of them.
    server.kill('SIGSTOP')
    const request = `GET /v1/customers?search=zo HTTP/1.1\r\nhost: cairn\r\nx-service-key: ${hostile.secret_key}\r\n\r\n`
    for (const socket of sockets) socket.end(request)
    await Promise.all(sockets.map((socket) => once(socket, 'finish')))
    for (const socket of sockets) socket.destroy()
    server.kill('SIGCONT')
    await vi.waitUntil(async () => (await listNone(hostile.client)).response.ok, withPatience)
    await vi.waitUntil(async () => (await readsOf(server)).waiting === 0, withPatience)
    const { answered } = await readsOf(server)
    expect(answered - 2 * statements).toBeLessThan((sockets.length * statements) / 4)
  })
})

describe('keys in use', () => {
  it('are not looked up again because the last use of a session is recorded', async () => {
    let now = Date.now()
    const cairn = await startCairnForTest({ now: () => now })
    const { workspace, event } = await customerInJourney(cairn)
    const person = await signUp(cairn, workspace, 'viewer')
    const file = connect(sqlitePath(cairn.databaseUrl))
    const lastSeen = file.prepare<[], number>('SELECT max(last_seen_ms) FROM sessions').pluck()
    const lookUps = async () => sumOf(await scrape(cairn), 'cairn_key_lookups_total')
    expect((await workspace.client.createEvent({ body: event })).response.status).toBe(201)
    const before = await lookUps()
    for (let minute = 0; minute < 5; minute += 1) {
      now += 60_000
      expect((await person.fetch('GET /session')).status).toBe(200)
      await vi.waitUntil(() => lastSeen.get() === now, withPatience)
      expect((await workspace.client.createEvent({ body: event })).response.status).toBe(201)
    }
    expect(await lookUps()).toBe(before)
  })

  it('are not looked up again because something else is committed, here or by another process', async () => {
    const { server, databaseUrl, ours, event } = await startWithNeighbours()
    const { client, journey_id: id, workspace_id } = ours
    const send = async () => (await client.createEvent({ body: event })).response.status
    const lookUps = async () => sumOf(await scrape(server), 'cairn_key_lookups_total')
    expect(await send()).toBe(201)
    const before = await lookUps()
    for (let round = 0; round < 10; round += 1) {
      const path = { journey_id: id }
      expect((await client.updateJourney({ path, body: { name: `Name ${round}` } })).response.status).toBe(
        200,
      )
      expect(await send()).toBe(201)
    }
    expect(await lookUps()).toBe(before)

    const other = connect(sqlitePath(databaseUrl))
    other.exec(`UPDATE journeys SET status = 'archived'`)
    // Once the server has noticed the one change, it has noticed the other.
    await vi.waitUntil(async () => (await send()) === 409, withPatience)
    expect(await lookUps()).toBe(before)
    other.exec(`UPDATE service_keys SET revoked_ms = 1 WHERE workspace_id = '${workspace_id}'`)
    await within(1, async () => expect(await send()).toBe(401))
    expect(await lookUps()).toBe(before)
  })
})
