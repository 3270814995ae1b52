import { inStore as inOpenedStore } from '../server/cli/store.ts'
import type { Database, Transaction } from '../server/storage/database.ts'
import { isFile, openDatabase } from '../server/storage/open.ts'

type Kept = { db: Database; close: () => Promise<void>; last: Promise<unknown> }

/** By `DATABASE_URL`. */
const kept = new Map<string, Promise<Kept>>()

/** Files that a server of this process serves: nobody puts another in their place. */
const served = new Set<string>()

/**
 * Runs one transaction on a store that there is, like the `inStore` of the commands, beside its server. The connection is
 * kept, to a file while a server of this process runs on it, and on PostgreSQL for the tests of a file: to make one takes
 * longer than most of what is done with it.
 */
export async function inStore<Result>(
  databaseUrl: string,
  work: (db: Transaction) => Promise<Result>,
): Promise<Result> {
  if (isFile(databaseUrl) && !served.has(databaseUrl)) return await inOpenedStore(databaseUrl, work)
  const opening = kept.get(databaseUrl) ?? keep(databaseUrl)
  kept.set(databaseUrl, opening)
  const store = await opening
  const done = store.last.then(() => store.db.transaction().execute(work))
  store.last = done.catch(() => {})
  return await done
}

async function keep(databaseUrl: string): Promise<Kept> {
  const opened = await openDatabase(named(databaseUrl), { create: false })
  if (!opened) throw new Error('there is no store')
  return { ...opened, last: Promise.resolve() }
}

/** Who looks whether a server is running does not mean this. */
function named(databaseUrl: string): string {
  if (isFile(databaseUrl)) return databaseUrl
  const url = new URL(databaseUrl)
  url.searchParams.set('application_name', 'cairn tests')
  return url.href
}

/** To be called when a server of this process has started on the store. */
export function serverStarted(databaseUrl: string): void {
  if (isFile(databaseUrl)) served.add(databaseUrl)
}

/** To be called before it stops: who closes a file last empties its log. */
export async function serverStops(databaseUrl: string): Promise<void> {
  if (!served.delete(databaseUrl)) return
  const opening = kept.get(databaseUrl)
  kept.delete(databaseUrl)
  const store = await opening
  await store?.last
  await store?.close()
}

/** Ends what is kept. */
export async function closeStores(): Promise<void> {
  const stores = await Promise.allSettled(kept.values())
  kept.clear()
  await Promise.all(stores.map((store) => store.status === 'fulfilled' && store.value.close()))
}
