// engines: sqlite (fills the file itself, past the server)

import { join } from 'node:path'
import Database from 'better-sqlite3'
import { beforeAll, describe, expect, it } from 'vitest'
import { createWorkspace } from '../../server/cli/init.ts'
import { sqlitePath } from '../../server/storage/sqlite/store-files.ts'
import { type Cairn, startCairn, temporaryFolder, type Workspace } from '../fixtures/cairn.ts'
import { startChildServer } from '../fixtures/child-server.ts'
import { connect } from '../fixtures/file-store.ts'
import { type SignedUp, signUp } from '../fixtures/people.ts'

/** Size limit of a page, from the API contract. */
const PAGE_BYTES = 1024 * 1024
/** Number of short items, and of items that may be as large as a body. */
const SHORT = 600
const LONG = 60
const CUSTOMERS = 200_000

/** Measurements of each kind for the median. */
const ROUNDS = 31
/** Walked to the end, the list of customers takes twenty times as long as a page of 500. */
const NOTICEABLE = 5

const counted = (count: number) =>
  `WITH RECURSIVE counter (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM counter WHERE value < ${count})`

/** Stores the longest possible items of every list except events. */
function fill(path: string, workspace_id: string) {
  const hundred = <Item>(item: (at: number) => Item) =>
    JSON.stringify(Array.from({ length: 100 }, (_, at) => item(at)))
  const steps = hundred((at) => ({ event_id: `step_${at}`, name: 'ñ'.repeat(255) }))
  const origins = hundred(
    (at) => `https://${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.example.com:${10_000 + at}`,
  )
  // The name with the longest JSON form.
  const values = {
    workspace_id,
    name: '\u0001'.repeat(255),
    steps,
    changes: `{"steps":${steps}}`,
    origins,
    now: Date.now(),
  }
  const id = (prefix: string) => `'${prefix}_' || printf('%026d', value)`
  const email = "value || '@example.com', value || '@example.com'"
  const file = new Database(path)
  for (const [count, rows] of [
    [SHORT, `people SELECT ${id('per')}, @name, ${email}, '', 0, ''`],
    [SHORT, `members SELECT @workspace_id, ${id('per')}, 'viewer', value`],
    [
      SHORT,
      `invitations SELECT @workspace_id, ${id('inv')}, value, ${email}, 'viewer', ${id('per')}, @now, @now + 86400000`,
    ],
    [
      SHORT,
      `customers SELECT 1000 + value, @workspace_id, ${id('cus')}, 'contact', substr(@name, 7) || printf('%06d', value),
      @name, value, value, @name`,
    ],
    [
      LONG,
      `journeys (journey_ref, workspace_id, journey_id, name, description, steps, status, created_ms, updated_ms, name_key)
      SELECT 1000 + value, @workspace_id, ${id('jrn')}, @name, '', @steps, 'active', value, value, ''`,
    ],
    [
      LONG,
      `service_keys (key_id, workspace_id, kind, name, digest, token, last_four, allowed_origins, created_ms)
      SELECT ${id('key')}, @workspace_id, 'publishable', @name, value, 'pk_' || printf('%049d', value), 'abcd', @origins, value`,
    ],
    [
      LONG,
      `audit_log SELECT @workspace_id, ${id('aud')}, value, 'journeys', 'journey_updated', 'person', ${id('per')}, @name,
      'journey', ${id('jrn')}, @name, NULL, @changes, @changes, NULL`,
    ],
  ] as const) {
    const used = Object.entries(values).filter(([name]) => rows.includes(`@${name}`))
    file.prepare(`${counted(count)} INSERT INTO ${rows} FROM counter`).run(Object.fromEntries(used))
  }
  file.close()
}

describe('the longest items of every list', () => {
  let cairn: Cairn
  let workspace: Workspace
  let owner: SignedUp

  beforeAll(async () => {
    cairn = await startCairn()
    workspace = await cairn.workspace()
    owner = await signUp(cairn, workspace, 'owner')
    fill(sqlitePath(cairn.databaseUrl), workspace.workspace_id)
    return cairn.stop
  })

  it.each(['customers', 'journeys', 'members', 'invitations', 'service-keys', 'audit-log'])(
    'are returned in pages of at most 1 MiB, each once: %s',
    async (list) => {
      const seen = new Set<string>()
      let given = 0
      let greatest_bytes = 0
      for (let cursor: string | null = ''; cursor !== null; ) {
        const reply = await owner.fetch(`GET /${list}?limit=500${cursor && `&cursor=${cursor}`}`)
        const text = await reply.text()
        const page: { data: Record<string, unknown>[]; next_cursor: string | null } = JSON.parse(text)
        expect(page.data.length).toBeGreaterThan(0)
        for (const item of page.data) seen.add(JSON.stringify(item))
        given += page.data.length
        greatest_bytes = Math.max(greatest_bytes, Buffer.byteLength(text))
        cursor = page.next_cursor
      }
      expect(greatest_bytes).toBeLessThanOrEqual(PAGE_BYTES)
      // Not much less either: a page that ends too early only costs more requests.
      expect(greatest_bytes).toBeGreaterThan(PAGE_BYTES / 8)
      expect(seen.size).toBe(given)
      expect(given).toBeGreaterThanOrEqual(LONG)
    },
  )
})

describe('a list of 200,000 customers', () => {
  it('costs no more than an ordinary page if hardly any row matches', async () => {
    const path = join(temporaryFolder(), 'cairn.db')
    const databaseUrl = `sqlite:${path}`
    const { workspace_id, secret_key } = await createWorkspace(databaseUrl, { workspace: 'A', journey: 'B' })
    // One account, and 3,000 customers that match "ada": the oldest of all.
    connect(path)
      .prepare(`${counted(CUSTOMERS)} INSERT INTO customers
        SELECT value, ?, 'cus_' || printf('%026d', value), iif(value = 1, 'account', 'contact'), 'user-' || value, 'Ada',
          value, value, iif(value <= 3000, 'ada', 'grace') FROM counter`)
      .run(workspace_id)
    const server = await startChildServer({ databaseUrl })
    const client = server.client(secret_key)
    const pages = {
      ordinary: { limit: 500 },
      searched: { search: 'ada' },
      searchedOfType: { search: 'user', customer_type: 'account' },
      ofType: { customer_type: 'account' },
    } as const
    const times: Record<string, number[]> = {}
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [name, query] of Object.entries(pages)) {
        const from_ms = performance.now()
        const { response } = await client.listCustomers({ query })
        expect(response.status).toBe(200)
        times[name] = [...(times[name] ?? []), performance.now() - from_ms]
      }
    }
    const median = (name: keyof typeof pages) =>
      times[name]?.toSorted((a, b) => a - b)[(ROUNDS - 1) / 2] ?? Number.NaN
    for (const name of ['searched', 'searchedOfType', 'ofType'] as const) {
      expect([name, median(name) / median('ordinary') < NOTICEABLE]).toEqual([name, true])
    }
  })
})
