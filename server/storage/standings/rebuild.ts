import {
  areSameSteps,
  type Key,
  type Standing,
  StandingFold,
  type StepNumbers,
} from '../../domain/journey-standing.ts'
import { StandingPage } from './standing-page.ts'
import {
  type History,
  type JourneyState,
  type PageRow,
  raised,
  type StandingWriter,
} from './standing-store.ts'
import { TimesReader } from './standing-times.ts'

/** How many pages are counted at a time. */
const PAGES_COUNTED = 1_000

/**
 * The state of a journey with these steps. If they have changed, a rebuild of its standings begins; a rebuild already
 * in progress for other steps is abandoned. If the old steps return, their standings are rebuilt too: removals of their
 * events were not reported while others were configured.
 */
export async function adoptSteps(
  writer: StandingWriter,
  journey: Key,
  event_ids: readonly string[],
): Promise<JourneyState> {
  const state = await writer.journey(journey)
  if (!state) return await saved(writer, journey, { generation: 1, event_ids, version: 0, building: null })
  const { building } = state
  if (areSameSteps(building?.event_ids ?? state.event_ids, event_ids)) return state
  if (building) await writer.dropGeneration(journey, building.generation)
  const generation = (building?.generation ?? state.generation) + 1
  const total = await countStandings(writer, journey, state.generation)
  return await saved(writer, journey, {
    ...state,
    building: { generation, event_ids, upTo: null, done: 0, total },
  })
}

/**
 * Rebuilds standings for edited steps, page by page, or deletes what is no longer read, inside a transaction of the
 * writer.
 * @param ms how long it begins another page
 * @returns whether there may be more to do
 */
export async function rebuildSome(writer: StandingWriter, history: History, ms: number): Promise<boolean> {
  const until_ms = performance.now() + ms
  while (performance.now() < until_ms) {
    const journey = await writer.buildingJourney()
    if (journey !== undefined) await rebuildPage(writer, history, journey)
    else if (!(await writer.removeSome())) return false
  }
  return true
}

/**
 * Rebuilds the standings of the next page of customers for a journey's new steps, from all their events. After the last
 * page reports switch to the rebuilt generation.
 */
async function rebuildPage(writer: StandingWriter, history: History, journey: Key): Promise<void> {
  const state = await writer.journey(journey)
  const building = state?.building
  if (!state || !building) return
  const customers = await customersBehind(writer, journey, state.generation, building.upTo)
  const last = customers.at(-1)
  if (!last) {
    await writer.dropGeneration(journey, state.generation)
    const { generation, event_ids } = building
    await saved(writer, journey, { generation, event_ids, version: raised(state.version), building: null })
    return
  }
  const steps = stepNumbers(building.event_ids)
  const page = new StandingPage()
  const entries: { entered_ms: number; customer: Key }[] = []
  for (let from = 0; from < customers.length; from += history.customersAtOnce) {
    const some = customers.slice(from, from + history.customersAtOnce)
    const standings = await Promise.all(
      some.map((one) => computedStanding(history, { journey, ...one }, steps)),
    )
    for (const [index, { customer }] of some.entries()) {
      const standing = standings[index] as Standing
      page.set(customer, standing)
      entries.push({ entered_ms: standing.entered_ms, customer })
    }
  }
  await writer.writePages(journey, building.generation, { remove: [], put: page.rows() })
  await writer.writeEntries(journey, building.generation, { remove: [], put: entries })
  const done = building.done + customers.length
  const total = Math.max(building.total, done)
  await saved(writer, journey, { ...state, building: { ...building, upTo: last.customer, done, total } })
}

/** Computes a standing from the enrolment and all events. @param of.standing of other steps, or of none */
export async function computedStanding(
  history: History,
  { journey, customer, standing }: { journey: Key; customer: Key; standing: Standing },
  steps: StepNumbers,
): Promise<Standing> {
  const fold = new StandingFold(standing, steps)
  const always = { from_ms: Number.NEGATIVE_INFINITY, to_ms: Number.POSITIVE_INFINITY }
  for await (const events of history.events(journey, customer, always)) {
    for (const event of events) fold.add(event)
  }
  return fold.standing()
}

/** The standings of the next page of customers. A page may have grown since its first customers were read. */
async function customersBehind(
  writer: StandingWriter,
  journey: Key,
  generation: number,
  upTo: Key | null,
): Promise<{ customer: Key; standing: Standing }[]> {
  let page: PageRow | undefined
  if (upTo !== null) {
    ;[page] = await writer.pagesWith(journey, generation, [upTo])
    const rest = page ? [...new StandingPage(page).standings()].filter(({ customer }) => customer > upTo) : []
    if (rest.length > 0) return rest
  }
  const [next] = await writer.times(journey, generation, page?.first ?? null, 1)
  if (!next) return []
  const [row] = await writer.pagesWith(journey, generation, [next.first])
  return row ? [...new StandingPage(row).standings()] : []
}

async function countStandings(writer: StandingWriter, journey: Key, generation: number): Promise<number> {
  const reader = new TimesReader()
  let count = 0
  for (let after: Key | null = null; ; ) {
    const rows = await writer.times(journey, generation, after, PAGES_COUNTED)
    for (const { times } of rows) {
      reader.open(times)
      count += reader.count
    }
    const last = rows.at(-1)
    if (!last || rows.length < PAGES_COUNTED) return count
    after = last.first
  }
}

async function saved(writer: StandingWriter, journey: Key, state: JourneyState): Promise<JourneyState> {
  await writer.saveJourney(journey, state)
  return state
}

/** Step numbers by event name. */
export function stepNumbers(event_ids: readonly string[]): StepNumbers {
  return new Map(event_ids.map((event_id, step) => [event_id, step]))
}
