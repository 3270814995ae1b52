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
    const lists = ['a', 'a', 'a', 'b', 'b', 'c'].map((name) =>
      note(name, count(store, readingIn(name), SHORT)),
    )
    await Promise.all([...busy, ...lists])
    expect(ended).toEqual(['a', 'b', 'c', 'a', 'b', 'a'])
  })
})
