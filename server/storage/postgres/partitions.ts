import { isLocked, isRefused } from './connection/outages.ts'
import { type Pool, runOn } from './connection/pool.ts'

/** Number of months ahead that have a partition of events. */
const MONTHS_AHEAD = 2

/** A partition would have to take events from the default partition. */
const CHECK_VIOLATION = '23514'

/**
 * Creates missing partitions for this month and the next ones. Several processes may do so at once. A month whose
 * events are in the default partition already is skipped, and one whose partition a reader of all events (a `pg_dump`, say)
 * prevents is left for the next time.
 */
export async function makePartitions(pool: Pool, now_ms: number): Promise<void> {
  const wanted = partitionsFrom(now_ms)
  const existing = await pool.read<{ name: string }>(
    "SELECT relname AS name FROM pg_class WHERE relname = ANY($1) AND relkind = 'r' AND pg_table_is_visible(oid)",
    [wanted],
  )
  const missing = wanted.filter((name) => !existing.some((found) => found.name === name))
  for (const name of missing) await callIfPossible(pool, 'make_events_partition', name)
}

/** Returns the names of the partitions of this month and the next ones. */
function partitionsFrom(now_ms: number): string[] {
  const now = new Date(now_ms)
  // The clock is beyond the range of dates; its events go into the default partition.
  if (Number.isNaN(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + MONTHS_AHEAD + 1))) return []
  return Array.from({ length: MONTHS_AHEAD + 1 }, (_, ahead) => {
    const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead))
    return `events_${month.toISOString().slice(0, 7).replace('-', '_')}`
  })
}

/**
 * Drops the empty partitions of months before the last one, by the clock of the database, which frees their disk space
 * immediately. What arrives later for such a month goes into the default partition.
 */
export async function dropEmptyPartitions(pool: Pool): Promise<void> {
  const past = await pool.read<{ name: string }>(PAST, [])
  // One that is being read is left for the next time.
  for (const { name } of past) await callIfPossible(pool, 'drop_empty_events_partition', name)
}

const PAST = `
  SELECT relname AS name FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
  WHERE inhparent = 'events'::regclass AND relname ~ '^events_[0-9]{4}_[0-9]{2}$'
    AND relname < 'events_' || to_char(now() AT TIME ZONE 'UTC' - interval '1 month', 'YYYY_MM')
  ORDER BY relname`

/** Calls a function of the migrations; an expected refusal changes nothing. */
async function callIfPossible(pool: Pool, called: string, name: string): Promise<void> {
  try {
    await runOn(pool, `SELECT ${called}($1)`, [name])
  } catch (error) {
    const isExpected = isLocked(error) || (isRefused(error) && error.code === CHECK_VIOLATION)
    if (!isExpected) throw error
  }
}
