import type { components } from '../../generated/contract.ts'
import type { Context } from '../contract.ts'
import { definitionCheck } from '../domain/definition-check.ts'
import { comparedValue } from '../domain/event-definitions.ts'
import { placeOf } from '../domain/violation-places.ts'
import type { StoredDefinition } from '../storage/tables/event-definitions.ts'
import { latestEvents } from './latest-events.ts'

type Trial = components['schemas']['DefinitionTrial']
type CountedViolation = Trial['violations'][number]

/** Maximum keys and violations that a trial lists. */
const LISTED = 20

/** Checks the latest stored events with a definition's name against it. */
export async function definitionTrial(
  workspaceId: string,
  { event_id, variables }: Pick<StoredDefinition, 'event_id' | 'variables'>,
  context: Pick<Context, 'storage' | 'reading'>,
): Promise<Trial> {
  const check = definitionCheck(variables)
  const keys = new Map<string | null, number>()
  const violations = new Map<string, CountedViolation>()
  let [examined, not_conforming] = [0, 0]
  for await (const { custom_variables, key_id } of latestEvents(workspaceId, event_id, context)) {
    examined += 1
    /** Of this event. */
    const found = new Map<string, CountedViolation>()
    for (const { code, pointer, expected } of check(comparedValue(custom_variables))) {
      const place = placeOf(pointer, variables)
      found.set(`${code} ${place}`, { code, pointer: place, expected, events: 1 })
    }
    if (found.size === 0) continue
    not_conforming += 1
    keys.set(key_id, (keys.get(key_id) ?? 0) + 1)
    for (const [field, violation] of found) {
      const events = (violations.get(field)?.events ?? 0) + 1
      violations.set(field, { ...violation, events })
    }
  }
  const by_key = [...keys].map(([key_id, events]) => ({ key_id, events }))
  return {
    examined,
    not_conforming,
    by_key: mostFirst(by_key),
    violations: mostFirst([...violations.values()]),
  }
}

function mostFirst<Counted extends { events: number }>(counted: Counted[]): Counted[] {
  return counted.sort((a, b) => b.events - a.events).slice(0, LISTED)
}
