import type { Schemas } from '../../client/person.ts'
import { descriptionFault, givenNameFault, nameFault, onlyFaults } from '../parts/forms/field-faults.ts'

type Journey = Schemas['Journey']

/** A step being edited. `key` identifies it while it is moved or renamed; it is never sent. */
export type StepDraft = Schemas['JourneyStep'] & { key: string }

/** The editable fields of a journey. */
export type JourneyDraft = Pick<Journey, 'name' | 'description'> & { steps: StepDraft[] }

export function emptyStep(): StepDraft {
  return { key: newStepKey(), event_id: '', name: '' }
}

export function draftOfJourney({ name, description, steps }: Journey): JourneyDraft {
  return { name, description, steps: steps.map((step) => ({ ...step, key: newStepKey() })) }
}

/** The changed fields, as they are sent. */
export function journeyChanges(journey: Journey, draft: JourneyDraft): Schemas['JourneyUpdate'] {
  const steps = sentSteps(draft.steps)
  return {
    ...(draft.name !== journey.name && { name: draft.name }),
    ...(draft.description !== journey.description && { description: draft.description }),
    ...(!haveSameSteps(steps, journey.steps) && { steps }),
  }
}

/**
 * The names of the fields that differ between `base` and `newer`, and between `newer` and the draft. Where it is what the draft
 * says, there is nothing to decide: that is also what a save looks like whose response was lost.
 */
export function fieldsToDecide(base: Journey, newer: Journey, draft: JourneyDraft): string[] {
  const ours = journeyChanges(newer, draft)
  return Object.keys(journeyChanges(base, draftOfJourney(newer))).filter((field) => field in ours)
}

/** Rebases a draft from `base` onto `newer`: edited fields stay, the others are taken from `newer`. */
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
 * What the contract would reject, by the path of the field: `steps.2.event_id`. Unchanged fields of an edited journey are not
 * sent, and may predate the contract's rules.
 */
export function journeyFaults(draft: JourneyDraft, edited?: Journey): Record<string, string> {
  const faults: Record<string, string | undefined> = {
    name: givenNameFault(draft.name, 'Enter a name.'),
    description: descriptionFault(draft.description),
  }
  const positions = new Map<string, number>()
  for (const [index, { event_id, name }] of draft.steps.entries()) {
    const first = positions.get(event_id)
    faults[`steps.${index}.event_id`] =
      nameFault(event_id, 'Enter the event_id that reaches this step.') ??
      (first === undefined
        ? undefined
        : `Step ${first} already has this event_id. Each step needs a different one.`)
    faults[`steps.${index}.name`] = givenNameFault(name, 'Enter a display name.')
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
