import { type Kysely, sql } from 'kysely'

/** From when a window is counted, so that it closes earlier if the customer turns out to have entered earlier. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // NULL: not known, of a window from before.
  await sql`ALTER TABLE webhook_windows ADD COLUMN entered_ms bigint`.execute(db)
}
