import { randomInt } from 'node:crypto'
import type { Key, ReachedStep, StandingEvent } from '../../domain/journey-standing.ts'

/** An event to process, with its customer and journey. */
export type FollowedEvent = StandingEvent & { journey: Key; customer: Key }

/**
 * The standings of consecutive customers of one journey and generation, in the format of `StandingPage`. A report reads
 * only `times`: store the two separately, so that reading one does not cost reading the other.
 */
export type PageRow = {
  /** The lowest customer. Ranges of customers of different pages do not overlap. */
  first: Key
  /** What reports count: types, timestamps, early steps. */
  times: Uint8Array
  /** The customers, and the events that fill the steps. */
  keys: Uint8Array
}

/** The part of a row that reports read. */
export type TimesRow = Pick<PageRow, 'first' | 'times'>

/** A position in the list of a journey's customers. */
export type Entry = { entered_ms: number; customer: Key }

/** A rebuild of a journey's standings for other steps. */
type Building = {
  generation: number
  event_ids: readonly string[]
  /** The last customer whose standing is rebuilt; null if none is. */
  upTo: Key | null
  done: number
  total: number
}

export type JourneyState = {
  /** The generation of pages that reports read. */
  generation: number
  /** The names of the steps of this generation. */
  event_ids: readonly string[]
  /** Raised by `raised` with every change of the pages that reports read; never lowered. */
  version: number
  building: Building | null
}

/** The state as both engines store it. */
export type JourneyRow = Omit<JourneyState, 'event_ids' | 'building'> & {
  /** JSON. */
  event_ids: string
  /** JSON. */
  building: string | null
}

/** Greatest step between versions: of a hundred changes a second, 2^53 suffices for five years. */
const GREATEST_STEP = 1_000_000

/**
 * Returns the version of the next state, by a random step. A database that was promoted may lack the latest changes; what
 * a process has cached of one of them must not pass for another one that is made in its place.
 */
export function raised(version: number): number {
  return version + randomInt(1, GREATEST_STEP)
}

export function stateOf({ generation, version, event_ids, building }: JourneyRow): JourneyState {
  return {
    generation,
    version,
    event_ids: JSON.parse(event_ids),
    building: building === null ? null : JSON.parse(building),
  }
}

export function rowOf({ event_ids, building, ...state }: JourneyState): JourneyRow {
  return {
    ...state,
    event_ids: JSON.stringify(event_ids),
    building: building && JSON.stringify(building),
  }
}

/**
 * Reads standings, all from one snapshot.
 *
 * Each engine has an implementation with statements of its own. With a single one, built with Kysely over tables that
 * both have, SQLite took 1.4 times the processor time for a list of customers or a rebuild.
 */
export type StandingReader = {
  /** Every event acknowledged by this time is included; null if none has been processed yet. */
  asOf_ms: number | null
  /** Undefined if the journey has no standings. */
  journey(journey: Key): Promise<JourneyState | undefined>
  /** Pages after a customer, in order. */
  times(journey: Key, generation: number, after: Key | null, limit: number): Promise<readonly TimesRow[]>
  /** The same pages with their keys. */
  pages(journey: Key, generation: number, after: Key | null, limit: number): Promise<readonly PageRow[]>
  /** The events behind the standings. */
  readonly history: History
  /** The `custom_variables` of events as stored, JSON; null for an event that has none, or was removed. */
  variables(events: readonly Key[]): Promise<readonly (string | null)[]>
  /**
   * The pages that contain these customers, which are ascending, or where they would be inserted; each page once, in
   * order.
   */
  pagesWith(journey: Key, generation: number, customers: readonly Key[]): Promise<readonly PageRow[]>
  /** Entries before a given one, at `from_ms` or later, by (`entered_ms`, customer), descending. */
  entries(
    journey: Key,
    generation: number,
    page: { before: Entry | null; from_ms: number | null; limit: number },
  ): Promise<readonly Entry[]>
}

/** What the follower needs within one transaction. */
export type StandingWriter = StandingReader & {
  writePages(
    journey: Key,
    generation: number,
    changes: { remove: readonly Key[]; put: readonly PageRow[] },
  ): Promise<void>
  writeEntries(
    journey: Key,
    generation: number,
    changes: { remove: readonly Entry[]; put: readonly Entry[] },
  ): Promise<void>
  saveJourney(journey: Key, state: JourneyState): Promise<void>
  /** Deletes a removed journey. Drop its generations first. */
  removeJourney(journey: Key): Promise<void>
  /** Marks pages and entries as no longer read; `removeSome` deletes them. */
  dropGeneration(journey: Key, generation: number): Promise<void>
  /** Deletes some of what is no longer read. @returns whether there may be more */
  removeSome(): Promise<boolean>
  /** A journey whose standings are being rebuilt. */
  buildingJourney(): Promise<Key | undefined>
}

/** Committed events of the store. */
export type History = {
  /** How many customers' events may be read concurrently: each may cost a round trip, or all of them one. */
  readonly customersAtOnce: number
  /** A customer's events in a journey, at `from_ms` or later and before `to_ms`, by (time, key), in chunks. */
  events(
    journey: Key,
    customer: Key,
    range: { from_ms: number; to_ms: number },
  ): AsyncIterable<readonly FollowedEvent[]>
  /** Lets other work run. What is read afterwards may be newer. */
  rest(): Promise<void>
}

/** The earliest event with a name that a customer has in a journey, within a range of `History.events`. */
export async function earliestEvent(
  history: History,
  { journey, customer, name }: { journey: Key; customer: Key; name: string },
  range: { from_ms: number; to_ms: number },
): Promise<ReachedStep | undefined> {
  for await (const events of history.events(journey, customer, range)) {
    const found = events.find((event) => event.name === name)
    if (found) return found
  }
  return undefined
}
