// engines: sqlite (what only SQLite has)

import { expect, it, onTestFinished } from 'vitest'
import { MemtableRing } from '../../../../server/storage/sqlite/index/memtable.ts'
import { StandingsFollower } from '../../../../server/storage/sqlite/standings/standings-follower.ts'
import type { StandingsQuery } from '../../../../server/storage/standings/standings-query.ts'
import { connect, openStore } from '../../../fixtures/file-store.ts'
import { newSubject } from '../../../fixtures/store.ts'

it('are not confused with the journey that gets their number, before their removal is processed', async () => {
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
  const [ref] = file
    .prepare('SELECT journey_ref FROM journeys WHERE journey_id = ?')
    .raw()
    .get(gone.journey_id) as [number]
  file.transaction(() => {
    file.prepare('DELETE FROM enrolments WHERE journey_ref = ?').run(ref)
    file.prepare('INSERT INTO enrolment_removals (journey_ref) VALUES (?)').run(ref)
    const reuse = file.prepare(
      "UPDATE journeys SET journey_id = 'jrn_new', workspace_id = ? WHERE journey_ref = ?",
    )
    reuse.run(other.workspace_id, ref)
  })()
  expect(await report(other.workspace_id, 'jrn_new')).toMatchObject({ enrolled: 0 })
  const { workspace_id: workspaceId, customer_id: customerId } = gone
  const journeys = { kind: 'customerJourneys', workspaceId, customerId, page: { limit: 10 } } as const
  expect(await answer(journeys)).toMatchObject({ rows: [] })
  await follower.follow()
  expect(await report(other.workspace_id, 'jrn_new')).toMatchObject({ enrolled: 0 })
})
