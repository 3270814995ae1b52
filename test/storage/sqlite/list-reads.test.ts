import { describe, expect, it } from 'vitest'
import { count, inOrder, LONG, READERS, SHORT } from '../counted-lists.ts'
import { openStoreForTest, readingIn } from '../store.ts'

describe('a list', () => {
  it('waits for one of each other workspace and no more', async () => {
    const store = await openStoreForTest()
    const { ended, note } = inOrder()
    const busy = Array.from({ length: READERS }, (_, index) => count(store, readingIn(`busy-${index}`), LONG))
    // One reader is left for the others, which reads them in order.
    busy.push(...Array.from({ length: 3 }, () => count(store, readingIn('busy-0'), LONG)))
    // On a machine that is busy the last of them may come to their deadline, which is not what is looked at.
    const left = Promise.allSettled(busy)
    const lists = ['a', 'a', 'a', 'b', 'b', 'c'].map((name) =>
      note(name, count(store, readingIn(name), SHORT)),
    )
    await Promise.all(lists)
    await left
    expect(ended).toEqual(['a', 'b', 'c', 'a', 'b', 'a'])
  })
})
