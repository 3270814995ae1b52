import { type Fault, LISTED_FAULTS } from '../../problems.ts'

/** How large the contract lets a body be. Its values are not looked into. */
export type BodyShape = {
  /** The names of the fields. */
  names: ReadonlySet<string>
  /** The field that is a list, where there is one, and the names of an item's fields where it is an object. */
  list: { field: string; maxItems: number; names: ReadonlySet<string> | undefined } | undefined
}

type BodySchema = {
  type?: unknown
  additionalProperties?: unknown
  properties?: Record<string, unknown>
  items?: unknown
  maxItems?: number
}

/** A part of a body that is a body itself, and the place of its first item in the list of the whole. */
export type BodyPart = { body: unknown; from: number }

/**
 * So many items are checked at once. Each may have ten faults, and to find out one and to tell it takes 3 µs; a good
 * item takes 1 µs, and each part 5 µs more.
 */
const ITEMS_AT_ONCE = 50

/**
 * The bounds of a body by its schema; an operation may have none.
 * @param resolve gives the schema that a reference is to
 * @throws {Error} where the contract leaves open what the check must be able to bound
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

/** The items of the body's list; undefined where there is none. */
export function itemsOf(body: unknown, field: string | undefined): unknown[] | undefined {
  if (field === undefined || !isObject(body) || !Object.hasOwn(body, field)) return undefined
  const items = body[field]
  return Array.isArray(items) ? items : undefined
}

/**
 * A body in parts to be checked one after the other until enough faults are known, so that a bad body takes not much
 * longer than a good one. What is in none of them is more of the same: there are as many fields that the contract does
 * not know as can be told, and as many items as may be.
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
    // What faults the other fields have is known from the first part.
    const others = from === 0 ? whole : new Trimmer(0).trim(whole, names)
    yield { body: { ...(others as object), [list.field]: kept }, from }
  }
}

/** The fault of a list that is too long, which none of its parts is. */
export function lengthFaults(body: unknown, { list }: BodyShape): Fault[] {
  const items = itemsOf(body, list?.field)
  if (!list || !items || items.length <= list.maxItems) return []
  return [{ detail: `must NOT have more than ${list.maxItems} items`, pointer: `/${list.field}` }]
}

/** The fault of a part, with the place that the item has in the whole body. */
export function inWhole(fault: Fault, { list }: BodyShape, { from }: BodyPart): Fault {
  const [, name, index, ...rest] = fault.pointer?.split('/') ?? []
  if (from === 0 || name !== list?.field || index === undefined) return fault
  return { ...fault, pointer: ['', name, Number(index) + from, ...rest].join('/') }
}

/** Cuts off fields that the contract does not know, where there are too many of them. */
class Trimmer {
  #left: number

  /** @param left how many unknown fields may stay in all objects together, beside as many as an object has known ones */
  constructor(left: number) {
    this.#left = left
  }

  /** The same object where nothing is cut off. */
  trim(value: unknown, known: ReadonlySet<string> = new Set()): unknown {
    if (!isObject(value)) return value
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

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
