import { type Kysely, sql } from 'kysely'

/** Lets one statement that creates customers see what was erased while it waited. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(`DO $do$ BEGIN
      EXECUTE format($create$ ${CHECK} $create$, current_schema());
    END $do$`)
    .execute(db)
}

/**
 * A volatile function sees what was committed up to its call, its caller only what was committed before it began. The
 * error is that of a customer who is gone.
 */
const CHECK = `
  CREATE FUNCTION assert_erasures(workspace text, expected bigint) RETURNS boolean
  LANGUAGE plpgsql VOLATILE SET search_path = %I, pg_temp AS $$
  BEGIN
    IF (SELECT erasures FROM workspaces WHERE workspace_id = workspace) IS DISTINCT FROM expected THEN
      RAISE foreign_key_violation USING MESSAGE = 'customers were erased meanwhile';
    END IF;
    RETURN true;
  END $$`
