import { type Kysely, sql } from 'kysely'

/** The key with which each event was sent. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Null: sent without a key, or before this was recorded.
  await sql`ALTER TABLE events ADD COLUMN key_id uuid`.execute(db)
}
