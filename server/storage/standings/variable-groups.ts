import { setImmediate as turn } from 'node:timers/promises'
import {
  compareValues,
  type EventValue,
  type VariableFilter,
  valueReader,
  variablesTest,
} from '../../domain/event-values.ts'
import type { Key } from '../../domain/journey-standing.ts'
import type { Groups } from './breakdown.ts'
import { entryTests, JourneyPart, keyedPages } from './page-walk.ts'
import type { PageRow, StandingReader } from './standing-store.ts'
import { TimesReader } from './standing-times.ts'
import type { BrokenDown, EntryPeriod, Touch } from './standings.ts'

/** The variables of events take too long to read, or have too many values. */
export class BreakdownTooLarge extends Error {}

/**
 * How many events are read at a time before other work runs: as many as have about this many bytes of variables, which
 * can be 64 KiB each.
 */
const SLICE_BYTES = 1024 * 1024
const SLICE_EVENTS = { least: 50, first: 500, most: 4_000 }

/** How many values have a group of their own. */
const LISTED_VALUES = 10

/** Limit of different values; a label has 16 bits. */
const MOST_VALUES = 65_000

/** Labels of enrolments; values follow. */
const EXCLUDED = 0
const NOT_SET = 1
const FIRST_VALUE = 2

/** The enrolments that may count, and what of the events that decide about them. */
type Asked = {
  journey: Key
  generation: number
  /** How many steps the journey has. */
  steps: number
  filter: Pick<BrokenDown, 'customer_type' | 'first_step' | 'last_step' | 'variables' | 'touch'>
  /** The periods of the enrolments that count; the values with the most in the first are listed. */
  periods: readonly EntryPeriod[]
  /** The variable that they are divided by. */
  name: string | undefined
  /** When to give up, by `performance.now()`. */
  until_ms: number
  signal: AbortSignal
}

/**
 * Divides enrolments by a variable of the events that decide, or only finds those whose events meet the conditions. It
 * reads these events one by one: each enrolment takes two bytes of memory, and each value what it is.
 *
 * @param undivided which group those have that meet the conditions, if they are not divided by a variable
 * @throws {BreakdownTooLarge}
 * @throws the reason of the signal
 */
export async function variableGroups(
  reader: StandingReader,
  asked: Asked,
  undivided: Groups,
): Promise<Groups> {
  const { filter, name, until_ms, signal } = asked
  const labelling = new Labelling(name, filter.variables ?? [])
  let size = SLICE_EVENTS.first
  for await (const enrolments of enrolmentsByPages(reader, asked)) {
    for (let from = 0; from < enrolments.length; ) {
      const some = enrolments.slice(from, from + size)
      from += some.length
      const events = some.flatMap(({ event }) => event ?? [])
      const texts = await reader.variables(events)
      let bytes = 1
      let index = 0
      for (const { event, ordinal, isInFirst } of some) {
        const text = event === undefined ? null : (texts[index++] ?? null)
        bytes += text?.length ?? 0
        labelling.add(ordinal, text, isInFirst)
      }
      const fitting = Math.floor((some.length * SLICE_BYTES) / bytes)
      size = Math.max(SLICE_EVENTS.least, Math.min(fitting, 2 * size, SLICE_EVENTS.most))
      await turn()
      signal.throwIfAborted()
      if (performance.now() > until_ms) throw new BreakdownTooLarge('reading the variables takes too long')
    }
  }
  return labelling.groups(undivided)
}

type Enrolment = {
  /** Its place in the order of the pages, from 1. */
  ordinal: number
  /** The event that decides; undefined if there is none. */
  event: Key | undefined
  isInFirst: boolean
}

/** Yields the enrolments of some pages that are in any of the periods. */
async function* enrolmentsByPages(reader: StandingReader, asked: Asked): AsyncGenerator<Enrolment[]> {
  const { steps, filter, periods } = asked
  const tests = entryTests(filter, periods, new JourneyPart(filter, steps))
  const times = new TimesReader()
  for await (const rows of keyedPages(reader, asked)) {
    const enrolments: Enrolment[] = []
    for (const row of rows) {
      times.open(row.times)
      const fills = new FillsReader(row, times.count)
      while (times.next()) {
        fills.next(times.reached)
        const isInFirst = tests[0]?.passes(times) ?? false
        if (!isInFirst && !tests.some((test) => test.passes(times))) continue
        const step = decidingStep(filter.touch, times.reached)
        const event = step === undefined ? undefined : fills.key(step)
        enrolments.push({ ordinal: times.ordinal, event, isInFirst })
      }
    }
    yield enrolments
  }
}

