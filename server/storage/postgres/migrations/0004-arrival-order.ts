import { type Kysely, sql } from 'kysely'
import { hasCitus } from './citus.ts'

/**
 * The order of arrival, for forward walks: by the instants in identifiers and of creation, except for late arrivals and
 * for what had an instant far in the future.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const isDistributed = await hasCitus(db)
  for (const statement of columns) await sql.raw(statement).execute(db)
  for (const [table, ...statements] of tables) {
    for (const statement of statements) await sql.raw(statement).execute(db)
    if (isDistributed)
      await sql.raw(`SELECT create_distributed_table('${table}', 'workspace_id')`).execute(db)
  }
  for (const statement of AHEAD_BEFORE) await sql.raw(statement).execute(db)
}

const text = 'text COLLATE "C"'

/** The database's clock in milliseconds; one second later is ahead of all clocks that are roughly right. */
const NOW = '(extract(epoch FROM now()) * 1000)::bigint'

const columns = [
  // The number of processes there have been; each puts its own into its identifiers.
  'ALTER TABLE cairn_store ADD COLUMN writers bigint NOT NULL DEFAULT 0',

  `ALTER TABLE event_following
    ADD COLUMN closed_ms bigint NOT NULL DEFAULT 0, -- what appears at an instant before this is strayed
    ADD COLUMN greatest_ms bigint NOT NULL DEFAULT 0, -- at which something that was taken stands
    ADD COLUMN told_ms bigint NOT NULL DEFAULT 0, -- what was acknowledged by then stands before closed_ms
    ADD COLUMN due_ms bigint, -- it will be told when closed_ms is beyond due_greatest_ms
    ADD COLUMN due_greatest_ms bigint`,
  `UPDATE event_following SET greatest_ms = ${NOW} + 1000`,
  'CREATE INDEX event_following_open ON event_following (workspace_id) WHERE greatest_ms >= closed_ms',
]

const tables: readonly (readonly [name: string, ...statements: string[]])[] = [
  [
    'event_strays',
    `CREATE TABLE event_strays (
      workspace_id uuid NOT NULL,
      id uuid NOT NULL, -- events.id
      at_ms bigint NOT NULL, -- where it stands in the order of arrival
      PRIMARY KEY (workspace_id, id)
    )`,
    'CREATE INDEX event_strays_oldest ON event_strays (workspace_id, at_ms, id)',
  ],
  [
    'customer_strays',
    `CREATE TABLE customer_strays (
      workspace_id ${text} NOT NULL,
      customer_id ${text} NOT NULL,
      at_ms bigint NOT NULL,
      PRIMARY KEY (workspace_id, customer_id)
    )`,
    'CREATE INDEX customer_strays_oldest ON customer_strays (workspace_id, at_ms, customer_id)',
  ],
]

/** What clocks that were ahead have dated comes before everything else. */
const AHEAD_BEFORE = [
  `INSERT INTO event_strays (workspace_id, id, at_ms)
    SELECT workspace_id, id, 0 FROM events
    WHERE id > rpad(lpad(to_hex(${NOW} + 1000), 12, '0'), 32, '0')::uuid`,
  `INSERT INTO customer_strays (workspace_id, customer_id, at_ms)
    SELECT workspace_id, customer_id, 0 FROM customers WHERE created_ms > ${NOW} + 1000`,
]
