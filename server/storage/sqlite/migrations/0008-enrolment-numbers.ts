import { type Kysely, sql } from 'kysely'

/**
 * The enrolments in order of creation, so that a follower continues after the last one it has processed.
 * Existing ones get numbers in the order of their table.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `CREATE TABLE enrolment_numbers (
    number INTEGER NOT NULL PRIMARY KEY,
    journey_ref INTEGER NOT NULL,
    customer_ref INTEGER NOT NULL
  ) STRICT`,
  `INSERT INTO enrolment_numbers (journey_ref, customer_ref)
    SELECT journey_ref, customer_ref FROM enrolments ORDER BY journey_ref, customer_ref`,
]
