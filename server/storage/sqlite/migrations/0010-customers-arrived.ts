import { type Kysely, sql } from 'kysely'

/** Customers in order of creation: that of the row numbers, with which every index ends. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE INDEX customers_arrived ON customers (workspace_id)`.execute(db)
}
