import { type Kysely, sql } from 'kysely'

/** Workspaces that are archived, and those that are being removed. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // When it was archived; null if it is not.
  await sql`ALTER TABLE workspaces ADD COLUMN archived_ms INTEGER`.execute(db)
  // It is hidden, and its row is deleted after all other rows that belong to it.
  await sql`ALTER TABLE workspaces ADD COLUMN removed_ms INTEGER`.execute(db)
}
