/** A thread that copies a store, so that the thread that started it can still receive signals. */
import { parentPort, workerData } from 'node:worker_threads'
import { openReadable } from '../connection.ts'
import { hasTable } from '../migrate-file.ts'

/** What a verified copy contains. */
export type CopiedStore = {
  events: number
  /** Arrival time of the last event; null if there is none. */
  newest_ms: number | null
}

const { path, copy } = workerData

const store = openReadable(path)
if (!hasTable(store, 'kysely_migration')) throw new Error(`${path} is not a store of Cairn`)
// One read transaction, so a snapshot of the store, while writers continue. SQLite's online backup restarts
// whenever another process commits, so it would never finish next to a busy server.
store.prepare('VACUUM INTO ?').run(copy)
store.close()

const written = openReadable(copy)
// Not integrity_check: it looks up every row in every index, which took 24 times as long with a million events.
const found = written.pragma('quick_check', { simple: true })
if (found !== 'ok') throw new Error(`the copy is damaged, and so may be the store: ${found}`)
const events = written.prepare('SELECT count(*) FROM events').pluck().get()
const newest_ms = written.prepare('SELECT received_ms FROM events ORDER BY seq DESC LIMIT 1').pluck().get()
written.close()
parentPort?.postMessage({
  events: Number(events),
  newest_ms: newest_ms === undefined ? null : Number(newest_ms),
})
