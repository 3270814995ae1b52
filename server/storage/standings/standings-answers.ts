import { unmadeId } from '../../domain/identifiers.ts'
import { type Key, outOfOrder, type Standing } from '../../domain/journey-standing.ts'
import { customerStanding, journeyCustomers } from './journey-customers.ts'
import { type AskedJourney, JourneyReports, standingsState } from './journey-reports.ts'
import type { StandingReader } from './standing-store.ts'
import type { EnrolmentStanding } from './standings.ts'
import type { StandingsAnswers as Answers, StandingsQuery } from './standings-query.ts'

/** What an engine reads, all from one snapshot, and how its keys map to identifiers. */
export type AnswerSource = {
  reader: StandingReader
  /** Undefined for an unknown identifier, and for one of another kind: keys of two kinds may be equal. */
  keyOf(prefix: 'jrn' | 'cus', id: string): Key | undefined
  idOf(prefix: 'jrn' | 'cus' | 'evt', key: Key): string
  /**
   * The key of a journey, or of one that is gone a key that sorts among the others as its own did: a list may continue
   * after it.
   */
  placeOf(journeyId: string): Key | undefined
  /**
   * The events of journeys' steps in their current configuration; journeys that the workspace does not have are
   * omitted.
   */
  configuredSteps(journeys: readonly Key[]): Promise<Map<Key, readonly string[]>>
  /** The journeys that a customer is enrolled in, before a given one, descending: newest first. */
  journeysOf(customer: Key, before: Key | null, limit: number): Promise<readonly Key[]>
}

/** Answers queries of standings. */
export class StandingsAnswers {
  readonly #reports = new JourneyReports()

  /** @throws the reason of the signal */
  async answer(source: AnswerSource, query: StandingsQuery, signal: AbortSignal): Promise<unknown> {
    if (query.kind === 'customerJourneys') return await customerJourneys(source, query)
    const asked = await findJourney(source, query.journeyId)
    if (!asked) return undefined
    const { reader } = source
    switch (query.kind) {
      case 'report':
        return await this.#reports.report(reader, asked, query.filter, signal)
      case 'readAhead':
        return await this.#reports.readAhead(reader, asked, query.ahead, signal)
      case 'trend':
        return await this.#reports.trend(reader, asked, query.filter, signal)
      case 'histogram':
        return await this.#reports.histogram(reader, asked, query.filter, signal)
      case 'customers':
        return await customers(source, asked, query, signal)
    }
  }
}

async function findJourney(source: AnswerSource, journeyId: string): Promise<AskedJourney | undefined> {
  const journey = source.keyOf('jrn', journeyId)
  if (journey === undefined) return undefined
  const event_ids = (await source.configuredSteps([journey])).get(journey)
  return event_ids && { journey, event_ids }
}

async function customers(
  { reader, keyOf, idOf }: AnswerSource,
  asked: AskedJourney,
  { filter, page }: Extract<StandingsQuery, { kind: 'customers' }>,
  signal: AbortSignal,
): Promise<Answers['customers']> {
  const state = await reader.journey(asked.journey)
  if (!state) {
    const { event_ids } = asked
    return { as_of_ms: reader.asOf_ms, recomputing: null, event_ids, rows: [], next: null }
  }
  const customer = page.after && keyOf('cus', page.after.id)
  // The customer at the cursor was erased since: continue at the same time.
  const gone = page.after ? { entered_ms: page.after.ms + 1, customer: '' } : null
  const after = page.after && customer !== undefined ? { entered_ms: page.after.ms, customer } : gone
  const { journey } = asked
  const options = { limit: page.limit, after, signal }
  const { found, next } = await journeyCustomers(reader, { journey, ...state }, filter, options)
  return {
    ...standingsState(reader, asked, state),
    rows: found.flatMap(({ customer, standing }) => {
      const customer_id = idOf('cus', customer)
      // Erased, but still present in the standings for a moment.
      if (customer_id === '') return []
      return { customer_id, customer_type: standing.customer_type, ...enrolmentStanding(standing, idOf) }
    }),
    next: next && { ms: next.entered_ms, id: idOf('cus', next.customer) || unmadeId('cus') },
  }
}

async function customerJourneys(
  { reader, keyOf, idOf, placeOf, configuredSteps, journeysOf }: AnswerSource,
  { customerId, page }: Extract<StandingsQuery, { kind: 'customerJourneys' }>,
): Promise<Answers['customerJourneys']> {
  const customer = keyOf('cus', customerId)
  if (customer === undefined || reader.asOf_ms === null) {
    return { as_of_ms: reader.asOf_ms, rows: [], next: null }
  }
  const before = (page.after && placeOf(page.after.id)) ?? null
  const journeys = await journeysOf(customer, before, page.limit + 1)
  const listed = journeys.slice(0, page.limit)
  const configured = await configuredSteps(listed)
  const rows: Answers['customerJourneys']['rows'] = []
  for (const journey of listed) {
    // Before checking whether the journey is removed: another one may get its key.
    const journey_id = idOf('jrn', journey)
    const state = await reader.journey(journey)
    const standing = state && (await customerStanding(reader, { journey, customer, ...state }))
    if (!standing) continue
    rows.push({
      journey_id,
      ...standingsState(reader, { journey, event_ids: configured.get(journey) ?? [] }, state),
      ...enrolmentStanding(standing, idOf),
    })
  }
  const last = listed.at(-1)
  const hasMore = journeys.length > listed.length && last !== undefined
  return { as_of_ms: reader.asOf_ms, rows, next: hasMore ? { ms: 0, id: idOf('jrn', last) } : null }
}

function enrolmentStanding(standing: Standing, idOf: AnswerSource['idOf']): EnrolmentStanding {
  return {
    entered_ms: standing.entered_ms,
    reached: standing.reached.map(({ at_ms, id }) => ({ at_ms, id: idOf('evt', id) })),
    out_of_order: outOfOrder(standing).map((step) => step + 1),
  }
}
