import { type EventContent, isSameContent } from '../../domain/event-content.ts'
import { ascendingIds, eventIdText, newId } from '../../domain/identifiers.ts'
import type { EventOutcome, EventRejection, InitializeOutcome } from '../event-store.ts'
import type { Connection } from './connection.ts'

/** A piece of work that the writer does whole or not at all, in one transaction with others. */
export type Unit =
  | {
      kind: 'initialize'
      workspace_id: string
      journey_id: string
      customer_type: string
      client_customer_id: string
      customer_name: string
    }
  | { kind: 'events'; workspace_id: string; events: EventRow[] }
  | { kind: 'key-used'; key_id: string }
  | { kind: 'probe' }

/** An event on its way into the table; `custom_variables` is JSON text. */
export type EventRow = EventContent & { message_id: string | null }

export type UnitOutcome = InitializeOutcome | EventOutcome[] | 'written'

/** An event may be dated this far ahead of the server's clock; more is a wrong clock (contract: `occurred_at`). */
const AHEAD_MS = 60 * 60 * 1000

/** Positive look-ups that are kept; each takes about 200 bytes. */
const CACHED_REFERENCES = 100_000

type Journey = { workspace_ref: number; workspace_id: string; journey_ref: number; status: string }

/**
 * Does units inside a transaction that the caller has begun. A unit that throws has left its traces to the caller's
 * rollback, after which `forget` must be called.
 */
export class Units {
  readonly #statements: ReturnType<typeof prepare>
  readonly #nextId: (now_ms: number) => Uint8Array
  /** By `workspace_id journey_id`. */
  readonly #journeys = new Map<string, Journey>()
  /** customer_ref by `journey_ref customer_id`, for customers that take part in the journey. */
  readonly #enrolled = new Map<string, number>()

  constructor(connection: Connection) {
    this.#statements = prepare(connection)
    this.#nextId = ascendingIds(this.#statements.newestId.get()?.id)
  }

  /** Forgets what it has looked up, because another program or a rollback may have changed it. */
  forget(): void {
    this.#journeys.clear()
    this.#enrolled.clear()
  }

  run(unit: Unit, now_ms: number): UnitOutcome {
    if (unit.kind === 'initialize') return this.#initialize(unit, now_ms)
    if (unit.kind === 'events') {
      return unit.events.map((event) => this.#insertEvent(unit.workspace_id, event, now_ms))
    }
    if (unit.kind === 'key-used') this.#statements.keyUsed.run(now_ms, unit.key_id)
    else this.#statements.probe.run()
    return 'written'
  }

  #initialize(unit: Extract<Unit, { kind: 'initialize' }>, now_ms: number): InitializeOutcome {
    const { workspace_id, customer_type, client_customer_id, customer_name } = unit
    const journey = this.#journey(workspace_id, unit.journey_id)
    if (!journey) return { status: 'refused', code: 'journey_not_found' }
    if (journey.status === 'archived') return { status: 'refused', code: 'journey_archived' }

    const known = this.#statements.customer.get(workspace_id, customer_type, client_customer_id)
    const customer_id = known?.customer_id ?? newId('cus')
    let customer_ref = known?.customer_ref
    if (customer_ref === undefined) {
      const row = [
        workspace_id,
        customer_id,
        customer_type,
        client_customer_id,
        customer_name,
        now_ms,
        now_ms,
      ]
      customer_ref = Number(this.#statements.insertCustomer.run(...row).lastInsertRowid)
    } else if (known?.customer_name !== customer_name) {
      this.#statements.renameCustomer.run(customer_name, now_ms, customer_ref)
    }
    this.#statements.enrol.run(journey.journey_ref, customer_ref, now_ms)
    return { status: 'stored', customer_id, created: known === undefined }
  }

  /** Recognition comes first: a known `message_id` is answered before any rule on journey, enrolment or time. */
  #insertEvent(workspace_id: string, event: EventRow, now_ms: number): EventOutcome {
    if (event.message_id !== null) {
      const stored = this.#statements.message.get(workspace_id, event.message_id)
      if (stored && !isSameContent(stored, event)) return rejected('message_id_conflict')
      if (stored) return { status: 'duplicate', id: eventIdText(stored.id), received_ms: stored.received_ms }
    }
    const journey = this.#journey(workspace_id, event.journey_id)
    if (!journey) return rejected('journey_not_found')
    const customer_ref = this.#enrolledCustomer(journey, event.customer_id)
    if (customer_ref === undefined) {
      const exists = this.#statements.customerExists.get(workspace_id, event.customer_id)
      return rejected(exists ? 'customer_not_in_journey' : 'customer_not_found')
    }
    if (journey.status === 'archived') return rejected('journey_archived')
    if (event.occurred_ms !== null && event.occurred_ms > now_ms + AHEAD_MS)
      return rejected('occurred_at_in_future')

    const id = this.#nextId(now_ms)
    this.#statements.insertEvent.run(
      journey.workspace_ref,
      journey.journey_ref,
      customer_ref,
      id,
      event.event_id,
      event.occurred_ms,
      now_ms,
      event.message_id,
      event.custom_variables,
    )
    return { status: 'created', id: eventIdText(id), received_ms: now_ms }
  }

  #journey(workspace_id: string, journey_id: string): Journey | undefined {
    const key = `${workspace_id} ${journey_id}`
    const cached = this.#journeys.get(key)
    if (cached) return cached
    const found = this.#statements.journey.get(journey_id, workspace_id)
    if (found) this.#journeys.set(key, found)
    return found
  }

  #enrolledCustomer({ workspace_id, journey_ref }: Journey, customer_id: string): number | undefined {
    const key = `${journey_ref} ${customer_id}`
    const cached = this.#enrolled.get(key)
    if (cached !== undefined) return cached
    const found = this.#statements.enrolled.get(journey_ref, workspace_id, customer_id)
    if (!found) return undefined
    if (this.#enrolled.size >= CACHED_REFERENCES) this.#enrolled.clear()
    this.#enrolled.set(key, found.customer_ref)
    return found.customer_ref
  }
}

