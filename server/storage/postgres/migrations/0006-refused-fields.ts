import { type Kysely, sql } from 'kysely'

/** The subject of each refusal, to group them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(`ALTER TABLE refusals ADD COLUMN field text COLLATE "C" NOT NULL DEFAULT ''`).execute(db)
}
