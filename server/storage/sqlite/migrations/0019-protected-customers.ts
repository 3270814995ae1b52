import { type Kysely, sql } from 'kysely'

/** Whether publishable keys may rename customers and learn who is one. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // 0: they may, as before this setting existed. New workspaces start with 1.
  await sql`ALTER TABLE workspaces ADD COLUMN protect_customers INTEGER NOT NULL DEFAULT 0`.execute(db)
}
