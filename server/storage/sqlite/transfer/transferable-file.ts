import { Kysely } from 'kysely'
import type { DB } from '../../../../generated/tables.ts'
import { cursorPosition } from '../../../domain/cursors.ts'
import { eventIdBytes } from '../../../domain/identifiers.ts'
import { messageIdText, type StoredMessageId, storedMessageId } from '../../../domain/message-ids.ts'
import { InUse } from '../../../in-use.ts'
import { inTransaction } from '../../in-transaction.ts'
import {
  type EnrolmentRow,
  type EventRow,
  isShared,
  type RowKey,
  type Rows,
  readShared,
  type Untold,
  writeShared,
} from '../../transfer/tables.ts'
import type { TransferableStore } from '../../transfer/transferable-store.ts'
import { noteProgress, UNFINISHED_COPY } from '../../transfer/unfinished-copy.ts'
import { type Connection, openWritable, takeServerLock } from '../connection.ts'
import { ZoneMapReader, ZoneMapWriter } from '../index/zone-map.ts'
import { keptId, wholeId } from '../kept-ids.ts'
import { LocalDialect } from '../local-dialect.ts'
import { hasTable, migrateFile } from '../migrate-file.ts'

/**
 * Opens a file; creates it if it does not exist.
 * @throws {InUse} with a message for the operator
 */
export async function openTransferableFile(path: string): Promise<TransferableStore> {
  const lock = takeServerLock(path)
  if (!lock) throw new InUse(`A Cairn server is running on ${path}. Stop it first.`)
  try {
    await migrateFile(path)
    return transferable(openWritable(path, { create: false }), lock)
  } catch (error) {
    lock.close()
    throw error
  }
}

function transferable(connection: Connection, lock: Connection): TransferableStore {
  const db = new Kysely<DB>({ dialect: new LocalDialect({ database: connection }) })
  const statements = prepare(connection)
  const zoneMap = new ZoneMapWriter(connection)
  const untold = untoldIn(connection)

  const readEnrolments = (place: RowKey | undefined, limit: number): Rows => {
    const [journey = 0, customer = 0] = place ?? []
    const found = statements.enrolments.all(journey, customer, limit)
    const last = found.at(-1)
    return {
      rows: found.map(({ journey_ref, customer_ref, ...row }) => row),
      place: last && [last.journey_ref, last.customer_ref],
    }
  }
  const readEvents = (place: RowKey | undefined, limit: number): Rows => {
    const found = statements.events.all(place?.[0] ?? 0, limit)
    const last = found.at(-1)
    const rows = found.map(({ seq, id, message_id, ...row }) => ({
      ...row,
      id: Buffer.from(wholeId({ id, received_ms: row.received_ms })).toString('hex'),
      message_id: message_id === null ? null : messageIdText(message_id),
    }))
    return { rows, place: last && [last.seq] }
  }
  const writeEnrolments = (rows: readonly EnrolmentRow[]) => {
    for (const row of rows) {
      const enrolled = statements.enrolment.get(row)
      if (enrolled) statements.enrolmentNumber.run(enrolled)
    }
  }
  const writeEvents = (rows: readonly EventRow[]) => {
    let seq = statements.lastSeq.get() ?? 0
    for (const row of rows) {
      seq += 1
      const id = Buffer.from(row.id, 'hex')
      const message_id = row.message_id === null ? null : storedMessageId(row.message_id)
      if (row.key_id !== null) statements.key.run(row.key_id)
      statements.event.run({ ...row, seq, id: keptId(id, row.received_ms), message_id })
      zoneMap.add(seq, id, row.received_ms)
    }
    zoneMap.end()
  }

  return {
    async read(table, place, limit) {
      if (isShared(table)) return await readShared(db, table, place, limit, untold)
      return table === 'enrolments' ? readEnrolments(place, limit) : readEvents(place, limit)
    },
    async write(table, rows, progress) {
      await inTransaction(db, async (db) => {
        if (isShared(table)) await writeShared(db, table, rows)
        else if (table === 'events') writeEvents(rows as readonly EventRow[])
        else writeEnrolments(rows as readonly EnrolmentRow[])
        await noteProgress(db, progress)
      })
    },
    async progress() {
      if (!hasTable(connection, UNFINISHED_COPY)) return undefined
      return connection.prepare<[], string>(`SELECT progress FROM ${UNFINISHED_COPY}`).pluck().get()
    },
    async count(table) {
      return connection.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get() ?? 0
    },
    async finish() {
      connection.prepare('UPDATE event_indexing SET counted_from_ms = ?').run(Date.now())
      connection.exec(`DROP TABLE IF EXISTS ${UNFINISHED_COPY}`)
    },
    async close() {
      await db.destroy()
      lock.close()
    },
  }
}

