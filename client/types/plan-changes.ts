import {
  type DefinitionDifference,
  definitionDifferences,
  type Verdict,
} from '../../server/domain/definition-changes.ts'
import type { DefinedValue } from '../../server/domain/event-definitions.ts'
import type { JourneyEvent } from '../../server/domain/journey-events.ts'

/** A difference of two plans, for those who send events. Without an event, it is one of the names that the plan takes. */
export type PlanChange = { event_id?: string } & Pick<DefinitionDifference, 'pointer' | 'senders' | 'detail'>

/** Variables that are not defined: the contract's `CustomVariables`. */
const ANY: DefinedValue = { type: ['object', 'string'] }

/** Lists what the second plan changes for those who send events. */
export function planChanges(before: readonly JourneyEvent[], after: readonly JourneyEvent[]): PlanChange[] {
  // A plan without events takes any name.
  if (before.length > 0 && after.length === 0) {
    return [{ pointer: '', senders: 'additive', detail: 'any name is accepted now' }]
  }
  const [old, now] = [byName(before), byName(after)]
  const names = new Set([...old.keys(), ...now.keys()])
  const changes = [...names].flatMap((event_id): PlanChange[] => {
    const [was, is] = [old.get(event_id), now.get(event_id)]
    if (!was) return [{ event_id, pointer: '', senders: 'additive', detail: 'is a new event' }]
    if (!is) return [{ event_id, pointer: '', senders: 'breaking', detail: 'is no longer in the plan' }]
    const differences = definitionDifferences(was.variables ?? ANY, is.variables ?? ANY)
    return differences.map((difference) => ({ event_id, ...difference }))
  })
  if (before.length > 0 || after.length === 0) return changes
  return [{ pointer: '', senders: 'breaking', detail: 'no other names are accepted now' }, ...changes]
}

/** Returns what the changes mean to those who send events. */
export function sendersVerdict(changes: readonly PlanChange[]): Verdict {
  if (changes.length === 0) return 'none'
  return changes.some(({ senders }) => senders === 'breaking') ? 'breaking' : 'additive'
}

/** Returns for example `breaking: "plan_chosen" /plan has another list of values`. */
export function changeText({ event_id, pointer, senders, detail }: PlanChange): string {
  const place = [event_id === undefined ? '' : JSON.stringify(event_id), pointer].filter(Boolean)
  return [`${senders}:`, ...place, detail].join(' ')
}

function byName(events: readonly JourneyEvent[]): Map<string, JourneyEvent> {
  return new Map(events.map((event) => [event.event_id, event]))
}
