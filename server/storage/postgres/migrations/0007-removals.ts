import { type Kysely, sql } from 'kysely'

/** Removals in progress, and enrolments whose standings they affect. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql`SELECT 1 FROM pg_extension WHERE extname = 'citus'`.execute(db)
  for (const [table, statement] of tables) {
    await sql.raw(statement).execute(db)
    if (rows.length > 0)
      await sql.raw(`SELECT create_distributed_table('${table}', 'workspace_id')`).execute(db)
  }
  // Finds a customer in its journeys, and whether it is in none when it is removed.
  await sql.raw('CREATE INDEX enrolments_of_customer ON enrolments (workspace_id, customer_id)').execute(db)
  await sql
    .raw('CREATE INDEX customer_words_of_customer ON customer_words (workspace_id, customer_id)')
    .execute(db)
}

const text = 'text COLLATE "C"'

const tables: readonly (readonly [name: string, statement: string])[] = [
  // Pending removals. A row is written together with what keeps anyone from adding data, and deleted when everything is
  // removed.
  [
    'removals',
    `CREATE TABLE removals (
      workspace_id ${text} NOT NULL REFERENCES workspaces (workspace_id),
      removal_id ${text} NOT NULL,
      kind ${text} NOT NULL CHECK (kind IN ('customer', 'journey', 'workspace')),
      subject_id ${text} NOT NULL, -- of the customer, the journey, the workspace whose events go
      before_ms bigint, -- only what was received before; null: all
      begun_ms bigint NOT NULL,
      place ${text} NOT NULL, -- how far it has come, as the engine has it
      events bigint NOT NULL, -- removed so far
      PRIMARY KEY (workspace_id, removal_id)
    )`,
  ],

  // A queue, like those of arrivals.
  [
    'enrolment_removals',
    `CREATE TABLE enrolment_removals (
      workspace_id uuid NOT NULL,
      removal uuid NOT NULL,
      journey_id uuid NOT NULL,
      customer_id uuid, -- null: the journey is gone
      PRIMARY KEY (workspace_id, removal)
    )`,
  ],
]
