import type { components } from '../../../generated/contract.ts'
import type { TimesReader } from './standing-times.ts'
import type { Breakdown } from './standings.ts'

type BreakdownGroup = components['schemas']['BreakdownGroup']

/** The groups of a breakdown. */
export type Groups = {
  groups: readonly BreakdownGroup[]
  /** The index of the group that the standing just read belongs to; negative if it does not count. */
  of(page: TimesReader): number
}

/** Everybody, undivided. */
const UNDIVIDED: Groups = { groups: [], of: () => 0 }

const CUSTOMER_TYPES: Groups = {
  groups: ['account', 'contact'].map((value) => ({ kind: 'value', value, values: 1 })),
  of: ({ isContact }) => (isContact ? 1 : 0),
}

/** Divides enrolments into groups, unless it is by a variable. */
export function groupsOf(breakdown: Breakdown | undefined): Groups {
  return breakdown?.by === 'customer_type' ? CUSTOMER_TYPES : UNDIVIDED
}

/** In a list of groups, the values come first. */
const RANKS = { value: 0, other: 1, not_set: 2 }

/** Orders groups: values by how many are enrolled, then what is `other`, then what is `not_set`; without empty ones. */
export function listedGroups<Numbers>(
  { groups }: Groups,
  numbers: readonly Numbers[],
  enrolled: (numbers: Numbers) => { now: number; inAll: number },
): (Numbers & { group: BreakdownGroup })[] {
  return groups
    .flatMap((group, index) => {
      const of = numbers[index]
      if (of === undefined) return []
      const { now, inAll } = enrolled(of)
      return inAll > 0 ? [{ now, listed: { ...of, group } }] : []
    })
    .sort(
      (one, other) => RANKS[one.listed.group.kind] - RANKS[other.listed.group.kind] || other.now - one.now,
    )
    .map(({ listed }) => listed)
}
