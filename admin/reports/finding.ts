import type { Schemas } from '../../client/person.ts'
import { shareText } from '../parts/number-text.ts'
import { isolated } from '../parts/visible-name.ts'
import { groupLabel } from './group-label.ts'
import { pointsText } from './points-text.ts'

type Report = Pick<Schemas['JourneyReport'], 'enrolled' | 'steps' | 'groups' | 'comparison'>
type Step = Pick<Schemas['JourneyReportStep'], 'step' | 'name' | 'of_enrolled'>
type Difference = Schemas['ShareDifference']

/** Customers whose shares differ from those of others. */
type Side = {
  /** With its verb: `“team” converts`. */
  subject: string
  others: string
  steps: readonly Step[]
  differences: readonly Difference[]
}

/** A difference that is not within chance. */
type Found = { side: Side; index: number; of_enrolled: number }

/** What a breakdown says, in a sentence or two; '' without groups. */
export function breakdownFinding({ groups }: Report, breakdown: string): string {
  if (!groups || groups.length === 0) return ''
  const names = groups.map(({ group }) => nameOf(group, breakdown))
  if (groups.length === 1) return `All customers are in one group: ${names[0]}.`
  const sides = groups.map(({ group, steps, differences }, index) => ({
    subject: `${names[index]} ${isOne(group, breakdown) ? 'converts' : 'convert'}`,
    others: othersText(index, groups, names),
    steps,
    differences,
  }))
  // A value says more than what the others have in common.
  const values = sides.filter((_, index) => groups[index]?.group.kind === 'value')
  const found = largest(values) ?? largest(sides)
  if (!found) return 'Within chance: no group differs from the others by more than chance explains.'
  return [sentenceOf(found), openingOf(found), endOf(found)].filter(Boolean).join(' ')
}

/** What a comparison with another period says; '' without one. */
export function comparisonFinding({ enrolled, steps, comparison }: Report): string {
  if (!comparison) return ''
  if (enrolled === 0) return 'Nobody entered in this period, so there is nothing to compare.'
  if (comparison.enrolled === 0)
    return 'Nobody entered in the compared period, so there is nothing to compare.'
  const { differences } = comparison
  const side = { subject: 'This period converts', others: 'the compared period', steps, differences }
  const found = largest([side])
  if (!found) return 'Within chance: the two periods differ by no more than chance explains.'
  return [sentenceOf(found), openingOf(found), endOf(found)].filter(Boolean).join(' ')
}

/** Those that a group is compared with: others with a value, if there are any (contract: `differences`). */
function othersText(own: number, groups: NonNullable<Report['groups']>, names: readonly string[]): string {
  const others = names.filter((_, index) => index !== own)
  const withValue = names.filter((_, index) => {
    const { group, enrolled } = groups[index] ?? {}
    return index !== own && group?.kind !== 'not_set' && enrolled !== 0
  })
  const compared = withValue.length > 0 ? withValue : others
  if (compared.length === 1) return compared[0] ?? ''
  return compared.length === others.length ? 'all others' : 'all others with a value'
}

/** The largest difference that is not within chance; of those as large, that of the better side, at its last step. */
function largest(sides: readonly Side[]): Found | undefined {
  const found = sides.flatMap((side) =>
    side.differences.flatMap((difference, index): Found[] =>
      difference && !difference.within_chance ? [{ side, index, of_enrolled: difference.of_enrolled }] : [],
    ),
  )
  const size = ({ of_enrolled }: Found) => Math.abs(of_enrolled)
  return found.toSorted(
    (one, other) => size(other) - size(one) || other.of_enrolled - one.of_enrolled || other.index - one.index,
  )[0]
}

/** A group within a sentence. */
function nameOf(group: Schemas['BreakdownGroup'], breakdown: string): string {
  if (group.kind === 'not_set') return 'customers without a value'
  if (group.kind === 'other') return 'customers with other values'
  const label = isolated(groupLabel(group, breakdown))
  return isOne(group, breakdown) ? `“${label}”` : label.toLowerCase()
}

function isOne({ kind }: Schemas['BreakdownGroup'], breakdown: string): boolean {
  return kind === 'value' && breakdown !== 'customer_type'
}

function sentenceOf({ side, index, of_enrolled }: Found): string {
  const share = side.steps[index]?.of_enrolled ?? 0
  const numbers = `${shareText(share)} against ${shareText(share - of_enrolled)}`
  const subject = side.subject.charAt(0).toUpperCase() + side.subject.slice(1)
  return `${subject} ${comparedText(of_enrolled)} at ${stepText(side, index)} than ${side.others}: ${numbers}.`
}

/** At which earlier step more than half of a difference appears; '' if there is none. */
function openingOf({ side, index, of_enrolled }: Found): string {
  const gains = side.differences.slice(0, index + 1).map((difference, step) => {
    const before = step === 0 ? 0 : (side.differences[step - 1]?.of_enrolled ?? 0)
    return ((difference?.of_enrolled ?? 0) - before) * Math.sign(of_enrolled)
  })
  const opening = gains.findIndex((gain) => gain > Math.abs(of_enrolled) / 2)
  return opening === -1 || opening === index ? '' : `Most of it appears at ${stepText(side, opening)}.`
}

/** How the same side does at the last step, if that is another one. */
function endOf({ side, index }: Found): string {
  const last = side.differences.length - 1
  const difference = side.differences[last]
  if (last === index || !difference) return ''
  const end = difference.within_chance
    ? 'the difference is within chance'
    : `it is ${comparedText(difference.of_enrolled)}`
  return `At the last step, ${end}.`
}

/** `12 points better`. */
function comparedText(of_enrolled: number): string {
  const points = pointsText(Math.abs(of_enrolled)).replace('+', '')
  return `${points} ${points === '1' ? 'point' : 'points'} ${of_enrolled > 0 ? 'better' : 'worse'}`
}

/** `step 3 (Chose a plan)`. */
function stepText({ steps }: Side, index: number): string {
  const { step, name } = steps[index] ?? { step: index + 1, name: '' }
  return `step ${step} (${isolated(name)})`
}
