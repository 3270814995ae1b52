import type { Segment } from './memtable.ts'
import { postingKeys, REFERENCE_BITS } from './posting-keys.ts'
import { ENTRIES_AT_ONCE, type Run } from './run.ts'
import type { RunBuilder } from './run-builder.ts'

/**
 * Flushes a segment of the memtable to a run. It yields after each pass over the events and within longer ones, so that
 * the caller can pause it: before the code is compiled, a pass takes some milliseconds.
 */
export function* runOfSegment(segment: Segment, builder: RunBuilder): Generator<void, Run> {
  const { firstSeq, workspaces, journeys, customers, names, keys, times } = segment
  const at = (values: Uint32Array | Float64Array, place: number) => values[place] as number
  // Kinds in ascending order, and within one sorted by its keys: by their words, or low bits of them, the last word first.
  const lists: [keyOf: (place: number) => number, ...words: [words: Uint32Array, bits?: number][]][] = [
    [(place) => postingKeys.customer(at(customers, place)), [customers]],
    [(place) => postingKeys.workspace(at(workspaces, place)), [workspaces]],
    [(place) => postingKeys.journey(at(journeys, place)), [journeys]],
    [
      (place) => postingKeys.name(at(workspaces, place), at(names, place)),
      [names],
      [workspaces, REFERENCE_BITS],
    ],
    [
      (place) => postingKeys.journeyName(at(journeys, place), at(names, place)),
      [names],
      [journeys, REFERENCE_BITS],
    ],
  ]
  yield* pack(yield* messagesByKey(segment), (place) => {
    builder.addPosting(postingKeys.message(at(keys, place)), firstSeq + place)
  })
  for (const [keyOf, ...words] of lists) {
    let places = placesOf(segment)
    for (const word of words) places = yield* sorted(places, ...word)
    yield* pack(places, (place) => builder.addPosting(keyOf(place), firstSeq + place))
  }
  const places = yield* sorted(yield* byTime(segment), customers)
  yield* pack(places, (place) =>
    builder.addToTimeline(at(customers, place), at(times, place), firstSeq + place),
  )
  return yield* builder.finish()
}

function* pack(places: Uint32Array, add: (place: number) => void): Generator<void> {
  for (let index = 0; index < places.length; index += 1) {
    add(places[index] as number)
    if (index % ENTRIES_AT_ONCE === 0) yield
  }
}

function allPlaces(length: number): Uint32Array {
  const places = new Uint32Array(length)
  for (let place = 0; place < length; place += 1) places[place] = place
  return places
}

/** Returns the positions of events that were not removed before the segment was reloaded. */
function placesOf({ length, customers }: Segment): Uint32Array {
  return allPlaces(length).filter((place) => customers[place] !== 0)
}

/** Returns the positions of events with a message. */
function* messagesByKey({ length, keys }: Segment): Sorting {
  const places = allPlaces(length).filter((place) => keys[place] !== -1)
  return yield* sortedByNumber(places, keys.subarray(0, length))
}

function* byTime(segment: Segment): Sorting {
  const { length, times } = segment
  const least = times
    .subarray(0, length)
    .reduce((least, time) => Math.min(least, time), Number.POSITIVE_INFINITY)
  yield
  const since = times.subarray(0, length).map((time) => time - least)
  yield
  return yield* sortedByNumber(placesOf(segment), since)
}

/** Yields between passes, and returns sorted positions. */
type Sorting = Generator<void, Uint32Array>

/** Sorts positions by non-negative integers. */
function* sortedByNumber(places: Uint32Array, numbers: Float64Array): Sorting {
  const low = new Uint32Array(numbers.length)
  const high = new Uint32Array(numbers.length)
  for (const place of places) {
    const number = numbers[place] as number
    low[place] = number % 2 ** 32
    high[place] = number / 2 ** 32
  }
  yield
  return yield* sorted(yield* sorted(places, low), high)
}

/** Bits per digit of the sort. */
const DIGIT_BITS = 11

/**
 * Sorts positions by the low bits of words with a stable radix sort: 65,536 in about a millisecond once compiled;
 * Array.sort takes 15. Between two yields it does half a digit, because the writer waits for it. Digits that are 0
 * everywhere are skipped.
 */
function* sorted(places: Uint32Array, words: Uint32Array, bits = 32): Sorting {
  yield
  let greatest = 0
  for (const place of places) greatest = Math.max(greatest, words[place] as number)
  let from = places
  let to: Uint32Array = new Uint32Array(places.length)
  const ends = new Uint32Array(2 ** DIGIT_BITS)
  for (let shift = 0; shift < bits && greatest >>> shift > 0; shift += DIGIT_BITS) {
    yield
    ends.fill(0)
    const mask = 2 ** Math.min(DIGIT_BITS, bits - shift) - 1
    for (let index = 0; index < from.length; index += 1) {
      const digit = ((words[from[index] as number] as number) >>> shift) & mask
      ends[digit] = (ends[digit] as number) + 1
    }
    for (let digit = 1; digit <= mask; digit += 1) {
      ends[digit] = (ends[digit] as number) + (ends[digit - 1] as number)
    }
    yield
    for (let index = from.length - 1; index >= 0; index -= 1) {
      const place = from[index] as number
      const digit = ((words[place] as number) >>> shift) & mask
      const end = (ends[digit] as number) - 1
      ends[digit] = end
      to[end] = place
    }
    const done = to
    to = from === places ? new Uint32Array(places.length) : from
    from = done
  }
  return from
}
