import { type Kysely, sql } from 'kysely'

/** Journeys that are being removed: they are hidden, and their numbers are not reused while events refer to them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE journeys ADD COLUMN removed_ms INTEGER`.execute(db)
}
