import {
  advance,
  enrolled,
  enrolledAt,
  type Key,
  type Standing,
  type StandingEvent,
  type StepNumbers,
} from '../../domain/journey-standing.ts'
import { adoptSteps, computedStanding, stepNumbers } from './rebuild.ts'
import { StandingPage } from './standing-page.ts'
import {
  type Entry,
  earliestEvent,
  type History,
  type JourneyState,
  type PageRow,
  raised,
  type StandingWriter,
} from './standing-store.ts'

/** The changes of one customer in a journey. */
export type CustomerChange = {
  customer: Key
  /** The enrolment, if it is among the changes. */
  enrolment?: Pick<Standing, 'customer_type' | 'entered_ms'>
  events: readonly StandingEvent[]
  /**
   * Events of the customer, or the enrolment, were removed: the standing is computed from those that remain, and
   * deleted if there is no enrolment here.
   */
  isRenewed?: true
}

/** The changes of one journey. */
export type JourneyChange = {
  journey: Key
  /** The events of its steps in the current configuration. */
  event_ids: readonly string[]
  /** One entry per customer, ordered by customer. */
  customers: readonly CustomerChange[]
}

/** Called with every standing that was examined, as it is stored; not while a rebuild for other steps is running. */
type OnStanding = (journey: Key, customer: Key, standing: Standing) => void

type FollowOptions = {
  onStanding: OnStanding
  /**
   * Called with the state of a journey as it is stored, after its standings; not while a rebuild for other steps is
   * running.
   */
  onState?: (journey: Key, state: JourneyState) => void
  /** Yields to other work if it is time, because a slice may take seconds. Called between two pages. */
  yieldLoop: () => Promise<void>
}

/** How long following continues before it yields to other work. */
const FOLLOW_MS = 20

/**
 * Lets reports be answered, from committed standings, when a task has run long enough.
 * @param rest resolves when other work has run
 */
export function yieldsBeside(rest: () => Promise<void>): () => Promise<void> {
  let began_ms = performance.now()
  return async () => {
    if (performance.now() - began_ms < FOLLOW_MS) return
    await rest()
    began_ms = performance.now()
  }
}

/** How many customers are processed at a time; each may be in a page of its own. */
const CUSTOMERS_AT_ONCE = 4_096

/**
 * Applies what was stored to the standings, inside a transaction of the writer. Order does not matter, and applying
 * twice is harmless (idempotent): the standings are those of everything applied and of the history. What does not
 * change is not written.
 */
export async function follow(
  writer: StandingWriter,
  history: History,
  changes: readonly JourneyChange[],
  { onStanding, onState = () => {}, yieldLoop }: FollowOptions,
): Promise<void> {
  for (const { journey, event_ids, customers } of changes) {
    const state = await adoptSteps(writer, journey, event_ids)
    const { building } = state
    const isChanged = await takeIn(writer, history, { journey, ...state }, customers, {
      onStanding: building ? () => {} : onStanding,
      yieldLoop,
    })
    const kept = isChanged ? { ...state, version: raised(state.version) } : state
    if (isChanged) await writer.saveJourney(journey, kept)
    if (!building) onState(journey, kept)
    const upTo = building?.upTo
    if (building && upTo) {
      const built = customers.filter(({ customer }) => customer <= upTo)
      await takeIn(writer, history, { journey, ...building }, built, { onStanding: () => {}, yieldLoop })
    }
  }
}

/** Drops journeys that were removed, inside a transaction of the writer. Their rows are deleted later, in slices. */
export async function forgetJourneys(writer: StandingWriter, journeys: readonly Key[]): Promise<void> {
  for (const journey of journeys) {
    const state = await writer.journey(journey)
    if (!state) continue
    await writer.dropGeneration(journey, state.generation)
    if (state.building) await writer.dropGeneration(journey, state.building.generation)
    await writer.removeJourney(journey)
  }
}

function isGone({ isRenewed, enrolment }: CustomerChange): boolean {
  return isRenewed === true && !enrolment
}

type Generation = { journey: Key; generation: number; event_ids: readonly string[] }

/** @returns whether any standing has changed */
async function takeIn(
  writer: StandingWriter,
  history: History,
  of: Generation,
  customers: readonly CustomerChange[],
  { onStanding, yieldLoop }: Omit<FollowOptions, 'onState'>,
): Promise<boolean> {
  const steps = stepNumbers(of.event_ids)
  let isChanged = false
  for (let from = 0; from < customers.length; from += CUSTOMERS_AT_ONCE) {
    const some = customers.slice(from, from + CUSTOMERS_AT_ONCE)
    const rows = await writer.pagesWith(
      of.journey,
      of.generation,
      some.map(({ customer }) => customer),
    )
    const remove: Key[] = []
    const put: PageRow[] = []
    const entries = { remove: [] as Entry[], put: [] as Entry[] }
    let at = 0
    for (let index = 0; index < Math.max(rows.length, 1); index += 1) {
      await yieldLoop()
      const row = rows[index]
      const page = new StandingPage(row)
      const next = rows[index + 1]?.first
      let isPageChanged = false
      for (
        let change = some[at];
        change && !(next !== undefined && change.customer >= next);
        change = some[at]
      ) {
        at += 1
        const before = page.get(change.customer)
        const { customer } = change
        if (before && isGone(change)) {
          page.delete(customer)
          entries.remove.push({ entered_ms: before.entered_ms, customer })
          isPageChanged = true
          continue
        }
        const after = await advanced(history, of.journey, steps, change, before)
        if (after) onStanding(of.journey, customer, after)
        if (!after || after === before) continue
        page.set(customer, after)
        isPageChanged = true
        if (before?.entered_ms === after.entered_ms) continue
        if (before) entries.remove.push({ entered_ms: before.entered_ms, customer })
        entries.put.push({ entered_ms: after.entered_ms, customer })
      }
      if (!isPageChanged) continue
      const written = page.rows()
      put.push(...written)
      if (row && written[0]?.first !== row.first) remove.push(row.first)
    }
    if (put.length === 0 && remove.length === 0) continue
    isChanged = true
    await writer.writePages(of.journey, of.generation, { remove, put })
    if (entries.put.length > 0 || entries.remove.length > 0)
      await writer.writeEntries(of.journey, of.generation, entries)
  }
  return isChanged
}

/** The standing after a change; undefined if no enrolment of the customer is known. */
async function advanced(
  history: History,
  journey: Key,
  steps: StepNumbers,
  { customer, enrolment, events, isRenewed }: CustomerChange,
  before: Standing | undefined,
): Promise<Standing | undefined> {
  if (isRenewed) {
    if (!enrolment) return undefined
    const standing = enrolled(enrolment.customer_type, enrolment.entered_ms)
    return await computedStanding(history, { journey, customer, standing }, steps)
  }
  let standing = before
  if (enrolment) {
    const { customer_type, entered_ms } = enrolment
    standing = before ? enrolledAt(before, entered_ms) : enrolled(customer_type, entered_ms)
  }
  if (!standing || events.length === 0) return standing
  const names = [...steps.keys()]
  const advance_ = advance(standing, events, steps)
  let asked = advance_.next()
  while (!asked.done) {
    const { step, ...range } = asked.value
    const name = names[step] ?? ''
    asked = advance_.next(await earliestEvent(history, { journey, customer, name }, range))
  }
  return asked.value
}
