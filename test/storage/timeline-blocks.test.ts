import { expect, it, vi } from 'vitest'
import { cursorPosition, cursorText } from '../../server/domain/cursors.ts'
import { BLOCK_EVENTS, SPAN_EVENTS } from '../../server/storage/sqlite/spans.ts'
import { connect, idOf, insert, newEvent, newSubject, openStoreForTest } from './store.ts'

/** Enough for a pass of the indexes. */
const EVENTS = 12_000

it('gives each event of a customer once, in order, where its timeline lies in more than one block', async () => {
  const before = await openStoreForTest()
  const subject = await newSubject(before)
  const first = idOf(await insert(before, subject, { occurred_ms: EVENTS }))
  await before.close()
  // As if all but half of the events were the last of their block.
  const seq = BLOCK_EVENTS - EVENTS / 2
  const span = Math.floor(seq / SPAN_EVENTS)
  connect(
    before.path,
  ).exec(`UPDATE events SET seq = ${seq}; UPDATE event_indexing SET indexed_seq = ${seq - 1};
    UPDATE event_spans SET span = ${span}; UPDATE event_facets SET span = ${span}`)

  const store = await openStoreForTest({ path: before.path })
  const expected = [{ id: first, occurred_ms: EVENTS, order: 0 }]
  for (let made = 1; made <= EVENTS; made += 1000) {
    // Times that come again, and that leap between the blocks.
    const events = Array.from({ length: 1000 }, (_, index) => ((made + index) * 7919) % 5003).map(
      (occurred_ms) => newEvent(subject, { occurred_ms }),
    )
    const outcomes = await store.events.insertEvents(subject.workspace_id, events)
    for (const [index, outcome] of outcomes.entries()) {
      expected.push({
        id: idOf(outcome),
        occurred_ms: events[index]?.occurred_ms ?? 0,
        order: expected.length,
      })
    }
  }
  const file = connect(store.path)
  const unindexed = file
    .prepare('SELECT count(*) FROM events WHERE seq > (SELECT indexed_seq FROM event_indexing)')
    .pluck()
  await vi.waitUntil(() => unindexed.get() === 0, { timeout: 20_000, interval: 100 })
  expect(file.prepare('SELECT DISTINCT block FROM event_timeline').all()).toHaveLength(2)

  for (const limit of [499, 20]) {
    const seen: string[] = []
    let after: ReturnType<typeof cursorPosition> | undefined
    // The short pages only for a part: there are hundreds of them.
    while (limit === 499 || seen.length < 2000) {
      const page = after ? { limit, after } : { limit }
      const { rows, next } = await store.events.customerEvents(
        subject.workspace_id,
        subject.customer_id,
        page,
      )
      seen.push(...rows.map(({ event }) => event.id))
      if (!next) break
      after = cursorPosition(cursorText(next), 'evt')
    }
    const order = expected.toSorted((a, b) => b.occurred_ms - a.occurred_ms || b.order - a.order)
    expect(seen).toEqual(order.slice(0, seen.length).map(({ id }) => id))
    expect(seen.length).toBe(limit === 499 ? expected.length : 2000)
  }
})
