import { comparedValue } from './event-definitions.ts'
import { isJsonObject, parseJsonText } from './json-text.ts'

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

/**
 * Returns a function that reads the value of a variable from `custom_variables` as stored: JSON of `JSON.stringify`, or
 * null. Undefined if it is not set: absent, or neither a text of at most 100 characters nor a finite number nor a
 * boolean.
 */
export function valueReader(name: string): (json: string | null) => EventValue | undefined {
  const field = `${JSON.stringify(name)}:`
  const isPlain = !AFTER_A_TEXT.includes(name.charAt(0))
  return (json) => {
    if (json === null) return undefined
    const found = isPlain ? plainValue(json, field) : UNCLEAR
    return accepted(found === UNCLEAR ? parsedValue(json, name) : found)
  }
}

/** Returns a test for whether `custom_variables` as stored meet all conditions. */
export function variablesTest(filters: readonly VariableFilter[]): (json: string | null) => boolean {
  const conditions = filters.map(({ name, value }) => ({ read: valueReader(name), value }))
  return (json) =>
    conditions.every(({ read, value }) => {
      const found = read(json)
      return found !== undefined && String(found) === value
    })
}

const UNCLEAR = Symbol('unclear')

/** What can follow the closing quote of a text: `{"a,":":…"}` seems to have a field that is named `:`. */
const AFTER_A_TEXT = [':', ',', '}', ']']

/**
 * Finds a field's value without parsing the JSON, which takes most of the time of a breakdown. Possible if no object or
 * array precedes the field: after `{` or `,` its name in quotes cannot be part of a text, where quotes are escaped, and
 * its first quote cannot be the end of one, after which no such name can stand.
 */
function plainValue(json: string, field: string): unknown {
  if (json[0] !== '{') return UNCLEAR
  const at = json.indexOf(field)
  // Every name has one form in JSON of `JSON.stringify`.
  if (at === -1) return undefined
  if (json[at - 1] !== '{' && json[at - 1] !== ',') return UNCLEAR
  if (json.lastIndexOf('{', at - 1) > 0 || json.lastIndexOf('[', at - 1) > 0) return UNCLEAR
  const from = at + field.length
  if (json[from] === '"') {
    const text = json.slice(from + 1, json.indexOf('"', from + 1))
    return text.includes('\\') ? UNCLEAR : text
  }
  const comma = json.indexOf(',', from)
  const end = comma === -1 ? json.length - 1 : comma
  switch (json[from]) {
    case 't':
      return true
    case 'f':
      return false
    case 'n':
    case '{':
    case '[':
      return undefined
    default:
      // The last field of an object ends before its brace.
      return Number(json.slice(from, end))
  }
}

function parsedValue(json: string, name: string): unknown {
  const variables = comparedValue(parseJsonText(json))
  return isJsonObject(variables) && Object.hasOwn(variables, name) ? variables[name] : undefined
}

function accepted(value: unknown): EventValue | undefined {
  if (typeof value === 'boolean') return value
  // JSON has a negative zero, which is the same number.
  if (typeof value === 'number') return Number.isFinite(value) ? value + 0 : undefined
  if (typeof value !== 'string') return undefined
  const isShort = value.length <= VALUE_LENGTH
  const isLong = value.length > 2 * VALUE_LENGTH
  return isShort || (!isLong && [...value].length <= VALUE_LENGTH) ? value : undefined
}

const KINDS = ['string', 'number', 'boolean']

/** Orders values by kind; numbers by size, others by their text, in UTF-16 code units: the same on every engine. */
export function compareValues(one: EventValue, other: EventValue): number {
  const kinds = KINDS.indexOf(typeof one) - KINDS.indexOf(typeof other)
  if (kinds !== 0 || one === other) return kinds
  if (typeof one === 'number') return one - Number(other)
  return String(one) < String(other) ? -1 : 1
}
