import { type Kysely, sql } from 'kysely'

/**
 * The enrolments in the order in which they were made, so that whoever follows them goes on behind the last one seen.
 * Those that are there already in the order of their table, in which they were to be found until now.
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