function untoldIn(connection: Connection): Untold {
  const zoneMap = new ZoneMapReader(connection)
  const event = connection
    .prepare<[string, number, number], number | null>(
      `SELECT min(received_ms) FROM events
      WHERE workspace_ref = (SELECT workspace_ref FROM workspaces WHERE workspace_id = ?) AND seq >= ?
        AND received_ms >= ?`,
    )
    .pluck()
  const customer = connection
    .prepare<[string, number, number], number | null>(
      'SELECT min(created_ms) FROM customers WHERE workspace_id = ? AND customer_ref > ? AND created_ms >= ?',
    )
    .pluck()
  const newest = connection
    .prepare<[string], number | null>('SELECT max(created_ms) FROM customers WHERE workspace_id = ?')
    .pluck()
  const since = (first_ms: number | null | undefined, told_ms: number) =>
    first_ms == null ? { after_ms: told_ms + 1 } : { first_ms }
  return {
    events(workspaceId, cursor, from_ms) {
      if (cursor === null) return since(event.get(workspaceId, 0, from_ms), from_ms)
      const { ms, id } = cursorPosition(cursor, 'evt')
      const seq = zoneMap.firstAfter(eventIdBytes(id))
      return since(Number.isFinite(seq) ? event.get(workspaceId, seq, from_ms) : null, ms)
    },
    customers(workspaceId, cursor, from_ms) {
      const ref = cursor === null ? 0 : cursorPosition(cursor, 'cus').ms
      return since(customer.get(workspaceId, ref, from_ms), newest.get(workspaceId) ?? from_ms)
    },
  }
}

type StoredEnrolment = EnrolmentRow & { journey_ref: number; customer_ref: number }

type StoredEvent = Omit<EventRow, 'id' | 'message_id'> & {
  seq: number
  id: Uint8Array
  message_id: StoredMessageId | null
}

function prepare(connection: Connection) {
  return {
    enrolments: connection.prepare<[string | number, string | number, number], StoredEnrolment>(
      `SELECT journey_ref, customer_ref, journeys.workspace_id, journey_id, customer_id, enrolled_ms
      FROM enrolments JOIN journeys USING (journey_ref) JOIN customers USING (customer_ref)
      WHERE (journey_ref, customer_ref) > (?, ?) ORDER BY journey_ref, customer_ref LIMIT ?`,
    ),
    enrolment: connection.prepare<[EnrolmentRow], Pick<StoredEnrolment, 'journey_ref' | 'customer_ref'>>(
      `INSERT INTO enrolments (journey_ref, customer_ref, enrolled_ms) VALUES (
        (SELECT journey_ref FROM journeys WHERE workspace_id = @workspace_id AND journey_id = @journey_id),
        (SELECT customer_ref FROM customers WHERE workspace_id = @workspace_id AND customer_id = @customer_id),
        @enrolled_ms) RETURNING journey_ref, customer_ref`,
    ),
    enrolmentNumber: connection.prepare<[Pick<StoredEnrolment, 'journey_ref' | 'customer_ref'>]>(
      'INSERT INTO enrolment_numbers (journey_ref, customer_ref) VALUES (@journey_ref, @customer_ref)',
    ),
    events: connection.prepare<[string | number, number], StoredEvent>(
      `SELECT seq, events.id, journeys.workspace_id, journey_id, customer_id, event_id, occurred_ms, received_ms,
        message_id, custom_variables,
        (SELECT key_id FROM event_keys WHERE event_keys.key_ref = events.key_ref) AS key_id
      FROM events JOIN journeys USING (journey_ref) JOIN customers USING (customer_ref)
      WHERE seq > ? ORDER BY seq LIMIT ?`,
    ),
    lastSeq: connection.prepare<[], number>('SELECT seq FROM events ORDER BY seq DESC LIMIT 1').pluck(),
    key: connection.prepare<[string]>('INSERT OR IGNORE INTO event_keys (key_id) VALUES (?)'),
    event: connection.prepare<[StoredEvent]>(
      `INSERT INTO events (seq, workspace_ref, journey_ref, customer_ref, id, event_id, occurred_ms, received_ms,
        message_id, custom_variables, key_ref) VALUES (@seq,
        (SELECT workspace_ref FROM workspaces WHERE workspace_id = @workspace_id),
        (SELECT journey_ref FROM journeys WHERE workspace_id = @workspace_id AND journey_id = @journey_id),
        (SELECT customer_ref FROM customers WHERE workspace_id = @workspace_id AND customer_id = @customer_id),
        @id, @event_id, @occurred_ms, @received_ms, @message_id, @custom_variables,
        (SELECT key_ref FROM event_keys WHERE key_id = @key_id))`,
    ),
  }
}