function rejected(code: EventRejection): EventOutcome {
  return { status: 'rejected', code }
}

function prepare(connection: Connection) {
  return {
    // Writes the page that every file has, so that the disk is asked and not only the lock.
    probe: connection.prepare('PRAGMA user_version = 0'),
    keyUsed: connection.prepare<[number, string]>(
      'UPDATE service_keys SET last_used_ms = ? WHERE key_id = ?',
    ),
    newestId: connection.prepare<[], { id: Uint8Array }>('SELECT id FROM events ORDER BY seq DESC LIMIT 1'),
    journey: connection.prepare<[string, string], Journey>(
      `SELECT workspace_ref, journeys.workspace_id, journey_ref, status
      FROM journeys JOIN workspaces USING (workspace_id) WHERE journey_id = ? AND journeys.workspace_id = ?`,
    ),
    customer: connection.prepare<
      [string, string, string],
      { customer_ref: number; customer_id: string; customer_name: string }
    >(
      `SELECT customer_ref, customer_id, customer_name FROM customers
      WHERE workspace_id = ? AND customer_type = ? AND client_customer_id = ?`,
    ),
    customerExists: connection.prepare<[string, string]>(
      'SELECT 1 FROM customers WHERE workspace_id = ? AND customer_id = ?',
    ),
    insertCustomer: connection.prepare(
      `INSERT INTO customers (workspace_id, customer_id, customer_type, client_customer_id, customer_name,
        created_ms, updated_ms) VALUES (?, ?, ?, ?, ?, ?, ?)`,
    ),
    renameCustomer: connection.prepare<[string, number, number]>(
      'UPDATE customers SET customer_name = ?, updated_ms = ? WHERE customer_ref = ?',
    ),
    enrol: connection.prepare<[number, number, number]>(
      'INSERT INTO enrolments (journey_ref, customer_ref, enrolled_ms) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
    ),
    enrolled: connection.prepare<[number, string, string], { customer_ref: number }>(
      `SELECT customer_ref FROM customers JOIN enrolments USING (customer_ref)
      WHERE journey_ref = ? AND workspace_id = ? AND customer_id = ?`,
    ),
    message: connection.prepare<[string, string], EventContent & { id: Uint8Array; received_ms: number }>(
      `SELECT events.id, events.received_ms, journey_id, customer_id, event_id, occurred_ms, custom_variables
      FROM events JOIN journeys USING (journey_ref) JOIN customers USING (customer_ref)
      WHERE workspace_ref = (SELECT workspace_ref FROM workspaces WHERE workspace_id = ?) AND message_id = ?`,
    ),
    insertEvent: connection.prepare(
      `INSERT INTO events (workspace_ref, journey_ref, customer_ref, id, event_id, occurred_ms, received_ms,
        message_id, custom_variables) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
  }
}
