import { type Kysely, sql } from 'kysely'

/**
 * How many events were sent, by outcome. Events stored earlier are not counted: how often they were sent again or
 * refused, and with which key, was not recorded.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  // A series: journey, name and key, '' for a missing one. Its number is valid in a block of thirty days.
  `CREATE TABLE event_series (
    workspace_ref INTEGER NOT NULL,
    block INTEGER NOT NULL,
    number INTEGER NOT NULL,
    journey_id TEXT NOT NULL,
    event_id TEXT NOT NULL,
    key_id TEXT NOT NULL,
    last_ms INTEGER NOT NULL, -- the last minute that is in event_counts
    PRIMARY KEY (workspace_ref, block, number)
  ) STRICT, WITHOUT ROWID`,

  // The counts of a period, encoded in one row, because a group of events touches many series.
  `CREATE TABLE event_counts (
    workspace_ref INTEGER NOT NULL,
    period TEXT NOT NULL CHECK (period IN ('minute', 'hour', 'day')),
    start_ms INTEGER NOT NULL,
    counts BLOB NOT NULL,
    PRIMARY KEY (workspace_ref, period, start_ms)
  ) STRICT, WITHOUT ROWID`,

  // The latest minute in which a workspace was sent events; moved to event_counts when the next one begins.
  `CREATE TABLE event_counts_open (
    workspace_ref INTEGER NOT NULL PRIMARY KEY,
    minute_ms INTEGER NOT NULL,
    counts BLOB NOT NULL
  ) STRICT`,

  'ALTER TABLE event_indexing ADD COLUMN counted_from_ms INTEGER NOT NULL DEFAULT 0',
  `UPDATE event_indexing SET counted_from_ms = CAST(unixepoch('subsec') * 1000 AS INTEGER)`,
]
