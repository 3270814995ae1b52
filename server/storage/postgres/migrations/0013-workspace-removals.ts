import { type Kysely, sql } from 'kysely'

/** Archived workspaces, and workspaces being removed. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // When it was archived; null: it is active.
  await sql`ALTER TABLE workspaces ADD COLUMN archived_ms bigint`.execute(db)
  // It is hidden, and its row is deleted after all others that belong to it.
  await sql`ALTER TABLE workspaces ADD COLUMN removed_ms bigint`.execute(db)
}
