import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { DB } from '../../../generated/tables.ts'
import type { Position } from '../../domain/cursors.ts'
import { eventIdBytes, eventIdText } from '../../domain/identifiers.ts'
import { instantText } from '../../domain/instants.ts'
import { messageIdText, type StoredMessageId } from '../../domain/message-ids.ts'
import { type Page, pageRows } from '../../domain/paging.ts'
import type { EventFilter, EventOutcome, EventStore, InitializeOutcome, ListedEvent } from '../event-store.ts'
import { BLOCK_EVENTS, facets, SPAN_EVENTS } from './spans.ts'
import type { Writer } from './writer.ts'

/** Events in SQLite: written by the writer in groups, read by the reader. */
export function sqliteEventStore(db: Kysely<DB>, writer: Writer): EventStore {
  return {
    async initializeCustomer(workspace_id, customer) {
      const outcome = await writer.submit({ kind: 'initialize', workspace_id, ...customer })
      return outcome as InitializeOutcome
    },

    async insertEvents(workspace_id, events) {
      return (await writer.submit({ kind: 'events', workspace_id, events })) as EventOutcome[]
    },

    newestEvents: (workspaceId, filter, page) => newestEvents(db, workspaceId, filter, page),
    customerEvents: (workspaceId, customerId, page) => customerEvents(db, workspaceId, customerId, page),
  }
}

/**
 * By number, which is the order of arrival and of identifiers. A span that has what the filter asks for is read whole,
 * so the newest matches are found in the time that a few spans take.
 */
async function newestEvents(db: Kysely<DB>, workspaceId: string, filter: EventFilter, page: Page) {
  const { journey_id, customer_id, event_id, from_ms, to_ms } = filter
  const workspace = sql<number>`(SELECT workspace_ref FROM workspaces WHERE workspace_id = ${workspaceId})`
  const facet =
    event_id !== undefined
      ? sql`${facets.event(event_id)}`
      : journey_id !== undefined
        ? sql`${facets.journey(journey_id)}`
        : sql`${facets.workspace}`
  const conditions = [sql`events.workspace_ref = ${workspace}`]
  const spanConditions = [sql`workspace_ref = ${workspace}`, sql`facet = ${facet}`]
  if (event_id !== undefined) conditions.push(sql`events.event_id = ${event_id}`)
  if (journey_id !== undefined)
    conditions.push(sql`events.journey_ref = ${journeyRef(workspaceId, journey_id)}`)
  if (event_id !== undefined && journey_id !== undefined) {
    // Else a name that other journeys have, and this one has not, would be looked for in all their events.
    spanConditions.push(sql`EXISTS (SELECT 1 FROM event_facets AS other WHERE other.workspace_ref = ${workspace}
      AND other.facet = ${facets.journey(journey_id)} AND other.span = event_facets.span)`)
  }
  if (from_ms !== undefined) {
    conditions.push(sql`events.received_ms >= ${from_ms}`)
    spanConditions.push(
      sql`span >= (SELECT min(span) FROM event_spans WHERE greatest_received_ms >= ${from_ms})`,
    )
  }
  if (to_ms !== undefined) {
    conditions.push(sql`events.received_ms < ${to_ms}`)
    spanConditions.push(sql`span <= (SELECT max(span) FROM event_spans WHERE least_received_ms < ${to_ms})`)
  }
  if (page.after) {
    conditions.push(sql`events.seq < ${seqOf(page.after)}`)
    spanConditions.push(sql`span <= ${seqOf(page.after)} / ${SPAN_EVENTS}`)
  }
  if (customer_id !== undefined) {
    const ref = customerRef(workspaceId, customer_id)
    conditions.push(sql`events.seq IN (
      ${BLOCKS} SELECT seq FROM blocks CROSS JOIN event_timeline USING (block) WHERE customer_ref = ${ref}
      UNION ALL ${unindexedOf(ref)})`)
    conditions.push(sql`events.customer_ref = ${ref}`)
    const rows = await read(db, sql`events`, conditions, sql`events.seq DESC`, page)
    return pageRows(
      rows.map((row) => listed(row, row.received_ms)),
      page,
    )
  }
  const spans = sql`(SELECT span FROM event_facets WHERE ${sql.join(spanConditions, sql` AND `)})`
  // CROSS: spans first, from the newest on, and only as many as the page needs.
  const from = sql`${spans} AS spans CROSS JOIN events
    ON events.seq BETWEEN spans.span * ${SPAN_EVENTS} AND spans.span * ${SPAN_EVENTS} + ${SPAN_EVENTS - 1}`
  const rows = await read(db, from, conditions, sql`spans.span DESC, events.seq DESC`, page)
  return pageRows(
    rows.map((row) => listed(row, row.received_ms)),
    page,
  )
}

