import type { Standing } from '../../domain/journey-standing.ts'

/** So many bytes are known at a time: a million standings of five steps; beyond that all are forgotten. */
const GREATEST_BYTES = 128 * 1024 * 1024

/** A journey that is new has room for so many customers, and then for twice as many again and again. */
const FIRST_CUSTOMERS = 64

/** Whether an event of a customer changes its standing, as far as that can be told from what was noted. */
export type KnownJourney<Ref, Name> = {
  /**
   * Whether an event surely changes nothing. Also where its name is another one that is known as a step's is: such an event
   * changes no more than that step's would.
   */
  changesNothing(event: { customer: Ref; name: Name; at_ms: number }): boolean
}

/** How an engine names journeys, customers and events here. */
export type KnownAs<Name> = {
  /** As what the name of an event is known: itself, or a hash of it. */
  nameOf(event_id: string): Name
  /** What a customer takes in the map of places, nearly. */
  customer_bytes: number
}

/** A journey that has come from one state to another, with the standings that were looked at on the way, as they are now. */
export type KnownChange<Ref> = {
  journey: Ref
  event_ids: readonly string[]
  /** Undefined: it had no standings. */
  from: string | undefined
  to: string
  standings: readonly { customer: Ref; standing: Standing }[]
}

/**
 * The standings that were looked at last, so that an event that changes nothing, as most do, costs neither a look at its row
 * nor at the pages.
 */
export class KnownStandings<Ref, Name> {
  readonly #journeys = new Map<Ref, PackedJourney<Ref, Name>>()
  readonly #as: KnownAs<Name>
  #bytes = 0

  constructor(as: KnownAs<Name>) {
    this.#as = as
  }

  /**
   * Those of a journey, as long as it is in this state; else they are forgotten.
   * @param state says at least which steps these are
   */
  of(journey: Ref, event_ids: readonly string[], state: string): KnownJourney<Ref, Name> {
    const known = this.#journeys.get(journey)
    if (known?.state === state) return known
    this.#bytes -= known?.bytes ?? 0
    const { nameOf, customer_bytes } = this.#as
    const packed = new PackedJourney<Ref, Name>(state, event_ids.map(nameOf), customer_bytes)
    this.#journeys.set(journey, packed)
    return packed
  }

  /** Notes how a standing is now, in the state that was named last. */
  note(journey: Ref, customer: Ref, standing: Standing): void {
    const packed = this.#journeys.get(journey)
    if (!packed) return
    const before = packed.bytes
    packed.set(customer, standing)
    this.#bytes += packed.bytes - before
    if (this.#bytes > GREATEST_BYTES) this.forget()
  }

  /** Notes how standings are in the next state. Where a journey is known in another one than it comes from, nothing is. */
  advance({ journey, event_ids, from, to, standings }: KnownChange<Ref>): void {
    const packed = this.#journeys.get(journey)
    if (packed && packed.state !== from) return
    if (packed) packed.state = to
    else this.of(journey, event_ids, to)
    for (const { customer, standing } of standings) this.note(journey, customer, standing)
  }

  /** Forgets everything: what was noted may have been rolled back. */
  forget(): void {
    this.#journeys.clear()
    this.#bytes = 0
  }
}

/** Those of one journey, side by side in two arrays: as objects a million would take 250 MB. */
class PackedJourney<Ref, Name> implements KnownJourney<Ref, Name> {
  state: string
  /** The steps by what their names are known as. */
  readonly #steps: ReadonlyMap<Name, number>
  /** Two of them are known as one: nothing can be told then. */
  readonly #isAmbiguous: boolean
  /** By customer. */
  readonly #places = new Map<Ref, number>()
  readonly #customer_bytes: number
  /** Of each customer the entry, and the instants of the steps that are reached. */
  readonly #timeCount: number
  #times: Float64Array
  /** Of each customer how many steps are reached, and a bit for each step that is early. */
  readonly #markCount: number
  #marks: Uint32Array

  /** @param names of the steps */
  constructor(state: string, names: readonly Name[], customer_bytes: number) {
    this.state = state
    this.#customer_bytes = customer_bytes
    this.#steps = new Map(names.map((name, step) => [name, step]))
    this.#isAmbiguous = this.#steps.size < names.length
    this.#timeCount = 1 + names.length
    this.#markCount = 1 + Math.ceil(names.length / 32)
    this.#times = new Float64Array(FIRST_CUSTOMERS * this.#timeCount)
    this.#marks = new Uint32Array(FIRST_CUSTOMERS * this.#markCount)
  }

  get bytes(): number {
    return this.#times.byteLength + this.#marks.byteLength + this.#places.size * this.#customer_bytes
  }

  set(customer: Ref, { entered_ms, reached, early }: Standing): void {
    let place = this.#places.get(customer)
    if (place === undefined) {
      place = this.#places.size
      this.#places.set(customer, place)
      if ((place + 1) * this.#timeCount > this.#times.length) this.#grow()
    }
    const times = place * this.#timeCount
    const marks = place * this.#markCount
    this.#times[times] = entered_ms
    for (const [step, { at_ms }] of reached.entries()) this.#times[times + 1 + step] = at_ms
    this.#marks.fill(0, marks, marks + this.#markCount)
    this.#marks[marks] = reached.length
    for (const step of early) {
      const word = marks + 1 + (step >>> 5)
      this.#marks[word] = (this.#marks[word] as number) | (1 << (step & 31))
    }
  }

  changesNothing({ customer, name, at_ms }: { customer: Ref; name: Name; at_ms: number }): boolean {
    const place = this.#places.get(customer)
    if (place === undefined || this.#isAmbiguous) return false
    const times = place * this.#timeCount
    if (at_ms < (this.#times[times] as number)) return false
    const step = this.#steps.get(name)
    if (step === undefined) return true
    const marks = place * this.#markCount
    const reached = this.#marks[marks] as number
    // At the same instant the lesser event fills the step.
    if (step < reached) return at_ms > (this.#times[times + 1 + step] as number)
    const word = this.#marks[marks + 1 + (step >>> 5)] as number
    return step > reached && ((word >>> (step & 31)) & 1) === 1
  }

  #grow() {
    const times = new Float64Array(2 * this.#times.length)
    times.set(this.#times)
    this.#times = times
    const marks = new Uint32Array(2 * this.#marks.length)
    marks.set(this.#marks)
    this.#marks = marks
  }
}
