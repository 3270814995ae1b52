import { variablesTest } from '../../../domain/event-values.ts'
import { isId } from '../../../domain/identifiers.ts'
import { nameHashes } from '../../../domain/name-hashes.ts'
import type { EventFilter } from '../../events/event-filter.ts'
import type { EventRefs } from '../index/index-reader.ts'
import { wholeIdText } from '../kept-ids.ts'
import type { EventHead, EventStatements } from './event-statements.ts'

/** Translates filters of events into row numbers and conditions on rows. */
export class EventMatcher {
  readonly #statements: EventStatements
  #nameHash: ((name: string) => number) | undefined

  constructor(statements: EventStatements) {
    this.#statements = statements
  }

  /** Returns what a filter means: what its events refer to, and its conditions; undefined if no event can match. */
  match(workspace_id: string, filter: EventFilter) {
    const { id, journey_id, customer_id, event_id, key_id, variables = [] } = filter
    const { from_ms, to_ms, occurred_from_ms, occurred_to_ms } = filter
    const workspace = this.#statements.workspace.get(workspace_id)
    const journey =
      journey_id === undefined ? undefined : this.#statements.journey.get(workspace_id, journey_id)
    const customer =
      customer_id === undefined ? undefined : this.#statements.customer.get(workspace_id, customer_id)
    const sender = key_id === undefined ? undefined : this.#statements.keyRef.get(key_id)
    const isUnknown =
      workspace === undefined ||
      (id !== undefined && !isId('evt', id)) ||
      (journey_id !== undefined && journey === undefined) ||
      (customer_id !== undefined && customer === undefined) ||
      (key_id !== undefined && sender === undefined)
    if (isUnknown) return undefined
    const name = event_id === undefined ? undefined : this.#hashOf(event_id)
    const refs: EventRefs = {
      workspace,
      ...(journey !== undefined && { journey }),
      ...(customer !== undefined && { customer }),
      ...(name !== undefined && { name }),
    }
    const isDatedWithin = ({ occurred_ms, received_ms }: Omit<EventHead, 'id'>) => {
      const at_ms = occurred_ms ?? received_ms
      return (
        (occurred_from_ms === undefined || at_ms >= occurred_from_ms) &&
        (occurred_to_ms === undefined || at_ms < occurred_to_ms)
      )
    }
    const matches = (head: Omit<EventHead, 'id'>) =>
      head.workspace_ref === workspace &&
      (journey === undefined || head.journey_ref === journey) &&
      (customer === undefined || head.customer_ref === customer) &&
      (event_id === undefined || head.event_id === event_id) &&
      (from_ms === undefined || head.received_ms >= from_ms) &&
      (to_ms === undefined || head.received_ms < to_ms) &&
      isDatedWithin(head)
    const isFound = (head: EventHead) => (id === undefined || wholeIdText(head) === id) && matches(head)
    const hasVariables = variables.length > 0 && { hasVariables: variablesTest(variables) }
    return { refs, matches, isFound, sender, ...hasVariables }
  }

  #hashOf(event_id: string): number {
    this.#nameHash ??= nameHashes(this.#statements.messageSalt.get() ?? '')
    return this.#nameHash(event_id)
  }
}
