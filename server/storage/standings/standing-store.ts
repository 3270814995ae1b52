import type { Key, Reached, StandingEvent } from '../../domain/journey-standing.ts'

/** An event as it is followed: of whom, in which journey. */
export type FollowedEvent = StandingEvent & { journey: Key; customer: Key }

/**
 * The standings of successive customers of one journey and generation, as `StandingPage` writes them. A report reads
 * `times` alone: keep the two apart, so that reading one does not cost the other.
 */
export type PageRow = {
  /** The least customer. Of two pages no customer of one lies between those of the other. */
  first: Key
  /** What reports count: types, instants, early steps. */
  times: Uint8Array
  /** The customers, and the events that fill the steps. */
  keys: Uint8Array
}

/** A row as far as reports read it. */
export type TimesRow = Pick<PageRow, 'first' | 'times'>

/** A customer's place in the list of a journey's customers. */
export type Entry = { entered_ms: number; customer: Key }

/** The standings of a journey that are being computed for other steps. */
export type Building = {
  generation: number
  event_ids: readonly string[]
  /** The last customer whose standing is computed; null: none is. */
  upTo: Key | null
  done: number
  total: number
}

export type JourneyState = {
  /** Of the pages that reports read. */
  generation: number
  /** The names of the steps that this generation was computed for. */
  event_ids: readonly string[]
  /** Raised by every change of the pages that reports read; never lowered. */
  version: number
  building: Building | null
}

/** Reads standings, all in the state of one commit. */
export type StandingReader = {
  /** Every event that was acknowledged by then is in; null: none has been looked at yet. */
  asOf_ms: number | null
  /** Undefined where the journey has no standings. */
  journey(journey: Key): Promise<JourneyState | undefined>
  /** Pages behind a customer, in their order. */
  times(journey: Key, generation: number, after: Key | null, limit: number): Promise<readonly TimesRow[]>
  /** The pages in which these customers, ascending, are or would have to be; each page once, in their order. */
  pagesWith(journey: Key, generation: number, customers: readonly Key[]): Promise<readonly PageRow[]>
  /** Entries before one, at `from_ms` or later, by (`entered_ms`, customer), greatest first. */
  entries(
    journey: Key,
    generation: number,
    page: { before: Entry | null; from_ms: number | null; limit: number },
  ): Promise<readonly Entry[]>
  /** The journeys of a customer before one, greatest first: newest first. */
  journeysOf(customer: Key, before: Key | null, limit: number): Promise<readonly Key[]>
}

/** What following needs, inside one transaction. */
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
  /** Notes which journeys customers are in; also what is noted already. */
  writeJourneysOf(pairs: readonly { customer: Key; journey: Key }[]): Promise<void>
  /** Forgets which journeys customers are in. */
  removeJourneysOf(pairs: readonly { customer: Key; journey: Key }[]): Promise<void>
  saveJourney(journey: Key, state: JourneyState): Promise<void>
  /** Forgets a journey that is gone. Its generations are dropped before. */
  removeJourney(journey: Key): Promise<void>
  /** Its pages and entries are not read any more; they are removed by and by. */
  dropGeneration(journey: Key, generation: number): Promise<void>
}

/** The store's own events, as far as they are committed. */
export type History = {
  /** The events of so many customers are read beside each other at the most: each may cost a round trip, or all one. */
  readonly customersAtOnce: number
  /** A customer's events in a journey, at `from_ms` or later and before `to_ms`, by (instant, key), in chunks. */
  events(
    journey: Key,
    customer: Key,
    range: { from_ms: number; to_ms: number },
  ): AsyncIterable<readonly FollowedEvent[]>
}

/** The earliest event of a name that a customer has in a journey, in a range of `History.events`. */
export async function earliestEvent(
  history: History,
  { journey, customer, name }: { journey: Key; customer: Key; name: string },
  range: { from_ms: number; to_ms: number },
): Promise<Reached | undefined> {
  for await (const events of history.events(journey, customer, range)) {
    const found = events.find((event) => event.name === name)
    if (found) return found
  }
  return undefined
}
