import type { components } from '../../generated/contract.ts'

type CustomerType = components['schemas']['CustomerType']

/** Names a thing within one engine: lower-case hexadecimal digits of one length, in the order of what they name. */
export type Key = string

/** The number of a step, from 0, by the name of its event. */
export type StepNumbers = ReadonlyMap<string, number>

/** An event of one customer in one journey. */
export type StandingEvent = { name: string; at_ms: number; id: Key }

/** A step that is reached: when, and by which event. Of two events at one instant the lesser key fills it. */
export type Reached = { at_ms: number; id: Key }

/** How far one enrolment has come. It is never changed, only replaced. */
export type Standing = {
  readonly customer_type: CustomerType
  /** The earlier of the enrolment and the customer's first event in the journey. */
  readonly entered_ms: number
  /** The steps that are reached, from the first on: each at the earliest event of its name at or after the one before. */
  readonly reached: readonly Reached[]
  /**
   * The steps, from 0 and ascending, that may have events before the step before them was reached. Of a step that is not
   * reached it is certain: those are out of order. Of one that is reached such an event may come to count.
   */
  readonly early: readonly number[]
}

/**
 * Asks for the earliest event of a step's name, by (instant, key), of those that are stored at `from_ms` or later and before
 * `to_ms`, which may be infinite.
 */
export type EarliestEvent = { step: number; from_ms: number; to_ms: number }

const NONE: readonly never[] = []

/** The names of the events of a journey's steps. @param steps as they are stored, JSON */
export function eventIdsOf(steps: string): string[] {
  const parsed: { event_id: string }[] = JSON.parse(steps)
  return parsed.map(({ event_id }) => event_id)
}

/** Whether two journeys' steps are reached by events of the same names, in the same order. */
export function areSameSteps(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((event_id, step) => event_id === other[step])
}

/** The standing of somebody who is enrolled and has done nothing. */
export function enrolled(customer_type: CustomerType, at_ms: number): Standing {
  return { customer_type, entered_ms: at_ms, reached: NONE, early: NONE }
}

/** Takes in that the customer was enrolled at an instant. The same object where that changes nothing. */
export function enrolledAt(standing: Standing, at_ms: number): Standing {
  return at_ms < standing.entered_ms ? { ...standing, entered_ms: at_ms } : standing
}

/** The steps, from 0 and ascending, that have an event and are not reached. */
export function outOfOrder({ reached, early }: Standing): number[] {
  return early.filter((step) => step >= reached.length)
}

/**
 * Takes in events, whatever their order and also for the second time, and ends with the standing of all that were taken in
 * so far; with the same object where they change nothing. It asks, by what it yields, for an event that was taken in
 * before, where a step has moved to an earlier instant and such an event may have come to count: answer with the event, or
 * with undefined where there is none. What is asked for one step never overlaps, so that all answers together are linear in
 * the events.
 */
export function* advance(
  standing: Standing,
  events: readonly StandingEvent[],
  steps: StepNumbers,
): Generator<EarliestEvent, Standing, Reached | undefined> {
  const ofSteps: StandingEvent[][] = []
  let entered_ms = standing.entered_ms
  for (const event of events) {
    if (event.at_ms < entered_ms) entered_ms = event.at_ms
    const step = steps.get(event.name)
    if (step === undefined) continue
    const ofStep = ofSteps[step]
    if (ofStep) ofStep.push(event)
    else ofSteps[step] = [event]
  }

  const early = new EarlySteps(standing.early)
  const reached: Reached[] = []
  let isChanged = entered_ms < standing.entered_ms
  /** When the step before is reached, and was. */
  let from_ms = Number.NEGATIVE_INFINITY
  let before_ms = Number.NEGATIVE_INFINITY
  for (let step = 0; step < steps.size; step += 1) {
    const old = standing.reached[step]
    let filling = old
    // Behind a step that is not reached no step is; behind one that stays where it was only new events can count.
    if (from_ms < before_ms && early.has(step)) {
      filling = earlier(filling, yield { step, from_ms, to_ms: before_ms })
    }
    for (const event of ofSteps[step] ?? NONE) {
      if (event.at_ms >= from_ms) filling = earlier(filling, event)
      else early.add(step)
    }
    if (filling) {
      reached.push({ at_ms: filling.at_ms, id: filling.id })
      if (filling !== old) isChanged = true
    }
    from_ms = filling ? filling.at_ms : Number.POSITIVE_INFINITY
    before_ms = old ? old.at_ms : Number.POSITIVE_INFINITY
  }
  if (!isChanged && !early.isChanged) return standing
  return { customer_type: standing.customer_type, entered_ms, reached, early: early.steps() }
}

/**
 * Computes a standing from all events of an enrolment, given in the order of their instants; nothing is asked for, and of
 * the events only those of one instant are kept.
 */
export class StandingFold {
  readonly #steps: StepNumbers
  readonly #customerType: CustomerType
  readonly #reached: Reached[] = []
  readonly #early = new EarlySteps(NONE)
  #entered_ms: number
  #at_ms = Number.NEGATIVE_INFINITY
  /** The least event of each step at this instant: which of them count depends on the order of the steps. */
  readonly #least = new Map<number, Key>()

  constructor({ customer_type, entered_ms }: Standing, steps: StepNumbers) {
    this.#steps = steps
    this.#customerType = customer_type
    this.#entered_ms = entered_ms
  }

  add({ name, at_ms, id }: StandingEvent): void {
    if (at_ms < this.#entered_ms) this.#entered_ms = at_ms
    const step = this.#steps.get(name)
    // What was reached at an earlier instant stays.
    if (step === undefined || step < this.#reached.length) return
    if (at_ms !== this.#at_ms) this.#endInstant()
    this.#at_ms = at_ms
    const least = this.#least.get(step)
    if (least === undefined || id < least) this.#least.set(step, id)
  }

  /** The standing. Nothing may be added any more. */
  standing(): Standing {
    this.#endInstant()
    return {
      customer_type: this.#customerType,
      entered_ms: this.#entered_ms,
      reached: this.#reached,
      early: this.#early.steps(),
    }
  }

  #endInstant() {
    if (this.#least.size === 0) return
    let id = this.#least.get(this.#reached.length)
    while (id !== undefined) {
      this.#reached.push({ at_ms: this.#at_ms, id })
      id = this.#least.get(this.#reached.length)
    }
    for (const step of this.#least.keys()) if (step > this.#reached.length) this.#early.add(step)
    this.#least.clear()
  }
}

/** The earlier of two by (instant, key); the first where they are the same event. */
function earlier<Event extends Reached>(one: Event | undefined, other: Event | undefined): Event | undefined {
  if (!one || !other) return one ?? other
  if (other.at_ms !== one.at_ms) return other.at_ms < one.at_ms ? other : one
  return other.id < one.id ? other : one
}

/** A set of steps that is copied when it first changes. */
class EarlySteps {
  readonly #given: readonly number[]
  #steps: Set<number> | undefined

  constructor(given: readonly number[]) {
    this.#given = given
  }

  get isChanged(): boolean {
    return this.#steps !== undefined
  }

  has(step: number): boolean {
    return this.#steps ? this.#steps.has(step) : this.#given.includes(step)
  }

  add(step: number): void {
    if (this.has(step)) return
    this.#steps ??= new Set(this.#given)
    this.#steps.add(step)
  }

  steps(): readonly number[] {
    return this.#steps ? [...this.#steps].sort((one, other) => one - other) : this.#given
  }
}
