import { isRefused } from './connection/outages.ts'
import type { Pool } from './connection/pool.ts'
import { firstUuidOf } from './connection/uuids.ts'

/** Number of months ahead that have a partition of events. */
const MONTHS_AHEAD = 2

/** Maximum wait for a list that is being read; then it is retried. Other lists wait meanwhile. */
const LOCK_WAIT_MS = 2_000

const MAKING_LOCK = 0x63617274

/** Maximum time that reads and writes wait for a partition to be dropped; then it is retried. */
const DROP_LOCK_WAIT_MS = 100

/** A month of events, and the UUIDs at which it and the next one start. */
type Partition = { name: string; from: string; to: string }

/**
 * Creates missing partitions for this month and the next ones. Several processes may do so at once. A month whose
 * events are in the default partition already is skipped.
 */
export async function makePartitions(pool: Pool, now_ms: number): Promise<void> {
  const wanted = partitionsFrom(now_ms)
  const names = wanted.map(({ name }) => name)
  const existing = await pool.read<{ name: string }>(
    "SELECT relname AS name FROM pg_class WHERE relname = ANY($1) AND relkind = 'r' AND pg_table_is_visible(oid)",
    [names],
  )
  const missing = wanted.filter(({ name }) => !existing.some((found) => found.name === name))
  for (const partition of missing) {
    await pool.use(async (connection) => {
      try {
        await connection.run(making(partition))
      } catch (error) {
        await connection.run('ROLLBACK')
        if (!isRefused(error) || error.code !== CHECK_VIOLATION) throw error
      }
    })
  }
}

const CHECK_VIOLATION = '23514'

function partitionsFrom(now_ms: number): Partition[] {
  const now = new Date(now_ms)
  // The clock is beyond the range of dates; its events go into the default partition.
  if (Number.isNaN(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + MONTHS_AHEAD + 1))) return []
  const month_ms = (ahead: number) => Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead)
  return Array.from({ length: MONTHS_AHEAD + 1 }, (_, ahead) => ({
    name: `events_${new Date(month_ms(ahead)).toISOString().slice(0, 7).replace('-', '_')}`,
    from: firstUuidOf(month_ms(ahead)),
    to: firstUuidOf(month_ms(ahead + 1)),
  }))
}

/**
 * Attaches a table instead of creating a partition directly, which would wait for all reads and writes and block them
 * meanwhile. This waits only for reads of the default partition without bounds, which has no events.
 */
function making({ name, from, to }: Partition): string {
  return `BEGIN;
    SET LOCAL lock_timeout = ${LOCK_WAIT_MS};
    SELECT pg_advisory_xact_lock(${MAKING_LOCK});
    CREATE TABLE IF NOT EXISTS ${name} (LIKE events INCLUDING ALL);
    DO $$ BEGIN
      IF NOT (SELECT relispartition FROM pg_class WHERE oid = '${name}'::regclass) THEN
        ALTER TABLE events ATTACH PARTITION ${name} FOR VALUES FROM ('${from}') TO ('${to}');
      END IF;
    END $$;
    COMMIT`
}

/**
 * Drops the empty partitions of months before the last one, by the clock of the database, which frees their disk space
 * immediately. What arrives later for such a month goes into the default partition.
 */
export async function dropEmptyPartitions(pool: Pool): Promise<void> {
  const past = await pool.read<{ name: string }>(PAST, [])
  for (const { name } of past) {
    await pool.use(async (connection) => {
      try {
        await connection.run(dropping(name))
      } catch (error) {
        await connection.run('ROLLBACK')
        if (!isRefused(error) || error.code !== LOCK_NOT_AVAILABLE) throw error
      }
    })
  }
}

const LOCK_NOT_AVAILABLE = '55P03'

const PAST = `
  SELECT relname AS name FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
  WHERE inhparent = 'events'::regclass AND relname ~ '^events_[0-9]{4}_[0-9]{2}$'
    AND relname < 'events_' || to_char(now() AT TIME ZONE 'UTC' - interval '1 month', 'YYYY_MM')
  ORDER BY relname`

/** Checked before anything is blocked, and again under the lock. */
function dropping(name: string): string {
  return `BEGIN;
    SET LOCAL lock_timeout = ${DROP_LOCK_WAIT_MS};
    DO $$ BEGIN
      IF NOT EXISTS (SELECT FROM ${name}) THEN
        LOCK TABLE events, ${name} IN ACCESS EXCLUSIVE MODE;
        IF NOT EXISTS (SELECT FROM ${name}) THEN DROP TABLE ${name}; END IF;
      END IF;
    END $$;
    COMMIT`
}