async function customerEvents(db: Kysely<DB>, workspaceId: string, customerId: string, page: Page) {
  const ref = customerRef(workspaceId, customerId)
  const at = sql`coalesce(events.occurred_ms, events.received_ms)`
  const behind = (ms: RawBuilder<unknown>, seq: RawBuilder<unknown>) =>
    page.after
      ? sql`${ms} <= ${page.after.ms} AND (${ms} < ${page.after.ms} OR ${seq} < ${seqOf(page.after)})`
      : sql`true`
  // The entry of a block with which it has as many as the page: what is before cannot be on the page.
  const enough = sql`(SELECT least.at_ms FROM event_timeline AS least
    WHERE least.block = blocks.block AND least.customer_ref = ${ref} AND ${behind(sql`least.at_ms`, sql`least.seq`)}
    ORDER BY least.at_ms DESC, least.seq DESC LIMIT 1 OFFSET ${page.limit})`
  const conditions = [
    sql`events.customer_ref = ${ref}`,
    behind(at, sql`events.seq`),
    sql`events.seq IN (
      ${BLOCKS} SELECT seq FROM (
        SELECT entry.seq FROM blocks CROSS JOIN event_timeline AS entry
          ON entry.block = blocks.block AND entry.customer_ref = ${ref}
            AND entry.at_ms >= coalesce(${enough}, ${Number.MIN_SAFE_INTEGER})
        WHERE ${behind(sql`entry.at_ms`, sql`entry.seq`)}
        ORDER BY entry.at_ms DESC, entry.seq DESC LIMIT ${page.limit + 1})
      UNION ALL ${unindexedOf(ref)})`,
  ]
  const rows = await read(db, sql`events`, conditions, sql`${at} DESC, events.seq DESC`, page)
  return pageRows(
    rows.map((row) => listed(row, row.occurred_ms ?? row.received_ms)),
    page,
  )
}

/** The blocks of the timelines, from the newest on. */
const BLOCKS = sql`WITH RECURSIVE blocks (block) AS (
  SELECT (SELECT max(seq) FROM events) / ${sql.lit(BLOCK_EVENTS)}
  UNION ALL SELECT block - 1 FROM blocks WHERE block > 0)`

type Row = {
  id: Uint8Array
  event_id: string
  custom_variables: string | null
  occurred_ms: number | null
  received_ms: number
  message_id: StoredMessageId | null
  journey_id: string
  customer_id: string
}

async function read(
  db: Kysely<DB>,
  from: RawBuilder<unknown>,
  conditions: RawBuilder<unknown>[],
  order: RawBuilder<unknown>,
  page: Page,
): Promise<Row[]> {
  const { rows } = await sql<Row>`
    SELECT events.id, events.event_id, custom_variables, occurred_ms, received_ms, message_id,
      journey_id, customer_id
    FROM ${from}
    JOIN journeys ON journeys.journey_ref = events.journey_ref
    JOIN customers ON customers.customer_ref = events.customer_ref
    WHERE ${sql.join(conditions, sql` AND `)}
    ORDER BY ${order} LIMIT ${page.limit + 1}`.execute(db)
  return rows
}

function journeyRef(workspaceId: string, journeyId: string) {
  return sql`(SELECT journey_ref FROM journeys WHERE workspace_id = ${workspaceId} AND journey_id = ${journeyId})`
}

function customerRef(workspaceId: string, customerId: string) {
  return sql`(SELECT customer_ref FROM customers
    WHERE workspace_id = ${workspaceId} AND customer_id = ${customerId})`
}

/** Events of the customer that the index may not have yet; some of them it may have, and some are another's. */
function unindexedOf(customer_ref: RawBuilder<unknown>) {
  return sql`SELECT seq FROM unindexed_events(${customer_ref}, (SELECT indexed_seq FROM event_indexing))`
}

/**
 * The number of the first event whose identifier is not before the position's. A position names the event by
 * identifier, because a number would tell how many events all workspaces have; identifiers rise with numbers.
 */
function seqOf({ id }: Position) {
  const bytes = eventIdBytes(id)
  return sql`coalesce((SELECT seq FROM events WHERE id >= ${bytes} AND seq >= coalesce((
      SELECT span * ${SPAN_EVENTS} FROM event_spans WHERE first_id <= ${bytes} ORDER BY first_id DESC LIMIT 1), 0)
    ORDER BY seq LIMIT 1), ${Number.MAX_SAFE_INTEGER})`
}

function listed(row: Row, ms: number): ListedEvent {
  const id = eventIdText(row.id)
  return {
    position: { ms, id },
    event: {
      id,
      journey_id: row.journey_id,
      customer_id: row.customer_id,
      event_id: row.event_id,
      custom_variables: row.custom_variables === null ? null : JSON.parse(row.custom_variables),
      occurred_at: instantText(row.occurred_ms ?? row.received_ms),
      received_at: instantText(row.received_ms),
      message_id: row.message_id === null ? null : messageIdText(row.message_id),
    },
  }
}
