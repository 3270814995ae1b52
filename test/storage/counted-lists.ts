import { sql } from 'kysely'
import type { Reading } from '../../server/storage/database.ts'
import { openStoreForTest, readingIn, type Store } from '../fixtures/store.ts'

/** Number of workspaces whose lists are read at a time. */
export const READERS = 2

/** Opens a store and warms up its readers: starting one may take longer than a list. */
export async function openWithReaders(): Promise<Store> {
  const store = await openStoreForTest()
  await Promise.all(
    Array.from({ length: READERS }, (_, index) => count(store, readingIn(`first-${index}`), SHORT)),
  )
  return store
}

/** Reads for a list by counting, which takes longer the higher the number is. */
export async function count({ lists }: Store, reading: Reading, numbers: number): Promise<void> {
  await sql`WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${numbers})
    SELECT count(*) FROM numbers`.execute(lists(reading))
}

export const SHORT = 1
/** Takes at least a tenth of a second. */
export const LONG = 1_000_000

/** Records in which order requests end. */
export function inOrder() {
  const ended: string[] = []
  return {
    ended,
    note: (name: string, read: Promise<unknown>) => read.then(() => void ended.push(name)),
  }
}
