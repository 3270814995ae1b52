// engines: sqlite, postgres

import { beforeAll, describe, expect, it, vi } from 'vitest'
import { inStore } from '../../server/cli/store.ts'
import { DAY_MS } from '../../server/domain/durations.ts'
import { newServiceKey } from '../../server/domain/service-keys.ts'
import { findServiceKey } from '../../server/storage/tables/service-keys.ts'
import { type Cairn, startCairnForTest, type Workspace } from '../fixtures/cairn.ts'
import { runCairn } from '../fixtures/command.ts'
import { operations } from '../fixtures/contract/document.ts'
import { customerInJourney } from '../fixtures/customer.ts'
import { withPatience } from '../fixtures/patience.ts'
import { openConnection, problemOf, refusal, send } from '../fixtures/requests.ts'
import { changeKey, createKey } from '../fixtures/service-keys.ts'
import { sharedCairn } from '../fixtures/shared-cairn.ts'
import { within } from '../fixtures/within.ts'

let cairn: Cairn
let workspace: Workspace

beforeAll(async () => {
  cairn = await sharedCairn()
  workspace = await cairn.workspace()
})

/** The status of a read with the key. */
async function statusOf(key: string, at = cairn): Promise<number> {
  return (await send(at, 'GET /journeys', { key })).status
}

/** Runs a command of `cairn key` next to the server. */
async function keyCommand(at: Cairn, ...args: string[]) {
  const { code, stdout, stderr } = await runCairn(['key', ...args, '--json'], {
    environment: { DATABASE_URL: at.databaseUrl },
  })
  expect([code, stderr]).toEqual([0, ''])
  return JSON.parse(stdout)
}

describe('a request without a valid key', () => {
  it('gets no further reason', async () => {
    const expired = await createKey(cairn, workspace, 'secret', { expires_ms: Date.now() - 1 })
    const revoked = await createKey(cairn, workspace, 'secret')
    await changeKey(cairn, revoked.key_id, { revoked_ms: Date.now() })
    const { secret_key } = workspace
    const other = secret_key.endsWith('0') ? '1' : '0'
    const problems = []
    for (const headers of [
      {},
      { 'x-service-key': '' },
      { 'x-service-key': 'sk_' },
      { 'x-service-key': 'wrong' },
      { 'x-service-key': newServiceKey('secret') },
      { 'x-service-key': newServiceKey('publishable') },
      { 'x-service-key': secret_key.slice(0, -1) },
      { 'x-service-key': secret_key.slice(0, -1) + other },
      { 'x-service-key': `${secret_key}0` },
      { 'x-service-key': secret_key.replace('sk_', 'pk_') },
      { 'x-service-key': secret_key.toUpperCase() },
      { 'x-service-key': `"${secret_key}"` },
      { 'x-service-key': `Bearer ${secret_key}` },
      { 'x-service-key': [secret_key, secret_key] },
      { 'x-service-key': `${secret_key}\x80` },
      { 'x-service-key': 'x'.repeat(10_000) },
      { 'x-service-key': "' OR 1=1 --" },
      { 'x-service-key': expired.key },
      { 'x-service-key': revoked.key },
      { authorization: `Bearer ${secret_key}` },
      { 'x-api-key': secret_key },
      { cookie: `x-service-key=${secret_key}` },
    ]) {
      const reply = await send(cairn, 'GET /journeys', { headers })
      expect(reply.status).toBe(401)
      expect(reply.headers.get('www-authenticate')).toBe('ServiceKey header="x-service-key"')
      const { request_id: _, ...problem } = await problemOf(reply)
      problems.push(problem)
    }
    expect(new Set(problems.map((problem) => JSON.stringify(problem))).size).toBe(1)
    expect(problems[0]).toMatchObject({ status: 401, code: 'unauthorized' })
  })

  it('is refused by every operation that needs a credential', async () => {
    for (const { method, path, accepts } of operations) {
      if (accepts.length === 0) continue
      const reply = await send(cairn, `${method} ${path.replace(/\{\w+\}/, 'x')}`, { key: 'wrong' })
      expect(reply.status).toBe(401)
    }
  })

  it('is not accepted with a key in the query', async () => {
    const { secret_key } = workspace
    const reply = await send(cairn, `GET /journeys?x-service-key=${secret_key}`)
    expect(reply.status).toBe(401)
  })
})

describe('a publishable key', () => {
  it('is refused by every operation that is not for browsers', async () => {
    for (const { method, path, accepts } of operations) {
      if (accepts.includes('PublishableKey')) continue
      // Everybody may read it.
      if (accepts.length === 0 && method === 'GET') continue
      const line = `${method} ${path.replace(/\{\w+\}/, 'x')}`
      const reply = await send(cairn, line, { key: workspace.publishable_key })
      const code = accepts.includes('SecretKey') ? 'secret_key_required' : 'session_required'
      expect(await refusal(reply)).toEqual({
        status: 403,
        code: accepts.length > 0 ? code : 'foreign_origin',
      })
    }
  })

  it('registers customers and saves events', async () => {
    const { journey_id, publishable_key } = workspace
    const client = cairn.client(publishable_key)
    const { data } = await client.initializeCustomer({
      body: { client_customer_id: 'p', journey_id, customer_type: 'contact', customer_name: 'P' },
    })
    const { response } = await client.createEvent({
      body: { journey_id, customer_id: data?.customer_id ?? '', event_id: 'seen' },
    })
    expect(response.status).toBe(201)
  })
})

