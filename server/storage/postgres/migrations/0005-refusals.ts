import { type Kysely, sql } from 'kysely'

/** Rejected requests, kept for some days. They are not copied, because nothing in them was acknowledged. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
  const { rows } = await sql`SELECT 1 FROM pg_extension WHERE extname = 'citus'`.execute(db)
  if (rows.length > 0)
    await sql.raw(`SELECT create_distributed_table('refusals', 'workspace_id')`).execute(db)
}

const text = 'text COLLATE "C"'

/** The columns are described at `RefusalRow`. */
const statements = [
  `CREATE TABLE refusals (
    received_ms bigint NOT NULL,
    bytes integer NOT NULL,
    left_out integer NOT NULL,
    status integer NOT NULL,
    item integer,
    sent_bytes integer NOT NULL,
    replayed_ms bigint,
    workspace_id ${text} NOT NULL,
    refusal_id ${text} NOT NULL,
    key_id ${text} NOT NULL,
    operation ${text} NOT NULL,
    code ${text} NOT NULL,
    journey_id ${text},
    customer_id ${text},
    event_id ${text},
    request_id ${text} NOT NULL,
    replay ${text}, -- JSON
    faults ${text} NOT NULL, -- JSON
    sent ${text} NOT NULL,
    PRIMARY KEY (workspace_id, refusal_id)
  )`,
  'CREATE INDEX refusals_by_time ON refusals (workspace_id, received_ms, refusal_id)',
  'CREATE INDEX refusals_by_key ON refusals (workspace_id, key_id, received_ms, refusal_id)',
  'CREATE INDEX refusals_by_age ON refusals (received_ms)',
]
