import { useEffect, useRef, useState } from 'react'
import type { OperationRequest, PersonClient, Schemas } from '../../client/person.ts'
import { taken } from '../problem.ts'

type Event = Schemas['Event']
type Query = NonNullable<OperationRequest<'listEvents'>['query']>

const everyMs = 2000

/** A turn reads so many pages; what comes faster is sampled. */
const pagesPerTurn = 3
const pageLimit = 200

/** In one turn a sample shows so many of the latest. */
const sampleLimit = 50

/** What is committed late on another server is looked for so far back; what is known already is left out. */
const lateMs = 10_000

/**
 * So many pages, of so many each, are read to look for it. Most of them are events that were there before, which is no
 * measure of what arrives: only a later turn tells whether that is too much.
 */
const latePages = 10
const latePageLimit = 500

/** So many are held for who does not look at them. */
const heldLimit = 1000

export type Live = {
  /** What has arrived since the list was read, the latest first. */
  arrived: readonly Event[]
  /** Whether more arrives at the moment than is shown. */
  isSampled: boolean
  /** Whether some of what has arrived since it began is missing, because more arrived than could be shown. */
  isIncomplete: boolean
  /** How many the counters have, exactly, since it began; undefined while nothing is counted. */
  counted: { created: number; rejected: number; since: Date } | undefined
  error: unknown
  /** Whether the last turn had an answer. */
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
 * Follows what arrives, while the page is in sight: a cursor that walks forward, every two seconds, so that nothing is left
 * out. Where more arrives than a turn can read, it goes on with the latest and says so.
 * @param options.key what is followed; a new one begins anew
 * @param options.listed where the list that is shown begins and ends; undefined: not yet
 */
export function useLive(
  cairn: PersonClient,
  { key, query, listed, isOn }: { key: string; query: Query; listed: Listed | undefined; isOn: boolean },
): Live {
  const [live, setLive] = useState<Live>(nothing)
  const start = useRef(listed)
  start.current = listed
  const isKnown = listed !== undefined

  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for the query, and where the list ended when it began is enough.
  useEffect(() => {
    setLive(nothing)
    if (!isOn || !start.current) return
    const abort = new AbortController()
    void follow(cairn, query, start.current, abort.signal, (change) => setLive(change))
    return () => abort.abort()
  }, [cairn, key, isOn, isKnown])
  return live
}

/** Who reads further down keeps the place: the list is not moved under them. */
const topPixels = 160

/**
 * What has arrived, for a list that moves under nobody: it is shown while somebody is at the top of the list, and waits
 * otherwise.
 * @param options.listed what the list has without it
 */
export function useHeld(
  arrived: readonly Event[],
  { isHeld, listed }: { isHeld: boolean; listed: readonly Event[] },
) {
  const [shown, setShown] = useState<readonly Event[]>([])
  useEffect(() => {
    const isReading = window.scrollY > topPixels || document.querySelector('.event-rows :focus-visible')
    // Nothing: it has begun anew.
    if (arrived.length === 0 || !(isHeld || isReading)) setShown(arrived)
  }, [arrived, isHeld])
  const known = new Set([...shown, ...listed].map(({ id }) => id))
  return {
    shown,
    waiting: arrived.filter(({ id }) => !known.has(id)).length,
    show: () => setShown(arrived),
  }
}

/** The first events of the list: the newest, and the last before others that are not looked at; null where there is none. */
export type Listed = { newest: Event | null; oldest: Event | null }

type Tell = (change: (live: Live) => Live) => void

async function follow(cairn: PersonClient, query: Query, listed: Listed, signal: AbortSignal, tell: Tell) {
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
      // The counters say when a turn can read all again.
      if (isSampling && grown < (pagesPerTurn - 1) * pageLimit) isSampling = false
      const isSample = isSampling
      const turn: Turn = isSample
        ? await sampled(cairn, query, signal)
        : position
          ? await walked(cairn, { ...query, ...position }, signal)
          : await begun(cairn, query, listed, signal)
      isSampling = turn.isBehind
      position = turn.position
      tell((live) => ({
        arrived: merged(turn.events, live.arrived),
        isSampled: turn.isBehind,
        isIncomplete: live.isIncomplete || isSample,
        counted,
        error: null,
        isRunning: true,
      }))
    } catch (error) {
      if (signal.aborted) return
      tell((live) => ({ ...live, error, isRunning: false }))
    }
    await pause(signal)
  }
}

type Turn = { events: Event[]; position: Query; isBehind: boolean }

/** What was committed late, after the list was read and with a place in it, and what has arrived since. */
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
    // What comes before the oldest of the list is behind its end.
    events: turn.events.filter(({ id }) => !oldest || id > oldest.id),
    position: turn.isBehind ? { received_from: newest.received_at } : turn.position,
    isBehind: false,
  }
}

/** All from a position on, as far as a turn reads. */
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

/** The latest alone, and where to go on once a turn can read all again. */
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

/** Both, each once, the latest first: the order of arrival is that of `id`. */
export function merged(some: readonly Event[], others: readonly Event[]): Event[] {
  const all = new Map([...others, ...some].map((event) => [event.id, event]))
  return [...all.values()].sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, heldLimit)
}

async function countedSince(cairn: PersonClient, filter: object, since: Date, signal: AbortSignal) {
  const from = new Date(since.getTime() - 60_000)
  const isLong = Date.now() - from.getTime() > 12 * 3_600_000
  const query = { ...filter, by: isLong ? ('hour' as const) : ('minute' as const), from: from.toISOString() }
  const { total } = await taken(cairn.getActivity({ query, signal }))
  return { created: total.created, rejected: total.rejected }
}

/** Two seconds, and on until the page is in sight. */
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
