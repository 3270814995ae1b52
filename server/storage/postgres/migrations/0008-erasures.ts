import { type Kysely, sql } from 'kysely'

/** Tombstones of erased customers, so that nothing is accepted for them again. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(`ALTER TABLE workspaces ADD COLUMN erasure_secret ${text} NOT NULL DEFAULT ''`).execute(db)
  await makeSecrets(db)
  await sql.raw(erasures).execute(db)
  const { rows } = await sql`SELECT 1 FROM pg_extension WHERE extname = 'citus'`.execute(db)
  if (rows.length > 0)
    await sql.raw(`SELECT create_distributed_table('erasures', 'workspace_id')`).execute(db)
  await sql.raw('CREATE INDEX erasures_by_digest ON erasures (workspace_id, own_digest)').execute(db)
}

const text = 'text COLLATE "C"'

/**
 * Makes the secret of the keyed digests of erased customers, which nobody can try out without the store. Citus refuses
 * to update a table that is on every node with a volatile function, so the secrets are read first.
 */
async function makeSecrets(db: Kysely<unknown>) {
  const { rows } = await sql<{ workspace_id: string; secret: string }>`
    SELECT workspace_id, replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '') AS secret
    FROM workspaces`.execute(db)
  if (rows.length === 0) return
  await sql`
    UPDATE workspaces SET erasure_secret = made.secret
    FROM json_to_recordset(${JSON.stringify(rows)}::json) AS made (workspace_id text, secret text)
    WHERE workspaces.workspace_id = made.workspace_id`.execute(db)
}

const erasures = `CREATE TABLE erasures (
  workspace_id ${text} NOT NULL REFERENCES workspaces (workspace_id),
  customer_id ${text} NOT NULL,
  own_digest ${text}, -- of its type and client_customer_id; null: whoever comes with these is a new customer
  erased_ms bigint NOT NULL,
  completed_ms bigint, -- null: some of its events are there still
  events bigint, -- how many were removed
  PRIMARY KEY (workspace_id, customer_id)
)`
