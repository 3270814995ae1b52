import { isJsonObject } from '../../domain/json-text.ts'
import { type Fault, LISTED_FAULTS } from '../../problems.ts'

/** The bounds of a body in the contract. Its values are not inspected. */
export type BodyShape = {
  /** The names of the fields. */
  names: ReadonlySet<string>
  /** The field that is a list, if there is one, and the field names of its items if they are objects. */
  list: { field: string; maxItems: number; names: ReadonlySet<string> | undefined } | undefined
}

type BodySchema = {
  type?: unknown
  additionalProperties?: unknown
  properties?: Record<string, unknown>
  items?: unknown
  maxItems?: number
}

/** A part of a body that is itself a body, and the index of its first item in the complete list. */
export type BodyPart = { body: unknown; from: number }

/**
 * Maximum items validated at once. Each may have ten faults, and finding and formatting one takes 3 µs; a valid item
 * takes 1 µs, and each part 5 µs more.
 */
const ITEMS_AT_ONCE = 50

/**
 * Returns the bounds of a body from its schema, which an operation may lack.
 * @param resolve returns the schema that a reference points to
 * @throws {Error} if the contract sets no bound where the check needs one
 */
export function bodyShape(schema: unknown, resolve: (schema: unknown) => unknown): BodyShape {
  if (schema === undefined) return { names: new Set(), list: undefined }
  const { properties = {}, additionalProperties } = resolve(schema) as BodySchema
  if (additionalProperties !== false) throw new Error('The contract has a body that takes any field')
  const lists = Object.entries(properties).flatMap(([field, property]) => {
    const { type, items, maxItems } = resolve(property) as BodySchema
    if (type !== 'array') return []
    if (maxItems === undefined) throw new Error(`The contract has a list without a maxItems: ${field}`)
    const item = resolve(items) as BodySchema
    const names = item.properties && new Set(Object.keys(item.properties))
    if (names && item.additionalProperties !== false) {
      throw new Error(`The contract has a list of objects that take any field: ${field}`)
    }
    return [{ field, maxItems, names }]
  })
  if (lists.length > 1) throw new Error('The contract has two lists in a body')
  return { names: new Set(Object.keys(properties)), list: lists[0] }
}

/** Returns the items of the body's list; undefined if there is none. */
export function itemsOf(body: unknown, field: string | undefined): unknown[] | undefined {
  if (field === undefined || !isJsonObject(body) || !Object.hasOwn(body, field)) return undefined
  const items = body[field]
  return Array.isArray(items) ? items : undefined
}

/**
 * Splits a body into parts that are validated one after the other until enough faults are found, so that a bad body
 * takes not much longer than a good one. The parts omit only more of the same: they contain as many unknown fields as a
 * response lists, and as many items as are allowed.
 */
export function* bodyParts(body: unknown, { names, list }: BodyShape): Generator<BodyPart> {
  const trimmer = new Trimmer(LISTED_FAULTS + 1)
  const whole = trimmer.trim(body, names)
  const items = itemsOf(whole, list?.field)
  if (!list || !items || (items.length <= ITEMS_AT_ONCE && !list.names)) {
    yield { body: whole, from: 0 }
    return
  }
  const last = Math.min(items.length, list.maxItems)
  for (let from = 0; from === 0 || from < last; from += ITEMS_AT_ONCE) {
    const some = items.slice(from, Math.min(from + ITEMS_AT_ONCE, last))
    const kept = list.names ? some.map((item) => trimmer.trim(item, list.names)) : some
    // The faults of the other fields are known from the first part.
    const others = from === 0 ? whole : new Trimmer(0).trim(whole, names)
    yield { body: { ...(others as object), [list.field]: kept }, from }
  }
}

/** Returns the fault of a list that is too long, which none of its parts shows. */
export function lengthFaults(body: unknown, { list }: BodyShape): Fault[] {
  const items = itemsOf(body, list?.field)
  if (!list || !items || items.length <= list.maxItems) return []
  return [{ detail: `must NOT have more than ${list.maxItems} items`, pointer: `/${list.field}` }]
}

/** Converts the fault of a part to the position in the complete body. */
export function inWhole(fault: Fault, { list }: BodyShape, { from }: BodyPart): Fault {
  const [, name, index, ...rest] = fault.pointer?.split('/') ?? []
  if (from === 0 || name !== list?.field || index === undefined) return fault
  return { ...fault, pointer: ['', name, Number(index) + from, ...rest].join('/') }
}

/** Removes fields unknown to the contract if there are too many of them. */
class Trimmer {
  #left: number

  /**
   * @param left number of unknown fields to keep in all objects together, beyond as many as an object has known ones
   */
  constructor(left: number) {
    this.#left = left
  }

  /** Returns the same object if nothing is removed. */
  trim(value: unknown, known: ReadonlySet<string> = new Set()): unknown {
    if (!isJsonObject(value)) return value
    const names = Object.keys(value)
    const beyond = names.length - known.size
    if (beyond <= 0) return value
    this.#left -= beyond
    if (this.#left >= 0) return value
    let spare = Math.max(0, this.#left + beyond)
    const kept = names.filter((name) => known.has(name) || spare-- > 0)
    return Object.fromEntries(kept.map((name) => [name, value[name]]))
  }
}
