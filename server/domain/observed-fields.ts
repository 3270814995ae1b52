import type { DefinedType, DefinedValue } from './event-definitions.ts'
import { definitionFaults } from './event-definitions.ts'
import { isJsonObject } from './json-text.ts'
import { pointerTo } from './pointers.ts'

/** A field as it occurs in events (contract: `ObservedField`). */
export type ObservedField = {
  /** JSON Pointer (RFC 6901) within `custom_variables`; items of an array are `-`. */
  pointer: string
  types: DefinedType[]
  /** How many events have it. */
  events: number
  /** All its values, if they are few and short. */
  values: Scalar[]
}

type Scalar = string | number | boolean

/** Maximum fields observed, and how deep: more than that is no structure that anybody would define. */
const FIELDS = 200
const LEVELS = 5

/** Maximum different values that are listed, and their maximum length in UTF-16 code units. */
const VALUES = 10
const VALUE_LENGTH = 100

/** Minimum events for a suggestion. */
const SUGGESTED_FROM = 50

/** A value at one place in the events. */
class Place {
  readonly types = new Set<DefinedType>()
  /** Undefined if there are too many, or one is too long. */
  values: Set<Scalar> | undefined = new Set()
  events = 0
  /** The event that was counted last. */
  #counted = 0
  /** How often it was there; several times in an event, if it is in an array. */
  occurrences = 0
  /** How often it was an object. */
  objects = 0
  readonly fields = new Map<string, Place>()
  items: Place | undefined

  note(value: unknown, event: number) {
    this.occurrences += 1
    if (this.#counted !== event) this.events += 1
    this.#counted = event
    this.types.add(typeOf(value))
    if (typeof value === 'object' || !this.values) return
    const scalar = value as Scalar
    if (typeof scalar !== 'string' || scalar.length <= VALUE_LENGTH) this.values.add(scalar)
    else this.values = undefined
    if (this.values && this.values.size > VALUES) this.values = undefined
  }
}

/** The fields of the custom variables of some events. */
export class ObservedFields {
  readonly #root = new Place()
  #places = 0

  get examined(): number {
    return this.#root.occurrences
  }

  /** @param variables as they were sent; what is no object counts as one without fields */
  add(variables: unknown): void {
    const value = isJsonObject(variables) ? variables : {}
    this.#visit(this.#root, value, this.#root.occurrences + 1, 0)
  }

  /** The fields, each before those inside it. */
  fields(): ObservedField[] {
    const listed: ObservedField[] = []
    const visit = (place: Place, pointer: string) => {
      for (const [name, field] of childrenOf(place)) {
        const at = pointerTo(pointer, name)
        const { events, types, values = [] } = field
        listed.push({ pointer: at, types: typesOf(types), events, values: [...values] })
        visit(field, at)
      }
    }
    visit(this.#root, '')
    return listed
  }

  /** A definition to which all events that have an object conform; undefined if there are too few, or if it would be too large. */
  suggestion(): DefinedValue | undefined {
    if (this.examined < SUGGESTED_FROM) return undefined
    for (let levels = LEVELS; levels > 0; levels -= 1) {
      const suggested: DefinedValue = { type: 'object', ...contentsOf(this.#root, levels) }
      if (definitionFaults(suggested).length === 0) return suggested
    }
    return undefined
  }

  #visit(place: Place, value: unknown, event: number, level: number) {
    place.note(value, event)
    if (Array.isArray(value)) {
      if (value.length > 0) place.items ??= this.#newPlace(level)
      for (const item of place.items ? value : []) this.#visit(place.items as Place, item, event, level + 1)
      return
    }
    if (!isJsonObject(value)) return
    place.objects += 1
    for (const [name, inner] of Object.entries(value)) {
      const field = place.fields.get(name) ?? this.#newPlace(level)
      if (!field) continue
      place.fields.set(name, field)
      this.#visit(field, inner, event, level + 1)
    }
  }

  /** Undefined if there are enough. */
  #newPlace(level: number): Place | undefined {
    if (level >= LEVELS || this.#places === FIELDS) return undefined
    this.#places += 1
    return new Place()
  }
}

function childrenOf({ fields, items }: Place): [name: string, Place][] {
  return items ? [...fields, ['-', items]] : [...fields]
}

/** What a definition says about the inside of a value. @param levels how deep */
function contentsOf(place: Place, levels: number): DefinedValue {
  if (levels === 0) return {}
  const inner = (field: Place): DefinedValue => {
    const [first, ...others] = typesOf(field.types)
    const type = others.length > 0 ? [first, ...others] : first
    return { ...(type && { type: type as DefinedType }), ...contentsOf(field, levels - 1) }
  }
  const names = [...place.fields].filter(([name]) => name !== '__proto__')
  const required = names.filter(([, field]) => field.occurrences === place.objects).map(([name]) => name)
  return {
    ...(names.length > 0 && {
      properties: Object.fromEntries(names.map(([name, field]) => [name, inner(field)])),
    }),
    ...(required.length > 0 && { required }),
    ...(place.items && { items: inner(place.items) }),
  }
}

/** Numbers with and without a fraction are of one type. */
function typesOf(types: ReadonlySet<DefinedType>): DefinedType[] {
  return [...types].filter((type) => type !== 'integer' || !types.has('number'))
}

function typeOf(value: unknown): DefinedType {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value as 'string' | 'boolean' | 'object'
}
