import { type Kysely, sql } from 'kysely'

/** Removals in progress, which run in slices, and the numbers that must not be reused afterwards. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  // Unfinished removals. A row is written together with the change that prevents additions, and deleted when all is
  // removed.
  `CREATE TABLE removals (
    workspace_id TEXT NOT NULL REFERENCES workspaces (workspace_id),
    removal_id TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('customer', 'journey', 'workspace')),
    subject_id TEXT NOT NULL, -- of the customer, the journey, the workspace whose events go
    before_ms INTEGER, -- only what was received before; null: all
    begun_ms INTEGER NOT NULL,
    place TEXT NOT NULL, -- how far it has come, as the engine has it
    events INTEGER NOT NULL, -- removed so far
    PRIMARY KEY (workspace_id, removal_id)
  ) STRICT, WITHOUT ROWID`,

  // For finding the journeys of a customer, and for making sure that a customer who is removed is in none.
  'CREATE INDEX enrolments_of_customer ON enrolments (customer_ref)',

  // The highest numbers and the newest identifier that were removed: they are not reused.
  'ALTER TABLE event_indexing ADD COLUMN removed_seq INTEGER NOT NULL DEFAULT 0',
  'ALTER TABLE event_indexing ADD COLUMN removed_id BLOB',
  'ALTER TABLE event_indexing ADD COLUMN removed_customer_ref INTEGER NOT NULL DEFAULT 0',

  // Enrolments whose standings may have changed: followers of the store compute them again.
  `CREATE TABLE enrolment_removals (
    number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    journey_ref INTEGER NOT NULL,
    customer_ref INTEGER -- null: the journey is gone
  ) STRICT`,
  // So that a last number exists before the first removal.
  "INSERT INTO sqlite_sequence (name, seq) VALUES ('enrolment_removals', 0)",
]
