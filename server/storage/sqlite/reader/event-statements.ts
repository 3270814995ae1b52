import type { StoredMessageId } from '../../../domain/message-ids.ts'
import type { ListedEvent } from '../../events/event-json.ts'
import type { Connection } from '../connection.ts'
import type { Kept } from '../kept-ids.ts'
import { prepareReferences } from '../writer/references.ts'

export type EventRow = Omit<ListedEvent, 'id' | 'message_id'> & {
  /** See `Kept`. */
  id: Uint8Array
  message_id: StoredMessageId | null
}

export type NamedCustomer = Pick<ListedEvent, 'customer_id' | 'customer_name' | 'client_customer_id'>

/** An event read in sequence with others. */
export type SuccessiveRow = Omit<EventHead, 'id'> &
  Pick<ListedEvent, 'custom_variables'> & {
    seq: number
    /** The hexadecimal digits of the stored part. */
    id: string
    /** See `messageText`. */
    message: string | null
    key_ref: number | null
  }

/** The fields that decide whether an event belongs to a list. */
export type EventHead = Kept & {
  workspace_ref: number
  journey_ref: number
  customer_ref: number
  event_id: string
  occurred_ms: number | null
}

export type EventStatements = ReturnType<typeof prepareEventStatements>

/** Prepares the statements with which a reader reads events and what they refer to. */
export function prepareEventStatements(connection: Connection) {
  return {
    ...prepareReferences(connection),
    messageSalt: connection.prepare<[], string>('SELECT message_salt FROM event_indexing').pluck(),
    count: connection
      .prepare<
        [
          {
            at: number
            end: number
            workspace: number | undefined
            journey: number | null
            to_ms: number | null
          },
        ],
        number
      >(
        `SELECT count(*) FROM events
        WHERE seq BETWEEN @at AND @end AND workspace_ref = @workspace AND (@journey IS NULL OR journey_ref = @journey)
          AND (@to_ms IS NULL OR received_ms < @to_ms)`,
      )
      .pluck(),
    firstAt: connection.prepare<
      [{ seq: number; end: number; customer: number; at_ms: number }],
      Pick<EventHead, 'id' | 'received_ms'>
    >(
      `SELECT id, received_ms FROM events
      WHERE seq >= @seq AND seq < @end AND customer_ref = @customer AND coalesce(occurred_ms, received_ms) = @at_ms
      ORDER BY seq LIMIT 1`,
    ),
    // Without the variables, which are last in the row and may be on overflow pages.
    head: connection.prepare<[number], EventHead>(
      `SELECT id, workspace_ref, journey_ref, customer_ref, event_id, occurred_ms, received_ms
      FROM events WHERE seq = ?`,
    ),
    journeyId: connection
      .prepare<[number], string>(
        'SELECT journey_id FROM journeys WHERE journey_ref = ? AND removed_ms IS NULL',
      )
      .pluck(),
    sender: connection.prepare<[number], { key_ref: number | null; variables_bytes: number }>(
      `SELECT key_ref, coalesce(octet_length(custom_variables), 0) AS variables_bytes FROM events WHERE seq = ?`,
    ),
    contents: connection.prepare<[number], { key_ref: number | null; custom_variables: string | null }>(
      'SELECT key_ref, custom_variables FROM events WHERE seq = ?',
    ),
    keyId: connection.prepare<[number], string>('SELECT key_id FROM event_keys WHERE key_ref = ?').pluck(),
    keyRef: connection.prepare<[string], number>('SELECT key_ref FROM event_keys WHERE key_id = ?').pluck(),
    namedCustomer: connection.prepare<[number], NamedCustomer>(
      'SELECT customer_id, customer_name, client_customer_id FROM customers WHERE customer_ref = ?',
    ),
    isListed: connection
      .prepare<[number], number>(
        'SELECT 1 FROM events JOIN journeys USING (journey_ref) WHERE seq = ? AND removed_ms IS NULL',
      )
      .pluck(),
    // Bytes as digits: the driver takes 0.9 µs to return bytes, so the rest of the row took a third as long.
    successive: connection.prepare<[number, number], SuccessiveRow>(
      `SELECT seq, hex(id) AS id, workspace_ref, journey_ref, customer_ref, event_id, custom_variables, occurred_ms,
        received_ms, CASE typeof(message_id) WHEN 'blob' THEN 'u' || hex(message_id) ELSE 't' || message_id END AS message,
        key_ref
      FROM events WHERE seq BETWEEN ? AND ? ORDER BY seq`,
    ),
    row: connection.prepare<[number], EventRow>(
      `SELECT events.id, events.event_id, custom_variables, occurred_ms, received_ms, message_id, journey_id,
        customer_id, customer_name, client_customer_id,
        (SELECT key_id FROM event_keys WHERE event_keys.key_ref = events.key_ref) AS key_id
      FROM events JOIN journeys USING (journey_ref) JOIN customers USING (customer_ref)
      WHERE seq = ? AND removed_ms IS NULL`,
    ),
  }
}
