import { type Kysely, sql } from 'kysely'

/** What the events of a workspace look like, by name and revision. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  // What happens to events without a definition.
  `ALTER TABLE workspaces ADD COLUMN unknown_events TEXT NOT NULL DEFAULT 'allow'
    CHECK (unknown_events IN ('allow', 'warn', 'reject'))`,
  // How often that or a definition was changed; 0: every event passes.
  'ALTER TABLE workspaces ADD COLUMN definition_changes INTEGER NOT NULL DEFAULT 0',

  `CREATE TABLE event_definitions (
    workspace_id TEXT NOT NULL REFERENCES workspaces (workspace_id),
    definition_id TEXT NOT NULL,
    event_id TEXT NOT NULL,
    mode TEXT NOT NULL CHECK (mode IN ('off', 'warn', 'enforce')),
    revision INTEGER NOT NULL, -- the newest
    previous_until_ms INTEGER, -- until when the revision before is accepted too
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, definition_id)
  ) STRICT, WITHOUT ROWID`,
  'CREATE UNIQUE INDEX event_definitions_by_name ON event_definitions (workspace_id, event_id)',
  'CREATE INDEX event_definitions_by_creation ON event_definitions (workspace_id, created_ms, definition_id)',

  // A row never changes.
  `CREATE TABLE event_definition_revisions (
    workspace_id TEXT NOT NULL,
    definition_id TEXT NOT NULL,
    revision INTEGER NOT NULL,
    description TEXT NOT NULL,
    variables TEXT NOT NULL, -- JSON: what custom_variables can be
    created_ms INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, definition_id, revision),
    FOREIGN KEY (workspace_id, definition_id) REFERENCES event_definitions
  ) STRICT, WITHOUT ROWID`,
]
