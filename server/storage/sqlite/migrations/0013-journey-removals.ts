import { type Kysely, sql } from 'kysely'

/** Journeys that are being removed: nobody finds one any more, and its number is not given again while events have it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE journeys ADD COLUMN removed_ms INTEGER`.execute(db)
}
