import { type Kysely, sql } from 'kysely'

/** Whether the database has Citus, which distributes tables over several servers. */
export async function hasCitus(db: Pick<Kysely<unknown>, 'getExecutor'>): Promise<boolean> {
  const { rows } = await sql`SELECT 1 FROM pg_extension WHERE extname = 'citus'`.execute(db)
  return rows.length > 0
}
