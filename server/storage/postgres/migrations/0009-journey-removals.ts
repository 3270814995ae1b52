import { type Kysely, sql } from 'kysely'

/** Journeys being removed: they are hidden, and the row is deleted after its events and enrolments. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE journeys ADD COLUMN removed_ms bigint`.execute(db)
}
