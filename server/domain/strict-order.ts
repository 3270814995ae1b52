import type { StandingEvent, StepNumbers } from './journey-standing.ts'

/**
 * Follows a customer's events and finds where its strict order is broken: by an event of another step after the event
 * that reached a step and before the one that reached the next, or before anything that could reach it later.
 */
export class StrictFold {
  readonly #reached_ms: readonly number[]
  readonly #steps: StepNumbers
  /** The last step that was reached before the latest event. */
  #step: number
  #isBroken = false

  /**
   * @param reached_ms when each step was reached, from the first of the journey
   * @param first from which step, from 0, the order is strict; it is reached
   */
  constructor(reached_ms: readonly number[], first: number, steps: StepNumbers) {
    this.#reached_ms = reached_ms
    this.#steps = steps
    this.#step = first
  }

  /**
   * Adds the next event, in the order of instants; the first is later than the first step.
   * @returns whether the order is broken, after which no event changes anything
   */
  add({ name, at_ms }: Pick<StandingEvent, 'name' | 'at_ms'>): boolean {
    if (this.#isBroken) return true
    while (this.#reachedAt_ms(this.#step + 1) < at_ms) this.#step += 1
    const step = this.#steps.get(name)
    const isOther = step !== undefined && step !== this.#step && step !== this.#step + 1
    this.#isBroken = isOther && at_ms < this.#reachedAt_ms(this.#step + 1)
    return this.#isBroken
  }

  /** How many steps the customer had reached when its order was broken; undefined if it is not. */
  brokenAfter(): number | undefined {
    return this.#isBroken ? this.#step + 1 : undefined
  }

  #reachedAt_ms(step: number): number {
    return this.#reached_ms[step] ?? Number.POSITIVE_INFINITY
  }
}
