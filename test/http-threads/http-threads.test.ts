import { sql } from 'kysely'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { type Cairn, newStore, startCairnForTest } from '../cairn.ts'
import { serve, startChildServer, startChildServerWithCustomer } from '../child-server.ts'
import { engine } from '../engine.ts'
import { parseExposition, sumOf } from '../http/exposition.ts'
import { send } from '../http/requests.ts'
import { changeKey, createKey } from '../http/service-keys.ts'
import { inStore } from '../in-store.ts'
import { customerInJourney } from '../operations/customer.ts'
import { pausedExport } from '../operations/exported.ts'
import { withPatience } from '../patience.ts'
import { OWN_PAGE, signUp } from '../people.ts'

const THREADS = 3

/** So many connections find every thread: one is left out once in 10^10 runs. */
const CONNECTIONS = 60

const started = (options = {}) => startCairnForTest({ httpThreads: THREADS, ...options })

/** Sends the same on connections of their own, side by side, which the system deals out to the threads. */
async function statuses(cairn: Pick<Cairn, 'url'>, line: string, key: string, count = CONNECTIONS) {
  const headers = { connection: 'close' }
  const replies = Array.from({ length: count }, () => send(cairn, line, { key, headers }))
  return (await Promise.all(replies)).map(({ status }) => status)
}

const countOf = (statuses: number[], status: number) => statuses.filter((other) => other === status).length

