import { type Kysely, sql } from 'kysely'

/** The key with which each event was sent. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Numbers of keys, assigned with their first event: an identifier in each event would be twenty times as long.
  await sql`CREATE TABLE event_keys (
    key_ref INTEGER NOT NULL PRIMARY KEY,
    key_id TEXT NOT NULL UNIQUE
  ) STRICT`.execute(db)
  // Null if sent without a key, or before keys were recorded.
  await sql`ALTER TABLE events ADD COLUMN key_ref INTEGER`.execute(db)
}
