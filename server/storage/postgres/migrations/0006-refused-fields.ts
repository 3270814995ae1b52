import { type Kysely, sql } from 'kysely'

/** What each refusal is about, to add them up by it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(`ALTER TABLE refusals ADD COLUMN field text COLLATE "C" NOT NULL DEFAULT ''`).execute(db)
}
