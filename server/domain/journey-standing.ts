import type { components } from '../../generated/contract.ts'

type CustomerType = components['schemas']['CustomerType']

/** Identifies an event within one engine: lower-case hexadecimal digits of fixed length that sort like the events. */
export type Key = string

/** The number of a step, from 0, by its event name. */
export type StepNumbers = ReadonlyMap<string, number>

/** An event of one customer in one journey. */
export type StandingEvent = { name: string; at_ms: number; id: Key }

/**
 * A step that was reached: when, and by which event. Of two events at one instant the one with the smaller key counts.
 */
export type ReachedStep = { at_ms: number; id: Key }

/** The progress of one enrolment. Immutable. */
export type Standing = {
  readonly customer_type: CustomerType
  /** The earlier of the enrolment and the customer's first event in the journey. */
  readonly entered_ms: number
  /** The reached steps from the first on, each at the earliest event of its name at or after the previous step. */
  readonly reached: readonly ReachedStep[]
  /**
   * The steps, from 0 and ascending, that may have events before the previous step was reached. If the step itself is
   * not reached, it certainly has: these are out of order. If it is reached, such an event may count later.
   */
  readonly early: readonly number[]
}

/**
 * Asks for the earliest stored event with the step's name, by (instant, key), at or after `from_ms` and before `to_ms`,
 * which may be infinite.
 */
export type EarliestEvent = { step: number; from_ms: number; to_ms: number }

const NONE: readonly never[] = []

/** Returns the event names of a journey's steps. @param steps as stored, JSON */
export function eventIdsOf(steps: string): string[] {
  const parsed: { event_id: string }[] = JSON.parse(steps)
  return parsed.map(({ event_id }) => event_id)
}

/** Whether the steps of two journeys have the same event names in the same order. */
export function areSameSteps(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((event_id, step) => event_id === other[step])
}

/** Returns the standing of a customer who is enrolled and has no events. */
export function enrolled(customer_type: CustomerType, at_ms: number): Standing {
  return { customer_type, entered_ms: at_ms, reached: NONE, early: NONE }
}

/** Applies an enrolment. Returns the same object if it changes nothing. */
export function enrolledAt(standing: Standing, at_ms: number): Standing {
  return at_ms < standing.entered_ms ? { ...standing, entered_ms: at_ms } : standing
}

/** Returns the steps, from 0 and ascending, that have an event but are not reached. */
export function outOfOrder({ reached, early }: Standing): number[] {
  return early.filter((step) => step >= reached.length)
}

/**
 * Applies events to a standing. It is commutative and idempotent: events may come in any order, also twice (late
 * arrivals), and the result is the standing of all events applied so far. Returns the same object if they change
 * nothing. If a step has moved to an earlier instant, an event applied before may count now; the generator asks for it
 * by what it yields. Answer with the event, or with undefined if there is none. The ranges asked for one step never
 * overlap, so all answers together are linear in the number of events.
 */
export function* advance(
  standing: Standing,
  events: readonly StandingEvent[],
  steps: StepNumbers,
): Generator<EarliestEvent, Standing, ReachedStep | undefined> {
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
  const reached: ReachedStep[] = []
  let isChanged = entered_ms < standing.entered_ms
  /** When the previous step is reached now, and when it was before. */
  let from_ms = Number.NEGATIVE_INFINITY
  let before_ms = Number.NEGATIVE_INFINITY
  for (let step = 0; step < steps.size; step += 1) {
    const old = standing.reached[step]
    let filling = old
    // After a step that is not reached no other is; if the previous step has not moved, only new events can count.
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
 * Computes a standing from all events of an enrolment, added in the order of their instants. It asks for no events, and
 * keeps only those of one instant.
 */
export class StandingFold {
  readonly #steps: StepNumbers
  readonly #customerType: CustomerType
  readonly #reached: ReachedStep[] = []
  readonly #early = new EarlySteps(NONE)
  #entered_ms: number
  #at_ms = Number.NEGATIVE_INFINITY
  /** The smallest event of each step at this instant; which of them count depends on the order of the steps. */
  readonly #least = new Map<number, Key>()

  constructor({ customer_type, entered_ms }: Standing, steps: StepNumbers) {
    this.#steps = steps
    this.#customerType = customer_type
    this.#entered_ms = entered_ms
  }

  add({ name, at_ms, id }: StandingEvent): void {
    if (at_ms < this.#entered_ms) this.#entered_ms = at_ms
    const step = this.#steps.get(name)
    // A step reached at an earlier instant stays.
    if (step === undefined || step < this.#reached.length) return
    if (at_ms !== this.#at_ms) this.#endInstant()
    this.#at_ms = at_ms
    const least = this.#least.get(step)
    if (least === undefined || id < least) this.#least.set(step, id)
  }

  /** Returns the standing. Do not add events afterwards. */
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

/** Returns the earlier of two by (instant, key); the first if they are the same event. */
function earlier<Event extends ReachedStep>(
  one: Event | undefined,
  other: Event | undefined,
): Event | undefined {
  if (!one || !other) return one ?? other
  if (other.at_ms !== one.at_ms) return other.at_ms < one.at_ms ? other : one
  return other.id < one.id ? other : one
}

/** A set of steps, copied on its first change (copy-on-write). */
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
