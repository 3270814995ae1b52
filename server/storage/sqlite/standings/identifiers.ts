import type { Key } from '../../../domain/journey-standing.ts'
import type { AnswerSource } from '../../standings/standings-answers.ts'
import type { Connection } from '../connection.ts'
import { type Kept, wholeIdText } from '../kept-ids.ts'
import { prepareReferences } from '../writer/references.ts'
import { keyOf, numberOf } from './keys.ts'

/** Stands for a removed event. */
const NONE: Kept = { id: new Uint8Array(16), received_ms: 0 }

/** Translates the store's internal numbers into public identifiers, and back. */
export class Identifiers {
  readonly #statements: ReturnType<typeof prepare>

  constructor(connection: Connection) {
    this.#statements = prepare(connection)
  }

  /** Covers one workspace; names of another workspace are not found. */
  of(workspaceId: string): Pick<AnswerSource, 'keyOf' | 'idOf' | 'placeOf'> {
    const { journey, customer, place, journeyId, customerId, eventId } = this.#statements
    return {
      keyOf(prefix, id) {
        const found = (prefix === 'jrn' ? journey : customer).get(workspaceId, id)
        return found === undefined ? undefined : keyOf(found)
      },
      placeOf(journeyId) {
        const found = place.get({ workspaceId, journeyId })
        return found === undefined ? undefined : keyOf(found)
      },
      idOf(prefix: 'jrn' | 'cus' | 'evt', key: Key) {
        const number = numberOf(key)
        if (prefix === 'evt') return wholeIdText(eventId.get(number) ?? NONE)
        return (prefix === 'jrn' ? journeyId : customerId).get(number) ?? ''
      },
    }
  }
}

function prepare(connection: Connection) {
  return {
    ...prepareReferences(connection),
    // Of a journey that is gone, the number after the journeys created before it: identifiers start with their time.
    place: connection
      .prepare<[{ workspaceId: string; journeyId: string }], number>(
        `SELECT coalesce(
          (SELECT journey_ref FROM journeys WHERE workspace_id = @workspaceId AND journey_id = @journeyId),
          (SELECT max(journey_ref) + 1 FROM journeys WHERE workspace_id = @workspaceId AND journey_id < @journeyId),
          0
        )`,
      )
      .pluck(),
    journeyId: connection
      .prepare<[number], string>('SELECT journey_id FROM journeys WHERE journey_ref = ?')
      .pluck(),
    customerId: connection
      .prepare<[number], string>('SELECT customer_id FROM customers WHERE customer_ref = ?')
      .pluck(),
    eventId: connection.prepare<[number], Kept>('SELECT id, received_ms FROM events WHERE seq = ?'),
  }
}
