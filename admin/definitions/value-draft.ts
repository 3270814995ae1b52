import type { Schemas } from '../../client/person.ts'
import { descriptionFault, nameFault } from '../parts/forms/field-faults.ts'

export type DefinedValue = Schemas['DefinedValue']

/** What a field can be: a type of JSON, or a string in a format. */
export const kinds = [
  { value: 'string', label: 'String' },
  { value: 'date-time', label: 'Date and time' },
  { value: 'date', label: 'Date' },
  { value: 'email', label: 'Email address' },
  { value: 'uuid', label: 'UUID' },
  { value: 'uri', label: 'URI' },
  { value: 'number', label: 'Number' },
  { value: 'integer', label: 'Integer' },
  { value: 'boolean', label: 'Boolean' },
  { value: 'object', label: 'Object' },
  { value: 'array', label: 'Array' },
  { value: 'any', label: 'Any value' },
] as const
export type Kind = (typeof kinds)[number]['value']

const formats: readonly Kind[] = ['date-time', 'date', 'email', 'uuid', 'uri']

/** The keywords of the bounds of a kind. */
const bounds = {
  string: ['minLength', 'maxLength'],
  number: ['minimum', 'maximum'],
  integer: ['minimum', 'maximum'],
  array: ['minItems', 'maxItems'],
} as const

/** A value being edited. Texts are as typed; what its kind does not have is ignored. */
export type ValueDraft = {
  kind: Kind
  /** Not edited, but kept. */
  title: string
  description: string
  isDeprecated: boolean
  /** The only values; empty if all are allowed. */
  allowed: string[]
  least: string
  most: string
  fields: FieldDraft[]
  /** Whether an object can have other fields. */
  isOpen: boolean
  /** What each item of an array is. */
  item: ValueDraft | null
}

/** A field of an object. `key` identifies it while it is renamed; it is never sent. */
export type FieldDraft = ValueDraft & { key: string; name: string; isRequired: boolean }

/** The contract's maximum number of fields of an object, and of levels of nesting. */
export const fieldLimit = 100
export const levelLimit = 5

const noValue: ValueDraft = {
  kind: 'any',
  title: '',
  description: '',
  isDeprecated: false,
  allowed: [],
  least: '',
  most: '',
  fields: [],
  isOpen: true,
  item: null,
}

/** The variables of a new definition. */
export function emptyVariables(): ValueDraft {
  return { ...noValue, kind: 'object' }
}

export function emptyItem(): ValueDraft {
  return { ...noValue, kind: 'string' }
}

export function emptyField(): FieldDraft {
  return { ...emptyItem(), key: newKey(), name: '', isRequired: false }
}

let keys = 0

function newKey(): string {
  keys += 1
  return `field-${keys}`
}

/** The keywords of the bounds of a kind; undefined if it has none. */
export function boundsOf(kind: Kind): readonly [keyof DefinedValue, keyof DefinedValue] | undefined {
  return Object.entries(bounds).find(([name]) => name === kind)?.[1]
}

/** Whether a list of allowed values makes sense for a kind. */
export function hasAllowedValues(kind: Kind): boolean {
  return kind === 'string' || kind === 'number' || kind === 'integer' || formats.includes(kind)
}

/** A draft as it is sent. */
export function definedValue(draft: ValueDraft): DefinedValue {
  const { kind, title, description, isDeprecated, allowed } = draft
  const isString = formats.includes(kind)
  const value: DefinedValue = {
    ...(kind !== 'any' && { type: isString ? 'string' : kind }),
    ...(isString && { format: kind as NonNullable<DefinedValue['format']> }),
    ...(title && { title }),
    ...(description && { description }),
    ...(isDeprecated && { deprecated: true }),
    ...(kind === 'object' && objectOf(draft)),
    ...(kind === 'array' && draft.item && { items: definedValue(draft.item) }),
  }
  if (allowed.length > 0 && hasAllowedValues(kind)) {
    value.enum = kind === 'number' || kind === 'integer' ? allowed.map(Number) : allowed
  }
  const [least, most] = boundsOf(kind) ?? []
  const given = [...(least ? [[least, draft.least]] : []), ...(most ? [[most, draft.most]] : [])]
  const typed = given.filter(([, text]) => text?.trim())
  return { ...value, ...Object.fromEntries(typed.map(([keyword, text]) => [keyword, Number(text)])) }
}

function objectOf({ fields, isOpen }: ValueDraft): DefinedValue {
  const required = fields.filter(({ isRequired }) => isRequired).map(({ name }) => name)
  return {
    ...(fields.length > 0 && {
      properties: Object.fromEntries(fields.map((field) => [field.name, definedValue(field)])),
    }),
    ...(required.length > 0 && { required }),
    ...(!isOpen && { additionalProperties: false }),
  }
}

/** The draft of variables; undefined if fields cannot express them, for example a list of types. */
export function draftOf(variables: unknown): ValueDraft | undefined {
  const draft = read(variables)
  return draft.kind === 'object' && isSameValue(definedValue(draft), variables) ? draft : undefined
}

