import { type Kysely, sql } from 'kysely'
import { hasCitus } from './citus.ts'

/**
 * Which arrivals were taken out of their queue in the last minutes: who has stored them and has not heard so would put them
 * in again.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE event_arrivals_taken (
      workspace_id uuid NOT NULL,
      taken_ms bigint NOT NULL, -- by the clock of the database
      first_arrival uuid NOT NULL,
      arrivals uuid[] NOT NULL, -- those of one transaction
      PRIMARY KEY (workspace_id, taken_ms, first_arrival)
    )`.execute(db)
  if (await hasCitus(db)) {
    await sql`SELECT create_distributed_table('event_arrivals_taken', 'workspace_id')`.execute(db)
  }
}
