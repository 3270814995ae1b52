import { type Kysely, sql } from 'kysely'

/** With which key each event was sent. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Null: sent without a key, or before this was noted.
  await sql`ALTER TABLE events ADD COLUMN key_id uuid`.execute(db)
}
