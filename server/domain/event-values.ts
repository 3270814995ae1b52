import { comparedValue } from './event-definitions.ts'

/** A value of a variable that events can be filtered and divided by. */
export type EventValue = string | number | boolean

/** Maximum length of a text, in characters. */
const VALUE_LENGTH = 100

/** A condition on a variable: its text, or the JSON of its number or boolean, equals `value`. */
export type VariableFilter = { name: string; value: string }

/** Parses a condition of the contract, `NAME:value`. The name ends at the first colon after its first character. */
export function variableFilter(text: string): VariableFilter {
  const colon = text.indexOf(':', 1)
  return { name: text.slice(0, colon), value: text.slice(colon + 1) }
}

/** The variables of an event. @param json as stored; null if it has none */
export function variablesOf(json: string | null): object {
  const variables = json === null ? undefined : comparedValue(JSON.parse(json))
  return typeof variables === 'object' && variables !== null ? variables : {}
}

/**
 * Returns the value of a variable. Undefined if it is not set: absent, or neither a text of at most 100 characters nor
 * a finite number nor a boolean.
 */
export function eventValue(variables: object, name: string): EventValue | undefined {
  const value: unknown = Object.hasOwn(variables, name) ? Reflect.get(variables, name) : undefined
  if (typeof value === 'boolean') return value
  // JSON has a negative zero, which is the same number.
  if (typeof value === 'number') return Number.isFinite(value) ? value + 0 : undefined
  if (typeof value !== 'string') return undefined
  const isShort = value.length <= VALUE_LENGTH
  const isLong = value.length > 2 * VALUE_LENGTH
  return isShort || (!isLong && [...value].length <= VALUE_LENGTH) ? value : undefined
}

/** Whether variables meet all conditions. */
export function matchesAll(variables: object, filters: readonly VariableFilter[]): boolean {
  return filters.every(({ name, value }) => {
    const found = eventValue(variables, name)
    return found !== undefined && String(found) === value
  })
}

const KINDS = ['string', 'number', 'boolean']

/** Orders values by kind, then by text, by UTF-16 code units: the same on every engine. */
export function compareValues(one: EventValue, other: EventValue): number {
  const kinds = KINDS.indexOf(typeof one) - KINDS.indexOf(typeof other)
  if (kinds !== 0 || one === other) return kinds
  return String(one) < String(other) ? -1 : 1
}
