import { randomUUID } from 'node:crypto'
import { argv } from 'node:process'
import { Client } from 'pg'
import { ascendingIds } from '../../../server/domain/identifiers.ts'
import { BATCH_EVENTS, CUSTOMERS, Events } from '../data.ts'

/** Start options of the program, as JSON in its first argument; the database has our tables. */
export type LimitOptions = { databaseUrl: string; groups: number; connections: number }

/**
 * The peer `pg_limit`: the upper limit set by PostgreSQL. Groups of 1,000 events with the same content go into our own
 * tables and indexes, with one statement and one commit per group, without any checks, several groups concurrently. All
 * groups are generated beforehand, so that only the statements are timed. Prints `{"eventsPerSecond", "stored"}`.
 */
const { databaseUrl, groups, connections }: LimitOptions = JSON.parse(argv[2] ?? '')

const INSERT = `WITH input AS MATERIALIZED (
    SELECT * FROM json_to_recordset($1) AS row (id uuid, workspace_id uuid, journey_id uuid, customer_id uuid,
      at_ms bigint, event_id text, message_id uuid, custom_variables text)
  ), taken AS (
    INSERT INTO event_messages (workspace_id, message, event_id)
      SELECT workspace_id, message_id, id FROM input ORDER BY message_id
  )
  INSERT INTO events (id, workspace_id, journey_id, customer_id, at_ms, is_dated, event_id, message_id, custom_variables)
    SELECT id, workspace_id, journey_id, customer_id, at_ms, false, event_id, message_id, custom_variables FROM input`

const uuids = Array.from({ length: CUSTOMERS }, () => randomUUID())
const subject = { key: '', journey_ids: [''], customerIds: uuids }
const events = new Events({ subjects: [subject], breadth: 'narrow', messageIds: 'mixed' })
const [workspace_id, journey_id] = [randomUUID(), randomUUID()]
const nextId = ascendingIds()

function group(): string {
  const now_ms = Date.now()
  const rows = Array.from({ length: BATCH_EVENTS }, () => {
    const { customer_id, name, message_id, variables } = events.next(subject)
    const content = { event_id: name, message_id, custom_variables: variables, at_ms: now_ms }
    return {
      id: Buffer.from(nextId(now_ms)).toString('hex'),
      workspace_id,
      journey_id,
      customer_id,
      ...content,
    }
  })
  return JSON.stringify(rows)
}

const texts = Array.from({ length: groups }, group)
const clients = Array.from({ length: connections }, () => new Client({ connectionString: databaseUrl }))
for (const client of clients) await client.connect()
const begun = performance.now()
await Promise.all(
  clients.map(async (client) => {
    for (let text = texts.pop(); text !== undefined; text = texts.pop()) {
      await client.query({ name: 'insert', text: INSERT, values: [text] })
    }
  }),
)
const spent_ms = performance.now() - begun
for (const client of clients) await client.end()
const stored = groups * BATCH_EVENTS
process.stdout.write(JSON.stringify({ eventsPerSecond: (stored / spent_ms) * 1000, stored }))
