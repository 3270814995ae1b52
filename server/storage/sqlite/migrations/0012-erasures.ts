import { type Kysely, sql } from 'kysely'

/** Erased customers: what is kept of them, so that nothing is accepted for them again. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  // The key for digests of erased identifiers, so that nobody can test guesses without the store.
  "ALTER TABLE workspaces ADD COLUMN erasure_secret TEXT NOT NULL DEFAULT ''",
  'UPDATE workspaces SET erasure_secret = lower(hex(randomblob(32)))',

  `CREATE TABLE erasures (
    workspace_id TEXT NOT NULL REFERENCES workspaces (workspace_id),
    customer_id TEXT NOT NULL,
    own_digest TEXT, -- of its type and client_customer_id; null: whoever comes with these is a new customer
    erased_ms INTEGER NOT NULL,
    completed_ms INTEGER, -- null: some of its events are there still
    events INTEGER, -- how many were removed
    PRIMARY KEY (workspace_id, customer_id)
  ) STRICT, WITHOUT ROWID`,
  'CREATE INDEX erasures_by_digest ON erasures (workspace_id, own_digest)',
]
