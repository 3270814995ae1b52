import { sql } from 'kysely'
import type { Transaction } from '../../server/storage/database.ts'
import { uuidOf } from '../../server/storage/postgres/connection/uuids.ts'
import { engine } from '../engine.ts'

/** Returns the number of rows of a workspace per table, without tables that have none. */
export async function rowsOfWorkspace(
  db: Transaction,
  workspaceId: string,
): Promise<{ [table: string]: number }> {
  const counts: { [table: string]: number } = {}
  for (const { table, column, kind } of await columns(db)) {
    const own = await ownOf(db, workspaceId, column, kind)
    const { rows } = await sql<{ rows: number }>`
      SELECT count(*) AS rows FROM ${sql.table(table)} WHERE ${sql.ref(column)} = ${own}`.execute(db)
    const count = Number(rows[0]?.rows)
    if (count > 0) counts[table] = count
  }
  return counts
}

type Column = { table: string; column: string; kind: string }

/** Returns the columns by which a row belongs to a workspace. */
async function columns(db: Transaction): Promise<Column[]> {
  const { rows } =
    engine === 'postgres'
      ? await sql<Column>`
          SELECT table_name AS table, column_name AS column, data_type AS kind FROM information_schema.columns
          WHERE table_schema = current_schema() AND column_name = 'workspace_id'`.execute(db)
      : await sql<Column>`
          SELECT sqlite_schema.name AS "table", columns.name AS "column", columns.type AS kind
          FROM sqlite_schema, pragma_table_info(sqlite_schema.name) AS columns
          WHERE sqlite_schema.type = 'table' AND columns.name IN ('workspace_id', 'workspace_ref')`.execute(
          db,
        )
  // The workspace's own row has it as well.
  return rows.filter(({ table, column }) => table !== 'workspaces' || column === 'workspace_id')
}

async function ownOf(db: Transaction, workspaceId: string, column: string, kind: string) {
  if (kind === 'uuid') return uuidOf(workspaceId)
  if (column === 'workspace_id') return workspaceId
  const { rows } = await sql<{ ref: number }>`
    SELECT workspace_ref AS ref FROM workspaces WHERE workspace_id = ${workspaceId}`.execute(db)
  return rows[0]?.ref
}
