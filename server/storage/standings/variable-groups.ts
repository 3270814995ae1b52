import { setImmediate as turn } from 'node:timers/promises'
import { compareValues } from '../../domain/event-values.ts'
import type { Key } from '../../domain/journey-standing.ts'
import type { Groups } from './breakdown.ts'
import { type EntryTest, entryTests, JourneyPart, keyedPages } from './page-walk.ts'
import type { PageRow, StandingReader } from './standing-store.ts'
import { TimesReader } from './standing-times.ts'
import type { BrokenDown, EntryPeriod, Touch } from './standings.ts'
import { BreakdownTooLarge, EXCLUDED, NOT_SET, UNREAD, type VariableLabels } from './variable-labels.ts'

/**
 * How many events are read at a time before other work runs: as many as have about this many bytes of variables. The
 * next ones can have 64 KiB each, however small those before were.
 */
const SLICE_BYTES = 1024 * 1024
const SLICE_EVENTS = { least: 50, first: 500, most: 1_000 }

/**
 * How many pages are read at a time ahead of reports, and for how long before others have their turn. Few pages: their
 * events can have 64 KiB of variables each.
 */
const AHEAD = { pages: 8, slice_ms: 100 }

/** How many values have a group of their own. */
const LISTED_VALUES = 10

/** The enrolments that may count, and what of the events that decide about them. */
export type AskedLabels = {
  journey: Key
  generation: number
  /** How many steps the journey has. */
  steps: number
  filter: Pick<BrokenDown, 'customer_type' | 'first_step' | 'last_step' | 'touch'>
  /** The periods of the enrolments that count; the values with the most in the first are listed. */
  periods: readonly EntryPeriod[]
  /** When to give up, by `performance.now()`. */
  until_ms: number
  signal: AbortSignal
}

/**
 * Divides enrolments by a variable of the events that decide, or only finds those whose events meet the conditions. It
 * reads the events that have no label yet one by one: each enrolment takes two bytes of memory.
 *
 * @param labels for this journey, variable, conditions and touch; what is read is kept there, also if it takes too long
 * @param undivided which group those have that meet the conditions, if they are not divided by a variable
 * @throws {BreakdownTooLarge}
 * @throws the reason of the signal
 */
export async function variableGroups(
  reader: StandingReader,
  asked: AskedLabels,
  labels: VariableLabels,
  undivided: Groups,
): Promise<Groups> {
  const labelled = new Labelled()
  const reading = new LabelReading(reader, labels, asked)
  const firsts = new Set<Key>()
  for await (const rows of keyedPages(reader, asked)) {
    const pages = await reading.read(rows, (label, isInFirst) => labelled.count(label, isInFirst))
    for (const { first } of rows) firsts.add(first)
    for (const { page, standings } of pages) labelled.append(page, standings)
  }
  labels.keepOnly(firsts)
  return labelled.groups(labels, undivided)
}

/**
 * Labels some of the enrolments that may count, for the report to come.
 *
 * @param after where to go on, the `next` of the previous part; null to begin
 * @returns where to go on, null at the end; and how many enrolments had no label
 * @throws as `variableGroups`
 */
export async function readLabels(
  reader: StandingReader,
  asked: AskedLabels,
  labels: VariableLabels,
  after: Key | null,
): Promise<{ next: Key | null; unread: number }> {
  const { journey, generation } = asked
  const reading = new LabelReading(reader, labels, asked)
  const until_ms = performance.now() + AHEAD.slice_ms
  for (let next = after; ; ) {
    const rows: readonly PageRow[] = await reader.pages(journey, generation, next, AHEAD.pages)
    await reading.read(rows)
    next = rows.length < AHEAD.pages ? null : (rows.at(-1)?.first ?? null)
    if (next === null || performance.now() >= until_ms) return { next, unread: reading.unread }
  }
}

/** A standing without a label: its place in its page, and the event that decides; undefined if there is none. */
type Unread = { page: Uint16Array; index: number; event: Key | undefined; isInFirst: boolean }

/** The labels of a page; undefined if none of its standings counts. */
type PageLabels = { page: Uint16Array | undefined; standings: number }

/** Labels standings, and reads events where labels are missing. */
class LabelReading {
  readonly #reader: StandingReader
  readonly #labels: VariableLabels
  readonly #asked: AskedLabels
  readonly #tests: readonly EntryTest[]
  readonly #times = new TimesReader()
  #size = SLICE_EVENTS.first
  #unread = 0

  constructor(reader: StandingReader, labels: VariableLabels, asked: AskedLabels) {
    const { filter, periods, steps } = asked
    this.#reader = reader
    this.#labels = labels
    this.#asked = asked
    this.#tests = entryTests(filter, periods, new JourneyPart(filter, steps))
  }

  /** How many standings had no label. */
  get unread(): number {
    return this.#unread
  }

