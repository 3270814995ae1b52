/**
 * A run holds what the indexes say of successive events: for each key the numbers of its events (postings), and for
 * each customer its events by time (timeline), sorted and packed into pages. A run never changes. It is made of some
 * ten thousand events that have arrived, or merged from runs that follow each other; so each event is written three
 * times in all, side by side with its neighbours, and a look-up asks few runs.
 */

/** What a page of the engine (4,096 bytes) has room for in a row of its own. */
export const PAGE_BYTES = 4048

/** So many entries are packed between two looks at the time: less than a tenth of a millisecond. */
export const ENTRIES_AT_ONCE = 1_000

/** Of each page, what its first entry is: of postings key and event number, of the timeline customer and time. */
export type Directory = { firsts: Float64Array; seconds: Float64Array }

export type Run = {
  run: number
  /** 0: of events as they arrived; each merge is one more. */
  level: number
  first_seq: number
  last_seq: number
  /** The latest time in the timeline. */
  greatest_at_ms: number
  /** How many of the postings are messages. */
  messages: number
  postings: Directory
  timeline: Directory
}

/** Which pages of a run these are. */
export const PARTS = { postings: 0, timeline: 1, filter: 2 } as const

/** The numbers of pages: those of one part of one run follow each other. 2^22 pages of 4 KB are more than a run has. */
const PART_PAGES = 2 ** 22
const RUN_PAGES = 2 ** 24

export function pageNumber(run: number, part: keyof typeof PARTS, index: number): number {
  return run * RUN_PAGES + PARTS[part] * PART_PAGES + index
}

/** The run that a page belongs to. */
export function runOfPage(page: number): number {
  return Math.floor(page / RUN_PAGES)
}

export function directoryBytes({ firsts, seconds }: Directory): Buffer {
  const numbers = new Float64Array(2 * firsts.length)
  numbers.set(firsts)
  numbers.set(seconds, firsts.length)
  return Buffer.from(numbers.buffer)
}

export function readDirectory(bytes: Uint8Array): Directory {
  // A copy: the engine's memory need not lie where numbers of eight bytes can be read.
  const numbers = new Float64Array(new Uint8Array(bytes).buffer)
  const pages = numbers.length / 2
  return { firsts: numbers.slice(0, pages), seconds: numbers.slice(pages) }
}

/** The last page that begins at (first, second) or before; -1 where none does. */
export function lastPageUpTo({ firsts, seconds }: Directory, first: number, second: number): number {
  let low = 0
  let high = firsts.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const found = firsts[middle] as number
    if (found < first || (found === first && (seconds[middle] as number) <= second)) low = middle + 1
    else high = middle
  }
  return low - 1
}
