import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../cairn.ts'
import { eventPage, idOf, insert, newSubject, readingIn } from '../store.ts'
import { connect, openStoreForTest } from './file-store.ts'

const NOON = Date.parse('2026-11-20T12:00:00Z')

describe('identifiers of events', () => {
  it('ascend after a restart whose clock is behind the newest one stored', async () => {
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

  it('ascend after one that has used up all of its millisecond', async () => {
    const path = join(temporaryFolder(), 'cairn.db')
    const before = await openStoreForTest({ path, now: () => NOON })
    const subject = await newSubject(before)
    await insert(before, subject, { event_id: 'last' })
    await before.close()
    const last = Buffer.from(`${NOON.toString(16).padStart(12, '0')}7fffbfffffffffffffff`, 'hex')
    connect(path).prepare('UPDATE events SET id = ?').run(last)
    const after = await openStoreForTest({ path, now: () => NOON })
    const ids = [idOf(await insert(after, subject)), idOf(await insert(after, subject))]
    const stored = connect(path).prepare<[], Buffer>('SELECT id FROM events ORDER BY id').pluck().all()
    expect(stored[0]).toEqual(last)
    expect(ids).toEqual(ids.toSorted())
  })

  it('carry the time of receipt', async () => {
    const store = await openStoreForTest({ now: () => NOON })
    const subject = await newSubject(store)
    await insert(store, subject)
    const id = connect(store.path).prepare<[], Buffer>('SELECT id FROM events').pluck().get() as Buffer
    expect(id.readUIntBE(0, 6)).toBe(NOON)
    expect(id.toString('hex')).toMatch(/^.{12}7.{3}[89ab].{15}$/)
  })
})

describe('a span of time', () => {
  it('goes by the clock of each event, also where it stepped back among them', async () => {
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
    const received = async (filter: { from_ms?: number; to_ms?: number }) => {
      const page = { limit: 10 }
      const { rows } = await eventPage(
        store.events.newestEvents(workspace_id, filter, page, readingIn(workspace_id)),
      )
      return rows.map(({ event_id }) => event_id)
    }
    expect(await received({ to_ms: NOON - 2 })).toEqual(['before'])
    expect(await received({ to_ms: NOON + 1 })).toEqual(['noon again', 'before', 'noon'])
    expect(await received({ from_ms: NOON + 2 })).toEqual(['after'])
    expect(await received({ from_ms: NOON - 2, to_ms: NOON + 2 })).toEqual(['noon again', 'noon'])
    expect(await received({ from_ms: NOON - 6, to_ms: NOON - 2 })).toEqual(['before'])
    expect(await received({ to_ms: NOON - 5 })).toEqual([])
    expect(await received({ from_ms: NOON + 6 })).toEqual([])
  })
})
