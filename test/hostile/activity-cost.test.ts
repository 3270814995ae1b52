// engines: sqlite, postgres

import { sql } from 'kysely'
import { expect, it } from 'vitest'
import type { Schemas } from '../../client/index.ts'
import { createWorkspace } from '../../server/cli/init.ts'
import { blockOf, PERIOD_MS, PERIODS, periodOf } from '../../server/storage/activity/activity.ts'
import { packCounts } from '../../server/storage/activity/event-counts.ts'
import type { Transaction } from '../../server/storage/database.ts'
import { runDeclared } from '../../server/storage/effects.ts'
import { uuidOf } from '../../server/storage/postgres/connection/uuids.ts'
import { newStore } from '../fixtures/cairn.ts'
import { startChildServer } from '../fixtures/child-server.ts'
import { engine } from '../fixtures/engine.ts'
import { inStore } from '../fixtures/in-store.ts'
import { mainThreadSeconds } from './target.ts'

/** Requests per measurement, one after the other. */
const ANSWERS = 100

/** Number of names per minute. */
const NAMES = 100

/** Acceptable ratio between a full answer and an empty one. */
const NOTICEABLE = 3.5

/** Future minutes have counts too, so that the current minute has some however long the test takes. */
const MINUTES_AHEAD = 10

/** Counts as from events of many names in every minute of a day. */
async function insertCounts(db: Transaction, workspaceId: string) {
  const last_ms = periodOf(Date.now(), 'minute') + MINUTES_AHEAD * PERIOD_MS.minute
  const minutes = Array.from({ length: PERIODS }, (_, index) => last_ms - index * PERIOD_MS.minute)
  const names = Array.from({ length: NAMES }, (_, number) => number)
  const counts = packCounts(names.map((number) => ({ number, created: 5, duplicate: 1, rejected: 0 })))
  const workspace = engine === 'postgres' ? uuidOf(workspaceId) : await referenceOf(db, workspaceId)
  const insert = async (table: string, rows: unknown[][]) => {
    for (let from = 0; from < rows.length; from += 1_000) {
      const values = rows.slice(from, from + 1_000).map((row) => sql`(${sql.join([workspace, ...row])})`)
      await runDeclared(db, [], sql`INSERT INTO ${sql.table(table)} VALUES ${sql.join(values)}`)
    }
  }
  for (const block of new Set(minutes.map(blockOf))) {
    await insert(
      'event_series',
      names.map((number) => [block, number, '', `event_${number}`, '', last_ms]),
    )
  }
  await insert(
    'event_counts',
    minutes.map((minute_ms) => ['minute', minute_ms, counts]),
  )
}

/** The row number of a workspace in SQLite. */
async function referenceOf(db: Transaction, workspaceId: string): Promise<number | undefined> {
  const { rows } = await sql<{ ref: number }>`SELECT workspace_ref AS ref FROM workspaces
    WHERE workspace_id = ${workspaceId}`.execute(db)
  return rows[0]?.ref
}

it('takes no more main thread time for a day of minutes than for one minute', async () => {
  const databaseUrl = await newStore()
  const workspace = await createWorkspace(databaseUrl, { workspace: 'Greedy', journey: 'Onboarding' })
  await inStore(databaseUrl, (db) => insertCounts(db, workspace.workspace_id))
  const server = await startChildServer({ databaseUrl, asInProduction: true })
  // Uncompressed, because compression runs in another thread, and handing over to it takes as long as everything else.
  const headers = { 'x-service-key': workspace.secret_key, 'accept-encoding': 'identity' }
  /** Seconds for all requests of a measurement. */
  const taken = async (minutes: number) => {
    const from = new Date(Date.now() - (minutes - 1) * PERIOD_MS.minute).toISOString()
    const query = new URLSearchParams({ by: 'minute', from, event_id: 'event_7' })
    const before = mainThreadSeconds(server)
    for (let asked = 0; asked < ANSWERS; asked += 1) {
      const reply = await fetch(`${server.url}/v1/activity?${query}`, { headers })
      const { periods, total }: Schemas['Activity'] = await reply.json()
      expect(periods.length).toBeGreaterThanOrEqual(minutes)
      expect(total.created).toBeGreaterThan(0)
    }
    return mainThreadSeconds(server) - before
  }
  // The first request of each kind is slower.
  await taken(1)
  const day_minutes = PERIODS - MINUTES_AHEAD
  await taken(day_minutes)
  const [one, day] = [await taken(1), await taken(day_minutes)]
  expect(day / one).toBeLessThan(NOTICEABLE)
})
