import { isDeepStrictEqual } from 'node:util'
import { type DefinedValue, typesOf } from './event-definitions.ts'
import { pointerTo } from './pointers.ts'

/** See the contract: `DefinitionVerdict`. */
export type Verdict = 'none' | 'additive' | 'breaking'

type Change =
  | 'added'
  | 'removed'
  | 'required'
  | 'optional'
  | 'types'
  | 'values'
  | 'bounds'
  | 'format'
  | 'closed'
  | 'opened'

/** One difference of two revisions of a definition (contract: `DefinitionDifference`). */
export type DefinitionDifference = {
  /** JSON Pointer (RFC 6901) to the value within `custom_variables`. */
  pointer: string
  change: Change
  /** Whether an event that conformed may no longer do so. */
  senders: Verdict
  /** Whether a program may read a value that it did not have to expect. */
  readers: Verdict
  detail: string
}

const DETAILS: Record<Change, string> = {
  added: 'is a new field',
  removed: 'is no longer defined',
  required: 'is now required: events without it no longer conform',
  optional: 'is now optional: readers must expect events without it',
  types: 'has other types',
  values: 'has another list of values',
  bounds: 'has other bounds',
  format: 'has another format',
  closed: 'no longer allows other fields',
  opened: 'now allows other fields',
}

type Revision = { description: string; variables: DefinedValue }

/** Whether two revisions say the same, whatever the order of their fields. */
export function isSameRevision(a: Revision, b: Revision): boolean {
  return a.description === b.description && isDeepStrictEqual(a.variables, b.variables)
}

/** Whether a change takes something from what conforms, or adds something to it. */
type Effect = { narrows: boolean; widens: boolean }

const LEAST = ['minLength', 'minimum', 'minItems'] as const
/** Bounds that exclude nothing. */
const ANY = { minLength: 0, minimum: -Infinity, minItems: 0 } as const

const MOST = ['maxLength', 'maximum', 'maxItems'] as const

/**
 * Returns the differences of two revisions that matter to programs, breaking ones first. Titles, descriptions and
 * `deprecated` do not.
 */
export function definitionDifferences(before: DefinedValue, after: DefinedValue): DefinitionDifference[] {
  const comparison = new Comparison()
  comparison.compare(before, after, '')
  const isBreaking = ({ senders, readers }: DefinitionDifference) => [senders, readers].includes('breaking')
  return comparison.differences.sort((a, b) => Number(isBreaking(b)) - Number(isBreaking(a)))
}

/** The verdict on all differences together, for those who send events or for those who read them. */
export function verdictOf(
  differences: readonly DefinitionDifference[],
  side: 'senders' | 'readers',
): Verdict {
  if (differences.length === 0) return 'none'
  return differences.some((difference) => difference[side] === 'breaking') ? 'breaking' : 'additive'
}

class Comparison {
  readonly differences: DefinitionDifference[] = []

  compare(before: DefinedValue, after: DefinedValue, pointer: string): void {
    this.#add(pointer, 'types', typesEffect(before, after))
    this.#add(pointer, 'values', valuesEffect(before.enum, after.enum))
    this.#add(pointer, 'bounds', boundsEffect(before, after))
    if (before.format !== after.format) {
      const [narrows, widens] = [after.format !== undefined, before.format !== undefined]
      this.#add(pointer, 'format', { narrows, widens })
    }
    this.#compareFields(before, after, pointer)
    if (before.items || after.items) this.compare(before.items ?? {}, after.items ?? {}, `${pointer}/-`)
  }

  #compareFields(before: DefinedValue, after: DefinedValue, pointer: string) {
    if (!typesOf(before).includes('object') || !typesOf(after).includes('object')) return
    const [wasOpen, isOpen] = [before, after].map(
      ({ additionalProperties }) => additionalProperties !== false,
    )
    if (wasOpen && !isOpen) this.#add(pointer, 'closed', { narrows: true, widens: false })
    // Programs ignore fields that they do not know.
    if (!wasOpen && isOpen) this.#add(pointer, 'opened', { narrows: false, widens: false })
    const names = new Set([before, after].flatMap(({ properties }) => Object.keys(properties ?? {})))
    for (const name of names) {
      const at = pointerTo(pointer, name)
      const [was, is] = [fieldOf(before, name), fieldOf(after, name)]
      if (was.value && is.value) {
        if (!was.isRequired && is.isRequired) this.#add(at, 'required', { narrows: true, widens: false })
        if (was.isRequired && !is.isRequired) this.#add(at, 'optional', { narrows: false, widens: true })
        this.compare(was.value, is.value, at)
      } else if (is.value) this.#add(at, 'added', { narrows: is.isRequired, widens: false })
      else this.#add(at, 'removed', { narrows: !isOpen, widens: true })
    }
  }

  #add(pointer: string, change: Change, effect: Effect | undefined) {
    if (!effect) return
    const senders = effect.narrows ? 'breaking' : 'additive'
    const readers = effect.widens ? 'breaking' : 'additive'
    this.differences.push({ pointer, change, senders, readers, detail: DETAILS[change] })
  }
}

function fieldOf({ properties, required }: DefinedValue, name: string) {
  const value = properties && Object.hasOwn(properties, name) ? properties[name] : undefined
  return { value, isRequired: required?.includes(name) ?? false }
}

function typesEffect(before: DefinedValue, after: DefinedValue): Effect | undefined {
  const [was, is] = [typesOf(before), typesOf(after)]
  const narrows = was.some((type) => !includesType(is, type))
  const widens = is.some((type) => !includesType(was, type))
  return narrows || widens ? { narrows, widens } : undefined
}

/** An integer is a number. */
function includesType(types: readonly string[], type: string): boolean {
  return types.includes(type) || (type === 'integer' && types.includes('number'))
}

function valuesEffect(before: DefinedValue['enum'], after: DefinedValue['enum']): Effect | undefined {
  const narrows = after !== undefined && (before?.some((one) => !after.includes(one)) ?? true)
  const widens = before !== undefined && (after?.some((one) => !before.includes(one)) ?? true)
  return narrows || widens ? { narrows, widens } : undefined
}

function boundsEffect(before: DefinedValue, after: DefinedValue): Effect | undefined {
  const changes = [
    ...LEAST.map((bound) => [before[bound] ?? ANY[bound], after[bound] ?? ANY[bound]] as const),
    // Negated, so that a greater bound is a tighter one here too.
    ...MOST.map((bound) => [-(before[bound] ?? Infinity), -(after[bound] ?? Infinity)] as const),
  ]
  const narrows = changes.some(([was, is]) => is > was)
  const widens = changes.some(([was, is]) => is < was)
  return narrows || widens ? { narrows, widens } : undefined
}