describe('several threads that serve HTTP', () => {
  it('give a key its one rate, whichever of them serves it', async () => {
    const cairn = await started()
    const workspace = await cairn.workspace()
    // So little that nothing is given back while they send.
    const { key } = await createKey(cairn, workspace, 'secret', { rate_limit: 10 })
    const began_ms = performance.now()
    const answered = await statuses(cairn, 'GET /journeys?limit=1', key)
    const refilled = Math.ceil(((performance.now() - began_ms) / 1000) * 10)
    expect(countOf(answered, 200)).toBeGreaterThanOrEqual(20)
    expect(countOf(answered, 200)).toBeLessThanOrEqual(20 + refilled)
    expect(countOf(answered, 200) + countOf(answered, 429)).toBe(CONNECTIONS)
  })

  it('take no key any more that was revoked by a request to one of them, from its answer on', async () => {
    const cairn = await started()
    const workspace = await cairn.workspace()
    const owner = await signUp(cairn, workspace, 'owner')
    for (let round = 0; round < 5; round += 1) {
      const { key, key_id } = await createKey(cairn, workspace, 'secret')
      // In the memory of all of them.
      expect(countOf(await statuses(cairn, 'GET /journeys?limit=1', key), 200)).toBe(CONNECTIONS)
      await owner.client().revokeServiceKey({ path: { key_id } })
      expect(countOf(await statuses(cairn, 'GET /journeys?limit=1', key), 401)).toBe(CONNECTIONS)
    }
  })

  it('take no key any more that another program has revoked', async () => {
    const cairn = await started()
    const { key, key_id } = await createKey(cairn, await cairn.workspace(), 'secret')
    expect(countOf(await statuses(cairn, 'GET /journeys?limit=1', key), 200)).toBe(CONNECTIONS)
    await changeKey(cairn, key_id, { revoked_ms: Date.now() })
    const isRefused = async () =>
      countOf(await statuses(cairn, 'GET /journeys?limit=1', key), 401) === CONNECTIONS
    // Within a second where the machine has room: to ask once takes as long on one that has not.
    await vi.waitUntil(isRefused, withPatience)
  })

  it('store each message once, and list at once what any of them has acknowledged', async () => {
    const cairn = await started()
    const { workspace, event } = await customerInJourney(cairn)
    const body = (message: number) => JSON.stringify({ ...event, message_id: `message ${message}` })
    const create = (message: number) =>
      send(cairn, 'POST /events/create', {
        key: workspace.secret_key,
        headers: { connection: 'close' },
        body: body(message),
      })
    for (let message = 0; message < 20; message += 1) {
      const replies = await Promise.all(Array.from({ length: 6 }, () => create(message)))
      expect(replies.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 201])
      const ids = await Promise.all(replies.map(async (reply) => (await reply.json()).id))
      expect(new Set(ids).size).toBe(1)
      const listed = await send(cairn, 'GET /events?limit=1', {
        key: workspace.secret_key,
        headers: { connection: 'close' },
      })
      expect((await listed.json()).data[0].id).toBe(ids[0])
    }
  })

  it('are counted together in the metrics, whichever of them is asked', async () => {
    const cairn = await started()
    const { workspace, event } = await customerInJourney(cairn)
    for (let sent = 0; sent < CONNECTIONS; sent += 1) {
      await send(cairn, 'POST /events/create', {
        key: workspace.secret_key,
        headers: { connection: 'close' },
        body: JSON.stringify(event),
      })
    }
    const asked = Array.from({ length: 6 }, async () => {
      const reply = await fetch(`${cairn.url}/metrics`, { headers: { connection: 'close' } })
      const samples = parseExposition(await reply.text())
      const requests = sumOf(samples, 'cairn_requests_total', { operation: 'createEvent', status: '201' })
      const durations = sumOf(samples, 'cairn_request_duration_seconds_count', { operation: 'createEvent' })
      return [requests, durations, sumOf(samples, 'cairn_events_received_total', {})]
    })
    for (const seen of await Promise.all(asked)) expect(seen).toEqual(Array(3).fill(CONNECTIONS))
  })

  it('count guesses at links together', async () => {
    const cairn = await started()
    const body = JSON.stringify({ token: `setup_${'0'.repeat(43)}` })
    const guesses = Array.from({ length: CONNECTIONS }, () =>
      send(cairn, 'POST /setup/look-up', { headers: { ...OWN_PAGE, connection: 'close' }, body }),
    )
    const answered = (await Promise.all(guesses)).map(({ status }) => status)
    expect([countOf(answered, 404), countOf(answered, 429)]).toEqual([30, CONNECTIONS - 30])
  })

  it('go on writing after transactions that the store refused to commit', async () => {
    const cairn = await started()
    const workspace = await cairn.workspace()
    const owner = await signUp(cairn, workspace, 'owner')
    const create = (name: string) => owner.client().createJourney({ body: { name } })
    await refuseToCommit(cairn, 'refused')
    // More than there are connections to an engine that has several.
    for (let sent = 0; sent < 25; sent += 1) {
      expect((await create('refused')).response.status).toBe(500)
    }
    expect((await create('taken')).response.status).toBe(201)
    const { data } = await owner.client().listJourneys({ query: {} })
    expect(data?.data.map(({ name }) => name).sort()).toEqual(['Onboarding', 'taken'])
  })

  it('log no error where there is no room, as one alone logs none', async () => {
    const cairn = await started()
    const { workspace, event } = await customerInJourney(cairn)
    const events = Array.from({ length: 50 }, () => ({ ...event, custom_variables: 'x'.repeat(60_000) }))
    for (let sent = 0; sent < 6; sent += 1) await workspace.client.createEvents({ body: { events } })
    const headers = { 'x-service-key': workspace.secret_key }
    for (let held = 0; held < 2; held += 1) {
      const answer = await pausedExport(cairn, '/events/export', headers)
      onTestFinished(() => void answer.destroy())
    }
    const refused = await cairn.fetch('/events/export', { headers })
    expect(refused.status).toBe(503)
    const line = await vi.waitUntil(() => cairn.log.find(({ status }) => status === 503), withPatience)
    expect(line).toMatchObject({ code: 'overloaded' })
    expect(cairn.log.filter(({ msg }) => msg === 'request failed')).toEqual([])
  })

  it('take the largest body, however many they are', async () => {
    const cairn = await started({ httpThreads: 9 })
    const { workspace, event } = await customerInJourney(cairn)
    const events = Array.from({ length: 64 }, () => ({ ...event, custom_variables: 'x'.repeat(64_000) }))
    expect((await workspace.client.createEvents({ body: { events } })).response.status).toBe(200)
  })

  it('end a start in which one of them dies', async () => {
    const source = `import { workerData } from 'node:worker_threads'
      if (workerData?.patience) setImmediate(() => { throw new Error('a fault of a thread') })`
    const preload = `data:text/javascript,${encodeURIComponent(source)}`
    const { code, stderr } = await serve({
      databaseUrl: await newStore(),
      environment: { CAIRN_HTTP_THREADS: String(THREADS), NODE_OPTIONS: `--import ${preload}` },
    }).ended
    expect(stderr).toContain('cairn: a fault of a thread')
    expect(code).toBe(1)
  })

  it('stop with every line of the log whole', async () => {
    const environment = { CAIRN_HTTP_THREADS: String(THREADS), LOG_LEVEL: 'info' }
    const { server, secret_key } = await startChildServerWithCustomer({ environment })
    expect(countOf(await statuses(server, 'GET /journeys?limit=1', secret_key), 200)).toBe(CONNECTIONS)
    const { code, stdout } = await server.end('SIGTERM')
    expect(code).toBe(0)
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines.filter(({ operation }) => operation === 'listJourneys')).toHaveLength(CONNECTIONS)
    expect(lines.at(-1)).toMatchObject({ msg: 'Cairn has stopped' })
  })

  it('do not take the port of another server, though theirs can be shared', async () => {
    const environment = { CAIRN_HTTP_THREADS: String(THREADS) }
    const { url } = await startChildServer({ databaseUrl: await newStore(), environment })
    const { port: PORT } = new URL(url)
    const second = serve({ databaseUrl: await newStore(), environment: { ...environment, PORT } })
    const { code, stderr } = await second.ended
    expect([code, stderr]).toEqual([1, expect.stringContaining('the port is in use')])
  })
})

/** Lets the engine refuse to commit every transaction that makes a journey of the name. */
async function refuseToCommit({ databaseUrl }: Cairn, name: string) {
  const refused = sql.lit(name)
  const statements = {
    sqlite: [
      sql`CREATE TABLE owed (workspace_id TEXT REFERENCES workspaces (workspace_id) DEFERRABLE INITIALLY DEFERRED)`,
      sql`CREATE TRIGGER refuses AFTER INSERT ON journeys WHEN NEW.name = ${refused}
        BEGIN INSERT INTO owed VALUES ('none'); END`,
    ],
    postgres: [
      sql`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''refused''; END'`,
      sql`CREATE CONSTRAINT TRIGGER refuses AFTER INSERT ON journeys DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW WHEN (NEW.name = ${refused}) EXECUTE FUNCTION refuse()`,
    ],
  }
  await inStore(databaseUrl, async (db) => {
    for (const statement of statements[engine]) await statement.execute(db)
  })
}
