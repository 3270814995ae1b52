import formats from 'ajv-formats'
import type { DefinedValue } from './event-definitions.ts'

export type Enumeration = NonNullable<DefinedValue['enum']>

/** Sets of long enumerations: an array of 30,000 values would otherwise be compared with 100 values each. */
const sets = new WeakMap<Enumeration, ReadonlySet<unknown>>()

/** Whether a value is one of an enumeration. */
export function isAmong(values: Enumeration, value: unknown): boolean {
  if (values.length <= 10) return values.includes(value as string)
  const set = sets.get(values) ?? new Set<unknown>(values)
  sets.set(values, set)
  return set.has(value)
}

/** Whether a text has a format, as Ajv says; of instants, only in the form of RFC 3339. */
export function isOfFormat(format: NonNullable<DefinedValue['format']>, value: string): boolean {
  if (format === 'date-time') {
    if (USUAL_INSTANT.test(value)) return true
    if (!INSTANT.test(value)) return false
  }
  const check = FORMATS[format]
  return check instanceof RegExp ? check.test(value) : check(value)
}

/** Nearly every instant, to check it in a third of the time: on a day that every month has, and not a leap second. */
const USUAL_INSTANT =
  /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/

/** Ajv also accepts white space instead of the T, and offsets of hours or without colon. */
const INSTANT = /^.{10}t.{8}(\.\d+)?(z|[+-]\d\d:\d\d)$/i

type Format = RegExp | ((value: string) => boolean)

const FORMATS: Readonly<Record<NonNullable<DefinedValue['format']>, Format>> = {
  'date-time': formatOf('date-time'),
  date: formatOf('date'),
  email: formatOf('email'),
  uuid: formatOf('uuid'),
  uri: formatOf('uri'),
}

function formatOf(name: NonNullable<DefinedValue['format']>): Format {
  // The full formats: the fast ones accept the date 2023-02-30.
  const format: unknown = formats.default.get(name, 'full')
  const check = format instanceof RegExp || typeof format === 'function' ? format : Object(format).validate
  return check as Format
}

/** Returns the number of characters (code points), or one that is as far within or outside the bounds. */
export function lengthOf(value: string, { minLength = 0, maxLength = Number.POSITIVE_INFINITY }) {
  // Each character is one or two code units.
  if (value.length <= maxLength && value.length >= 2 * minLength) return value.length
  let pairs = 0
  for (let index = 1; index < value.length; index += 1) {
    const isPair =
      isBetween(value.charCodeAt(index - 1), 0xd800) && isBetween(value.charCodeAt(index), 0xdc00)
    if (isPair) pairs += 1
  }
  return value.length - pairs
}

/** Whether a code unit is one of the 1,024 surrogates from `first`. */
function isBetween(unit: number, first: number): boolean {
  return unit >= first && unit < first + 0x400
}
