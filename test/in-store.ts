import { inStore as inOpenedStore } from '../server/cli/store.ts'
import { isFile, openDatabase } from '../server/storage/open.ts'
import type { Database, Transaction } from '../server/storage/storage.ts'

type Kept = { db: Database; close: () => Promise<void>; last: Promise<unknown> }

/** By `DATABASE_URL`. */
const kept = new Map<string, Promise<Kept>>()

/**
 * Runs one transaction on a store that there is, like the `inStore` of the commands, beside its server. On PostgreSQL the
 * connection is kept for the tests of a file: to make one takes longer than most of what is done with it.
 */
export async function inStore<Result>(
  databaseUrl: string,
  work: (db: Transaction) => Promise<Result>,
): Promise<Result> {
  if (isFile(databaseUrl)) return await inOpenedStore(databaseUrl, work)
  const opening = kept.get(databaseUrl) ?? keep(databaseUrl)
  kept.set(databaseUrl, opening)
  const store = await opening
  const done = store.last.then(() => store.db.transaction().execute(work))
  store.last = done.catch(() => {})
  return await done
}

async function keep(databaseUrl: string): Promise<Kept> {
  const url = new URL(databaseUrl)
  // Who looks whether a server is running does not mean this.
  url.searchParams.set('application_name', 'cairn tests')
  const opened = await openDatabase(url.href, { create: false })
  if (!opened) throw new Error('there is no store')
  return { ...opened, last: Promise.resolve() }
}

/** Ends what is kept. */
export async function closeStores(): Promise<void> {
  const stores = await Promise.allSettled(kept.values())
  kept.clear()
  await Promise.all(stores.map((store) => store.status === 'fulfilled' && store.value.close()))
}
