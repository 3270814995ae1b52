import { argv } from 'node:process'
import Database from 'better-sqlite3'
import { Client } from 'pg'

/** Options of a program that reads all events of a store's only journey in the order in which a rebuild reads them. */
export type OrderedEventsOptions = { databaseUrl: string }
export type OrderedEvents = { events: number; seconds: number }

/** Rows fetched at a time from PostgreSQL, so that they need not all fit in memory. */
const FETCHED_ROWS = 10_000

function readFile(path: string): number {
  const database = new Database(path, { readonly: true })
  const rows = database
    .prepare(
      `SELECT customer_ref, event_id, coalesce(occurred_ms, received_ms) AS at_ms, seq FROM events
      WHERE journey_ref = (SELECT journey_ref FROM journeys) ORDER BY customer_ref, at_ms, seq`,
    )
    .raw()
    .iterate()
  let events = 0
  for (const _ of rows) events += 1
  database.close()
  return events
}

async function readDatabase(connectionString: string): Promise<number> {
  const client = new Client({ connectionString })
  await client.connect()
  await client.query('BEGIN')
  await client.query(
    `DECLARE ordered CURSOR FOR SELECT customer_id, event_id, at_ms, id FROM events ORDER BY customer_id, at_ms, id`,
  )
  let events = 0
  for (;;) {
    const { rows } = await client.query({ text: `FETCH ${FETCHED_ROWS} FROM ordered`, rowMode: 'array' })
    events += rows.length
    if (rows.length === 0) break
  }
  await client.end()
  return events
}

const { databaseUrl }: OrderedEventsOptions = JSON.parse(argv[2] ?? '{}')
const began_ms = performance.now()
const isFile = databaseUrl.startsWith('sqlite:')
const events = isFile ? readFile(databaseUrl.slice('sqlite:'.length)) : await readDatabase(databaseUrl)
const seconds = (performance.now() - began_ms) / 1000
process.stdout.write(JSON.stringify({ events, seconds } satisfies OrderedEvents))
