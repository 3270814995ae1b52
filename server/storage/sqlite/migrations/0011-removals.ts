import { type Kysely, sql } from 'kysely'

/** What is being removed, in slices, and what must not be given again once it is. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  // What there is to do still. A row is written with what lets nobody add to it any more, and goes when all is gone.
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

  // By which a customer is found in its journeys, and that it is in none when it goes.
  'CREATE INDEX enrolments_of_customer ON enrolments (customer_ref)',

  // The greatest numbers and the newest identifier that were removed: they are not given again.
  'ALTER TABLE event_indexing ADD COLUMN removed_seq INTEGER NOT NULL DEFAULT 0',
  'ALTER TABLE event_indexing ADD COLUMN removed_id BLOB',
  'ALTER TABLE event_indexing ADD COLUMN removed_customer_ref INTEGER NOT NULL DEFAULT 0',

  // Whose standings are not what they were: who follows the store looks at them again.
  `CREATE TABLE enrolment_removals (
    number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    journey_ref INTEGER NOT NULL,
    customer_ref INTEGER -- null: the journey is gone
  ) STRICT`,
  // So that the last number is known before there is one.
  "INSERT INTO sqlite_sequence (name, seq) VALUES ('enrolment_removals', 0)",
]
