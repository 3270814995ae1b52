import type { components } from '../../generated/contract.ts'
import { fitOf } from './definition-fit.ts'
import { type Enumeration, isAmong, isOfFormat, lengthOf } from './definition-values.ts'
import { type DefinedValue, isOfType, typesOf } from './event-definitions.ts'
import { NameIndex } from './name-index.ts'
import { pointerTo } from './pointers.ts'

type Violation = components['schemas']['Violation']
type FoundType = components['schemas']['FoundType']

/** Maximum violations per event (contract: `EventWarnings`): what is wrong beyond that can be found when these are corrected. */
export const LISTED_VIOLATIONS = 20

/** Maximum length of a text in the contract (`Violation`). */
const TEXT_LENGTH = 500

/**
 * Returns a function that compares `custom_variables` with a definition whose `definitionFaults` are none. Its results
 * contain nothing that was sent, except the names of fields in pointers.
 *
 * It interprets the definition instead of compiling it: with Ajv the largest definition takes 80 ms of the main thread to
 * compile and one of ten fields 10 ms, which anyone who sends an event after a change would wait for. Results equal those
 * of Ajv.
 * @returns at most `LISTED_VIOLATIONS`
 */
export function definitionCheck(variables: DefinedValue): (value: unknown) => Violation[] {
  const fits = fitOf(variables)
  return (value) => {
    if (fits(value)) return []
    const comparison = new Comparison()
    comparison.compare(variables, value)
    return comparison.violations
  }
}

/** Compares one value. Every method stops soon after the last violation that is listed. */
class Comparison {
  readonly violations: Violation[] = []
  /** Where it is: to make a pointer at every value would take twice as long as everything else. */
  readonly #path: (string | number)[] = []

  get #isFull() {
    return this.violations.length >= LISTED_VIOLATIONS
  }

  compare(defined: DefinedValue, value: unknown): void {
    if (!hasType(defined, value)) {
      const expected = typesText(defined)
      this.#add({ code: 'wrong_type', detail: `must be ${expected}`, expected, found: foundType(value) })
      return
    }
    if (defined.enum && !isAmong(defined.enum, value)) {
      const expected = enumText(defined.enum)
      this.#add({ code: 'not_in_enum', detail: `must be ${expected}`, expected, found: foundType(value) })
    }
    if (typeof value === 'string') this.#compareString(defined, value)
    else if (typeof value === 'number') this.#compareSize(value, defined.minimum, defined.maximum)
    else if (Array.isArray(value)) this.#compareArray(defined, value)
    else if (typeof value === 'object' && value !== null) this.#compareObject(defined, value)
  }

  #compareString({ minLength, maxLength, format }: DefinedValue, value: string) {
    if (minLength !== undefined || maxLength !== undefined) {
      const length = lengthOf(value, { minLength, maxLength })
      this.#compareSize(length, minLength, maxLength, { unit: 'character', found: 'string' })
    }
    if (format === undefined || isOfFormat(format, value)) return
    const detail = `must have the format ${format}`
    this.#add({ code: 'wrong_format', detail, expected: format, found: 'string' })
  }

  #compareArray({ items, minItems, maxItems }: DefinedValue, value: readonly unknown[]) {
    this.#compareSize(value.length, minItems, maxItems, { unit: 'item', found: 'array' })
    if (!items) return
    for (let index = 0; index < value.length && !this.#isFull; index += 1) {
      this.#path.push(index)
      this.compare(items, value[index])
      this.#path.pop()
    }
  }

  #compareObject(defined: DefinedValue, value: object) {
    const { properties = NO_PROPERTIES, required = NO_NAMES, additionalProperties = true } = defined
    for (const name of required) {
      if (Object.hasOwn(value, name)) continue
      const expected = typesText(properties[name] ?? {})
      this.#add({ code: 'missing', detail: 'is required', expected, found: 'nothing' }, name)
    }
    for (const name of Object.keys(value)) {
      if (this.#isFull) return
      // Own ones only: names can be those of something inherited.
      const property = Object.hasOwn(properties, name) ? properties[name] : undefined
      if (property) {
        this.#path.push(name)
        this.compare(property, (value as Record<string, unknown>)[name])
        this.#path.pop()
      } else if (!additionalProperties) this.#addUnexpected(defined, value, name)
    }
  }

  #addUnexpected(defined: DefinedValue, value: object, name: string) {
    const known = namesOf(defined).nearest(name)
    const meant = known !== undefined && !Object.hasOwn(value, known) ? known : undefined
    const violation = {
      code: 'unexpected',
      detail: meantText('is not in the definition', meant),
      expected: 'nothing',
      found: foundType((value as Record<string, unknown>)[name]),
    } as const
    this.#add(meant === undefined ? violation : { ...violation, did_you_mean: meant }, name)
  }

  #compareSize(
    size: number,
    least: number | undefined,
    most: number | undefined,
    { unit, found }: { unit?: 'character' | 'item'; found: FoundType } = A_NUMBER,
  ) {
    const isTooSmall = least !== undefined && size < least
    const bound = isTooSmall ? least : most
    if (bound === undefined || !(isTooSmall || size > bound)) return
    const units = unit ? ` ${unit}${bound === 1 ? '' : 's'}` : ''
    const expected = `at ${isTooSmall ? 'least' : 'most'} ${bound}${units}`
    const detail = `must ${unit ? 'have' : 'be'} ${expected}`
    this.#add({ code: 'out_of_bounds', detail, expected, found })
  }

  /** @param name of the field in the current value, if that is the place */
  #add({ code, ...text }: Omit<Violation, 'pointer'>, name?: string) {
    if (this.#isFull) return
    const path = name === undefined ? this.#path : [...this.#path, name]
    this.violations.push({ code, pointer: path.reduce<string>(pointerTo, '/custom_variables'), ...text })
  }
}

/** Returns the type of a JSON value, `nothing` for no value. */
function foundType(value: unknown): FoundType {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : (typeof value as 'string' | 'number' | 'boolean' | 'object')
}

/** Appends what the sender probably meant to a text. */
export function meantText(text: string, meant: string | undefined): string {
  return meant === undefined ? text : cut(`${text}; did you mean ${JSON.stringify(meant)}?`)
}

const NO_PROPERTIES: NonNullable<DefinedValue['properties']> = {}
const NO_NAMES: readonly string[] = []
const A_NUMBER = { found: 'number' } as const

function hasType({ type }: DefinedValue, value: unknown): boolean {
  if (type === undefined) return true
  return typeof type === 'string' ? isOfType(type, value) : type.some((one) => isOfType(one, value))
}

function typesText(defined: DefinedValue): string {
  return defined.type === undefined ? 'any value' : typesOf(defined).join(' or ')
}

function enumText(values: Enumeration): string {
  const all = values.map((value) => JSON.stringify(value)).join(', ')
  return cut(values.length === 1 ? all : `one of ${all}`)
}

/** Shortens a text so that it fits in `detail` with a few words before it. */
function cut(text: string): string {
  const most = TEXT_LENGTH - 20
  return text.length <= most ? text : `${text.slice(0, most - 1).toWellFormed()}…`
}

/** Made at the first unexpected field: most definitions never have one. */
const indexes = new WeakMap<DefinedValue, NameIndex>()

function namesOf(defined: DefinedValue): NameIndex {
  const made = indexes.get(defined) ?? new NameIndex(Object.keys(defined.properties ?? {}))
  indexes.set(defined, made)
  return made
}
