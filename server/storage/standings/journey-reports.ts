import { areSameSteps, type Key } from '../../domain/journey-standing.ts'
import { type Groups, groupsOf } from './breakdown.ts'
import { type Counted, type CountOptions, countReport } from './journey-report.ts'
import { countCohorts } from './journey-trend.ts'
import { JourneyPart, PageWalk } from './page-walk.ts'
import { stepNumbers } from './rebuild.ts'
import type { JourneyState, StandingReader } from './standing-store.ts'
import type {
  AheadOf,
  BrokenDown,
  ComparedReport,
  EntryPeriod,
  JourneyCohorts,
  JourneyNumbers,
  JourneyTimes,
  ReadAhead,
  StandingsState,
} from './standings.ts'
import { type BrokenOrders, brokenOrders } from './strict-order.ts'
import { countTimes } from './time-ranges.ts'
import { type AskedLabels, readLabels, variableGroups } from './variable-groups.ts'
import { BreakdownTooLarge, KeptLabels, VariableLabels } from './variable-labels.ts'

/** Limit of cached answers, one per journey and filter. */
const KEPT_ANSWERS = 64

/** How long events are read for a report: the deadline of a list, less the time to count and to wait. */
const READING_MS = 3_500

/** A journey with its current configuration. */
export type AskedJourney = { journey: Key; event_ids: readonly string[] }

type Count<Numbers> = (walk: PageWalk, groups: Groups, options: CountOptions) => Promise<Counted<Numbers>>

type Question<Numbers> = {
  kind: string
  filter: BrokenDown
  /** The periods that are counted. */
  periods: readonly EntryPeriod[]
  count: Count<Numbers>
}

/** Computes reports of journeys, and caches the answers until something changes. */
export class JourneyReports {
  readonly #kept = new Map<string, Counted<unknown>>()
  readonly #labels = new KeptLabels()

  async report(
    reader: StandingReader,
    asked: AskedJourney,
    filter: ComparedReport,
    signal: AbortSignal,
  ): Promise<JourneyNumbers> {
    const count: Count<Pick<JourneyNumbers, 'enrolled' | 'steps' | 'comparison' | 'groups'>> = (
      walk,
      groups,
      options,
    ) => countReport(walk, filter, groups, options)
    const question = { kind: 'report', filter, periods: countedPeriods(filter), count }
    const { state, numbers } = await this.#answer(reader, asked, question, signal)
    return { ...state, ...numbers }
  }

  async trend(
    reader: StandingReader,
    asked: AskedJourney,
    filter: BrokenDown & { starts_ms: readonly number[] },
    signal: AbortSignal,
  ): Promise<JourneyCohorts> {
    const count: Count<Pick<JourneyCohorts, 'cohorts' | 'groups'>> = (walk, groups, options) =>
      countCohorts(walk, filter, groups, options)
    const periods = [
      { entered_from_ms: filter.starts_ms[0] ?? 0, entered_to_ms: filter.starts_ms.at(-1) ?? 0 },
    ]
    const question = { kind: 'trend', filter, periods, count }
    const { state, numbers } = await this.#answer(reader, asked, question, signal)
    return { ...state, ...numbers }
  }

  async histogram(
    reader: StandingReader,
    asked: AskedJourney,
    filter: BrokenDown & { step: number },
    signal: AbortSignal,
  ): Promise<JourneyTimes> {
    const count: Count<Pick<JourneyTimes, 'times' | 'ranges' | 'groups'>> = async (walk, groups, options) => {
      const numbers = await countTimes(walk, filter, groups, options)
      return { numbers, holdsUntil_ms: Number.POSITIVE_INFINITY }
    }
    const question = { kind: 'histogram', filter, periods: [filter], count }
    const { state, numbers } = await this.#answer(reader, asked, question, signal)
    return { ...state, ...numbers }
  }

