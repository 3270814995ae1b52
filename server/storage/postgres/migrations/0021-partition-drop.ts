import { type Kysely, sql } from 'kysely'

/**
 * Drops a partition without reading it under a lock that anyone waits for: until VACUUM has truncated it, a month from
 * which everything was removed is as large as before, and it took seconds to find nothing in it.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(`DO $do$ BEGIN
      EXECUTE format($create$ ${DROP} $create$, current_schema());
    END $do$`)
    .execute(db)
}

/** Nothing is added while one looks again, and only one looks. */
const DROP = `
  CREATE OR REPLACE FUNCTION drop_empty_events_partition(name text) RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = %I, pg_temp SET lock_timeout = '100ms' AS $$
  DECLARE
    month timestamp := events_partition_month(name);
    is_empty boolean;
  BEGIN
    EXECUTE format('SELECT NOT EXISTS (SELECT 1 FROM %%I)', name) INTO is_empty;
    IF NOT is_empty THEN RETURN; END IF;
    EXECUTE format('LOCK TABLE ONLY %%I IN SHARE ROW EXCLUSIVE MODE', name);
    EXECUTE format('SELECT NOT EXISTS (SELECT 1 FROM %%I)', name) INTO is_empty;
    IF NOT is_empty THEN RETURN; END IF;
    EXECUTE format('LOCK TABLE events, %%I IN ACCESS EXCLUSIVE MODE', name);
    EXECUTE format('DROP TABLE %%I', name);
  END $$`
