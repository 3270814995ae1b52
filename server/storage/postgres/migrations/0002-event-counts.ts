import { type Kysely, sql } from 'kysely'
import { hasCitus } from './citus.ts'

/**
 * Counts of events by outcome, and the queues of arrivals. What was stored before is not counted: how often it was sent
 * again or rejected, and with which key, is unknown.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const isDistributed = await hasCitus(db)
  for (const [table, statement] of tables) {
    await sql.raw(statement).execute(db)
    if (isDistributed)
      await sql.raw(`SELECT create_distributed_table('${table}', 'workspace_id')`).execute(db)
  }
  await sql.raw(SINCE).execute(db)
}

const text = 'text COLLATE "C"'

const tables: readonly (readonly [name: string, statement: string])[] = [
  // A queue of what statements have stored or rejected, until it is in the tables below. A row is dequeued in the
  // transaction that processes it.
  [
    'event_arrivals',
    `CREATE TABLE event_arrivals (
      workspace_id uuid NOT NULL,
      arrival uuid NOT NULL, -- UUIDv7 by the clock of who has stored it
      minute_ms bigint NOT NULL,
      first_event uuid, -- events.id; null: none was to be stored
      last_event uuid,
      counts ${text} NOT NULL, -- JSON array of {journey_id, event_id, key_id, created, duplicate, rejected}
      taken ${text}, -- JSON array: of which counts one that is among the created was known before
      PRIMARY KEY (workspace_id, arrival)
    )`,
  ],

  // A queue of the enrolments that statements have made. Separate from events, because its key is co-located with
  // customers.
  [
    'enrolment_arrivals',
    `CREATE TABLE enrolment_arrivals (
      workspace_id ${text} NOT NULL,
      arrival uuid NOT NULL,
      enrolments ${text} NOT NULL, -- JSON array of {journey_id, customer_id, customer_type, enrolled_ms}
      PRIMARY KEY (workspace_id, arrival)
    )`,
  ],

  // A row to lock: one process at a time dequeues the arrivals of a workspace.
  [
    'event_following',
    `CREATE TABLE event_following (
      workspace_id uuid NOT NULL PRIMARY KEY
    )`,
  ],

  // What is counted separately: journey, name and key, '' for none. Numbers are valid for a block of thirty days.
  [
    'event_series',
    `CREATE TABLE event_series (
      workspace_id uuid NOT NULL,
      block integer NOT NULL,
      number integer NOT NULL,
      journey_id ${text} NOT NULL,
      event_id ${text} NOT NULL,
      key_id ${text} NOT NULL,
      last_ms bigint NOT NULL, -- the last minute that is in event_counts
      PRIMARY KEY (workspace_id, block, number)
    )`,
  ],

  // The packed counts of a period.
  [
    'event_counts',
    `CREATE TABLE event_counts (
      workspace_id uuid NOT NULL,
      period ${text} NOT NULL CHECK (period IN ('minute', 'hour', 'day')),
      start_ms bigint NOT NULL,
      counts bytea NOT NULL,
      PRIMARY KEY (workspace_id, period, start_ms)
    )`,
  ],
]

const SINCE = `ALTER TABLE cairn_store ADD COLUMN counted_from_ms bigint NOT NULL
  DEFAULT (extract(epoch FROM now()) * 1000)::bigint`
