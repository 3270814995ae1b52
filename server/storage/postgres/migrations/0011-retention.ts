import { type Kysely, sql } from 'kysely'

/** How long events are kept, and from when on they are. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of ['workspaces', 'journeys']) {
    // Null: for ever.
    await sql`ALTER TABLE ${sql.table(table)} ADD COLUMN retention_days integer`.execute(db)
    // What was received before has been removed, or is being; null: all is kept that was ever stored.
    await sql`ALTER TABLE ${sql.table(table)} ADD COLUMN events_since_ms bigint`.execute(db)
  }
}
