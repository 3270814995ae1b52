// engines: sqlite (what only SQLite has)

import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { eventIdBytes, typeIdText } from '../../../server/domain/identifiers.ts'
import { type Kept, wholeId } from '../../../server/storage/sqlite/kept-ids.ts'
import { temporaryFolder } from '../../fixtures/cairn.ts'
import { connect, openStoreForTest } from '../../fixtures/file-store.ts'
import { followed } from '../../fixtures/following.ts'
import { eventPage, idOf, insert, newSubject, readingIn } from '../../fixtures/store.ts'
import { erase } from '../erase.ts'
import { newestEventNames } from '../stored-names.ts'

const NOON = Date.parse('2026-11-20T12:00:00Z')

describe('identifiers of events', () => {
  it('ascend after a restart with a clock behind the newest one stored', async () => {
    const before = await openStoreForTest({ now: () => NOON })
    const { path } = before
    const subject = await newSubject(before)
    const ids = [idOf(await insert(before, subject)), idOf(await insert(before, subject))]
    await before.close()
    const after = await openStoreForTest({ path, now: () => NOON - 86_400_000 })
    ids.push(idOf(await insert(after, subject)), idOf(await insert(after, subject)))
    expect(ids).toEqual(ids.toSorted())
    expect(new Set(ids).size).toBe(4)
  })

  it('ascend after one that has used up its millisecond', async () => {
    const path = join(temporaryFolder(), 'cairn.db')
    const before = await openStoreForTest({ path, now: () => NOON })
    const subject = await newSubject(before)
    await insert(before, subject, { event_id: 'last' })
    await before.close()
    const last = Buffer.from(`${NOON.toString(16).padStart(12, '0')}7fffbfffffffffffffff`, 'hex')
    connect(path).prepare('UPDATE events SET id = ?').run(last)
    const after = await openStoreForTest({ path, now: () => NOON })
    const ids = [idOf(await insert(after, subject)), idOf(await insert(after, subject))]
    expect([typeIdText('evt', last), ...ids]).toEqual([typeIdText('evt', last), ...ids].toSorted())
  })

  it('ascend after the newest one was removed, with a clock behind it', async () => {
    const before = await openStoreForTest({ now: () => NOON })
    const { path } = before
    const [erased, other] = [await newSubject(before), await newSubject(before)]
    const removed = idOf(await insert(before, erased))
    await erase(before, erased)
    expect(connect(path).prepare('SELECT count(*) FROM events').pluck().get()).toBe(0)
    await before.close()
    const after = await openStoreForTest({ path, now: () => NOON - 86_400_000 })
    expect(idOf(await insert(after, other)) > removed).toBe(true)
  })

  it('contain the time of receipt', async () => {
    const store = await openStoreForTest({ now: () => NOON })
    const subject = await newSubject(store)
    const id = Buffer.from(eventIdBytes(idOf(await insert(store, subject))))
    expect(id.readUIntBE(0, 6)).toBe(NOON)
    expect(id.toString('hex')).toMatch(/^.{12}7.{3}[89ab].{15}$/)
  })

  it('are found, and lists continue after them, even if they were stored whole', async () => {
    let now = NOON
    const store = await openStoreForTest({ now: () => now })
    const subject = await newSubject(store)
    const { workspace_id } = subject
    const sent: { id: string; message_id: string; received_ms: number }[] = []
    // Also with a clock that steps back: then this version stores them whole too.
    for (const step of [0, 0, 5, -3, 0, 1, 10, 0, -20, 0, 40, 0]) {
      now += step
      const message_id = `message ${sent.length}`
      const outcome = await insert(store, subject, { message_id })
      sent.push({ id: idOf(outcome), message_id, received_ms: now })
    }
    const file = connect(store.path)
    const lengths = file.prepare('SELECT length(id) FROM events ORDER BY seq').pluck()
    expect(lengths.all()).toEqual([10, 10, 10, 16, 16, 16, 10, 10, 16, 16, 10, 10])
    const firstOfThem = file.prepare<[], Kept & { seq: number }>(
      'SELECT seq, id, received_ms FROM events ORDER BY seq LIMIT 2',
    )
    const keep = file.prepare<[Uint8Array, number]>('UPDATE events SET id = ? WHERE seq = ?')
    // As an earlier version stored all of them.
    for (const row of firstOfThem.all()) keep.run(wholeId(row), row.seq)
    expect(lengths.all().slice(0, 3)).toEqual([16, 16, 10])

    for (const { id, message_id, received_ms } of sent) {
      const found = store.events.newestEvents(workspace_id, { id }, { limit: 2 }, readingIn(workspace_id))
      expect((await eventPage(found)).rows).toMatchObject([
        { id, message_id, received_at: new Date(received_ms).toISOString() },
      ])
      expect(await insert(store, subject, { message_id })).toEqual({ status: 'duplicate', id, received_ms })
    }
    const ids = sent.map(({ id }) => id)
    const walked: string[] = []
    let after: Awaited<ReturnType<typeof eventPage>>['next'] = null
    do {
      const page = { limit: 1, ...(after && { after }) }
      const read = await eventPage(store.events.newestEvents(workspace_id, {}, page, readingIn(workspace_id)))
      walked.push(...read.rows.map(({ id }) => id))
      after = read.next
    } while (after)
    expect(walked).toEqual(ids.toReversed())
    const forward = await followed(store, workspace_id, { limit: 1, begun_ms: now })
    expect(forward.rows.map(({ id }) => id)).toEqual(ids)
  })
})

describe('a span of time', () => {
  it('uses the receipt time of each event, even if the clock stepped back', async () => {
    let now = NOON
    const store = await openStoreForTest({ now: () => now })
    const subject = await newSubject(store)
    for (const [event_id, step] of [
      ['noon', 0],
      ['before', -5],
      ['after', 10],
      ['noon again', -5],
    ] as const) {
      now += step
      await insert(store, subject, { event_id })
    }
    const { workspace_id } = subject
    const received = (filter: { from_ms?: number; to_ms?: number }) =>
      newestEventNames(store, workspace_id, filter)
    expect(await received({ to_ms: NOON - 2 })).toEqual(['before'])
    expect(await received({ to_ms: NOON + 1 })).toEqual(['noon again', 'before', 'noon'])
    expect(await received({ from_ms: NOON + 2 })).toEqual(['after'])
    expect(await received({ from_ms: NOON - 2, to_ms: NOON + 2 })).toEqual(['noon again', 'noon'])
    expect(await received({ from_ms: NOON - 6, to_ms: NOON - 2 })).toEqual(['before'])
    expect(await received({ to_ms: NOON - 5 })).toEqual([])
    expect(await received({ from_ms: NOON + 6 })).toEqual([])
  })
})
