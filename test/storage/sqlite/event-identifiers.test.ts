import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../cairn.ts'
import { idOf, insert, newSubject } from '../store.ts'
import { connect, openStoreForTest } from './file-store.ts'

const NOON = Date.parse('2026-11-20T12:00:00Z')

describe('identifiers of events', () => {
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
