import { type Kysely, sql } from 'kysely'

/** Tombstones of erased customers, so that nothing is accepted for them again. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of secret) await sql.raw(statement).execute(db)
  await sql.raw(erasures).execute(db)
  const { rows } = await sql`SELECT 1 FROM pg_extension WHERE extname = 'citus'`.execute(db)
  if (rows.length > 0)
    await sql.raw(`SELECT create_distributed_table('erasures', 'workspace_id')`).execute(db)
  await sql.raw('CREATE INDEX erasures_by_digest ON erasures (workspace_id, own_digest)').execute(db)
}

const text = 'text COLLATE "C"'

/** The secret of the keyed digests of erased customers, which nobody can try out without the store. */
const secret = [
  `ALTER TABLE workspaces ADD COLUMN erasure_secret ${text} NOT NULL DEFAULT ''`,
  `UPDATE workspaces SET erasure_secret = replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '')`,
]

const erasures = `CREATE TABLE erasures (
  workspace_id ${text} NOT NULL REFERENCES workspaces (workspace_id),
  customer_id ${text} NOT NULL,
  own_digest ${text}, -- of its type and client_customer_id; null: whoever comes with these is a new customer
  erased_ms bigint NOT NULL,
  completed_ms bigint, -- null: some of its events are there still
  events bigint, -- how many were removed
  PRIMARY KEY (workspace_id, customer_id)
)`
