import { sql } from 'kysely'
import type { Reading } from '../../server/storage/database.ts'
import { openStoreForTest, readingIn, type Store } from './store.ts'

/** Lists of so many workspaces are read at a time. */
export const READERS = 2

/** A store whose readers have all begun to read: to start one may take longer than a list. */
export async function openWithReaders(): Promise<Store> {
  const store = await openStoreForTest()
  await Promise.all(
    Array.from({ length: READERS }, (_, index) => count(store, readingIn(`first-${index}`), SHORT)),
  )
  return store
}

/** Reads for a list: counts, which takes the longer the more there is to count. */
export async function count({ lists }: Store, reading: Reading, numbers: number): Promise<void> {
  await sql`WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${numbers})
    SELECT count(*) FROM numbers`.execute(lists(reading))
}

export const SHORT = 1
/** A tenth of a second and more. */
export const LONG = 1_000_000

/** Notes in which order what is asked ends. */
export function inOrder() {
  const ended: string[] = []
  return {
    ended,
    note: (name: string, read: Promise<unknown>) => read.then(() => void ended.push(name)),
  }
}
