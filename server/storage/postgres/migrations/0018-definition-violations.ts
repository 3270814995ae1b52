import { type Kysely, sql } from 'kysely'
import { hasCitus } from './citus.ts'

/** How often events did not conform to their definition, by UTC day. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(table).execute(db)
  if (await hasCitus(db)) {
    await sql`SELECT create_distributed_table('definition_violations', 'workspace_id')`.execute(db)
  }
  await sql.raw('CREATE INDEX definition_violations_by_day ON definition_violations (day_ms)').execute(db)
}

const text = 'text COLLATE "C"'

// An event has a row with an empty code, and one for each of its violations.
const table = `
  CREATE TABLE definition_violations (
    workspace_id ${text} NOT NULL,
    definition_id ${text} NOT NULL,
    code ${text} NOT NULL,
    day_ms bigint NOT NULL,
    revision integer NOT NULL,
    pointer ${text} NOT NULL,
    key_id ${text} NOT NULL,
    rejected integer NOT NULL CHECK (rejected IN (0, 1)),
    events bigint NOT NULL,
    first_ms bigint NOT NULL,
    last_ms bigint NOT NULL,
    PRIMARY KEY (workspace_id, definition_id, code, day_ms, revision, pointer, key_id, rejected),
    FOREIGN KEY (workspace_id, definition_id) REFERENCES event_definitions (workspace_id, definition_id)
  )`
