import fc, { type Arbitrary } from 'fast-check'
import { resolved, type Schema } from '../fixtures/contract/document.ts'

/** Long enough to reach limits such as 255, short enough for many requests. */
const LONGEST = 300

/** Any JSON value that the API returns unchanged: no negative zero, which JSON.stringify writes as 0. */
const json = fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.parse(JSON.stringify(value)))

/**
 * Generates values that a schema of the contract allows.
 * @param outer the references that led here: a schema that contains itself gets an empty object the second time
 */
export function allowed(schema: Schema, outer: readonly string[] = []): Arbitrary<unknown> {
  const { $ref } = schema
  if ($ref && outer.filter((one) => one === $ref).length > 1) return fc.constant({})
  const within = $ref ? [...outer, $ref] : outer
  const { type, enum: values, properties, required = [], ...rules } = resolved(schema)
  if (values) return fc.constantFrom(...values)
  if (Array.isArray(type)) {
    return fc.oneof(...type.map((one) => allowed({ ...resolved(schema), type: one }, within)))
  }
  switch (type) {
    case 'string':
      return stringOf(rules)
    case 'integer':
      return fc.integer({ min: rules.minimum ?? -1e6, max: rules.maximum ?? 1e6 })
    case 'number':
      return fc.double({ min: -1e9, max: 1e9, noNaN: true }).map((value) => value || 0)
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'array':
      return fc
        .array(allowed(rules.items ?? {}, within), {
          minLength: rules.minItems ?? 0,
          maxLength: Math.min(rules.maxItems ?? 4, 4),
        })
        .map((items) => (rules.uniqueItems ? [...new Set(items)] : items))
    case 'object': {
      if (!properties) return dictionaryOf(rules, within)
      const fields = Object.entries(properties).map(([name, field]) => [name, allowed(field, within)])
      const record = fc.record<Record<string, unknown>>(Object.fromEntries(fields), {
        requiredKeys: required,
      })
      return record.filter((value) => Object.keys(value).length >= (rules.minProperties ?? 0))
    }
    default:
      throw new Error(`No values are known for a schema of type ${type}`)
  }
}

/** Generates objects with any names, or with those that `propertyNames` allows. */
function dictionaryOf(
  { additionalProperties, propertyNames }: Schema,
  outer: readonly string[],
): Arbitrary<unknown> {
  const names = propertyNames
    ? (allowed({ type: 'string', ...propertyNames }) as Arbitrary<string>)
    : fc.string()
  const values = typeof additionalProperties === 'object' ? allowed(additionalProperties, outer) : json
  return fc.dictionary(names, values, { maxKeys: 6 })
}

/** Cached by pattern: building a generator takes much longer than drawing a text from it. */
const texts = new Map<string, Arbitrary<string>>()

function stringOf({ format, pattern, minLength = 0, maxLength = LONGEST }: Schema): Arbitrary<string> {
  const rules = { format, pattern, minLength, maxLength }
  const key = JSON.stringify(rules)
  const known = texts.get(key) ?? textsOf(rules)
  texts.set(key, known)
  return known
}

/** The end of patterns for free text. */
const NO_NUL = /\[\^\\u0000\]\*(\)\?)?\$$/

type TextRules = Record<'format' | 'pattern', string | undefined> & Record<'minLength' | 'maxLength', number>

function textsOf({ format, pattern, minLength, maxLength }: TextRules): Arbitrary<string> {
  if (format === 'date-time') return instant
  if (format === 'email') return fc.emailAddress().filter((email) => email.length <= maxLength)
  // Free text has one of two patterns: no NUL, or additionally a visible character.
  if (pattern === undefined || NO_NUL.test(pattern)) {
    const most = Math.min(maxLength, LONGEST)
    const texts = fc.string({ unit: 'binary', minLength, maxLength: most })
    const isAllowed = new RegExp(pattern ?? '', 'u')
    return texts.map((text) => text.replaceAll('\0', '0')).filter((text) => isAllowed.test(text))
  }
  return fc.stringMatching(new RegExp(pattern, 'u')).filter((text) => text.length <= maxLength)
}

/** Instants in the past, with every form of fraction and offset. */
const instant = fc
  .tuple(
    fc.date({ min: new Date('1902-01-01'), max: new Date('2025-01-01'), noInvalidDate: true }),
    fc.stringMatching(/^(\.[0-9]{1,9})?$/),
    fc.constantFrom('Z', '+00:00', '-00:00', '+23:59', '-11:30'),
  )
  .map(([date, fraction, offset]) => date.toISOString().slice(0, 19) + fraction + offset)

