// engines: sqlite (what only SQLite has)

import { expect, it, onTestFinished } from 'vitest'
import type { Page, PageRows } from '../../../../server/domain/paging.ts'
import { MemtableRing } from '../../../../server/storage/sqlite/index/memtable.ts'
import { SLICE_ROWS } from '../../../../server/storage/sqlite/standings/followed-store.ts'
import { StandingsFollower } from '../../../../server/storage/sqlite/standings/standings-follower.ts'
import type { CustomerJourney } from '../../../../server/storage/standings/standings.ts'
import type { StandingsQuery } from '../../../../server/storage/standings/standings-query.ts'
import { connect, openStore } from '../../../fixtures/file-store.ts'
import { inAnotherJourney, newSubject } from '../../../fixtures/store.ts'

/** A journey with one customer that has been followed, and another one. */
async function followedJourneys() {
  const store = await openStore()
  const [gone, other] = [await newSubject(store), await newSubject(store)]
  await store.close()
  const follower = new StandingsFollower(store.path, new MemtableRing(), Date.now)
  onTestFinished(() => follower.close())
  const answer = (query: StandingsQuery) => follower.answer(query, new AbortController().signal)
  const report = (workspaceId: string, journeyId: string) =>
    answer({ kind: 'report', workspaceId, journeyId, filter: {} })
  await follower.follow()
  expect(await report(gone.workspace_id, gone.journey_id)).toMatchObject({ enrolled: 1 })
  const file = connect(store.path)
  const refOf = file
    .prepare<[string], number>('SELECT journey_ref FROM journeys WHERE journey_id = ?')
    .pluck()
  const ref = refOf.get(gone.journey_id) ?? 0
  /** Removes the journey, and gives its number to `jrn_new`. */
  const replace = () => {
    file.prepare('DELETE FROM enrolments WHERE journey_ref = ?').run(ref)
    file.prepare('INSERT INTO enrolment_removals (journey_ref) VALUES (?)').run(ref)
    file
      .prepare("UPDATE journeys SET journey_id = 'jrn_new', workspace_id = ? WHERE journey_ref = ?")
      .run(other.workspace_id, ref)
  }
  return { gone, other, follower, answer, report, file, ref, otherRef: refOf.get(other.journey_id), replace }
}

it('are not confused with the journey that gets their number, before their removal is processed', async () => {
  const { gone, other, follower, answer, report, file, replace } = await followedJourneys()
  file.transaction(replace)()
  expect(await report(other.workspace_id, 'jrn_new')).toMatchObject({ enrolled: 0 })
  const { workspace_id: workspaceId, customer_id: customerId } = gone
  const journeys = { kind: 'customerJourneys', workspaceId, customerId, page: { limit: 10 } } as const
  expect(await answer(journeys)).toMatchObject({ rows: [] })
  await follower.follow()
  expect(await report(other.workspace_id, 'jrn_new')).toMatchObject({ enrolled: 0 })
})

it('take nothing from the journey that gets their number, however many removals there were before', async () => {
  const { other, follower, report, file, ref, otherRef, replace } = await followedJourneys()
  const removals = file.prepare(
    `WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < ?)
    INSERT INTO enrolment_removals (journey_ref, customer_ref) SELECT 999, number FROM numbers`,
  )
  const enrolled = [
    `INSERT INTO enrolments (journey_ref, customer_ref, enrolled_ms)
    SELECT ?, customer_ref, enrolled_ms FROM enrolments WHERE journey_ref = ?`,
    `INSERT INTO enrolment_numbers (journey_ref, customer_ref)
    SELECT ?, customer_ref FROM enrolments WHERE journey_ref = ?`,
  ]
  file.transaction(() => {
    removals.run(SLICE_ROWS)
    replace()
    for (const statement of enrolled) file.prepare(statement).run(ref, otherRef)
  })()
  while (!(await follower.follow()).isAll);
  expect(await report(other.workspace_id, 'jrn_new')).toMatchObject({ enrolled: 1 })
})

it('are no place where the list of a customer begins again', async () => {
  const store = await openStore()
  const oldest = await newSubject(store)
  const [middle, newest] = [await inAnotherJourney(store, oldest), await inAnotherJourney(store, oldest)]
  await store.close()
  const follower = new StandingsFollower(store.path, new MemtableRing(), Date.now)
  onTestFinished(() => follower.close())
  await follower.follow()
  const { workspace_id: workspaceId, customer_id: customerId } = oldest
  const list = async (page: Page) => {
    const query = { kind: 'customerJourneys', workspaceId, customerId, page } as const
    const found = await follower.answer(query, new AbortController().signal)
    const { rows, next } = found as PageRows<CustomerJourney>
    return { journeys: rows.map(({ journey_id }) => journey_id), after: next as Page['after'] }
  }
  const first = await list({ limit: 2 })
  expect(first.journeys).toEqual([newest.journey_id, middle.journey_id])
  const file = connect(store.path)
  for (const { journey_id } of [middle, oldest]) {
    const rest = await list({ limit: 2, ...(first.after && { after: first.after }) })
    expect(rest.journeys).toEqual([oldest.journey_id])
    file
      .prepare(
        'DELETE FROM enrolments WHERE journey_ref IN (SELECT journey_ref FROM journeys WHERE journey_id = ?)',
      )
      .run(journey_id)
    file.prepare('DELETE FROM journeys WHERE journey_id = ?').run(journey_id)
  }
  expect(await list({ limit: 2, ...(first.after && { after: first.after }) })).toMatchObject({ journeys: [] })
})
