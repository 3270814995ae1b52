import { type Kysely, sql } from 'kysely'
import { hasCitus } from './citus.ts'

/**
 * Standings of customers in their journeys: derived from enrolments and events, and never copied. What was stored
 * before is put into the queues of arrivals and processed like everything new.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const isDistributed = await hasCitus(db)
  for (const [table, ...statements] of tables) {
    for (const statement of statements) await sql.raw(statement).execute(db)
    if (isDistributed)
      await sql.raw(`SELECT create_distributed_table('${table}', 'workspace_id')`).execute(db)
  }
  for (const statement of [AS_OF, ENROLMENTS_BEFORE, EVENTS_BEFORE]) await sql.raw(statement).execute(db)
}

const text = 'text COLLATE "C"'

const tables: readonly (readonly [name: string, ...statements: string[]])[] = [
  [
    'standing_journeys',
    `CREATE TABLE standing_journeys (
      workspace_id uuid NOT NULL,
      journey_id uuid NOT NULL,
      generation integer NOT NULL, -- of what reports read
      event_ids ${text} NOT NULL, -- JSON array: the steps that it was computed for
      version bigint NOT NULL, -- raised by every change of it
      building ${text}, -- JSON: what is being computed for other steps
      PRIMARY KEY (workspace_id, journey_id)
    )`,
    'CREATE INDEX standing_journeys_building ON standing_journeys (workspace_id, journey_id) WHERE building IS NOT NULL',
  ],

  // A generation of a journey; its pages and entries refer to it.
  [
    'standing_spaces',
    `CREATE TABLE standing_spaces (
      workspace_id uuid NOT NULL,
      space uuid NOT NULL,
      journey_id uuid NOT NULL,
      generation integer, -- null: what it holds is to be removed
      PRIMARY KEY (workspace_id, space),
      UNIQUE (workspace_id, journey_id, generation)
    )`,
    'CREATE INDEX standing_spaces_dropped ON standing_spaces (workspace_id, space) WHERE generation IS NULL',
  ],

  // A report reads the times of all pages, so they stay in the row, and the keys, four times as long, are stored out of
  // line. Neither shrinks by compression.
  [
    'standing_pages',
    `CREATE TABLE standing_pages (
      workspace_id uuid NOT NULL,
      space uuid NOT NULL,
      first_customer uuid NOT NULL,
      times bytea NOT NULL,
      keys bytea NOT NULL,
      PRIMARY KEY (workspace_id, space, first_customer)
    )`,
    'ALTER TABLE standing_pages ALTER COLUMN times SET STORAGE MAIN, ALTER COLUMN keys SET STORAGE EXTERNAL',
  ],

  [
    'standing_entries',
    `CREATE TABLE standing_entries (
      entered_ms bigint NOT NULL,
      workspace_id uuid NOT NULL,
      space uuid NOT NULL,
      customer_id uuid NOT NULL,
      PRIMARY KEY (workspace_id, space, entered_ms, customer_id)
    )`,
  ],

  [
    'standing_customers',
    `CREATE TABLE standing_customers (
      workspace_id uuid NOT NULL,
      customer_id uuid NOT NULL,
      journey_id uuid NOT NULL,
      PRIMARY KEY (workspace_id, customer_id, journey_id)
    )`,
  ],
]

/** Every event acknowledged by then is in the standings; null: some that were stored earlier are not yet. */
const AS_OF = 'ALTER TABLE event_following ADD COLUMN as_of_ms bigint'

const ENROLMENTS_BEFORE = `
  INSERT INTO enrolment_arrivals (workspace_id, arrival, enrolments)
  SELECT workspace_id, md5(min(journey_id || customer_id))::uuid, json_agg(json_build_object(
    'journey_id', journey_id, 'customer_id', customer_id, 'customer_type', customer_type, 'enrolled_ms', enrolled_ms))
  FROM (
    SELECT enrolments.*, customer_type,
      row_number() OVER (PARTITION BY workspace_id ORDER BY journey_id, customer_id) / 1000 AS part
    FROM enrolments JOIN customers USING (workspace_id, customer_id)
  ) AS numbered
  GROUP BY workspace_id, part
  ON CONFLICT DO NOTHING`

const EVENTS_BEFORE = `
  INSERT INTO event_arrivals (workspace_id, arrival, minute_ms, first_event, last_event, counts)
  SELECT workspace_id, (array_agg(id ORDER BY id))[1], 0, (array_agg(id ORDER BY id))[1],
    (array_agg(id ORDER BY id DESC))[1], '[]'
  FROM (
    SELECT workspace_id, id, row_number() OVER (PARTITION BY workspace_id ORDER BY id) / 1000 AS part FROM events
  ) AS numbered
  GROUP BY workspace_id, part
  ON CONFLICT DO NOTHING`
