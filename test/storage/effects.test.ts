// engines: sqlite, postgres

import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { effectsOf, runDeclared, type WatchedTable } from '../../server/storage/effects.ts'
import { updateLastSeen } from '../../server/storage/tables/sessions.ts'
import { engine } from '../fixtures/engine.ts'
import { insert, newSubject, openStore, type Store } from '../fixtures/store.ts'
import { beginJourneyRemoval } from './removing.ts'

let store: Store
let keyChanges = 0

beforeAll(async () => {
  store = await openStore({ onKeyChange: () => (keyChanges += 1) })
  return store.close
})

/** Each table whose changes have effects, and the column that finds its rows of a workspace. */
const TABLES: [table: WatchedTable, column: string, changesKeys: boolean][] = [
  ['workspaces', 'workspace_id', true],
  ['service_keys', 'workspace_id', true],
  ['journeys', 'workspace_id', false],
  ['customers', 'workspace_id', false],
  ['enrolments', engine === 'postgres' ? 'workspace_id' : 'journey_ref', false],
  ['people', 'person_id', false],
  ['members', 'workspace_id', false],
  ['sessions', 'person_id', false],
]

/** Changes no row: what counts is that it could. */
function written(table: WatchedTable, column: string) {
  return sql`UPDATE ${sql.table(table)} SET ${sql.ref(column)} = ${sql.ref(column)} WHERE 1 = 0`
}

/** Number of changes that other replicas were notified of. */
async function notifiedChanges() {
  const { rows } = await sql<{ changes: number }>`SELECT changes FROM cairn_store`.execute(store.db)
  return rows[0]?.changes ?? 0
}

describe.each(TABLES)('a change of %s that is written in SQL', (table, column, changesKeys) => {
  it('is rejected if it declares nothing, and its transaction is rolled back', async () => {
    const { workspace_id } = await newSubject(store)
    const attempt = store.db.transaction().execute(async (db) => {
      const renamed = db.updateTable('workspaces').set({ name: 'changed' })
      await renamed.where('workspace_id', '=', workspace_id).execute()
      await written(table, column).execute(db)
    })
    await expect(attempt).rejects.toThrow('does not declare')
    const read = store.db.selectFrom('workspaces').select('name').where('workspace_id', '=', workspace_id)
    expect(await read.executeTakeFirst()).not.toEqual({ name: 'changed' })
  })

  it('has its effects if it declares the table', async () => {
    const [before, notified] = [keyChanges, engine === 'postgres' ? await notifiedChanges() : 0]
    await store.db.transaction().execute((db) => runDeclared(db, [table], written(table, column)))
    expect(keyChanges - before).toBe(changesKeys ? 1 : 0)
    if (engine !== 'postgres') return
    const isNotified = !['customers', 'enrolments'].includes(table)
    expect((await notifiedChanges()) - notified).toBe(isNotified ? 1 : 0)
  })

  it('has the same effects as a change built with Kysely', async () => {
    const id = 'none'
    const built = [
      store.db.deleteFrom(table as 'journeys').where('journey_id', '=', id),
      store.db.updateTable(table as 'journeys').set({ journey_id: id }),
      store.db.insertInto(table as 'journeys').values({ journey_id: id } as never),
    ].map((query) => effectsOf(query.compile().query))
    for (const effects of built) expect(effects?.length).toBeGreaterThan(0)
    expect(new Set(built.map(String)).size).toBe(1)
    expect(built[0]?.includes('keys')).toBe(changesKeys)
  })
})

it('the removal of a journey has the effects of its table: its events are rejected at once, and replicas are notified', async () => {
  const subject = await newSubject(store)
  // From now on the writer caches the journey.
  expect(await insert(store, subject)).toMatchObject({ status: 'created' })
  const notified = engine === 'postgres' ? await notifiedChanges() : 0
  await beginJourneyRemoval(store, subject)
  expect(await insert(store, subject)).toMatchObject({ status: 'rejected', code: 'journey_not_found' })
  if (engine === 'postgres') expect((await notifiedChanges()) - notified).toBe(1)
})

it('a session’s last request, a query, and a change of any other table have no effects', async () => {
  const notified = engine === 'postgres' ? await notifiedChanges() : 0
  await store.db.transaction().execute(async (db) => {
    await updateLastSeen(db, 'none', 1)
    await db.deleteFrom('setup_links').where('workspace_id', '=', 'none').execute()
    await sql`SELECT count(*) AS count FROM journeys`.execute(db)
  })
  if (engine === 'postgres') expect(await notifiedChanges()).toBe(notified)
  expect(effectsOf(store.db.selectFrom('journeys').selectAll().compile().query)).toBeUndefined()
})
