// engines: sqlite (what only SQLite has)

import { rmSync } from 'node:fs'
import { expect, it, onTestFinished } from 'vitest'
import { nameHashes } from '../../../../server/domain/name-hashes.ts'
import { MemtableRing } from '../../../../server/storage/sqlite/index/memtable.ts'
import { standingsPath } from '../../../../server/storage/sqlite/standings/standings-file.ts'
import { StandingsFollower } from '../../../../server/storage/sqlite/standings/standings-follower.ts'
import { connect, openStore } from '../../../fixtures/file-store.ts'
import { newEvent, newSubject } from '../../../fixtures/store.ts'

/** A customer with an event of the journey's only step, and a follower that processes events only on request. */
async function followedJourney() {
  const store = await openStore()
  const subject = await newSubject(store)
  const { workspace_id, journey_id } = subject
  const enrolled_ms = Date.now()
  await store.events.insertEvents(workspace_id, [
    newEvent(subject, { event_id: 'one', occurred_ms: enrolled_ms + 10 }),
  ])
  await store.close()
  // The store's own follower may have processed the event already, for other steps.
  rmSync(standingsPath(store.path))
  const file = connect(store.path)
  const ring = new MemtableRing()
  const follower = new StandingsFollower(store.path, ring, Date.now)
  onTestFinished(() => follower.close())
  const query = { kind: 'report', workspaceId: workspace_id, journeyId: journey_id, filter: {} } as const
  let seq = 1
  const salt = file.prepare<[], string>('SELECT message_salt FROM event_indexing').pluck().get() ?? ''
  return {
    report: () => follower.answer(query, new AbortController().signal),
    edit(event_id: string) {
      const steps = JSON.stringify([{ event_id, name: event_id }])
      file.prepare('UPDATE journeys SET steps = ? WHERE journey_id = ?').run(steps, journey_id)
    },
    async follow() {
      while (!(await follower.follow()).isAll);
    },
    async rebuild() {
      while (await follower.rebuild());
    },
    /** Removes events like retention: of those after the enrolment that are not of a step nothing is noted. */
    remove: (event_id: string) => file.prepare('DELETE FROM events WHERE event_id = ?').run(event_id),
    /** Stores an event of the customer, like the writer. */
    arrive(event_id: string, after_ms: number) {
      const at_ms = enrolled_ms + after_ms
      seq += 1
      const references = file
        .prepare<[string], { workspace_ref: number; journey_ref: number; customer_ref: number }>(
          `SELECT workspace_ref, journey_ref, customer_ref
          FROM journeys JOIN workspaces USING (workspace_id) JOIN enrolments USING (journey_ref) WHERE journey_id = ?`,
        )
        .get(journey_id)
      if (!references) throw new Error('nobody is enrolled')
      ring.reserve(seq)
      ring.set({ seq, ...references, name: nameHashes(salt)(event_id), at_ms, message_key: null })
      file
        .prepare(
          `INSERT INTO events (seq, workspace_ref, journey_ref, customer_ref, id, event_id, occurred_ms, received_ms)
          VALUES (@seq, @workspace_ref, @journey_ref, @customer_ref, zeroblob(16), @event_id, @at_ms, @at_ms)`,
        )
        .run({ seq, ...references, event_id, at_ms })
    },
  }
}

it('steps edited back during a rebuild are rebuilt too: their events may have been removed meanwhile', async () => {
  const { report, edit, follow, rebuild, remove, arrive } = await followedJourney()
  edit('one')
  await follow()
  await rebuild()
  expect(await report()).toMatchObject({ recomputing: null, steps: [{ reached: 1 }] })
  arrive('other', 20)
  await follow()

  edit('two')
  await follow()
  expect(await report()).toMatchObject({ recomputing: { done: 0, total: 1 } })
  remove('one')
  edit('one')
  await follow()
  expect(await report()).toMatchObject({ event_ids: ['one'], recomputing: { done: 0, total: 1 } })
  await rebuild()
  expect(await report()).toMatchObject({ recomputing: null, steps: [{ reached: 0 }] })

  // After the removed one it would change nothing.
  arrive('one', 30)
  await follow()
  expect(await report()).toMatchObject({ steps: [{ reached: 1 }] })
})
