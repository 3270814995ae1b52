import type { NewEvent } from '../../events/event-store.ts'
import type { GroupCounts } from '../arrivals/arrivals.ts'
import { bigintArray, booleanArray, integerArray, textArray, uuidArray } from '../connection/binary-arrays.ts'
import { isUuid, msOf, uuidOf } from '../connection/uuids.ts'
import { DURABLE } from '../dialect.ts'
import { ANSWERING } from './references.ts'

/** What is stored of an event. */
type Row = {
  event: NewEvent
  /** The UUID under which it is to be stored. */
  id?: string
  /** The number of its series in the group's `GroupCounts`. */
  series: number
  /** The UUID under which its message is looked up. */
  message: string | null
}

/** What `INSERT` returns. */
export type Inserted = {
  /** False or null: nothing was stored. */
  is_current: boolean | null
  is_same_server: boolean | null
  /** False if an earlier run of the statement was committed. */
  has_arrived: boolean
  /** Number of events inserted. */
  events: number
  /** Their identifiers, a JSON array, if not all were inserted; null for none. */
  ids: string | null
}

/** Returns what the rows of a series have in common, as parameters of `INSERT`. */
export function columnsOfSeries(counts: GroupCounts) {
  const series = counts.series()
  return [
    // Nothing is stored without a journey.
    series.map(({ journey_id }) => (journey_id === '' ? null : uuidOf(journey_id))),
    series.map(({ event_id }) => event_id),
    series.map(({ key_id }) => (key_id === '' ? null : uuidOf(key_id))),
  ]
}

/** Returns the other columns. */
export function columnsOf(rows: readonly Row[]) {
  const isText = ({ event: { message_id } }: Row) => message_id !== null && !isUuid(message_id)
  return [
    uuidArray(rows.map(({ id = '' }) => id)),
    // Arrays start at 1 in PostgreSQL.
    integerArray(rows.map(({ series }) => series + 1)),
    uuidArray(rows.map(({ event }) => uuidOf(event.customer_id))),
    uuidArray(rows.map(({ message }) => message)),
    textArray(rows.map((row) => (isText(row) ? row.event.message_id : null))),
    bigintArray(rows.map(({ event, id = '' }) => event.occurred_ms ?? msOf(id))),
    booleanArray(rows.map(({ event }) => event.occurred_ms !== null)),
    textArray(rows.map(({ event }) => event.custom_variables)),
  ]
}

/** Whether the server, and its store, is the one that answered when references were looked up. */
const IS_SAME_SERVER = `$19 = split_part($19, ' ', 1) || ' ' || ${ANSWERING}`

/**
 * Whether what was looked up is still so: the same server answers, no customer of the group was erased since, and no journey
 * was removed, alone or with its workspace. Removals wait for statements that began before them. Erasures are found by their
 * numbers, of which hardly any is new: their customers are hidden from the planner, and it assumes that a range with two
 * ends is narrow.
 */
const IS_CURRENT = `
  ${IS_SAME_SERVER} AND NOT EXISTS (
    SELECT 1 FROM erasures WHERE erasures.workspace_id = $2
      AND number > split_part($19, ' ', 1)::bigint AND number < 9223372036854775807
      AND erasures.customer_id || '' = ANY($21::text[])
  ) AND cardinality($20::text[]) = (
    SELECT count(*) FROM journeys
    WHERE journeys.workspace_id = $2 AND journeys.journey_id = ANY($20::text[]) AND removed_ms IS NULL
  )`

/**
 * Stores the events, or nothing at all if what was looked up is no longer so. Messages are inserted in order, so that two
 * replicas never deadlock. An event is inserted if its message was, and one without a message if the arrival was: if the
 * same statement still runs on a connection that was lost, this waits for it, and then finds its messages and its arrival.
 * So no event is inserted twice, and PostgreSQL need not look for each one first, as it does for `ON CONFLICT`.
 *
 * Counts are optimistic: `counts` are written as if the messages of the events to store were new, and corrected by
 * `taken`, the series of each event whose message is known, which `countsOf` moves from created to duplicate. So the
 * statement counts an event as a duplicate if its message is known, even with other content, and otherwise as created. An
 * event with another outcome is reverted and counted again, in the next arrival.
 *
 * Returns one row, an `Inserted`.
 */
export const INSERT = `
  WITH looked_up AS MATERIALIZED (
    SELECT ${IS_CURRENT} AS is_current, ${IS_SAME_SERVER} AS is_same_server
  ), batch AS MATERIALIZED (
    SELECT * FROM (
      SELECT *, ($8::uuid[])[series] AS journey_id, ($9::text[])[series] AS event_id, ($10::uuid[])[series] AS key_id
      FROM unnest($11::uuid[], $12::int[], $13::uuid[], $14::uuid[], $15::text[], $16::bigint[], $17::bool[], $18::text[])
        AS rows (id, series, customer_id, message, message_text, at_ms, is_dated, custom_variables)
    ) AS rows
    WHERE (SELECT is_current FROM looked_up)
  ), taken AS (
    INSERT INTO event_messages (workspace_id, message, event_id)
    SELECT $1, message, id FROM batch WHERE message IS NOT NULL ORDER BY message
    ON CONFLICT DO NOTHING RETURNING event_id
  ), arrived AS (
    INSERT INTO event_arrivals (workspace_id, arrival, minute_ms, first_event, last_event, counts, taken)
    SELECT $1, $3, $4, $5, $6, $7, (
      SELECT json_agg(series - 1)::text FROM batch
      WHERE message IS NOT NULL AND id NOT IN (SELECT event_id FROM taken)
    )
    FROM (SELECT ${DURABLE}) AS durable, looked_up WHERE is_current
    ON CONFLICT DO NOTHING RETURNING 1 AS one
  ), stored AS (
    INSERT INTO events (at_ms, id, workspace_id, journey_id, customer_id, message_id, is_dated, event_id, message_text,
      custom_variables, key_id)
    SELECT at_ms, id, $1, journey_id, customer_id, CASE WHEN message_text IS NULL THEN message END, is_dated, event_id,
      message_text, custom_variables, key_id
    FROM batch
    WHERE id IN (SELECT event_id FROM taken) OR (message IS NULL AND EXISTS (SELECT one FROM arrived))
    ORDER BY id
    RETURNING id
  )
  SELECT is_current, is_same_server, EXISTS (SELECT one FROM arrived) AS has_arrived,
    CASE WHEN (SELECT count(*) FROM stored) < cardinality($11::uuid[]) THEN (SELECT json_agg(id)::text FROM stored) END
      AS ids, (SELECT count(*) FROM stored) AS events
  FROM looked_up`

/** The last part of it by itself, for rows of which all are new. */
export const INSERT_EVENTS = `
  INSERT INTO events (at_ms, id, workspace_id, journey_id, customer_id, message_id, is_dated, event_id, message_text,
    custom_variables, key_id)
  SELECT at_ms, id, $1, ($2::uuid[])[series], customer_id, CASE WHEN message_text IS NULL THEN message END, is_dated,
    ($3::text[])[series], message_text, custom_variables, ($4::uuid[])[series]
  FROM unnest($5::uuid[], $6::int[], $7::uuid[], $8::uuid[], $9::text[], $10::bigint[], $11::bool[], $12::text[])
    AS rows (id, series, customer_id, message, message_text, at_ms, is_dated, custom_variables)
  ORDER BY id ON CONFLICT DO NOTHING`
