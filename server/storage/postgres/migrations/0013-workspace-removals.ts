import { type Kysely, sql } from 'kysely'

/** Workspaces that take nothing in, and those that are being removed. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Since when it is archived; null: it is not.
  await sql`ALTER TABLE workspaces ADD COLUMN archived_ms bigint`.execute(db)
  // Nobody finds it any more, and its row goes behind all others that are its own.
  await sql`ALTER TABLE workspaces ADD COLUMN removed_ms bigint`.execute(db)
}
