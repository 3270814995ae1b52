import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import type { Reading } from '../../../server/storage/storage.ts'
import { openStoreForTest, readingIn, type Store } from '../store.ts'

/** Lists of so many workspaces are read at a time. */
const READERS = 2

/** Reads for a list: counts, which takes the longer the more there is to count. */
async function count({ lists }: Store, reading: Reading, numbers: number): Promise<void> {
  await sql`WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${numbers})
    SELECT count(*) FROM numbers`.execute(lists(reading))
}

const SHORT = 1
/** Some tenths of a second. */
const LONG = 500_000

/** Notes in which order what is asked ends. */
function inOrder() {
  const ended: string[] = []
  return {
    ended,
    note: (name: string, read: Promise<unknown>) => read.then(() => void ended.push(name)),
  }
}

describe('a list', () => {
  it('waits for one of each other workspace and no more', async () => {
    const store = await openStoreForTest()
    const { ended, note } = inOrder()
    const busy = Array.from({ length: READERS }, (_, index) => count(store, readingIn(`busy-${index}`), LONG))
    // One reader is left for the others, which reads them in order.
    busy.push(...Array.from({ length: 10 }, () => count(store, readingIn('busy-0'), LONG)))
    const lists = ['a', 'a', 'a', 'b', 'b', 'c'].map((name) =>
      note(name, count(store, readingIn(name), SHORT)),
    )
    await Promise.all([...busy, ...lists])
    expect(ended).toEqual(['a', 'b', 'c', 'a', 'b', 'a'])
  })
})
