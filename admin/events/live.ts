import { useEffect, useRef, useState } from 'react'
import type { OperationRequest, PersonClient, Schemas } from '../../client/person.ts'
import { hour_ms, minute_ms } from '../parts/instants/lengths.ts'
import { taken } from '../problem.ts'

type Event = Schemas['Event']
type Query = NonNullable<OperationRequest<'listEvents'>['query']>

const everyMs = 2000

/** Maximum pages read per poll; if more arrive, they are sampled. */
const pagesPerTurn = 3
const pageLimit = 200

/** Number of events in a sample. */
const sampleLimit = 50

/** How far back to look for events that another replica committed late; known events are skipped. */
const lateMs = 10_000

/**
 * Maximum pages, and events per page, read to look for late commits. Most of these events are known already, so they do not
 * show how much arrives: only the next poll decides whether to sample.
 */
const latePages = 10
const latePageLimit = 500

/** Maximum events kept besides the list, which a screen may follow for days. */
const arrivedLimit = 1000

export type Live = {
  /** The latest events received since the list was read, at most 1,000, the latest first. */
  arrived: readonly Event[]
  /** Whether more events arrive at the moment than are shown. */
  isSampled: boolean
  /** Whether some events received since the start are missing, because of sampling or because there were too many. */
  isIncomplete: boolean
  /** The exact counters since the start; undefined until they were read. */
  counted: { created: number; rejected: number; since: Date } | undefined
  error: unknown
  /** Whether the last poll succeeded. */
  isRunning: boolean
}

const nothing: Live = {
  arrived: [],
  isSampled: false,
  isIncomplete: false,
  counted: undefined,
  error: null,
  isRunning: false,
}

/**
 * Live events, while the page is visible: polls forward from a cursor every two seconds, so that no event is missed. If more
 * arrive than a poll can read, it continues with a sample of the latest and reports that.
 * @param options.key identifies what is followed; a new key restarts
 * @param options.listed where the shown list starts and ends; undefined until it has loaded
 */
export function useLive(
  cairn: PersonClient,
  { key, query, listed, isOn }: { key: string; query: Query; listed: Listed | undefined; isOn: boolean },
): Live {
  const [live, setLive] = useState<Live>(nothing)
  const start = useRef(listed)
  start.current = listed
  const isKnown = listed !== undefined

  // biome-ignore lint/correctness/useExhaustiveDependencies: the key covers the query, and only the initial end of the list matters.
  useEffect(() => {
    setLive(nothing)
    if (!isOn || !start.current) return
    const abort = new AbortController()
    void follow(cairn, query, start.current, abort.signal, (change) => setLive(change))
    return () => abort.abort()
  }, [cairn, key, isOn, isKnown])
  return live
}

/** Scroll position below which new events are held back, so that the list does not move under the reader. */
const topPixels = 160

/**
 * Splits live events into shown and waiting ones: they are shown while the viewer is at the top of the list, and wait otherwise.
 * @param options.listed the events of the list itself
 */
export function useHeld(
  arrived: readonly Event[],
  { isHeld, listed }: { isHeld: boolean; listed: readonly Event[] },
) {
  const [shown, setShown] = useState<readonly Event[]>([])
  useEffect(() => {
    const isReading = window.scrollY > topPixels || document.querySelector('.event-rows :focus-visible')
    // None: it was restarted.
    if (arrived.length === 0 || !(isHeld || isReading)) setShown(arrived)
  }, [arrived, isHeld])
  const known = new Set([...shown, ...listed].map(({ id }) => id))
  return {
    shown,
    waiting: arrived.filter(({ id }) => !known.has(id)).length,
    show: () => setShown(arrived),
  }
}

/** The first and the last event of the list's first page; null if there is none. */
export type Listed = { newest: Event | null; oldest: Event | null }

type Update = (change: (live: Live) => Live) => void

