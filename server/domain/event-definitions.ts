import { EVENT_BYTES } from './event-content.ts'
import { isJsonObject, parseJsonText } from './json-text.ts'
import { pointerTo } from './pointers.ts'

const TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'] as const
export type DefinedType = (typeof TYPES)[number]
type Scalar = string | number | boolean | null

/** What a value can be, in a part of JSON Schema 2020-12 (contract: `DefinedValue`). */
export type DefinedValue = {
  type?: DefinedType | DefinedType[]
  title?: string
  description?: string
  deprecated?: boolean
  properties?: Record<string, DefinedValue>
  required?: string[]
  additionalProperties?: boolean
  items?: DefinedValue
  enum?: Scalar[]
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  minItems?: number
  maxItems?: number
  format?: 'date-time' | 'date' | 'email' | 'uuid' | 'uri'
}

/** Maximum size of a definition as JSON, its nesting and its number of values: a check of an event visits each once. */
const MOST_BYTES = 16 * 1024
const MOST_LEVELS = 5
const MOST_VALUES = 300

/** Something to correct in a definition. @param pointer JSON Pointer (RFC 6901) into the definition */
export type DefinitionFault = { pointer: string; detail: string }

/** Keywords about values of some types only. */
const TYPES_OF_KEYWORDS: Readonly<Record<string, readonly DefinedType[]>> = {
  properties: ['object'],
  required: ['object'],
  additionalProperties: ['object'],
  items: ['array'],
  minItems: ['array'],
  maxItems: ['array'],
  minLength: ['string'],
  maxLength: ['string'],
  format: ['string'],
  minimum: ['number', 'integer'],
  maximum: ['number', 'integer'],
}

const BOUNDS = [
  ['minLength', 'maxLength'],
  ['minimum', 'maximum'],
  ['minItems', 'maxItems'],
] as const

/** The types that a value can have; all, if the definition names none. */
export function typesOf({ type }: DefinedValue): readonly DefinedType[] {
  if (type === undefined) return TYPES
  return typeof type === 'string' ? [type] : type
}

/**
 * Returns what is compared with a definition: variables that are sent as a string of JSON count as what it contains. That of
 * an event which is too large to be stored is not parsed.
 */
export function comparedValue(variables: object | string | null | undefined): unknown {
  if (typeof variables !== 'string') return variables ?? NO_VARIABLES
  if (variables.length > EVENT_BYTES) return variables
  try {
    const parsed: unknown = parseJsonText(variables)
    return isOfType('object', parsed) ? parsed : variables
  } catch {
    return variables
  }
}

const NO_VARIABLES = {}

/** Whether a value has a type; an integer is also a number. */
export function isOfType(type: DefinedType, value: unknown): boolean {
  switch (type) {
    case 'null':
      return value === null
    case 'integer':
      return Number.isInteger(value)
    case 'array':
      return Array.isArray(value)
    case 'object':
      return isJsonObject(value)
    default:
      return typeof value === type
  }
}

/** Returns what is wrong with the variables of a definition that matches the contract's schema. */
export function definitionFaults(variables: DefinedValue): DefinitionFault[] {
  const size = Buffer.byteLength(JSON.stringify(variables))
  if (size > MOST_BYTES) return [{ pointer: '', detail: `must have at most ${MOST_BYTES} bytes as JSON` }]
  const faults: DefinitionFault[] = []
  if (variables.type !== 'object') faults.push({ pointer: '/type', detail: 'must be object' })
  let values = 0
  const visit = (value: DefinedValue, pointer: string, level: number) => {
    values += 1
    if (values > MOST_VALUES) {
      const detail = `must not be there: a definition has at most ${MOST_VALUES} values`
      if (values === MOST_VALUES + 1) faults.push({ pointer, detail })
      return
    }
    if (level > MOST_LEVELS) {
      const detail = `must not be there: values are nested at most ${MOST_LEVELS} levels deep`
      faults.push({ pointer, detail })
      return
    }
    faults.push(...ownFaults(value, pointer))
    for (const [name, property] of Object.entries(value.properties ?? {})) {
      visit(property, pointerTo(`${pointer}/properties`, name), level + 1)
    }
    if (value.items) visit(value.items, `${pointer}/items`, level + 1)
  }
  visit(variables, '', 0)
  return faults
}

/** Returns the faults of a value without those of the values inside. */
function ownFaults(value: DefinedValue, pointer: string): DefinitionFault[] {
  const faults: DefinitionFault[] = []
  const types = typesOf(value)
  for (const [keyword, [first, ...others] = []] of Object.entries(TYPES_OF_KEYWORDS)) {
    if (!Object.hasOwn(value, keyword) || [first, ...others].some((type) => type && types.includes(type)))
      continue
    faults.push({
      pointer: `${pointer}/${keyword}`,
      detail: `must not be there, or type must include ${first}`,
    })
  }
  for (const [least, most] of BOUNDS) {
    const [from, to] = [value[least], value[most]]
    if (from !== undefined && to !== undefined && from > to) {
      faults.push({ pointer: `${pointer}/${least}`, detail: `must not be greater than ${most}` })
    }
  }
  for (const [index, one] of (value.enum ?? []).entries()) {
    if (types.some((type) => isOfType(type, one))) continue
    faults.push({ pointer: `${pointer}/enum/${index}`, detail: 'must have one of the types' })
  }
  const properties = value.properties ?? {}
  for (const [index, name] of (value.required ?? []).entries()) {
    if (Object.hasOwn(properties, name)) continue
    faults.push({ pointer: `${pointer}/required/${index}`, detail: 'must be one of the properties' })
  }
  // In JavaScript, an object that is assigned this name gets another prototype: types made from it would not compile.
  if (Object.hasOwn(properties, '__proto__')) {
    faults.push({ pointer: `${pointer}/properties/__proto__`, detail: 'must have another name' })
  }
  return faults
}
