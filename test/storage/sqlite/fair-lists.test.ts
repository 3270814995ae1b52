// engines: sqlite (what only SQLite has)

import { describe, expect, it } from 'vitest'
import { readingIn } from '../../fixtures/store.ts'
import { count, inOrder, LONG, openWithReaders, READERS, SHORT } from '../counted-lists.ts'

describe('a list', () => {
  it('waits for at most one list of each other workspace', async () => {
    const store = await openWithReaders()
    const { ended, note } = inOrder()
    // One reader is free long before the others, and then reads queued requests, in order.
    const busy = Array.from({ length: READERS }, (_, index) =>
      count(store, readingIn(`busy-${index}`), index === 0 ? LONG : 5 * LONG),
    )
    // On a busy machine they may reach their deadline, which does not matter here.
    const left = Promise.allSettled(busy)
    const lists = ['a', 'a', 'a', 'b', 'b', 'c'].map((name) =>
      note(name, count(store, readingIn(name), SHORT)),
    )
    await Promise.all(lists)
    await left
    expect(ended).toEqual(['a', 'b', 'c', 'a', 'b', 'a'])
  })
})
