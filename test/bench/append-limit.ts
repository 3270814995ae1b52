import { argv } from 'node:process'
import Database from 'better-sqlite3'
import { ascendingIds } from '../../server/domain/identifiers.ts'
import { BATCH_EVENTS, CUSTOMERS, Events } from './data.ts'

/**
 * The peer `append_limit`: the upper limit set by the disk and SQLite. Batches of the same content go into one table
 * without an index, one durable commit each. References are small integers, which are shorter than the identifiers that
 * our server receives. Only the transactions are timed, not the generation of the rows. Prints `{"eventsPerSecond", "stored"}`.
 */
const options: { file: string; seconds: number } = JSON.parse(argv[2] ?? '')
const database = new Database(options.file)
database.pragma('journal_mode = WAL')
database.pragma('synchronous = FULL')
database.exec(`CREATE TABLE events (
  seq INTEGER NOT NULL PRIMARY KEY,
  journey_ref INTEGER NOT NULL,
  customer_ref INTEGER NOT NULL,
  id BLOB NOT NULL,
  event_id TEXT NOT NULL,
  received_ms INTEGER NOT NULL,
  message_id TEXT,
  custom_variables TEXT
) STRICT`)
const insert = database.prepare(
  `INSERT INTO events (journey_ref, customer_ref, id, event_id, received_ms, message_id, custom_variables)
  VALUES (?, ?, ?, ?, ?, ?, ?)`,
)
type Row = [number, number, Uint8Array, string, number, string, string]
const insertBatch = database.transaction((rows: Row[]) => {
  for (const row of rows) insert.run(...row)
})

const customerIds = Array.from({ length: CUSTOMERS }, (_, number) => String(number))
const subject = { key: '', journey_ids: [''], customerIds }
const events = new Events({ subjects: [subject], breadth: 'narrow', messageIds: 'mixed' })
const nextId = ascendingIds()
let stored = 0
let spent_ms = 0
while (spent_ms < options.seconds * 1000) {
  const received_ms = Date.now()
  const rows = Array.from({ length: BATCH_EVENTS }, (): Row => {
    const { customer_id, name, message_id, variables } = events.next(subject)
    return [1, Number(customer_id), nextId(received_ms), name, received_ms, message_id, variables]
  })
  const begun = performance.now()
  insertBatch(rows)
  spent_ms += performance.now() - begun
  stored += BATCH_EVENTS
}
process.stdout.write(JSON.stringify({ eventsPerSecond: (stored / spent_ms) * 1000, stored }))
