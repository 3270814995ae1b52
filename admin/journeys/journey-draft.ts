import type { Schemas } from '../../client/person.ts'
import { givenNameFault, lengthFault, nameFault, onlyFaults } from '../parts/field-faults.ts'

type Journey = Schemas['Journey']

/** A step while it is edited. `key` tells it from the others when it is moved or renamed; it is never sent. */
export type StepDraft = Schemas['JourneyStep'] & { key: string }

/** What can be edited of a journey. */
export type JourneyDraft = Pick<Journey, 'name' | 'description'> & { steps: StepDraft[] }

/** More are more than anybody takes in at a glance. */
export const stepLimit = 100

export function emptyStep(): StepDraft {
  return { key: newStepKey(), event_id: '', name: '' }
}

export function draftOfJourney({ name, description, steps }: Journey): JourneyDraft {
  return { name, description, steps: steps.map((step) => ({ ...step, key: newStepKey() })) }
}

/** The fields, in the form in which they are sent, that differ from the journey's. */
export function journeyChanges(journey: Journey, draft: JourneyDraft): Schemas['JourneyUpdate'] {
  const steps = sentSteps(draft.steps)
  return {
    ...(draft.name !== journey.name && { name: draft.name }),
    ...(draft.description !== journey.description && { description: draft.description }),
    ...(!haveSameSteps(steps, journey.steps) && { steps }),
  }
}

/** The fields of `earlier` that have other values in `later`, as people call them. */
export function fieldsChangedBetween(earlier: Journey, later: Journey): string[] {
  return Object.keys(journeyChanges(earlier, draftOfJourney(later)))
}

/** The draft begun from `base`, carried over to `newer`: what was edited stays, the rest is taken from `newer`. */
export function carriedOver(draft: JourneyDraft, base: Journey, newer: Journey): JourneyDraft {
  const edited = journeyChanges(base, draft)
  const fresh = draftOfJourney(newer)
  const hasSameSteps = haveSameSteps(sentSteps(draft.steps), newer.steps)
  return {
    name: edited.name ?? fresh.name,
    description: edited.description ?? fresh.description,
    steps: edited.steps || hasSameSteps ? draft.steps : fresh.steps,
  }
}

/**
 * What the contract would refuse, by the path of the field: `steps.2.event_id`. Of an edited journey what is as it was
 * is not sent, and may be older than the contract's rules.
 */
export function journeyFaults(draft: JourneyDraft, edited?: Journey): Record<string, string> {
  const faults: Record<string, string | undefined> = {
    name: givenNameFault(draft.name, 'Give the journey a name.'),
    description: lengthFault(draft.description, 2000),
  }
  const positions = new Map<string, number>()
  for (const [index, { event_id, name }] of draft.steps.entries()) {
    const first = positions.get(event_id)
    faults[`steps.${index}.event_id`] =
      nameFault(event_id, 'Name the event that reaches this step.') ??
      (first === undefined
        ? undefined
        : `Step ${first} has this event_id already. Give every step one of its own.`)
    faults[`steps.${index}.name`] = givenNameFault(name, 'Say how people call this step.')
    if (!first) positions.set(event_id, index + 1)
  }
  if (!edited) return onlyFaults(faults)
  const sent = Object.keys(journeyChanges(edited, draft))
  const faultsOfSent = Object.entries(faults).filter(([path]) => sent.includes(path.split('.')[0] ?? ''))
  return onlyFaults(Object.fromEntries(faultsOfSent))
}

function newStepKey(): string {
  stepKeys += 1
  return `step-${stepKeys}`
}

let stepKeys = 0

function sentSteps(steps: StepDraft[]): Schemas['JourneyStep'][] {
  return steps.map(({ event_id, name }) => ({ event_id, name }))
}

function haveSameSteps(one: Schemas['JourneyStep'][], other: Schemas['JourneyStep'][]): boolean {
  return (
    one.length === other.length &&
    one.every(
      ({ event_id, name }, index) => event_id === other[index]?.event_id && name === other[index].name,
    )
  )
}
