import { type Kysely, sql } from 'kysely'

/**
 * The indexes of events as sorted runs (server/storage/sqlite/index), replacing tables with a row per entry: over
 * random keys those cost more with every event stored. The runs of existing events are created when the
 * store is opened for writing.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  'DROP TABLE event_facets',
  'DROP TABLE event_timeline',
  'DROP TABLE event_messages',

  `CREATE TABLE event_runs (
    run INTEGER NOT NULL PRIMARY KEY,
    level INTEGER NOT NULL, -- 0: of events as they arrived; each merge is one more
    first_seq INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    greatest_at_ms INTEGER NOT NULL, -- the latest time in a timeline
    messages INTEGER NOT NULL, -- how many of its events have a message_id
    postings BLOB NOT NULL, -- directories of its pages
    timeline BLOB NOT NULL
  ) STRICT`,
  // The encoded pages of all runs; each run has a range of page numbers.
  `CREATE TABLE event_pages (
    page INTEGER NOT NULL PRIMARY KEY,
    data BLOB NOT NULL
  ) STRICT`,
  'UPDATE event_indexing SET indexed_seq = coalesce((SELECT min(seq) - 1 FROM events), 0)',

  // A stretch is 1,048,576 consecutive event numbers.
  `CREATE TABLE event_stretches (
    stretch INTEGER NOT NULL PRIMARY KEY,
    least_received_ms INTEGER NOT NULL,
    greatest_received_ms INTEGER NOT NULL
  ) STRICT`,
  `INSERT INTO event_stretches
    SELECT span / 1024, min(least_received_ms), max(greatest_received_ms) FROM event_spans GROUP BY 1`,
]
