// engines: sqlite, postgres

import { beforeEach, describe, expect, it } from 'vitest'
import { type Cairn, startCairnForTest, type Workspace } from '../fixtures/cairn.ts'
import { customerInJourney } from '../fixtures/customer.ts'
import { engine, isDistributed } from '../fixtures/engine.ts'
import { withPatience } from '../fixtures/patience.ts'
import { connectTo, holdWrites } from '../fixtures/store.ts'

const MINUTE_MS = 60_000
const NOON = Date.parse('2026-11-20T12:00:00Z')

let now: number
let cairn: Cairn

beforeEach(async () => {
  now = NOON
  cairn = await startCairnForTest({ now: () => now })
})

/** Records every write of a key's use, from now on, when the use before has been written. */
async function recordUses() {
  const connection = await connectTo(cairn.databaseUrl)
  const noted = 'SELECT count(last_used_ms) AS keys FROM service_keys'
  await expect.poll(async () => await connection.run(noted), withPatience).toEqual([{ keys: 1 }])
  const insert = 'INSERT INTO uses VALUES (NEW.key_id, NEW.last_used_ms)'
  const trigger = 'CREATE TRIGGER record AFTER UPDATE OF last_used_ms ON service_keys'
  await connection.run(
    engine === 'sqlite'
      ? `CREATE TABLE uses (key_id TEXT, ms BIGINT); ${trigger} BEGIN ${insert}; END`
      : `CREATE TABLE uses (key_id TEXT, ms BIGINT);
        CREATE FUNCTION record() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${insert}; RETURN NULL; END $$;
        ${trigger} FOR EACH ROW EXECUTE FUNCTION record()`,
  )
  const uses = async () => {
    const [found] = await connection.run('SELECT count(*) AS writes, max(ms) AS last_ms FROM uses')
    return found
  }
  return { connection, uses }
}

/**
 * On SQLite earlier requests are written by the time this one is answered; on PostgreSQL by another connection,
 * concurrently.
 */
async function use(
  { client }: Workspace,
  event: { journey_id: string; customer_id: string; event_id: string },
) {
  expect((await client.createEvent({ body: event })).response.status).toBe(201)
}

describe.skipIf(isDistributed)('the last use of a key', () => {
  it('is written once for any number of concurrent first requests', async () => {
    const { workspace, event } = await customerInJourney(cairn)
    now += MINUTE_MS
    const { uses } = await recordUses()
    await Promise.all(Array.from({ length: 100 }, () => use(workspace, event)))
    await use(workspace, event)
    await expect.poll(uses, withPatience).toEqual({ writes: 1, last_ms: NOON + MINUTE_MS })
  })

  it('is written again after a minute, not earlier', async () => {
    const { workspace, event } = await customerInJourney(cairn)
    const { uses } = await recordUses()
    now += MINUTE_MS - 1
    await use(workspace, event)
    await use(workspace, event)
    expect(await uses()).toEqual({ writes: 0, last_ms: null })
    now += 1
    await use(workspace, event)
    await use(workspace, event)
    await expect.poll(uses, withPatience).toEqual({ writes: 1, last_ms: NOON + MINUTE_MS })
  })

  it('is written again after the clock was set back', async () => {
    now += 2 * MINUTE_MS
    const { workspace, event } = await customerInJourney(cairn)
    const { uses } = await recordUses()
    now = NOON
    await use(workspace, event)
    await use(workspace, event)
    await expect.poll(uses, withPatience).toEqual({ writes: 1, last_ms: NOON })
  })

  it('is not written more often when other data changes', async () => {
    const { workspace, event } = await customerInJourney(cairn)
    const { connection, uses } = await recordUses()
    now += MINUTE_MS
    const release = await holdWrites(connection)
    // The first has read the key before the change, the second after it, but before the use is on disk.
    const first = use(workspace, event)
    const change = workspace.client.createJourney({ body: { name: 'Renewal' } })
    const second = use(workspace, event)
    await release()
    await Promise.all([first, change, second])
    await use(workspace, event)
    await expect.poll(uses, withPatience).toEqual({ writes: 1, last_ms: NOON + MINUTE_MS })
  })

  it('ignores requests without a valid key', async () => {
    const { workspace } = await customerInJourney(cairn)
    const { connection, uses } = await recordUses()
    await connection.run(`UPDATE service_keys SET expires_ms = ${NOON}`)
    // On PostgreSQL a command that changes a key increments this, and servers then read the keys again.
    if (engine === 'postgres') await connection.run('UPDATE cairn_store SET changes = changes + 1')
    await expect.poll(async () => (await workspace.client.listEvents()).error?.code).toBe('unauthorized')
    now += MINUTE_MS
    await workspace.client.listEvents()
    expect((await fetch(`${cairn.url}/readyz`)).status).toBe(200)
    expect(await uses()).toEqual({ writes: 0, last_ms: null })
  })
})
