import { beforeEach, describe, expect, it } from 'vitest'
import { sqlitePath } from '../../server/storage/sqlite/file-url.ts'
import { type Cairn, startCairnForTest, type Workspace } from '../cairn.ts'
import { customerInJourney } from '../operations/customer.ts'
import { connect } from './store.ts'

const MINUTE_MS = 60_000
const NOON = Date.parse('2026-11-20T12:00:00Z')

let now: number
let cairn: Cairn

beforeEach(async () => {
  now = NOON
  cairn = await startCairnForTest({ now: () => now })
})

/** Records each time that the use of a key is written, from now on. */
function recordUses() {
  const connection = connect(sqlitePath(cairn.databaseUrl))
  connection.exec(`CREATE TABLE uses (key_id TEXT, ms INTEGER);
    CREATE TRIGGER record AFTER UPDATE OF last_used_ms ON service_keys
    BEGIN INSERT INTO uses VALUES (NEW.key_id, NEW.last_used_ms); END`)
  const read = connection.prepare('SELECT count(*) AS writes, max(ms) AS last_ms FROM uses')
  return { connection, uses: () => read.get() }
}

/** What was asked before is written when this is answered. */
async function use(
  { client }: Workspace,
  event: { journey_id: string; customer_id: string; event_id: string },
) {
  expect((await client.createEvent({ body: event })).response.status).toBe(201)
}

describe('the last use of a key', () => {
  it('is written once, however many first requests come at once', async () => {
    const { workspace, event } = await customerInJourney(cairn)
    now += MINUTE_MS
    const { uses } = recordUses()
    await Promise.all(Array.from({ length: 100 }, () => use(workspace, event)))
    await use(workspace, event)
    expect(uses()).toEqual({ writes: 1, last_ms: NOON + MINUTE_MS })
  })

  it('is written again after a minute and not before', async () => {
    const { workspace, event } = await customerInJourney(cairn)
    const { uses } = recordUses()
    now += MINUTE_MS - 1
    await use(workspace, event)
    await use(workspace, event)
    expect(uses()).toEqual({ writes: 0, last_ms: null })
    now += 1
    await use(workspace, event)
    await use(workspace, event)
    expect(uses()).toEqual({ writes: 1, last_ms: NOON + MINUTE_MS })
  })

  it('is not written more often because other things change', async () => {
    const { workspace, event } = await customerInJourney(cairn)
    const { connection, uses } = recordUses()
    now += MINUTE_MS
    connection.exec('BEGIN IMMEDIATE')
    // The first has read the key before the change, the second after it and before the use is on disk.
    const first = use(workspace, event)
    const change = workspace.client.createJourney({ body: { name: 'Renewal' } })
    const second = use(workspace, event)
    connection.exec('ROLLBACK')
    await Promise.all([first, change, second])
    await use(workspace, event)
    expect(uses()).toEqual({ writes: 1, last_ms: NOON + MINUTE_MS })
  })

  it('is not that of a request without a valid key', async () => {
    const { workspace } = await customerInJourney(cairn)
    const { connection, uses } = recordUses()
    connection.exec(`UPDATE service_keys SET expires_ms = ${NOON}`)
    await expect
      .poll(async () => (await workspace.client.listEvents()).error?.code, { timeout: 1000 })
      .toBe('unauthorized')
    now += MINUTE_MS
    await workspace.client.listEvents()
    expect((await fetch(`${cairn.url}/readyz`)).status).toBe(200)
    expect(uses()).toEqual({ writes: 0, last_ms: null })
  })
})
