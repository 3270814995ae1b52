import type { Fault } from './problems.ts'

/** The field of a body whose items count against a key's rate (contract: `x-counted`), and how many there may be. */
export type Counted = { field: string; maxItems: number }

/** So many names of fields are checked at once: each may be a fault, and one takes 2 µs and 200 bytes to tell. */
const NAMES_AT_ONCE = 10_000

/** No object of the contract has nearly as many fields. */
const NAMES_OF_OBJECT = 1_000

type Part = { body: unknown; from: number }

/** How many events a request counts as. */
export function countOf(body: unknown, counted: Counted | undefined): number {
  return counted ? itemsOf(body, counted)?.length || 1 : 1
}

/**
 * A large body in parts that are checked one after the other, so that what a few good items take is not multiplied by
 * thousands of bad ones. A good body is one part, itself.
 * @returns faults that tell enough, or parts with the place of their first item
 */
export function partsOf(body: unknown, counted: Counted): { faults: Fault[]; parts: Part[] } {
  const { field, maxItems } = counted
  const whole = { faults: [], parts: [{ body, from: 0 }] }
  const items = itemsOf(body, counted)
  if (!items) return whole
  const refuse = (pointer: string, detail: string) => ({ faults: [{ pointer, detail }], parts: [] })
  if (items.length > maxItems) return refuse(`/${field}`, `must NOT have more than ${maxItems} items`)
  if (namesIn(body) > NAMES_OF_OBJECT) return refuse('', TOO_MANY_NAMES)

  const parts: Part[] = []
  let from = 0
  let names = 0
  for (const [index, item] of items.entries()) {
    const more = namesIn(item)
    if (more > NAMES_OF_OBJECT) return refuse(`/${field}/${index}`, TOO_MANY_NAMES)
    names += more
    if (names <= NAMES_AT_ONCE) continue
    parts.push({ body: { ...(body as object), [field]: items.slice(from, index + 1) }, from })
    from = index + 1
    names = 0
  }
  if (parts.length === 0) return whole
  if (from < items.length) parts.push({ body: { ...(body as object), [field]: items.slice(from) }, from })
  return { faults: [], parts }
}

/** The fault of a part, with the place that the item has in the whole body. */
export function shifted(fault: Fault, { field }: Counted, from: number): Fault {
  const [, name, index, ...rest] = fault.pointer?.split('/') ?? []
  if (from === 0 || name !== field || index === undefined) return fault
  return { ...fault, pointer: ['', name, Number(index) + from, ...rest].join('/') }
}

const TOO_MANY_NAMES = 'has far more fields than the contract knows; remove them'

function itemsOf(body: unknown, { field }: Counted): unknown[] | undefined {
  if (typeof body !== 'object' || body === null || !Object.hasOwn(body, field)) return undefined
  const items = (body as Record<string, unknown>)[field]
  return Array.isArray(items) ? items : undefined
}

function namesIn(value: unknown): number {
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 1
}
