import type { components } from '../../generated/contract.ts'
import { instantOrNull, instantText } from '../domain/instants.ts'
import { shareDifference } from '../domain/share-intervals.ts'
import type {
  ComparedNumbers,
  EntryPeriod,
  PartNumbers,
  StandingsState,
  StepNumbers,
} from '../storage/standings/standings.ts'
import type { FilterQuery } from './report-query.ts'

type Schemas = components['schemas']
type Step = Schemas['JourneyStep']

/** The steps of a report, and the number of the first. */
type Part = { steps: readonly Step[]; first: number }

/** Numbers of which the shares are compared. */
type Shares = { enrolled: number; steps: readonly { reached: number }[] }
type GroupShares = Shares & { group: Schemas['BreakdownGroup'] }

/** Returns how current the numbers are. */
export function stateOf({ as_of_ms, recomputing }: StandingsState) {
  return { as_of: instantOrNull(as_of_ms), recomputing }
}

/** Returns the steps that the numbers belong to. A step that was removed since has the name of its event. */
export function namedSteps({ event_ids }: StandingsState, configured: readonly Step[]): Step[] {
  const names = new Map(configured.map(({ event_id, name }) => [event_id, name]))
  return event_ids.map((event_id) => ({ event_id, name: names.get(event_id) ?? event_id }))
}

/** Returns the steps that were asked for. */
export function partOf(steps: readonly Step[], { first_step = 1, last_step }: FilterQuery): Step[] {
  return steps.slice(first_step - 1, last_step)
}

export function reportSteps({ steps, first }: Part, numbers: PartNumbers): Schemas['JourneyReportStep'][] {
  return numbers.steps.map((step, index) => {
    return {
      step: first + index,
      ...(steps[index] as Step),
      ...reportStep(step, numbers.steps[index - 1], numbers.enrolled),
    }
  })
}

/** Returns the numbers of the compared period, and how much the shares differ; null without one. */
export function comparisonOf(
  part: Part,
  numbers: ComparedNumbers,
  compared: Required<EntryPeriod> | undefined,
): Schemas['JourneyComparison'] {
  const { comparison } = numbers
  if (!comparison || !compared) return null
  return {
    entered_from: instantText(compared.entered_from_ms),
    entered_to: instantText(compared.entered_to_ms),
    enrolled: comparison.enrolled,
    steps: reportSteps(part, comparison),
    differences: differences(numbers, comparison),
  }
}

/** Returns by step how much the shares of enrolled customers differ. */
export function differences(one: Shares, other: Shares): Schemas['ShareDifference'][] {
  return one.steps.map(({ reached }, step) => {
    if (one.enrolled === 0 || other.enrolled === 0) return null
    const { difference, low, high } = shareDifference(
      { part: reached, whole: one.enrolled },
      { part: other.steps[step]?.reached ?? 0, whole: other.enrolled },
    )
    return { of_enrolled: difference, low, high, within_chance: low <= 0 && high >= 0 }
  })
}

/** Returns the numbers that those of a group are compared with (contract: `differences`). */
export function othersThan(own: Schemas['BreakdownGroup'], groups: readonly GroupShares[]): Shares {
  const others = groups.filter(({ group }) => group !== own)
  const withValue = others.filter(({ group, enrolled }) => group.kind !== 'not_set' && enrolled > 0)
  return sumOf(withValue.length > 0 ? withValue : others)
}

function sumOf(all: readonly Shares[]): Shares {
  const [first] = all
  return {
    enrolled: all.reduce((sum, { enrolled }) => sum + enrolled, 0),
    steps: (first?.steps ?? []).map((_, step) => ({
      reached: all.reduce((sum, { steps }) => sum + (steps[step]?.reached ?? 0), 0),
    })),
  }
}

function reportStep(step: StepNumbers, before: StepNumbers | undefined, enrolled: number) {
  const { reached, waiting, dropped, out_of_order, times } = step
  const candidates = before ? before.reached : enrolled
  return {
    reached,
    of_enrolled: share(reached, enrolled),
    of_previous: share(reached, candidates),
    not_reached: candidates - reached,
    waiting,
    dropped,
    out_of_order,
    times,
  }
}

function share(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole
}
