import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { DB } from '../../../generated/tables.ts'
import type { Position } from '../../domain/cursors.ts'
import { eventIdBytes, eventIdText } from '../../domain/identifiers.ts'
import { instantText } from '../../domain/instants.ts'
import type { Page } from '../../domain/paging.ts'
import type { EventFilter, EventOutcome, EventStore, InitializeOutcome, ListedEvent } from '../event-store.ts'
import type { Writer } from './writer.ts'

/** Events in SQLite: written by the writer in groups, read by the reader. */
export function sqliteEventStore(db: Kysely<DB>, writer: Writer): EventStore {
  return {
    async initializeCustomer(workspace_id, customer) {
      const outcome = await writer.submit({ kind: 'initialize', workspace_id, ...customer })
      return outcome as InitializeOutcome
    },

    async insertEvents(workspace_id, events) {
      const rows = events.map(({ custom_variables, occurred_ms, message_id, ...event }) => ({
        ...event,
        custom_variables: custom_variables === undefined ? null : JSON.stringify(custom_variables),
        occurred_ms: occurred_ms ?? null,
        message_id: message_id ?? null,
      }))
      return (await writer.submit({ kind: 'events', workspace_id, events: rows })) as EventOutcome[]
    },

    newestEvents: (workspaceId, filter, page) => newestEvents(db, workspaceId, filter, page),
    customerEvents: (workspaceId, customerId, page) => customerEvents(db, workspaceId, customerId, page),
  }
}

async function newestEvents(db: Kysely<DB>, workspaceId: string, filter: EventFilter, page: Page) {
  let query = events(db).where('events.workspace_ref', '=', workspaceRef(db, workspaceId))
  if (filter.journey_id !== undefined) query = query.where('journeys.journey_id', '=', filter.journey_id)
  if (filter.customer_id !== undefined) query = query.where('customers.customer_id', '=', filter.customer_id)
  if (filter.event_id !== undefined) query = query.where('events.event_id', '=', filter.event_id)
  if (filter.from_ms !== undefined) query = query.where('events.received_ms', '>=', filter.from_ms)
  if (filter.to_ms !== undefined) query = query.where('events.received_ms', '<', filter.to_ms)
  if (page.after) query = query.where(isBehind(sql`events.received_ms`, page.after))
  const rows = await query
    .orderBy('events.received_ms', 'desc')
    .orderBy('events.seq', 'desc')
    .limit(page.limit)
    .execute()
  return rows.map((row) => listed(row, row.received_ms))
}

async function customerEvents(db: Kysely<DB>, workspaceId: string, customerId: string, page: Page) {
  const occurred = sql<number>`coalesce(events.occurred_ms, events.received_ms)`
  let query = events(db).where('events.customer_ref', '=', customerRef(db, workspaceId, customerId))
  if (page.after) query = query.where(isBehind(occurred, page.after))
  const rows = await query.orderBy(occurred, 'desc').orderBy('events.seq', 'desc').limit(page.limit).execute()
  return rows.map((row) => listed(row, row.occurred_ms ?? row.received_ms))
}

function events(db: Kysely<DB>) {
  return db
    .selectFrom('events')
    .innerJoin('journeys', 'journeys.journey_ref', 'events.journey_ref')
    .innerJoin('customers', 'customers.customer_ref', 'events.customer_ref')
    .select([
      'events.id',
      'events.event_id',
      'events.custom_variables',
      'events.occurred_ms',
      'events.received_ms',
      'events.message_id',
      'journeys.journey_id',
      'customers.customer_id',
    ])
}

type Row = Awaited<ReturnType<ReturnType<typeof events>['execute']>>[number]

function workspaceRef(db: Kysely<DB>, workspaceId: string) {
  return db.selectFrom('workspaces').select('workspace_ref').where('workspace_id', '=', workspaceId)
}

function customerRef(db: Kysely<DB>, workspaceId: string, customerId: string) {
  return db
    .selectFrom('customers')
    .select('customers.customer_ref')
    .where('customers.workspace_id', '=', workspaceId)
    .where('customers.customer_id', '=', customerId)
}

/**
 * Rows that come after a position in a list by (`ms`, `seq`), newest first. A position names the event by identifier,
 * because a row number would tell how many events all workspaces have; identifiers rise with row numbers.
 */
function isBehind(ms: RawBuilder<unknown>, { ms: after_ms, id }: Position) {
  return sql<SqlBool>`${ms} <= ${after_ms} AND (${ms} < ${after_ms} OR events.id < ${eventIdBytes(id)})`
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
      message_id: row.message_id,
    },
  }
}
