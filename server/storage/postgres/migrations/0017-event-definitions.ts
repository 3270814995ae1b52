import { type Kysely, sql } from 'kysely'
import { hasCitus } from './citus.ts'

/** What the events of a workspace look like, by name and revision. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // What happens to events without a definition. Citus adds no column with a constraint in one statement.
  await sql
    .raw(`ALTER TABLE workspaces ADD COLUMN unknown_events ${text} NOT NULL DEFAULT 'allow'`)
    .execute(db)
  await sql
    .raw(`
      ALTER TABLE workspaces ADD CONSTRAINT workspaces_unknown_events_check
        CHECK (unknown_events IN ('allow', 'warn', 'reject'))`)
    .execute(db)
  // How often that or a definition was changed; 0: every event passes.
  await sql.raw('ALTER TABLE workspaces ADD COLUMN definition_changes bigint NOT NULL DEFAULT 0').execute(db)
  const isDistributed = await hasCitus(db)
  for (const [table, statement] of tables) {
    await sql.raw(statement).execute(db)
    if (isDistributed)
      await sql.raw(`SELECT create_distributed_table('${table}', 'workspace_id')`).execute(db)
  }
  const byName = 'CREATE UNIQUE INDEX event_definitions_by_name ON event_definitions (workspace_id, event_id)'
  await sql.raw(byName).execute(db)
  await sql
    .raw(
      'CREATE INDEX event_definitions_by_creation ON event_definitions (workspace_id, created_ms, definition_id)',
    )
    .execute(db)
}

const text = 'text COLLATE "C"'

const tables: readonly (readonly [name: string, statement: string])[] = [
  [
    'event_definitions',
    `CREATE TABLE event_definitions (
      workspace_id ${text} NOT NULL REFERENCES workspaces (workspace_id),
      definition_id ${text} NOT NULL,
      event_id ${text} NOT NULL,
      mode ${text} NOT NULL CHECK (mode IN ('off', 'warn', 'enforce')),
      revision integer NOT NULL, -- the newest
      previous_until_ms bigint, -- until when the revision before is accepted too
      created_ms bigint NOT NULL,
      updated_ms bigint NOT NULL,
      PRIMARY KEY (workspace_id, definition_id)
    )`,
  ],

  // A row never changes.
  [
    'event_definition_revisions',
    `CREATE TABLE event_definition_revisions (
      workspace_id ${text} NOT NULL,
      definition_id ${text} NOT NULL,
      revision integer NOT NULL,
      description ${text} NOT NULL,
      variables ${text} NOT NULL, -- JSON: what custom_variables can be
      created_ms bigint NOT NULL,
      PRIMARY KEY (workspace_id, definition_id, revision),
      FOREIGN KEY (workspace_id, definition_id) REFERENCES event_definitions (workspace_id, definition_id)
    )`,
  ],
]
