import { type Kysely, sql } from 'kysely'
import { hasCitus } from './citus.ts'

/**
 * Arrivals dequeued in the last minutes: a process that stored one without hearing of the commit would enqueue it
 * again.
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
