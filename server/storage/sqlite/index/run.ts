/**
 * A sorted run of the LSM tree: the index entries of consecutive events, sorted and packed into pages: for each key the
 * numbers of its events (posting lists), and for each customer its events by time (timeline). A run is immutable. It is
 * flushed from some ten thousand events, or merged from adjacent runs; so each event is written three times in all,
 * next to its neighbours, and a lookup reads few runs.
 */

/** Size of a row that fills a page of SQLite (4,096 bytes). */
export const PAGE_BYTES = 4048

/** Number of entries between two checks of the time: less than a tenth of a millisecond. */
export const ENTRIES_AT_ONCE = 1_000

/** The first entry of each page: for postings key and event number, for the timeline customer and time. */
export type Directory = { firsts: Float64Array; seconds: Float64Array }

export type Run = {
  run: number
  /** 0: flushed from events; each compaction adds one. */
  level: number
  first_seq: number
  last_seq: number
  /** The latest time in the timeline. */
  greatest_at_ms: number
  /** Number of postings that are messages. */
  messages: number
  postings: Directory
  timeline: Directory
}

/** The kinds of pages of a run. */
export const PARTS = { postings: 0, timeline: 1, filter: 2 } as const

/** Page numbers are consecutive within a part of a run. 2^22 pages of 4 KB are more than a run has. */
const PART_PAGES = 2 ** 22
const RUN_PAGES = 2 ** 24

export function pageNumber(run: number, part: keyof typeof PARTS, index: number): number {
  return run * RUN_PAGES + PARTS[part] * PART_PAGES + index
}

/** Returns the run of a page. */
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
  // A copy, because SQLite's memory may not be aligned to eight bytes.
  const numbers = new Float64Array(new Uint8Array(bytes).buffer)
  const pages = numbers.length / 2
  return { firsts: numbers.slice(0, pages), seconds: numbers.slice(pages) }
}

/** Returns the last page that starts at or before (first, second); -1 if none does. */
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