/** Reads what a draft can hold. What it cannot hold is missing in `definedValue` of the draft. */
function read(value: unknown): ValueDraft {
  const from = isRecord(value) ? value : {}
  const { title, description, deprecated, items, properties } = from
  const kind = kinds.find(({ value }) => value === (from.format ?? from.type))?.value ?? 'any'
  const [least, most] = boundsOf(kind) ?? []
  const required = Array.isArray(from.required) ? from.required : []
  return {
    kind,
    title: typeof title === 'string' ? title : '',
    description: typeof description === 'string' ? description : '',
    isDeprecated: deprecated === true,
    // An empty text could not be seen in a list of values.
    allowed: Array.isArray(from.enum) ? from.enum.map(String).filter(Boolean) : [],
    least: least && typeof from[least] === 'number' ? String(from[least]) : '',
    most: most && typeof from[most] === 'number' ? String(from[most]) : '',
    fields: isRecord(properties)
      ? Object.entries(properties).map(([name, field]) => {
          return { ...read(field), key: newKey(), name, isRequired: required.includes(name) }
        })
      : [],
    isOpen: from.additionalProperties !== false,
    item: isRecord(items) ? read(items) : null,
  }
}

/** Whether two definitions say the same, whatever the order of their keywords, fields and required fields. */
export function isSameValue(one: unknown, other: unknown): boolean {
  return JSON.stringify(plain(one)) === JSON.stringify(plain(other))
}

/** A value without keywords that say nothing, in a settled order. */
function plain(value: unknown): unknown {
  if (!isRecord(value)) return value
  const { required, properties, items, ...others } = value
  const entries = Object.entries({
    ...others,
    ...(Array.isArray(required) && required.length > 0 ? { required: [...required].sort() } : {}),
    ...(isRecord(properties) && Object.keys(properties).length > 0
      ? {
          properties: Object.entries(properties)
            .map(([name, field]) => [name, plain(field)])
            .sort(),
        }
      : {}),
    ...(items === undefined ? {} : { items: plain(items) }),
  })
  const isDefault = (name: string, value: unknown) =>
    (name === 'additionalProperties' && value === true) ||
    (name === 'deprecated' && value === false) ||
    (['title', 'description'].includes(name) && value === '')
  return entries.filter(([name, value]) => !isDefault(name, value)).sort(([a], [b]) => (a < b ? -1 : 1))
}

/** Whether a JSON value is an object. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** What is wrong with the fields of a value, by the path of the input: `variables.fields.0.name`. */
export function valueFaults(draft: ValueDraft, path: string): Record<string, string | undefined> {
  const faults: Record<string, string | undefined> = {
    [`${path}.description`]: descriptionFault(draft.description),
    [`${path}.allowed`]: allowedFault(draft),
  }
  const [least, most] = boundsOf(draft.kind) ?? []
  if (least && most) {
    faults[`${path}.least`] = boundFault(least, draft.least)
    faults[`${path}.most`] =
      boundFault(most, draft.most) ??
      (draft.least.trim() && draft.most.trim() && Number(draft.least) > Number(draft.most)
        ? 'Must not be less than the minimum.'
        : undefined)
  }
  if (draft.kind === 'array' && draft.item) Object.assign(faults, valueFaults(draft.item, `${path}.item`))
  if (draft.kind !== 'object') return faults
  const names = new Set<string>()
  for (const [index, field] of draft.fields.entries()) {
    const at = `${path}.fields.${index}`
    Object.assign(faults, valueFaults(field, at))
    faults[`${at}.name`] =
      nameFault(field.name, 'Enter the name of the field, as your application sends it.') ??
      (names.has(field.name) ? 'There is already a field with this name.' : undefined) ??
      (field.name === '__proto__' ? 'This name cannot be used.' : undefined)
    names.add(field.name)
  }
  return faults
}

function allowedFault({ kind, allowed }: ValueDraft): string | undefined {
  if (!hasAllowedValues(kind)) return undefined
  if (allowed.length > 100) return 'Use at most 100 values.'
  if (kind !== 'number' && kind !== 'integer') return undefined
  const wrong = allowed.find(
    (text) => !isNumber(text) || (kind === 'integer' && !Number.isInteger(Number(text))),
  )
  return wrong === undefined
    ? undefined
    : `“${wrong}” is not ${kind === 'integer' ? 'an integer' : 'a number'}.`
}

function boundFault(keyword: string, text: string): string | undefined {
  if (text.trim() === '') return undefined
  if (['minimum', 'maximum'].includes(keyword)) return isNumber(text) ? undefined : 'Enter a number.'
  return /^\d{1,9}$/.test(text.trim()) ? undefined : 'Enter a whole number, 0 or more.'
}

function isNumber(text: string): boolean {
  return text.trim() !== '' && Number.isFinite(Number(text))
}
