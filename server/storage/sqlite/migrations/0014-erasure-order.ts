import { type Kysely, sql } from 'kysely'

/** The order in which customers were erased, for lists that go forward. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  // How many customers were erased, which is the number of the last one.
  'ALTER TABLE workspaces ADD COLUMN erasures INTEGER NOT NULL DEFAULT 0',
  'ALTER TABLE erasures ADD COLUMN number INTEGER NOT NULL DEFAULT 0',
  `UPDATE erasures SET number = numbered.number
  FROM (
    SELECT workspace_id, customer_id,
      row_number() OVER (PARTITION BY workspace_id ORDER BY erased_ms, customer_id) AS number
    FROM erasures
  ) AS numbered
  WHERE numbered.workspace_id = erasures.workspace_id AND numbered.customer_id = erasures.customer_id`,
  `UPDATE workspaces SET erasures = (
    SELECT count(*) FROM erasures WHERE erasures.workspace_id = workspaces.workspace_id
  )`,
  'CREATE UNIQUE INDEX erasures_in_order ON erasures (workspace_id, number)',
]
