import { type Kysely, sql } from 'kysely'

/** The order in which customers were erased, for forward walks over them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of columns) await sql.raw(statement).execute(db)
  await countErasures(db)
  await sql`CREATE UNIQUE INDEX erasures_in_order ON erasures (workspace_id, number)`.execute(db)
}

const columns = [
  // The number of erased customers, which is the number of the last one.
  'ALTER TABLE workspaces ADD COLUMN erasures bigint NOT NULL DEFAULT 0',
  'ALTER TABLE erasures ADD COLUMN number bigint NOT NULL DEFAULT 0',
  `UPDATE erasures SET number = numbered.number
  FROM (
    SELECT workspace_id, customer_id,
      row_number() OVER (PARTITION BY workspace_id ORDER BY erased_ms, customer_id) AS number
    FROM erasures
  ) AS numbered
  WHERE numbered.workspace_id = erasures.workspace_id AND numbered.customer_id = erasures.customer_id`,
]

/**
 * Counts the erased customers of each workspace. In two statements, because Citus does not update a table that is on
 * every node from one that is distributed.
 */
async function countErasures(db: Kysely<unknown>) {
  const { rows } =
    await sql`SELECT workspace_id, count(*) AS erasures FROM erasures GROUP BY workspace_id`.execute(db)
  if (rows.length === 0) return
  await sql`
    UPDATE workspaces SET erasures = counted.erasures
    FROM json_to_recordset(${JSON.stringify(rows)}::json) AS counted (workspace_id text, erasures bigint)
    WHERE workspaces.workspace_id = counted.workspace_id`.execute(db)
}
