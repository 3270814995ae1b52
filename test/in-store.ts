import { inStore as inOpenedStore } from '../server/cli/store.ts'
import type { Database, Transaction } from '../server/storage/database.ts'
import { isFile, openDatabase } from '../server/storage/open.ts'

type Kept = { db: Database; close: () => Promise<void>; last: Promise<unknown> }

/** By `DATABASE_URL`. */
const kept = new Map<string, Promise<Kept>>()

/** Files served by a server of this process; nothing replaces them. */
const served = new Set<string>()

/**
 * Runs one transaction on an existing store beside its server, like the commands' `inStore`. Connections are cached, to
 * a file while a server of this process runs on it, and to PostgreSQL for the tests of a file, because opening one
 * takes longer than most transactions.
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

/** Normalizes the URL, so that checks whether a server is running do not count this connection. */
function named(databaseUrl: string): string {
  if (isFile(databaseUrl)) return databaseUrl
  const url = new URL(databaseUrl)
  url.searchParams.set('application_name', 'cairn tests')
  return url.href
}

/** Call it when a server of this process has started on the store. */
export function serverStarted(databaseUrl: string): void {
  if (isFile(databaseUrl)) served.add(databaseUrl)
}

/** Call it before the server stops: the last connection to close a file empties its write-ahead log. */
export async function serverStops(databaseUrl: string): Promise<void> {
  if (!served.delete(databaseUrl)) return
  const opening = kept.get(databaseUrl)
  kept.delete(databaseUrl)
  const store = await opening
  await store?.last
  await store?.close()
}

/** Closes the cached connections. */
export async function closeStores(): Promise<void> {
  const stores = await Promise.allSettled(kept.values())
  kept.clear()
  await Promise.all(stores.map((store) => store.status === 'fulfilled' && store.value.close()))
}
