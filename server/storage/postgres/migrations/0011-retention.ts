import { type Kysely, sql } from 'kysely'

/** Retention of events, and from when on there are events. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of ['workspaces', 'journeys']) {
    // Null: kept permanently.
    await sql`ALTER TABLE ${sql.table(table)} ADD COLUMN retention_days integer`.execute(db)
    // What was received earlier has been removed, or is being removed; null: everything ever stored is kept.
    await sql`ALTER TABLE ${sql.table(table)} ADD COLUMN events_since_ms bigint`.execute(db)
  }
}
