import { type Kysely, sql } from 'kysely'

/** How long events are kept, and since when. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of ['workspaces', 'journeys']) {
    // Null for ever.
    await sql`ALTER TABLE ${sql.table(table)} ADD COLUMN retention_days INTEGER`.execute(db)
    // Events received earlier have been removed, or are being; null if none has been removed by age.
    await sql`ALTER TABLE ${sql.table(table)} ADD COLUMN events_since_ms INTEGER`.execute(db)
  }
}
