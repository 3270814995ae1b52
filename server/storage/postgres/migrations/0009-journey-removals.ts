import { type Kysely, sql } from 'kysely'

/** Journeys that are being removed: nobody finds one any more, and its row goes behind its events and enrolments. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE journeys ADD COLUMN removed_ms bigint`.execute(db)
}