async function follow(
  cairn: PersonClient,
  query: Query,
  listed: Listed,
  signal: AbortSignal,
  update: Update,
) {
  const { journey_id, event_id, key_id } = query
  let position: Query | undefined
  const counters = {
    ...(journey_id && { journey_id }),
    ...(event_id && { event_id }),
    ...(key_id && { key_id }),
  }
  const since = new Date()
  let first: { created: number; rejected: number } | undefined
  let isSampling = false
  let before = 0

  while (!signal.aborted) {
    try {
      const sums = await countedSince(cairn, counters, since, signal)
      first ??= sums
      const created = sums.created - first.created
      const counted = { created, rejected: sums.rejected - first.rejected, since }
      const grown = created - before
      before = created
      // The counters show when a poll can read everything again.
      if (isSampling && grown < (pagesPerTurn - 1) * pageLimit) isSampling = false
      const isSample = isSampling
      const turn: Turn = isSample
        ? await sampled(cairn, query, signal)
        : position
          ? await walked(cairn, { ...query, ...position }, signal)
          : await begun(cairn, query, listed, signal)
      isSampling = turn.isBehind
      position = turn.position
      update((live) => {
        const all = merged(turn.events, live.arrived)
        // Up to the newest of the list, an event is listed anyway.
        const isCut = all.slice(arrivedLimit).some(({ id }) => id > (listed.newest?.id ?? ''))
        return {
          arrived: all.slice(0, arrivedLimit),
          isSampled: turn.isBehind,
          isIncomplete: live.isIncomplete || isSample || isCut,
          counted,
          error: null,
          isRunning: true,
        }
      })
    } catch (error) {
      if (signal.aborted) return
      update((live) => ({ ...live, error, isRunning: false }))
    }
    await pause(signal)
  }
}

type Turn = { events: Event[]; position: Query; isBehind: boolean }

/** The first poll: late commits that belong into the list, and events received since it was read. */
async function begun(
  cairn: PersonClient,
  query: Query,
  { newest, oldest }: Listed,
  signal: AbortSignal,
): Promise<Turn> {
  const begin = startOf(newest, query.received_from)
  const received_from = oldest && oldest.received_at > begin ? oldest.received_at : begin
  const pages = { count: latePages, limit: latePageLimit }
  const turn = await walked(cairn, { ...query, received_from }, signal, pages)
  if (!newest) return turn
  return {
    // Older events belong after the end of the list.
    events: turn.events.filter(({ id }) => !oldest || id > oldest.id),
    position: turn.isBehind ? { received_from: newest.received_at } : turn.position,
    isBehind: false,
  }
}

/** All events from a position on, up to the limit of a poll. */
async function walked(
  cairn: PersonClient,
  query: Query,
  signal: AbortSignal,
  { count, limit } = { count: pagesPerTurn, limit: pageLimit },
): Promise<Turn> {
  const events: Event[] = []
  let cursor = query.cursor
  for (let read = 0; read < count; read += 1) {
    const page = await taken(
      cairn.listEvents({
        query: { ...query, order: 'oldest', limit, ...(cursor && { cursor }) },
        signal,
      }),
    )
    events.push(...page.data)
    cursor = page.next_cursor ?? cursor
    if (page.caught_up_to)
      return { events, position: { ...from(query), ...(cursor && { cursor }) }, isBehind: false }
  }
  return { events, position: { ...from(query), ...(cursor && { cursor }) }, isBehind: true }
}

/** Only the latest events, and the position from which to continue once a poll can read everything again. */
async function sampled(cairn: PersonClient, query: Query, signal: AbortSignal): Promise<Turn> {
  const { data } = await taken(cairn.listEvents({ query: { ...query, limit: sampleLimit }, signal }))
  const [latest] = data
  return {
    events: data,
    position: { received_from: latest ? latest.received_at : startOf(null, query.received_from) },
    isBehind: true,
  }
}

function from({ received_from }: Query): Query {
  return received_from === undefined ? {} : { received_from }
}

function startOf(newest: Event | null, received_from: string | undefined): string {
  const begin = received_from ? Date.parse(received_from) : 0
  const ms = newest ? Math.max(begin, Date.parse(newest.received_at) - lateMs) : begin
  return new Date(ms).toISOString()
}

/** Both lists without duplicates, the latest first: `id` is in the order of receipt. */
export function merged(some: readonly Event[], others: readonly Event[]): Event[] {
  const all = new Map([...others, ...some].map((event) => [event.id, event]))
  return [...all.values()].sort((a, b) => (a.id < b.id ? 1 : -1))
}

async function countedSince(cairn: PersonClient, filter: object, since: Date, signal: AbortSignal) {
  const from = new Date(since.getTime() - minute_ms)
  const isLong = Date.now() - from.getTime() > 12 * hour_ms
  const query = { ...filter, by: isLong ? ('hour' as const) : ('minute' as const), from: from.toISOString() }
  const { total } = await taken(cairn.getActivity({ query, signal }))
  return { created: total.created, rejected: total.rejected }
}

/** Waits two seconds, and then until the page is visible. */
async function pause(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const end = () => {
    if (signal.aborted || document.visibilityState === 'visible') resolve()
  }
  const timer = setTimeout(end, everyMs)
  document.addEventListener('visibilitychange', end)
  signal.addEventListener('abort', end)
  await promise
  clearTimeout(timer)
  document.removeEventListener('visibilitychange', end)
  signal.removeEventListener('abort', end)
}
