import { newId } from '../../domain/identifiers.ts'
import { nameKey } from '../../domain/names.ts'
import type { InitializeOutcome } from '../event-store.ts'
import type { Connection } from './connection.ts'
import type { References } from './references.ts'

export type Initialization = {
  workspace_id: string
  journey_id: string
  customer_type: string
  client_customer_id: string
  customer_name: string
}

/** Registers customers, inside the writer's transaction. */
export class CustomerWriter {
  readonly #references: References
  readonly #statements: ReturnType<typeof prepare>

  constructor(connection: Connection, references: References) {
    this.#references = references
    this.#statements = prepare(connection)
  }

  initialize(unit: Initialization, now_ms: number): InitializeOutcome {
    const { workspace_id, customer_type, client_customer_id, customer_name } = unit
    const journey = this.#references.journey(workspace_id, unit.journey_id)
    if (!journey) return { status: 'refused', code: 'journey_not_found' }
    if (journey.status === 'archived') return { status: 'refused', code: 'journey_archived' }

    const known = this.#statements.customer.get(workspace_id, customer_type, client_customer_id)
    const customer_id = known?.customer_id ?? newId('cus')
    let customer_ref = known?.customer_ref
    if (customer_ref === undefined) {
      const names = [customer_type, client_customer_id, customer_name, nameKey(customer_name)]
      const { lastInsertRowid } = this.#statements.insert.run(
        workspace_id,
        customer_id,
        ...names,
        now_ms,
        now_ms,
      )
      customer_ref = Number(lastInsertRowid)
    } else if (known?.customer_name !== customer_name) {
      this.#statements.rename.run(customer_name, nameKey(customer_name), now_ms, customer_ref)
    }
    this.#statements.enrol.run(journey.journey_ref, customer_ref, now_ms)
    return { status: 'stored', customer_id, created: known === undefined }
  }
}

function prepare(connection: Connection) {
  return {
    customer: connection.prepare<
      [string, string, string],
      { customer_ref: number; customer_id: string; customer_name: string }
    >(
      `SELECT customer_ref, customer_id, customer_name FROM customers
      WHERE workspace_id = ? AND customer_type = ? AND client_customer_id = ?`,
    ),
    insert: connection.prepare(
      `INSERT INTO customers (workspace_id, customer_id, customer_type, client_customer_id, customer_name,
        name_key, created_ms, updated_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    rename: connection.prepare<[string, string, number, number]>(
      'UPDATE customers SET customer_name = ?, name_key = ?, updated_ms = ? WHERE customer_ref = ?',
    ),
    enrol: connection.prepare<[number, number, number]>(
      'INSERT INTO enrolments (journey_ref, customer_ref, enrolled_ms) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
    ),
  }
}
