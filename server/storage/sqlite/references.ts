import type { Connection } from './connection.ts'

/** Positive look-ups that are kept; each takes about 200 bytes. */
const CACHED_REFERENCES = 100_000

export type Journey = { workspace_ref: number; workspace_id: string; journey_ref: number; status: string }

/** What requests refer to, looked up inside the writer's transaction. Only what was found is remembered. */
export class References {
  readonly #statements: ReturnType<typeof prepare>
  /** By `workspace_id journey_id`. */
  readonly #journeys = new Map<string, Journey>()
  /** customer_ref by `journey_ref customer_id`, for customers that take part in the journey. */
  readonly #enrolled = new Map<string, number>()

  constructor(connection: Connection) {
    this.#statements = prepare(connection)
  }

  /** Forgets what it has looked up, because another program or a rollback may have changed it. */
  forget(): void {
    this.#journeys.clear()
    this.#enrolled.clear()
  }

  journey(workspace_id: string, journey_id: string): Journey | undefined {
    const key = `${workspace_id} ${journey_id}`
    const cached = this.#journeys.get(key)
    if (cached) return cached
    const found = this.#statements.journey.get(journey_id, workspace_id)
    if (found) this.#journeys.set(key, found)
    return found
  }

  /** The customer's reference, or why it cannot have events in the journey. */
  enrolledCustomer(
    { workspace_id, journey_ref }: Journey,
    customer_id: string,
  ): number | 'customer_not_found' | 'customer_not_in_journey' {
    const key = `${journey_ref} ${customer_id}`
    const cached = this.#enrolled.get(key)
    if (cached !== undefined) return cached
    const found = this.#statements.enrolled.get(journey_ref, workspace_id, customer_id)
    if (!found) {
      const exists = this.#statements.customerExists.get(workspace_id, customer_id)
      return exists ? 'customer_not_in_journey' : 'customer_not_found'
    }
    if (this.#enrolled.size >= CACHED_REFERENCES) this.#enrolled.clear()
    this.#enrolled.set(key, found.customer_ref)
    return found.customer_ref
  }
}

function prepare(connection: Connection) {
  return {
    journey: connection.prepare<[string, string], Journey>(
      `SELECT workspace_ref, journeys.workspace_id, journey_ref, status
      FROM journeys JOIN workspaces USING (workspace_id) WHERE journey_id = ? AND journeys.workspace_id = ?`,
    ),
    enrolled: connection.prepare<[number, string, string], { customer_ref: number }>(
      `SELECT customer_ref FROM customers JOIN enrolments USING (customer_ref)
      WHERE journey_ref = ? AND workspace_id = ? AND customer_id = ?`,
    ),
    customerExists: connection.prepare<[string, string]>(
      'SELECT 1 FROM customers WHERE workspace_id = ? AND customer_id = ?',
    ),
  }
}
