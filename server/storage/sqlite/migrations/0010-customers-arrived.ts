import { type Kysely, sql } from 'kysely'

/** Customers in the order in which they were made: that of the row numbers, which every index ends in. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE INDEX customers_arrived ON customers (workspace_id)`.execute(db)
}
