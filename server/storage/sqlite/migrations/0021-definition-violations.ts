import { type Kysely, sql } from 'kysely'

/** How often events did not conform to their definition, by UTC day. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  // An event has a row with an empty code, and one for each of its violations.
  `CREATE TABLE definition_violations (
    workspace_id TEXT NOT NULL,
    definition_id TEXT NOT NULL,
    code TEXT NOT NULL,
    day_ms INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    pointer TEXT NOT NULL,
    key_id TEXT NOT NULL,
    rejected INTEGER NOT NULL CHECK (rejected IN (0, 1)),
    events INTEGER NOT NULL,
    first_ms INTEGER NOT NULL,
    last_ms INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, definition_id, code, day_ms, revision, pointer, key_id, rejected),
    FOREIGN KEY (workspace_id, definition_id) REFERENCES event_definitions
  ) STRICT, WITHOUT ROWID`,
  'CREATE INDEX definition_violations_by_day ON definition_violations (day_ms)',
]