describe('a key of another workspace', () => {
  it('finds nothing of this one, and changes nothing', async () => {
    const mine = await customerInJourney(cairn)
    const { journey_id, customer_id } = mine.event
    await mine.workspace.client.createEvent({ body: mine.event })
    const theirs = await customerInJourney(cairn)
    const { client } = theirs.workspace

    const path = { journey_id, customer_id }
    for (const [code, result] of [
      ['customer_not_found', await client.getCustomer({ path })],
      ['customer_not_found', await client.listCustomerEvents({ path })],
      ['journey_not_found', await client.getJourney({ path })],
      ['journey_not_found', await client.updateJourney({ path, body: { name: 'Mine now' } })],
      ['journey_not_found', await client.archiveJourney({ path })],
      ['journey_not_found', await client.restoreJourney({ path })],
      ['journey_not_found', await client.createEvent({ body: mine.event })],
      ['journey_not_found', await client.createEvent({ body: { ...theirs.event, journey_id } })],
      ['customer_not_found', await client.createEvent({ body: { ...theirs.event, customer_id } })],
      [
        'journey_not_found',
        await client.initializeCustomer({
          body: { client_customer_id: 'x', journey_id, customer_type: 'contact', customer_name: 'X' },
        }),
      ],
    ] as const) {
      expect(result.error).toMatchObject({ status: 404, code })
    }

    for (const query of [{ journey_id }, { customer_id }]) {
      expect((await client.listEvents({ query })).data?.data).toEqual([])
    }
    const customers = await client.listCustomers()
    expect(customers.data?.data.map((customer) => customer.customer_id)).toEqual([theirs.event.customer_id])
    const journeys = await client.listJourneys()
    expect(journeys.data?.data.map((journey) => journey.journey_id)).toEqual([theirs.event.journey_id])

    const journey = await mine.workspace.client.getJourney({ path })
    expect(journey.data).toMatchObject({ name: 'Onboarding', status: 'active' })
  })
})

describe('the life of a key', () => {
  it('begins with hundreds of requests at once, of which none is refused', async () => {
    const { key } = await createKey(cairn, workspace, 'secret', { rate_limit: 100_000 })
    const { socket, answer } = await openConnection(cairn)
    const request = `POST /v1/events/create HTTP/1.1\r\nhost: cairn\r\nx-service-key: ${key}\r\ncontent-length: 0\r\n\r\n`
    socket.write(request.repeat(700))
    const statuses = () => [...answer().matchAll(/HTTP\/1.1 (\d+)/g)].map(([, status]) => status)
    await expect.poll(() => statuses().length, withPatience).toBe(700)
    // Without a media type. With 503 they would have been refused.
    expect(new Set(statuses())).toEqual(new Set(['415']))
  })

  it('ends at the instant of its expiry', async () => {
    let now = Date.now()
    const cairn = await startCairnForTest({ now: () => now })
    const workspace = await cairn.workspace()
    const expires_ms = now + 1000
    const { key } = await createKey(cairn, workspace, 'secret', { expires_ms })
    now = expires_ms - 1
    expect(await statusOf(key, cairn)).toBe(200)
    now = expires_ms
    expect(await statusOf(key, cairn)).toBe(401)
  })

  it('begins immediately, even if the key was refused a moment before', async () => {
    const token = newServiceKey('secret')
    expect(await statusOf(token)).toBe(401)
    await createKey(cairn, workspace, 'secret', { token })
    expect(await statusOf(token)).toBe(200)
  })

  it('ends within a second after another process has revoked it', async () => {
    const { key, key_id } = await createKey(cairn, workspace, 'secret')
    expect(await statusOf(key)).toBe(200)
    await changeKey(cairn, key_id, { revoked_ms: Date.now() })
    await within(1, async () => expect(await statusOf(key)).toBe(401))
  })

  it('begins and ends by the command line while the server runs', async () => {
    const { workspace_id } = workspace
    const name = await inStore(cairn.databaseUrl, async (db) => {
      const row = db.selectFrom('workspaces').select('name').where('workspace_id', '=', workspace_id)
      return (await row.executeTakeFirstOrThrow()).name
    })
    const made = await keyCommand(cairn, 'create', '--workspace', name, '--kind', 'secret', '--name', 'CI')
    expect(await statusOf(made.key)).toBe(200)
    await keyCommand(cairn, 'revoke', made.key_id)
    await within(1, async () => expect(await statusOf(made.key)).toBe(401))
  })

  it('overlaps with that of its successor for the grace period', async () => {
    let ahead_ms = 0
    const cairn = await startCairnForTest({ now: () => Date.now() + ahead_ms })
    const workspace = await cairn.workspace()
    const old = await createKey(cairn, workspace, 'secret')
    expect(await statusOf(old.key, cairn)).toBe(200)
    const made = await keyCommand(cairn, 'rotate', old.key_id, '--grace', '1d')
    expect([await statusOf(old.key, cairn), await statusOf(made.key, cairn)]).toEqual([200, 200])
    // Until the server has noticed the change, it treats the old key as one without expiry.
    ahead_ms = DAY_MS + 1000
    await within(1, async () => expect(await statusOf(old.key, cairn)).toBe(401))
    expect(await statusOf(made.key, cairn)).toBe(200)
  })

  it('records the last use, to the minute', async () => {
    let now = Date.now()
    const cairn = await startCairnForTest({ now: () => now })
    const workspace = await cairn.workspace()
    const { key, key_id } = await createKey(cairn, workspace, 'secret')
    const lastUsed = () =>
      inStore(cairn.databaseUrl, async (db) => (await findServiceKey(db, key_id))?.last_used_ms)
    expect(await lastUsed()).toBeNull()
    const first = now
    await statusOf(key, cairn)
    await vi.waitFor(async () => expect(await lastUsed()).toBe(first), withPatience)
    now = first + 59_999
    await statusOf(key, cairn)
    now = first + 60_000
    await statusOf(key, cairn)
    await vi.waitFor(async () => expect(await lastUsed()).toBe(now), withPatience)
  })
})