/** A value that violates one rule of the schema, with the JSON Pointer of the fault. */
export type Breach = { value: unknown; pointer: string; rule: string }

/** Generates values that violate exactly one rule of the schema, from values that it allows. */
export function broken(schema: Schema): Arbitrary<Breach> {
  return allowed(schema).chain((value) => fc.constantFrom(...breaks(schema, value, '')))
}

/** Returns every way to violate one rule at the value or below it. */
function breaks(schema: Schema, value: unknown, pointer: string): Breach[] {
  const rules = resolved(schema)
  const types = [rules.type ?? []].flat()
  const found: Breach[] = []
  const add = (rule: string, broken: unknown) => found.push({ value: broken, pointer, rule })

  for (const [type, other] of Object.entries(otherTypes))
    if (!types.includes(type)) add(`type ${type}`, other)
  if (rules.enum) add('enum', 'none of them')
  if (typeof value === 'string' && !rules.enum) {
    if (rules.minLength) add('minLength', 'x'.repeat(rules.minLength - 1))
    if (rules.maxLength !== undefined && rules.maxLength < 10_000) {
      add('maxLength', 'x'.repeat(rules.maxLength + 1))
    }
    if (rules.pattern) add('pattern', '\0')
    if (rules.pattern && !new RegExp(rules.pattern, 'u').test(' ')) add('pattern', '\u00a0\u200b\t')
    const malformed = malformedTexts[rules.format ?? '']
    if (malformed !== undefined) add('format', malformed)
  }
  if (typeof value === 'number') {
    if (rules.minimum !== undefined) add('minimum', rules.minimum - 1)
    if (rules.maximum !== undefined) add('maximum', rules.maximum + 1)
  }
  if (Array.isArray(value)) {
    if (rules.minItems) add('minItems', [])
    if (rules.maxItems !== undefined && value[0]) add('maxItems', Array(rules.maxItems + 1).fill(value[0]))
    for (const [index, item] of value.entries()) {
      for (const breach of breaks(rules.items ?? {}, item, `${pointer}/${index}`)) {
        found.push({ ...breach, value: value.with(index, breach.value) })
      }
    }
  }
  if (isObject(value)) found.push(...breaksOfObject(rules, value, pointer))
  return found
}

function breaksOfObject(rules: Schema, value: Record<string, unknown>, pointer: string): Breach[] {
  const found: Breach[] = []
  const { properties = {}, required = [], additionalProperties, maxProperties, minProperties } = rules
  for (const name of required) {
    const { [name]: _, ...rest } = value
    found.push({ value: rest, pointer: `${pointer}/${name}`, rule: 'required' })
  }
  if (additionalProperties === false) {
    for (const [name, escaped] of unknownNames) {
      const extra = Object.defineProperty({ ...value }, name, { value: 1, enumerable: true })
      found.push({ value: extra, pointer: `${pointer}/${escaped}`, rule: 'additionalProperties' })
    }
  }
  if (maxProperties !== undefined) {
    // What they are must be allowed: an object is, wherever a schema is given for them.
    const valueAt = (index: number) => (typeof additionalProperties === 'object' ? {} : index)
    const many = Object.fromEntries(
      Array.from({ length: maxProperties + 1 }, (_, index) => [`v${index}`, valueAt(index)]),
    )
    found.push({ value: many, pointer, rule: 'maxProperties' })
  }
  if (minProperties) found.push({ value: {}, pointer, rule: 'minProperties' })
  for (const [name, field] of Object.entries(properties)) {
    if (!(name in value)) continue
    for (const breach of breaks(field, value[name], `${pointer}/${name}`)) {
      found.push({ ...breach, value: { ...value, [name]: breach.value } })
    }
  }
  return found
}

/** Field names that no schema has, raw and escaped for a JSON Pointer. */
const unknownNames = [
  ['cus/tomer~id', 'cus~1tomer~0id'],
  ['__proto__', '__proto__'],
  ['Name', 'Name'],
  ['', ''],
] as const

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A text that violates each format; any text is a valid password. */
const malformedTexts: Record<string, string> = {
  'date-time': '2023-02-30T00:00:00Z',
  email: 'ada at example.com',
}

/** A value of each JSON type. */
const otherTypes: Record<string, unknown> = {
  string: 'text',
  number: 1.5,
  boolean: true,
  null: null,
  array: [1],
  object: { a: 1 },
}
