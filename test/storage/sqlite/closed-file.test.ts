// engines: sqlite (what only SQLite has)

import { existsSync } from 'node:fs'
import type { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { connect, openStoreForTest } from '../../fixtures/file-store.ts'
import { addJourney, insert, newSubject } from '../../fixtures/store.ts'

/** The threads that a test has started, in order: first the writer's, then the readers'. */
let threads: Worker[]
const record = (thread: Worker) => threads.push(thread)

beforeEach(() => {
  threads = []
  process.on('worker', record)
})
afterEach(() => {
  process.off('worker', record)
})

describe('a store that is closed', () => {
  it('leaves everything in the one file', async () => {
    const store = await openStoreForTest()
    const subject = await newSubject(store)
    await insert(store, subject)
    await store.close()
    expect(existsSync(`${store.path}-wal`)).toBe(false)
    expect(existsSync(`${store.path}-shm`)).toBe(false)
  })
})

describe.each([
  ['the writing thread', 0],
  ['a reading thread', 1],
] as const)('the death of %s', (_name, index) => {
  it('is reported once, and its pending requests are refused', async () => {
    const onDeath = vi.fn()
    const store = await openStoreForTest({ onDeath })
    const subject = await newSubject(store)
    const other = connect(store.path)
    other.exec('BEGIN IMMEDIATE')
    const asked = Promise.allSettled(
      index === 0 ? [insert(store, subject), insert(store, subject), addJourney(store, subject)] : [],
    )
    await threads[index]?.terminate()
    const refused = { reason: { name: 'Unavailable', reason: 'storage_unavailable' } }
    for (const answer of await asked) expect(answer).toMatchObject(refused)
    expect(onDeath).toHaveBeenCalledTimes(1)
    expect(onDeath).toHaveBeenCalledWith(
      expect.objectContaining({ message: expect.stringMatching(/thread/) }),
    )
    const use = index === 0 ? 'write' : 'read'
    expect(() => store.assertAvailable(use)).toThrow('storage_unavailable')
    await store.close()
    expect(onDeath).toHaveBeenCalledTimes(1)
  })
})

describe('the death of the writing thread while the store is closed', () => {
  it('refuses accepted work, and the store is closed', async () => {
    const onDeath = vi.fn()
    const store = await openStoreForTest({ onDeath })
    const subject = await newSubject(store)
    connect(store.path).exec('BEGIN IMMEDIATE')
    const taken = Promise.allSettled([insert(store, subject), insert(store, subject)])
    await new Promise((resolve) => setImmediate(resolve))
    const closed = store.close()
    await threads[0]?.terminate()
    const refused = { reason: { name: 'Unavailable', reason: 'storage_unavailable' } }
    expect(await taken).toMatchObject([refused, refused])
    await closed
    expect(onDeath).toHaveBeenCalledTimes(1)
  })
})