  /**
   * Lets other work run at least once.
   * @param onLabel called for each standing that counts; `isInFirst` says whether in the first period
   * @throws {BreakdownTooLarge}
   * @throws the reason of the signal
   */
  async read(
    rows: readonly PageRow[],
    onLabel: (label: number, isInFirst: boolean) => void = () => {},
  ): Promise<PageLabels[]> {
    const unread: Unread[] = []
    const pages = rows.map((row) => this.#labelled(row, unread, onLabel))
    await this.#readEvents(unread)
    for (const { page, index, isInFirst } of unread) onLabel(page[index] as number, isInFirst)
    return pages
  }

  #labelled(
    row: PageRow,
    unread: Unread[],
    onLabel: (label: number, isInFirst: boolean) => void,
  ): PageLabels {
    const times = this.#times
    times.open(row.times)
    const standings = times.count
    const fills = new FillsReader(row, standings)
    let page: Uint16Array | undefined
    for (let index = 0; times.next(); index += 1) {
      fills.next(times.reached)
      const isInFirst = this.#tests[0]?.passes(times) ?? false
      if (!isInFirst && !this.#tests.some((test) => test.passes(times))) continue
      page ??= this.#labels.ofPage(row, standings)
      const label = page[index] as number
      if (label !== UNREAD) {
        onLabel(label, isInFirst)
        continue
      }
      const step = decidingStep(this.#asked.filter.touch, times.reached)
      unread.push({ page, index, event: step === undefined ? undefined : fills.key(step), isInFirst })
    }
    return { page, standings }
  }

  async #readEvents(unread: readonly Unread[]) {
    this.#unread += unread.length
    await this.#yield()
    for (let from = 0; from < unread.length; ) {
      const some = unread.slice(from, from + this.#size)
      from += some.length
      const texts = await this.#reader.variables(some.flatMap(({ event }) => event ?? []))
      let bytes = 1
      let next = 0
      for (const { page, index, event } of some) {
        const text = event === undefined ? null : (texts[next++] ?? null)
        bytes += text?.length ?? 0
        page[index] = this.#labels.labelOf(text)
      }
      const fitting = Math.floor((some.length * SLICE_BYTES) / bytes)
      this.#size = Math.max(SLICE_EVENTS.least, Math.min(fitting, 2 * this.#size, SLICE_EVENTS.most))
      await this.#yield()
    }
  }

  async #yield() {
    const { until_ms, signal } = this.#asked
    await turn()
    signal.throwIfAborted()
    if (performance.now() > until_ms) throw new BreakdownTooLarge('reading the variables takes too long')
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

/** The labels of all enrolments in the order of the pages, and how many of those that count have each. */
class Labelled {
  /** By label; empty where nobody has it. */
  readonly #counts: number[] = []
  /** By ordinal, from 1. */
  #labelOf = new Uint16Array(4096)
  #end = 1

  /** @param isInFirst whether it is in the first period, by which values are ranked */
  count(label: number, isInFirst: boolean): void {
    this.#counts[label] = (this.#counts[label] ?? 0) + (isInFirst ? 1 : 0)
  }

  /** Adds the standings of a page. @param page undefined if none of them counts */
  append(page: Uint16Array | undefined, standings: number): void {
    const end = this.#end + standings
    if (end > this.#labelOf.length) {
      const labels = new Uint16Array(2 * end)
      labels.set(this.#labelOf)
      this.#labelOf = labels
    }
    if (page) this.#labelOf.set(page, this.#end)
    this.#end = end
  }

  /** The values with the most enrolments, then the others, then those without a value. */
  groups(labels: VariableLabels, undivided: Groups): Groups {
    const labelOf = this.#labelOf
    if (!labels.isDivided) {
      return {
        groups: undivided.groups,
        of: (page) => ((labelOf[page.ordinal] as number) > EXCLUDED ? undivided.of(page) : -1),
      }
    }
    const ranked = [...labels.entries()]
      .flatMap(([value, label]) => {
        const count = this.#counts[label]
        return count === undefined ? [] : [{ value, label, count }]
      })
      .sort((one, other) => other.count - one.count || compareValues(one.value, other.value))
    const listed = ranked.slice(0, LISTED_VALUES)
    const groupOf = new Int8Array(NOT_SET + 1 + labels.values).fill(listed.length)
    groupOf[UNREAD] = -1
    groupOf[EXCLUDED] = -1
    groupOf[NOT_SET] = listed.length + 1
    for (const [index, { label }] of listed.entries()) groupOf[label] = index
    return {
      groups: [
        ...listed.map(({ value }) => ({ kind: 'value' as const, value, values: 1 })),
        { kind: 'other', value: null, values: ranked.length - listed.length },
        { kind: 'not_set', value: null, values: 0 },
      ],
      of: ({ ordinal }) => groupOf[labelOf[ordinal] as number] as number,
    }
  }
}