  /** Reads some of what a report will need of the variables of events, and keeps it if there is room. */
  async readAhead(
    reader: StandingReader,
    { journey }: AskedJourney,
    { filter, after, room }: AheadOf,
    signal: AbortSignal,
  ): Promise<ReadAhead> {
    const state = await reader.journey(journey)
    if (!state) return NOTHING_AHEAD
    const { generation, event_ids } = state
    const from = { journey, generation, event_ids, until_ms: performance.now() + READING_MS, signal }
    const question = { filter, periods: countedPeriods(filter) }
    try {
      const part = await withLabels(from, question, this.#labels, async (asked, labels) => {
        const { next, unread } = await readLabels(reader, asked, labels, after)
        if (labels.share <= room) return { next, unread, share: labels.share }
        this.#labels.drop(labels)
        return { ...TOO_LARGE_AHEAD, unread }
      })
      return part ?? NOTHING_AHEAD
    } catch (error) {
      if (error instanceof BreakdownTooLarge) return TOO_LARGE_AHEAD
      throw error
    }
  }

  async #answer<Numbers>(
    reader: StandingReader,
    asked: AskedJourney,
    question: Question<Numbers>,
    signal: AbortSignal,
  ): Promise<{ state: StandingsState; numbers: Numbers }> {
    const journey = (await reader.journey(asked.journey)) ?? { ...noStandings, event_ids: asked.event_ids }
    const { generation, version, event_ids } = journey
    const isStrict = question.filter.step_order === 'strict'
    const asOf_ms = reader.asOf_ms ?? Number.NEGATIVE_INFINITY
    const key = JSON.stringify([
      question.kind,
      asked.journey,
      generation,
      version,
      event_ids,
      question.filter,
    ])
    let counted = this.#kept.get(key) as Counted<Numbers> | undefined
    // Reinserting makes the least recently used answer the first to be evicted.
    this.#kept.delete(key)
    if (!counted || counted.holdsUntil_ms < asOf_ms) {
      const walk = new PageWalk(reader, { journey: asked.journey, generation, signal })
      const until_ms = performance.now() + READING_MS
      const from = { journey: asked.journey, generation, event_ids, until_ms, signal }
      const broken = isStrict ? await brokenOrdersFor(reader, { ...from, asOf_ms }, question) : undefined
      const groups = await groupsFor(reader, from, question, this.#labels)
      const steps = event_ids.length
      counted = await question.count(walk, groups, { steps, asOf_ms, ...(broken && { broken }) })
    }
    // An event between two steps changes the strict order, but no standing, and so no version.
    if (!isStrict) this.#kept.set(key, counted)
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= KEPT_ANSWERS) break
      this.#kept.delete(oldest)
    }
    return { state: standingsState(reader, asked, journey), numbers: counted.numbers }
  }
}

const NOTHING_AHEAD: ReadAhead = { next: null, unread: 0, share: 0 }
const TOO_LARGE_AHEAD: ReadAhead = { next: null, unread: 0, share: null }

function countedPeriods(filter: ComparedReport): EntryPeriod[] {
  return filter.compared ? [filter, filter.compared] : [filter]
}

/** What is read for a question besides the times of pages. */
type ReadFrom = {
  journey: Key
  generation: number
  event_ids: readonly string[]
  until_ms: number
  signal: AbortSignal
}

/** @throws {StrictOrderTooLarge} @throws the reason of the signal */
async function brokenOrdersFor(
  reader: StandingReader,
  from: ReadFrom & { asOf_ms: number },
  { filter, periods }: Pick<Question<unknown>, 'filter' | 'periods'>,
): Promise<BrokenOrders> {
  const { event_ids } = from
  const part = new JourneyPart(filter, event_ids.length)
  const { window_ms } = filter
  const asked = {
    ...from,
    steps: stepNumbers(event_ids),
    part,
    window_ms,
    endsWithWindow: true,
    filter,
    periods,
  }
  return await brokenOrders(reader, asked)
}

/** @throws {BreakdownTooLarge} @throws the reason of the signal */
async function groupsFor(
  reader: StandingReader,
  from: ReadFrom,
  question: Pick<Question<unknown>, 'filter' | 'periods'>,
  kept: KeptLabels,
): Promise<Groups> {
  const undivided = groupsOf(question.filter.breakdown)
  const groups = await withLabels(from, question, kept, (asked, labels) =>
    variableGroups(reader, asked, labels, undivided),
  )
  return groups ?? undivided
}

/** Reads with the labels that are kept for a question. @returns undefined if it needs none */
async function withLabels<Result>(
  { event_ids, ...from }: ReadFrom,
  { filter, periods }: Pick<Question<unknown>, 'filter' | 'periods'>,
  kept: KeptLabels,
  read: (asked: AskedLabels, labels: VariableLabels) => Promise<Result>,
): Promise<Result | undefined> {
  const { breakdown, variables = [], touch } = filter
  const name = breakdown?.by === 'variable' ? breakdown.name : undefined
  if (name === undefined && variables.length === 0) return undefined
  const asked = periods.map(({ entered_from_ms, entered_to_ms }) => ({
    ...(entered_from_ms !== undefined && { entered_from_ms }),
    ...(entered_to_ms !== undefined && { entered_to_ms }),
  }))
  const { journey, generation } = from
  const key = JSON.stringify([journey, generation, touch ?? 'first', name ?? null, variables])
  const labels = kept.take(key, () => new VariableLabels(name, variables))
  try {
    return await read({ ...from, steps: event_ids.length, filter, periods: asked }, labels)
  } finally {
    kept.trim()
  }
}

/** The state of a journey that nobody has entered. */
const noStandings: JourneyState = { generation: 0, event_ids: [], version: 0, building: null }

/** As-of time and steps of a journey's numbers; `total` is 0 until the rebuild for edited steps begins. */
export function standingsState(
  reader: StandingReader,
  asked: AskedJourney,
  { event_ids, building }: JourneyState,
): StandingsState {
  const isOfOthers = !areSameSteps(event_ids, asked.event_ids)
  const isBegun = building && areSameSteps(building.event_ids, asked.event_ids)
  const { done, total } = isBegun ? building : { done: 0, total: 0 }
  return { as_of_ms: reader.asOf_ms, recomputing: isOfOthers || building ? { done, total } : null, event_ids }
}
