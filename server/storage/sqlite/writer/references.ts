import type { Connection } from '../connection.ts'

/** Limit of cached customers; each takes about 150 bytes. */
const CACHED_CUSTOMERS = 100_000

type JourneyRow = {
  workspace_ref: number
  workspace_id: string
  journey_ref: number
  journey_id: string
  status: string
}

type JourneyName = Pick<JourneyRow, 'workspace_id' | 'journey_id'>

export type Journey = JourneyRow & {
  /** customer_ref by customer_id, of enrolled customers. */
  enrolled: Map<string, number>
}

/**
 * A cache of what requests refer to, looked up inside the writer's transaction. Only what exists is cached, keyed by
 * the text read from the store: a group's identifiers are substrings, each of which would keep the whole text of the
 * group in memory.
 */
export class References {
  readonly #statements: ReturnType<typeof prepare>
  /** By workspace_id, then by journey_id. */
  readonly #journeys = new Map<string, Map<string, Journey>>()
  /** By the number that events refer to. */
  readonly #journeyNames = new Map<number, JourneyName>()
  #cachedCustomers = 0

  constructor(connection: Connection) {
    this.#statements = prepare(connection)
  }

  /** Clears the cache, because another program or a rollback may have changed what it holds. */
  forget(): void {
    this.#journeys.clear()
    this.#journeyNames.clear()
    this.#cachedCustomers = 0
  }

  journey(workspace_id: string, journey_id: string): Journey | undefined {
    const cached = this.#journeys.get(workspace_id)?.get(journey_id)
    if (cached) return cached
    const found = this.#statements.journey.get(journey_id, workspace_id)
    if (!found) return undefined
    const journey = { ...found, enrolled: new Map() }
    const journeys = this.#journeys.get(workspace_id) ?? new Map<string, Journey>()
    this.#journeys.set(found.workspace_id, journeys.set(found.journey_id, journey))
    return journey
  }

  /** The journey of a stored event; undefined if it was removed. */
  journeyOf(journey_ref: number): JourneyName | undefined {
    const cached = this.#journeyNames.get(journey_ref)
    if (cached) return cached
    const found = this.#statements.journeyName.get(journey_ref)
    if (found) this.#journeyNames.set(journey_ref, found)
    return found
  }

  /** The customer's row number, or why it cannot have events in the journey. */
  enrolledCustomer(
    { workspace_id, journey_ref, enrolled }: Journey,
    customer_id: string,
  ): number | 'customer_not_found' | 'customer_erased' | 'customer_not_in_journey' {
    const cached = enrolled.get(customer_id)
    if (cached !== undefined) return cached
    const found = this.#statements.customer.get(journey_ref, workspace_id, customer_id)
    if (!found) {
      return this.#statements.erased.get(workspace_id, customer_id) ? 'customer_erased' : 'customer_not_found'
    }
    if (!found.is_enrolled) return 'customer_not_in_journey'
    this.noteEnrolled(enrolled, found.customer_id, found.customer_ref)
    return found.customer_ref
  }

  /** Caches an enrolled customer as it is stored. */
  noteEnrolled(enrolled: Journey['enrolled'], customer_id: string, customer_ref: number): void {
    if (enrolled.has(customer_id)) return
    if (this.#cachedCustomers >= CACHED_CUSTOMERS) this.forget()
    enrolled.set(customer_id, customer_ref)
    this.#cachedCustomers += 1
  }
}

/** Prepares the look-ups of row numbers for a workspace, its journeys and its customers. */
export function prepareReferences(connection: Connection) {
  return {
    workspace: connection
      .prepare<[string], number>('SELECT workspace_ref FROM workspaces WHERE workspace_id = ?')
      .pluck(),
    journey: connection
      .prepare<[string, string], number>(
        'SELECT journey_ref FROM journeys WHERE workspace_id = ? AND journey_id = ? AND removed_ms IS NULL',
      )
      .pluck(),
    customer: connection
      .prepare<[string, string], number>(
        'SELECT customer_ref FROM customers WHERE workspace_id = ? AND customer_id = ?',
      )
      .pluck(),
  }
}

function prepare(connection: Connection) {
  return {
    journey: connection.prepare<[string, string], JourneyRow>(
      `SELECT workspace_ref, journeys.workspace_id, journey_ref, journey_id,
        iif(archived_ms IS NULL, status, 'archived') AS status
      FROM journeys JOIN workspaces USING (workspace_id) WHERE journey_id = ? AND journeys.workspace_id = ?
        AND journeys.removed_ms IS NULL`,
    ),
    journeyName: connection.prepare<[number], JourneyName>(
      'SELECT workspace_id, journey_id FROM journeys WHERE journey_ref = ? AND removed_ms IS NULL',
    ),
    customer: connection.prepare<
      [number, string, string],
      { customer_ref: number; customer_id: string; is_enrolled: 0 | 1 }
    >(
      `SELECT customer_ref, customer_id, EXISTS (
        SELECT 1 FROM enrolments WHERE journey_ref = ? AND enrolments.customer_ref = customers.customer_ref
      ) AS is_enrolled
      FROM customers WHERE workspace_id = ? AND customer_id = ?`,
    ),
    erased: connection.prepare<[string, string]>(
      'SELECT 1 FROM erasures WHERE workspace_id = ? AND customer_id = ?',
    ),
  }
}
