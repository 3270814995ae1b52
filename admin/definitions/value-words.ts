import { namesIn, pointerTo } from '../parts/json-pointer.ts'
import { countText } from '../parts/number-text.ts'
import { isolated } from '../parts/visible-name.ts'
import { type DefinedValue, kinds } from './value-draft.ts'

/** What a value is, in words: `String`, `Array of Integer`, `String or null`. */
export function typeText({ type, format, items }: DefinedValue): string {
  if (type === undefined) return 'Any value'
  if (typeof type !== 'string') return type.map((one) => labelOf(one)).join(' or ')
  if (type === 'array' && items) return `Array of ${typeText(items)}`
  return labelOf(format ?? type)
}

function labelOf(kind: string): string {
  return kinds.find(({ value }) => value === kind)?.label ?? kind
}

/** The limits of a value, in words: `one of "free", "team"`, `at least 1`. */
export function ruleTexts(value: DefinedValue): string[] {
  return [
    ...(value.enum ? [`one of ${value.enum.map((one) => isolated(JSON.stringify(one))).join(', ')}`] : []),
    ...rangeText(value.minimum, value.maximum, ''),
    ...rangeText(value.minLength, value.maxLength, ' characters'),
    ...rangeText(value.minItems, value.maxItems, ' items'),
    ...(value.additionalProperties === false ? ['no other fields'] : []),
    ...(value.items ? ruleTexts(value.items).map((text) => `each ${text}`) : []),
  ]
}

function rangeText(least: number | undefined, most: number | undefined, unit: string): string[] {
  if (least !== undefined && most !== undefined) {
    return [`${countText(least)} to ${countText(most)}${unit}`]
  }
  if (least !== undefined) return [`at least ${countText(least)}${unit}`]
  return most === undefined ? [] : [`at most ${countText(most)}${unit}`]
}

/** A field of a definition, with its place. */
export type DefinedField = {
  /** JSON Pointer (RFC 6901) into `custom_variables`; items of an array are `-`. */
  pointer: string
  name: string
  level: number
  isRequired: boolean
  value: DefinedValue
}

/** All fields of a value, each before those inside of it. */
export function fieldsOf(value: DefinedValue, pointer = '', level = 0): DefinedField[] {
  const own = Object.entries(value.properties ?? {}).flatMap(([name, field]) => {
    const at = pointerTo(pointer, name)
    const isRequired = value.required?.includes(name) ?? false
    return [{ pointer: at, name, level, isRequired, value: field }, ...fieldsOf(field, at, level + 1)]
  })
  return value.items ? [...own, ...fieldsOf(value.items, `${pointer}/-`, level)] : own
}

/** The field that a violation is about, for people. @param pointer into an event */
export function violatedField(pointer: string): string {
  return pointerText(pointer.replace(/^\/custom_variables/, '')) || 'custom_variables'
}

/** A pointer into `custom_variables` for people: `/address/city` is `address.city`, an item `tags[]`. */
export function pointerText(pointer: string): string {
  return namesIn(pointer)
    .map((name, index) => (name === '-' ? '[]' : `${index > 0 ? '.' : ''}${isolated(name)}`))
    .join('')
}
