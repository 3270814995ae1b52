import { type Kysely, sql } from 'kysely'

/**
 * Functions that create and drop partitions of events with the rights of the tables' owner, so that a server needs only to
 * read and write rows. Both take the name of a month's partition, for example `events_2026_11`.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [MONTH, MAKE, DROP].map(inSchema)) await sql.raw(statement).execute(db)
  for (const name of ['make_events_partition', 'drop_empty_events_partition']) {
    await sql.raw(`REVOKE EXECUTE ON FUNCTION ${name}(text) FROM PUBLIC`).execute(db)
  }
}

/** Runs with the schema of the tables alone: a function with its owner's rights must not find a caller's objects. */
function inSchema(definition: string): string {
  return `DO $do$ BEGIN
    EXECUTE format($create$ ${definition} $create$, current_schema());
  END $do$`
}

/** The first instant of a partition's month. */
const MONTH = `
  CREATE FUNCTION events_partition_month(name text) RETURNS timestamp
  LANGUAGE plpgsql IMMUTABLE SET search_path = %I, pg_temp AS $$
  BEGIN
    IF name !~ '^events_[0-9]{4}_(0[1-9]|1[0-2])$' THEN
      RAISE EXCEPTION '%% is not the name of a partition of events', quote_literal(name)
        USING ERRCODE = 'invalid_parameter_value';
    END IF;
    RETURN make_timestamp(substr(name, 8, 4)::int, substr(name, 13, 2)::int, 1, 0, 0, 0);
  END $$`

/**
 * Attaches a table instead of creating a partition directly, which would wait for all reads and writes and block them
 * meanwhile. This waits only for reads of the default partition without bounds, which has no events. Identifiers are
 * UUIDv7, which begin with their time.
 */
const MAKE = `
  CREATE FUNCTION make_events_partition(name text) RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = %I, pg_temp SET lock_timeout = '2s' AS $$
  DECLARE
    month timestamp := events_partition_month(name);
    first text := rpad(lpad(to_hex((extract(epoch FROM month) * 1000)::bigint), 12, '0'), 32, '0');
    next text := rpad(lpad(to_hex((extract(epoch FROM month + interval '1 month') * 1000)::bigint), 12, '0'), 32, '0');
  BEGIN
    PERFORM pg_advisory_xact_lock(1667330676);
    EXECUTE format('CREATE TABLE IF NOT EXISTS %%I (LIKE events INCLUDING ALL)', name);
    IF NOT (SELECT relispartition FROM pg_class WHERE oid = name::regclass) THEN
      EXECUTE format('ALTER TABLE events ATTACH PARTITION %%I FOR VALUES FROM (%%L) TO (%%L)', name, first, next);
    END IF;
  END $$`

/** Checked before anything is blocked, and again under the lock. */
const DROP = `
  CREATE FUNCTION drop_empty_events_partition(name text) RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = %I, pg_temp SET lock_timeout = '100ms' AS $$
  DECLARE
    month timestamp := events_partition_month(name);
    is_empty boolean;
  BEGIN
    EXECUTE format('SELECT NOT EXISTS (SELECT 1 FROM %%I)', name) INTO is_empty;
    IF NOT is_empty THEN RETURN; END IF;
    EXECUTE format('LOCK TABLE events, %%I IN ACCESS EXCLUSIVE MODE', name);
    EXECUTE format('SELECT NOT EXISTS (SELECT 1 FROM %%I)', name) INTO is_empty;
    IF is_empty THEN EXECUTE format('DROP TABLE %%I', name); END IF;
  END $$`
