import { createHash } from 'node:crypto'
import {
  type EventValue,
  type VariableFilter,
  valueReader,
  variablesTest,
} from '../../domain/event-values.ts'
import type { Key } from '../../domain/journey-standing.ts'
import type { PageRow } from './standing-store.ts'

/** The variables of events take too long to read, or have too many values. */
export class BreakdownTooLarge extends Error {}

/** Limit of different values; a label has 16 bits. */
const MOST_VALUES = 65_000

/**
 * What is kept from one report to the next: labels by so many variables, of so many pages and values together, which take
 * 450 and up to 400 bytes each.
 */
const KEPT = { variables: 16, pages: 65_536, values: MOST_VALUES }

/** Labels of standings; values follow. */
export const UNREAD = 0
export const EXCLUDED = 1
export const NOT_SET = 2
const FIRST_VALUE = 3

/** The labels of a page, as long as it has the same standings. */
type LabelledPage = { digest: string; labels: Uint16Array }

/**
 * Labels a journey's standings by the event that decides about each: whether it meets some conditions, and its value of a
 * variable. Stored events do not change, so a label is right until another event decides, which changes the page.
 */
export class VariableLabels {
  /** Undefined if standings are not divided by a variable. */
  readonly #read: ((json: string | null) => EventValue | undefined) | undefined
  readonly #matches: (json: string | null) => boolean
  /** By value. */
  readonly #labels = new Map<EventValue, number>()
  /** By the first customer. */
  readonly #pages = new Map<Key, LabelledPage>()

  constructor(name: string | undefined, filters: readonly VariableFilter[]) {
    this.#read = name === undefined ? undefined : valueReader(name)
    this.#matches = variablesTest(filters)
  }

  get isDivided(): boolean {
    return this.#read !== undefined
  }

  get pages(): number {
    return this.#pages.size
  }

  /** Which share of what is kept they take, by what they have most of. */
  get share(): number {
    return Math.max(this.pages / KEPT.pages, this.values / KEPT.values)
  }

  /** How many values have been found, also of standings that have changed since. */
  get values(): number {
    return this.#labels.size
  }

  /**
   * The labels of a page's standings, to be written where they are unread.
   * @param standings how many there are
   */
  ofPage({ first, times, keys }: PageRow, standings: number): Uint16Array {
    const digest = createHash('sha1').update(times).update(keys).digest('base64')
    const known = this.#pages.get(first)
    if (known?.digest === digest) return known.labels
    const labels = new Uint16Array(standings)
    if (known || this.#pages.size < KEPT.pages) this.#pages.set(first, { digest, labels })
    return labels
  }

  /** Forgets all other pages. @param firsts the first customers of pages */
  keepOnly(firsts: ReadonlySet<Key>): void {
    for (const first of this.#pages.keys()) if (!firsts.has(first)) this.#pages.delete(first)
  }

  /** The label for the `custom_variables` of the event that decides. @throws {BreakdownTooLarge} */
  labelOf(text: string | null): number {
    if (!this.#matches(text)) return EXCLUDED
    const value = this.#read?.(text)
    if (value === undefined) return NOT_SET
    const known = this.#labels.get(value)
    if (known !== undefined) return known
    if (this.#labels.size === MOST_VALUES) throw new BreakdownTooLarge('the variable has too many values')
    const label = this.#labels.size + FIRST_VALUE
    this.#labels.set(value, label)
    return label
  }

  /** All values with their labels. */
  entries(): Iterable<[EventValue, number]> {
    return this.#labels
  }
}

/** Keeps labels from one report to the next, so that only the events behind changed pages are read again. */
export class KeptLabels {
  /** By journey, variable and conditions, the least recently used first. */
  readonly #kept = new Map<string, VariableLabels>()

  /** Forgets labels. */
  drop(dropped: VariableLabels): void {
    for (const [key, labels] of this.#kept) if (labels === dropped) this.#kept.delete(key)
  }

  take(key: string, create: () => VariableLabels): VariableLabels {
    const labels = this.#kept.get(key) ?? create()
    this.#kept.delete(key)
    this.#kept.set(key, labels)
    return labels
  }

  /** To be called when labels were used: forgets what is too much to keep. */
  trim(): void {
    let [variables, pages, values] = [0, 0, 0]
    // Of those with all values nobody may have most any more.
    for (const [key, labels] of this.#kept) if (labels.values === MOST_VALUES) this.#kept.delete(key)
    for (const [key, labels] of [...this.#kept].reverse()) {
      variables += 1
      pages += labels.pages
      values += labels.values
      if (variables > KEPT.variables || pages > KEPT.pages || values > KEPT.values) this.#kept.delete(key)
    }
  }
}
