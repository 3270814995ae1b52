import type { Standing } from '../../../domain/journey-standing.ts'

/** So many bytes are known at a time: a million standings of five steps; beyond that all are forgotten. */
const GREATEST_BYTES = 128 * 1024 * 1024

/** What a customer takes in the map of places, nearly. */
const PLACE_BYTES = 40

/** A journey that is new has room for so many customers, and then for twice as many again and again. */
const FIRST_CUSTOMERS = 64

/** Whether an event of a customer changes its standing, as far as that can be told from what was noted. */
export type KnownJourney = {
  /**
   * Whether an event surely changes nothing. Also where its name is another one with the hash of a step's: such an event
   * changes no more than that step's would.
   */
  changesNothing(event: { customer: number; name: number; at_ms: number }): boolean
}

/**
 * The standings that were looked at last, so that an event that changes nothing, as most do, costs neither a look at its row
 * nor at the pages.
 */
export class KnownStandings {
  readonly #journeys = new Map<number, PackedJourney>()
  readonly #hash: (name: string) => number
  #bytes = 0

  /** @param hash of an event's name, as the ring has it */
  constructor(hash: (name: string) => number) {
    this.#hash = hash
  }

  /** Those of a journey, as long as its steps are these; else they are forgotten. @param json the steps as JSON */
  of(journey_ref: number, event_ids: readonly string[], json: string): KnownJourney {
    const known = this.#journeys.get(journey_ref)
    if (known?.event_ids === json) return known
    this.#bytes -= known?.bytes ?? 0
    const journey = new PackedJourney(json, event_ids.map(this.#hash))
    this.#journeys.set(journey_ref, journey)
    return journey
  }

  /** Notes how a standing is now, for the steps that were named last. */
  note(journey_ref: number, customer_ref: number, standing: Standing): void {
    const journey = this.#journeys.get(journey_ref)
    if (!journey) return
    const before = journey.bytes
    journey.set(customer_ref, standing)
    this.#bytes += journey.bytes - before
    if (this.#bytes > GREATEST_BYTES) this.forget()
  }

  /** Forgets everything: what was noted may have been rolled back. */
  forget(): void {
    this.#journeys.clear()
    this.#bytes = 0
  }
}

/** Those of one journey, side by side in two arrays: as objects a million would take 250 MB. */
class PackedJourney implements KnownJourney {
  readonly event_ids: string
  /** The steps by the hashes of their names. */
  readonly #steps: ReadonlyMap<number, number>
  /** Two of them have one hash: nothing can be told then. */
  readonly #isAmbiguous: boolean
  /** By customer. */
  readonly #places = new Map<number, number>()
  /** Of each customer the entry, and the instants of the steps that are reached. */
  readonly #timeCount: number
  #times: Float64Array
  /** Of each customer how many steps are reached, and a bit for each step that is early. */
  readonly #markCount: number
  #marks: Uint32Array

  /** @param hashes of the steps' names */
  constructor(event_ids: string, hashes: readonly number[]) {
    this.event_ids = event_ids
    this.#steps = new Map(hashes.map((hash, step) => [hash, step]))
    this.#isAmbiguous = this.#steps.size < hashes.length
    this.#timeCount = 1 + hashes.length
    this.#markCount = 1 + Math.ceil(hashes.length / 32)
    this.#times = new Float64Array(FIRST_CUSTOMERS * this.#timeCount)
    this.#marks = new Uint32Array(FIRST_CUSTOMERS * this.#markCount)
  }

  get bytes(): number {
    return this.#times.byteLength + this.#marks.byteLength + this.#places.size * PLACE_BYTES
  }

  set(customer: number, { entered_ms, reached, early }: Standing): void {
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

  changesNothing({ customer, name, at_ms }: { customer: number; name: number; at_ms: number }): boolean {
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
