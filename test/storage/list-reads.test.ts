// engines: sqlite, postgres

import { describe, expect, it } from 'vitest'
import { withPatience } from '../fixtures/patience.ts'
import { newSubject, openStoreForTest, readingIn } from '../fixtures/store.ts'
import { count, inOrder, LONG, openWithReaders, READERS, SHORT } from './counted-lists.ts'

/** Queue limits per caller, and in total. */
const WAITING_PER_CALLER = 100
const WAITING = 1_000

const overloaded = { name: 'Unavailable', reason: 'overloaded' }

describe('a look-up', () => {
  it('does not wait for lists, however many there are', async () => {
    const store = await openWithReaders()
    const { workspace_id } = await newSubject(store)
    // None ends before the look-ups, although the threads of the lists have processors of their own. On a busy machine the
    // last of them may reach their deadline, which does not matter here.
    const lists = Promise.allSettled(
      Array.from({ length: 2 * READERS }, (_, index) =>
        count(store, readingIn(`workspace-${index}`), 10 * LONG),
      ),
    )
    for (let round = 0; round < 5; round += 1) {
      const rows = await store.db.selectFrom('workspaces').select('workspace_id').execute()
      expect(rows).toEqual([{ workspace_id }])
    }
    expect(store.statistics().listReads).toMatchObject({ answered: READERS, waiting: READERS })
    await lists
  })
})

describe('a report', () => {
  it('counts as a list that is being read', async () => {
    const store = await openStoreForTest()
    const { workspace_id, journey_id } = await newSubject(store)
    await store.standings.report(workspace_id, journey_id, {}, readingIn(workspace_id))
    await count(store, readingIn(workspace_id), SHORT)
    expect(store.statistics().listReads).toMatchObject({ waiting: 0, answered: 2 })
  })
})

describe('a list', () => {
  it('does not wait for lists of another workspace', async () => {
    const store = await openWithReaders()
    const { ended, note } = inOrder()
    const hog = readingIn('hog')
    const lists = Promise.allSettled(Array.from({ length: 3 }, () => note('hog', count(store, hog, LONG))))
    await note('neighbour', count(store, readingIn('neighbour'), SHORT))
    expect(ended).toEqual(['neighbour'])
    await lists
  })

  it('waits for at most one list of each other caller in its workspace', async () => {
    const store = await openStoreForTest()
    const { ended, note } = inOrder()
    const lists = ['ada', 'ada', 'ada', 'bob', 'bob', 'bob', 'eve'].map((caller, index) =>
      note(`${caller} ${index}`, count(store, readingIn('one', caller), SHORT)),
    )
    await Promise.all(lists)
    expect(ended).toEqual(['ada 0', 'ada 1', 'bob 3', 'eve 6', 'ada 2', 'bob 4', 'bob 5'])
  })

  it('is refused if its caller’s queue is full, while other callers’ lists are not', async () => {
    const store = await openStoreForTest()
    const running = count(store, readingIn('one'), LONG)
    const taken = Array.from({ length: WAITING_PER_CALLER }, () => count(store, readingIn('one'), SHORT))
    await expect(count(store, readingIn('one'), SHORT)).rejects.toMatchObject(overloaded)
    const others = [count(store, readingIn('one', 'other'), SHORT), count(store, readingIn('two'), SHORT)]
    await Promise.all([running, ...taken, ...others])
    const answered = 1 + WAITING_PER_CALLER + others.length
    const none = { waiting: 0, overdue: 0, abandoned: 0 }
    expect(store.statistics().listReads).toEqual({ ...none, answered, refused: 1 })
  })

  it('is refused if the whole queue is full, while look-ups are not', async () => {
    const store = await openStoreForTest()
    const running = Array.from({ length: READERS }, (_, index) =>
      count(store, readingIn(`busy-${index}`), LONG),
    )
    const taken = Array.from({ length: WAITING }, (_, index) =>
      count(store, readingIn('one', `caller-${index}`), SHORT),
    )
    // On a busy machine the last of them may reach their deadline, which does not matter here.
    const left = Promise.allSettled([...running, ...taken])
    await expect(count(store, readingIn('two'), SHORT)).rejects.toMatchObject(overloaded)
    expect(await store.db.selectFrom('workspaces').select('workspace_id').execute()).toEqual([])
    await left
  })

  it('is not read if its caller disconnects while it is queued', async () => {
    const store = await openStoreForTest()
    const controller = new AbortController()
    const gone = new Error('gone')
    const running = count(store, readingIn('one'), LONG)
    const left = Promise.allSettled(
      Array.from({ length: 20 }, () =>
        count(store, { ...readingIn('one'), signal: controller.signal }, LONG),
      ),
    )
    // The next one is queued behind them.
    const next = count(store, readingIn('one'), SHORT)
    await new Promise((resolve) => setImmediate(resolve))
    expect(store.statistics().listReads).toMatchObject({ waiting: 21 })
    controller.abort(gone)
    expect(store.statistics().listReads).toMatchObject({ waiting: 1, abandoned: 20 })
    expect(await left).toEqual(Array(20).fill({ status: 'rejected', reason: gone }))
    await Promise.all([running, next])
    expect(store.statistics().listReads).toEqual({
      waiting: 0,
      answered: 2,
      refused: 0,
      overdue: 0,
      abandoned: 20,
    })
    await expect(count(store, { ...readingIn('one'), signal: controller.signal }, LONG)).rejects.toBe(gone)
  })

  it('occupies its thread after its caller has disconnected, until the statement ends', async () => {
    const store = await openWithReaders()
    const controller = new AbortController()
    const { ended, note } = inOrder()
    const running = count(store, { ...readingIn('one'), signal: controller.signal }, LONG)
    const next = note('same workspace', count(store, readingIn('one'), SHORT))
    await new Promise((resolve) => setImmediate(resolve))
    controller.abort(new Error('gone'))
    await expect(running).rejects.toThrow('gone')
    await note('other workspace', count(store, readingIn('two'), SHORT))
    expect(ended).toEqual(['other workspace'])
    await next
  })

  it('is refused at its deadline, whether queued or being read', async () => {
    const store = await openWithReaders()
    // The fastest of three, so that a short load on the machine does not matter.
    let fastest_ms = Number.POSITIVE_INFINITY
    for (let read = 0; read < 3; read += 1) {
      const before_ms = performance.now()
      await count(store, readingIn('one'), LONG)
      fastest_ms = Math.min(fastest_ms, performance.now() - before_ms)
    }
    const longer = Math.ceil((LONG * 15_000) / fastest_ms)
    const lists = await Promise.allSettled([
      count(store, readingIn('one'), longer),
      count(store, readingIn('one'), SHORT),
      count(store, readingIn('two'), SHORT),
    ])
    const refused = { status: 'rejected', reason: overloaded }
    expect(lists).toMatchObject([refused, refused, { status: 'fulfilled' }])
    expect(store.statistics().listReads).toMatchObject({
      waiting: 0,
      answered: READERS + 4,
      overdue: 2,
    })
    // The abandoned list has ended, so the next one is read.
    await expect
      .poll(
        () =>
          count(store, readingIn('one'), SHORT).then(
            () => true,
            () => false,
          ),
        withPatience,
      )
      .toBe(true)
  })
})
