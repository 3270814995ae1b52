import type { Standing } from '../../domain/journey-standing.ts'

/** Memory budget: a million standings of five steps. When it is reached, the cache is cleared. */
const GREATEST_BYTES = 128 * 1024 * 1024

/** Initial capacity, in customers, of a journey's cache; it doubles when full. */
const FIRST_CUSTOMERS = 64

/** Whether an event of a customer changes its standing, as far as the cache can tell. */
export type KnownJourney<Ref, Name> = {
  /**
   * Whether an event certainly changes nothing. Also answers for an event whose name collides with the hash of a step's
   * name: it changes no more than an event of that step would.
   */
  changesNothing(event: { customer: Ref; name: Name; at_ms: number }): boolean
}

/** How an engine represents journeys, customers and events in the cache. */
export type KnownAs<Name> = {
  /** Representation of an event's name: the name itself, or a hash of it. */
  nameOf(event_id: string): Name
  /** Approximate memory of a customer in the map of slots. */
  customer_bytes: number
}

/** A journey's change from one state to another, with the standings that were examined, as they are now. */
export type KnownChange<Ref> = {
  journey: Ref
  event_ids: readonly string[]
  /** Undefined if it had no standings. */
  from: string | undefined
  to: string
  standings: readonly { customer: Ref; standing: Standing }[]
}

/**
 * A cache of recent standings, so that an event that changes nothing, as most do, costs neither a read of its row
 * nor of the pages. Without it, following such events takes 15 times the processor time on SQLite, and more than twice
 * on PostgreSQL.
 */
export class KnownStandings<Ref, Name> {
  readonly #journeys = new Map<Ref, PackedJourney<Ref, Name>>()
  readonly #as: KnownAs<Name>
  #bytes = 0

  constructor(as: KnownAs<Name>) {
    this.#as = as
  }

  /**
   * The cache of a journey if it has this state; otherwise it is cleared first.
   * @param state must at least identify the steps
   */
  of(journey: Ref, event_ids: readonly string[], state: string): KnownJourney<Ref, Name> {
    this.dropUnless(journey, state)
    const known = this.#journeys.get(journey)
    if (known) return known
    const { nameOf, customer_bytes } = this.#as
    const packed = new PackedJourney<Ref, Name>(state, event_ids.map(nameOf), customer_bytes)
    if (this.#bytes + packed.bytes > GREATEST_BYTES) this.forget()
    this.#bytes += packed.bytes
    this.#journeys.set(journey, packed)
    return packed
  }

  /** Clears the cache of a journey unless it has this state. */
  dropUnless(journey: Ref, state: string): void {
    const known = this.#journeys.get(journey)
    if (!known || known.state === state) return
    this.#bytes -= known.bytes
    this.#journeys.delete(journey)
  }

  /** Stores a standing, in the state that was given last. */
  note(journey: Ref, customer: Ref, standing: Standing): void {
    const packed = this.#journeys.get(journey)
    if (!packed) return
    const before = packed.bytes
    packed.set(customer, standing)
    this.#bytes += packed.bytes - before
    if (this.#bytes > GREATEST_BYTES) this.forget()
  }

  /** Stores standings in the next state; skipped for a journey that is cached in a state other than `from`. */
  advance({ journey, event_ids, from, to, standings }: KnownChange<Ref>): void {
    const packed = this.#journeys.get(journey)
    if (packed && packed.state !== from) return
    if (packed) packed.state = to
    else this.of(journey, event_ids, to)
    for (const { customer, standing } of standings) this.note(journey, customer, standing)
  }

  /** Clears the cache: what it holds may have been rolled back. */
  forget(): void {
    this.#journeys.clear()
    this.#bytes = 0
  }
}

/** The standings of one journey, packed in two arrays: as objects a million would take 250 MB. */
class PackedJourney<Ref, Name> implements KnownJourney<Ref, Name> {
  state: string
  /** Step numbers by the representation of their names. */
  readonly #steps: ReadonlyMap<Name, number>
  /** Two steps have the same representation, so the cache cannot answer. */
  readonly #isAmbiguous: boolean
  /** By customer. */
  readonly #places = new Map<Ref, number>()
  readonly #customer_bytes: number
  /** For each customer: the entry, and the timestamps of the steps reached. */
  readonly #timeCount: number
  #times: Float64Array
  /** For each customer: the number of steps reached, and a bit for each early step. */
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
    // Of events with equal timestamps the lower one fills the step.
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
