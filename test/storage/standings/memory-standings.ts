import { advance, enrolled } from '../../../server/domain/journey-standing.ts'
import { StandingPage } from '../../../server/storage/standings/standing-page.ts'
import type { Entry, PageRow, StandingReader } from '../../../server/storage/standings/standing-store.ts'
import { inTime } from '../../fixtures/standings/arbitraries.ts'
import type { ModelJourney } from '../../fixtures/standings/model.ts'

/** Standings of one journey, in memory, as an engine keeps them. */
export function memoryStandings(
  { enrolments, events }: ModelJourney,
  names: readonly string[],
  asOf_ms: number,
): StandingReader & { reads: number } {
  const steps = new Map(names.map((name, step) => [name, step]))
  const entries: Entry[] = []
  let rows: readonly PageRow[] = []
  for (const { customer, customer_type, at_ms } of enrolments) {
    const mine = inTime(events.filter((event) => event.customer === customer))
    const standing = advance(enrolled(customer_type, at_ms), mine, steps).next().value
    if (!('entered_ms' in standing)) throw new Error('nothing was there before that could be asked for')
    entries.push({ entered_ms: standing.entered_ms, customer })
    const old = rows.findLast(({ first }) => first <= customer) ?? rows[0]
    const page = new StandingPage(old)
    page.set(customer, standing)
    rows = [...rows.filter((row) => row !== old), ...page.rows()].sort(by(({ first }) => first))
  }
  entries.sort((one, other) => other.entered_ms - one.entered_ms || (one.customer > other.customer ? -1 : 1))
  const isBehind = (entry: Entry, before: Entry | null) =>
    !before ||
    entry.entered_ms < before.entered_ms ||
    (entry.entered_ms === before.entered_ms && entry.customer < before.customer)
  const reader = {
    asOf_ms,
    reads: 0,
    journey: async () => ({ generation: 1, event_ids: names, version: 1, building: null }),
    times: async (_journey: string, _generation: number, after: string | null, limit: number) => {
      reader.reads += 1
      return rows.filter(({ first }) => after === null || first > after).slice(0, limit)
    },
    pages: async (_journey: string, _generation: number, after: string | null, limit: number) =>
      rows.filter(({ first }) => after === null || first > after).slice(0, limit),
    history: {
      customersAtOnce: 3,
      events: async function* (
        journey: string,
        customer: string,
        { from_ms, to_ms }: { from_ms: number; to_ms: number },
      ) {
        const mine = events.filter((event) => event.customer === customer)
        const inRange = mine.filter(({ at_ms }) => at_ms >= from_ms && at_ms < to_ms)
        for (const event of inTime(inRange)) yield [{ ...event, journey }]
      },
      rest: async () => {},
    },
    variables: async (wanted: readonly string[]) =>
      wanted.map((id) => events.find((event) => event.id === id)?.variables ?? null),
    pagesWith: async (_journey: string, _generation: number, customers: readonly string[]) => {
      const found = customers.map((customer) => rows.findLast(({ first }) => first <= customer) ?? rows[0])
      return [...new Set(found)].filter((row) => row !== undefined).sort(by(({ first }) => first))
    },
    entries: async (
      _journey: string,
      _generation: number,
      { before, from_ms, limit }: { before: Entry | null; from_ms: number | null; limit: number },
    ) =>
      entries
        .filter((entry) => isBehind(entry, before) && (from_ms === null || entry.entered_ms >= from_ms))
        .slice(0, limit),
  }
  return reader
}

function by<Item>(text: (item: Item) => string) {
  return (one: Item, other: Item) => (text(one) < text(other) ? -1 : 1)
}