/** Which step's event decides, from 0; undefined if it is not reached. @param reached how many steps are */
export function decidingStep(touch: Touch | undefined, reached: number): number | undefined {
  const step = touch === 'last' ? reached - 1 : touch === undefined || touch === 'first' ? 0 : touch - 1
  return step >= 0 && step < reached ? step : undefined
}

/** Reads the events that fill the steps from a page's keys, standing by standing. */
class FillsReader {
  readonly #keys: Buffer
  readonly #width: number
  #from = 0
  #end: number

  constructor({ first, keys }: PageRow, standings: number) {
    this.#keys = Buffer.from(keys.buffer, keys.byteOffset, keys.length)
    this.#width = first.length / 2
    this.#end = standings * this.#width
  }

  /** Goes to the next standing. @param reached how many steps it has reached */
  next(reached: number): void {
    this.#from = this.#end
    this.#end += reached * this.#width
  }

  /** The event that fills a step, from 0. */
  key(step: number): Key {
    const from = this.#from + step * this.#width
    return this.#keys.toString('hex', from, from + this.#width)
  }
}

/** Gives each enrolment a label: whether it counts, and its value. */
class Labelling {
  /** Undefined if enrolments are not divided by a variable. */
  readonly #read: ((json: string | null) => EventValue | undefined) | undefined
  readonly #matches: (json: string | null) => boolean
  /** By value. */
  readonly #labels = new Map<EventValue, number>()
  /** By label: how many are in the first period. */
  readonly #counts = [0, 0]
  /** By ordinal. */
  #labelOf = new Uint16Array(4096)

  constructor(name: string | undefined, filters: readonly VariableFilter[]) {
    this.#read = name === undefined ? undefined : valueReader(name)
    this.#matches = variablesTest(filters)
  }

  add(ordinal: number, text: string | null, isInFirst: boolean): void {
    if (!this.#matches(text)) return
    const value = this.#read?.(text)
    const label = value === undefined ? NOT_SET : this.#label(value)
    if (isInFirst) this.#counts[label] = (this.#counts[label] ?? 0) + 1
    if (ordinal >= this.#labelOf.length) this.#grow(ordinal)
    this.#labelOf[ordinal] = label
  }

  /** The values with the most enrolments, then the others, then those without a value. */
  groups(undivided: Groups): Groups {
    const labelOf = this.#labelOf
    if (!this.#read) {
      const { groups } = undivided
      return {
        groups,
        of: (page) => ((labelOf[page.ordinal] ?? EXCLUDED) === EXCLUDED ? -1 : undivided.of(page)),
      }
    }
    const countOf = (label: number) => this.#counts[label] ?? 0
    const ranked = [...this.#labels].sort(
      ([one, label], [other, otherLabel]) =>
        countOf(otherLabel) - countOf(label) || compareValues(one, other),
    )
    const listed = ranked.slice(0, LISTED_VALUES)
    const groupOf = new Int8Array(this.#labels.size + FIRST_VALUE).fill(listed.length)
    groupOf[EXCLUDED] = -1
    groupOf[NOT_SET] = listed.length + 1
    for (const [index, [, label]] of listed.entries()) groupOf[label] = index
    return {
      groups: [
        ...listed.map(([value]) => ({ kind: 'value' as const, value, values: 1 })),
        { kind: 'other', value: null, values: ranked.length - listed.length },
        { kind: 'not_set', value: null, values: 0 },
      ],
      of: ({ ordinal }) => groupOf[labelOf[ordinal] ?? EXCLUDED] as number,
    }
  }

  #label(value: EventValue): number {
    const known = this.#labels.get(value)
    if (known !== undefined) return known
    const label = this.#labels.size + FIRST_VALUE
    if (this.#labels.size === MOST_VALUES) throw new BreakdownTooLarge('the variable has too many values')
    this.#labels.set(value, label)
    this.#counts[label] = 0
    return label
  }

  #grow(ordinal: number) {
    const labels = new Uint16Array(2 * Math.max(ordinal, this.#labelOf.length))
    labels.set(this.#labelOf)
    this.#labelOf = labels
  }
}
