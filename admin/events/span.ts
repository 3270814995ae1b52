import { useMemo } from 'react'
import { instant, oneOf } from '../parts/filters/filter-readers.ts'
import type { Filters } from '../parts/filters/filters.ts'
import { instantText } from '../parts/instants/instant-text.ts'
import { day_ms, hour_ms, minute_ms } from '../parts/instants/lengths.ts'

/**
 * The spans that end now, by their value in the address; the default is 24 hours. Each begins with a period of the counters,
 * so that the list has what they count, and includes the current one.
 */
export const lastSpans = [
  { value: '1h', label: '1 h', ms: hour_ms, period_ms: minute_ms, text: 'the last hour' },
  { value: '', label: '24 h', ms: day_ms, period_ms: hour_ms, text: 'the last 24 hours' },
  { value: '7d', label: '7 d', ms: 7 * day_ms, period_ms: hour_ms, text: 'the last 7 days' },
] as const

/** The filters that select a span. */
export const spanReaders = { last: oneOf(['1h', '7d']), received_from: instant, received_to: instant }

export type SpanFilters = Filters<keyof typeof spanReaders>

/** A span of time. */
export type Span = {
  fromMs: number
  /** Undefined for an open end. */
  toMs: number | undefined
  /** As a query by time of receipt. */
  query: { received_from: string; received_to?: string }
  /** In a sentence: `the last 24 hours`. */
  text: string
  /** That it ends now and moves on, unlike one with a start or an end of its own. */
  last?: LastSpan
}

type LastSpan = (typeof lastSpans)[number]

/** The span in the address. The start of a span that ends now is fixed when it is selected or the screen is opened. */
export function useSpan({ values: { last, received_from, received_to } }: SpanFilters): Span {
  return useMemo(() => {
    const from = Date.parse(received_from)
    const to = Date.parse(received_to)
    const own = !Number.isNaN(from) || !Number.isNaN(to)
    const chosen = lastSpans.find(({ value }) => value === last) ?? lastSpans[1]
    const toMs = Number.isNaN(to) ? undefined : to
    const fromMs = Number.isNaN(from) ? (toMs === undefined ? startOf(chosen) : toMs - day_ms) : from
    const query = receivedWithin(fromMs, toMs)
    const end = toMs === undefined ? 'now' : instantText(new Date(toMs))
    if (!own) return { fromMs, toMs, query, text: chosen.text, last: chosen }
    return { fromMs, toMs, query, text: `${instantText(new Date(fromMs))} to ${end}` }
  }, [last, received_from, received_to])
}

function receivedWithin(fromMs: number, toMs: number | undefined): Span['query'] {
  return {
    received_from: new Date(fromMs).toISOString(),
    ...(toMs !== undefined && { received_to: new Date(toMs).toISOString() }),
  }
}

/** The start now of a span that ends now. */
function startOf({ ms, period_ms }: LastSpan): number {
  const now = Date.now()
  return now - (now % period_ms) - ms + period_ms
}

/**
 * The span as it is now. For what is only counted, which moves on while the screen stays open; a list keeps the start of
 * `useSpan`, because it would lose its further pages.
 */
export function spanNow(span: Span): Span {
  if (!span.last) return span
  const fromMs = startOf(span.last)
  return { ...span, fromMs, query: receivedWithin(fromMs, span.toMs) }
}

/** The span as a query by time of occurrence. */
export function occurredWithin({ query: { received_from, received_to } }: Span) {
  return { occurred_from: received_from, ...(received_to !== undefined && { occurred_to: received_to }) }
}

/** Older periods have hourly counters only (contract: `getActivity`); with an hour of margin. */
const countedByMinute_ms = 8 * day_ms - hour_ms

/** The period of the counters for a span, and how many periods make a bar: at most 60 bars of equal length. */
export function barsOf({ fromMs, toMs = Date.now() }: Span) {
  const length = Math.max(minute_ms, toMs - fromMs)
  const age = Date.now() - fromMs
  const [by, period_ms] =
    length <= 6 * hour_ms && age < countedByMinute_ms
      ? (['minute', minute_ms] as const)
      : length <= 40 * day_ms
        ? (['hour', hour_ms] as const)
        : (['day', day_ms] as const)
  const perBar = Math.ceil(length / period_ms / 60)
  const bar_ms = perBar * period_ms
  const start = Math.floor(fromMs / period_ms) * period_ms
  const count = Math.max(1, Math.ceil((toMs - start) / bar_ms))
  return { by, period_ms, bar_ms, start, count }
}

/** Nothing was received before: Cairn is newer. */
export const firstReceived = Date.UTC(2020, 0)

/** Maximum periods in a response (contract: `getActivity`). */
const mostPeriods = 1440

/** Divides a span into parts whose counters fit into a response; without what has none. */
export function countedSlices(from: number, to: number, period_ms: number) {
  const slices: { from: number; to: number }[] = []
  const length = mostPeriods * period_ms
  for (let start = Math.max(from, firstReceived); start < to; start += length) {
    slices.push({ from: start, to: Math.min(start + length, to) })
  }
  return slices
}
