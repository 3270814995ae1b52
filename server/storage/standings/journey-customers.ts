import { setImmediate as yieldLoop } from 'node:timers/promises'
import { variablesTest } from '../../domain/event-values.ts'
import { type Key, outOfOrder, type Standing } from '../../domain/journey-standing.ts'
import { JourneyPart } from './page-walk.ts'
import { stepNumbers } from './rebuild.ts'
import { StandingPage } from './standing-page.ts'
import type { Entry, JourneyState, PageRow, StandingReader } from './standing-store.ts'
import type { CustomerFilter } from './standings.ts'
import { StrictReading } from './strict-order.ts'
import { decidingStep } from './variable-groups.ts'

/** Limit of enrolments examined for one page. */
export const LOOKED_AT = 10_000

/** Bytes of variables that count as one enrolment examined. */
const VARIABLES_BYTES = 4096

/** How many entries are read at a time; other work runs in between. */
const READ_ENTRIES = 256

/** The same for a strict order, for which the events of customers are read. */
const READ_STRICT_ENTRIES = 64

/** After how long a page in strict order ends, and how long it may take to read the events of the last customers. */
const STRICT_PAGE_MS = 1_000
const READING_MS = 3_000

/** A customer's standing in a journey. */
export type KeyedStanding = { customer: Key; standing: Standing }

/**
 * Lists where customers stand, newest entry first: at most `limit`, after `after` (keyset pagination). The next page
 * starts after `next`, which is null only at the end of the list.
 * @throws {StrictOrderTooLarge} @throws the reason of the signal
 */
export async function journeyCustomers(
  reader: StandingReader,
  { journey, generation, event_ids }: { journey: Key } & JourneyState,
  filter: CustomerFilter,
  { limit, after, signal }: { limit: number; after: Entry | null; signal: AbortSignal },
): Promise<{ found: KeyedStanding[]; next: Entry | null }> {
  const found: KeyedStanding[] = []
  const { entered_to_ms, entered_from_ms: from_ms = null } = filter
  const asOf_ms = reader.asOf_ms ?? Number.NEGATIVE_INFINITY
  const passes = standingTest(filter, event_ids.length, asOf_ms)
  const isStrict = filter.step_order === 'strict'
  const atOnce = isStrict ? READ_STRICT_ENTRIES : READ_ENTRIES
  const began_ms = performance.now()
  let before = after
  if (entered_to_ms !== undefined && (!after || after.entered_ms >= entered_to_ms)) {
    before = { entered_ms: entered_to_ms, customer: '' }
  }
  for (let lookedAt = 0; lookedAt < LOOKED_AT; lookedAt += atOnce) {
    signal.throwIfAborted()
    if (isStrict && performance.now() - began_ms > STRICT_PAGE_MS) break
    const wanted = Math.min(atOnce, LOOKED_AT - lookedAt)
    const entries = await reader.entries(journey, generation, { before, from_ms, limit: wanted })
    const customers = entries.map(({ customer }) => customer).sort()
    const standings = standingsIn(await reader.pagesWith(journey, generation, customers), customers)
    const decided = await matchingCustomers(reader, standings, filter)
    lookedAt += decided.looked
    const broken = isStrict
      ? await brokenStandings(reader, standings, filter, { journey, event_ids, asOf_ms, signal })
      : undefined
    for (const [index, entry] of entries.entries()) {
      const { customer } = entry
      const upToBreak = broken?.get(customer)
      const standing = upToBreak ?? standings.get(customer)
      if (standing && passes(standing, upToBreak !== undefined) && decided.matches(customer))
        found.push({ customer, standing })
      const isLast = index === entries.length - 1 && entries.length < wanted
      if (found.length === limit) return { found, next: isLast ? null : entry }
    }
    if (entries.length < wanted) return { found, next: null }
    before = entries.at(-1) ?? null
    await yieldLoop()
  }
  return { found, next: before }
}

/** Reads one customer's standing in a journey; undefined if there is none. */
export async function customerStanding(
  reader: StandingReader,
  { journey, customer, generation }: { journey: Key; customer: Key; generation: number },
): Promise<Standing | undefined> {
  const rows = await reader.pagesWith(journey, generation, [customer])
  return standingsIn(rows, [customer]).get(customer)
}

/**
 * Finds the customers whose deciding event meets the conditions of a filter. Pages of variables count as looked at,
 * because an event can have 64 KiB of them.
 */
async function matchingCustomers(
  reader: StandingReader,
  standings: ReadonlyMap<Key, Standing>,
  { variables = [], touch }: CustomerFilter,
): Promise<{ matches(customer: Key): boolean; looked: number }> {
  if (variables.length === 0) return { matches: () => true, looked: 0 }
  const decided = [...standings].flatMap(([customer, { reached }]) => {
    const step = decidingStep(touch, reached.length)
    const event = step === undefined ? undefined : reached[step]?.id
    return event === undefined ? [] : [{ customer, event }]
  })
  const texts = await reader.variables(decided.map(({ event }) => event))
  const matches = variablesTest(variables)
  const matching = new Set<Key>()
  let bytes = 0
  for (const [index, { customer }] of decided.entries()) {
    const text = texts[index] ?? null
    bytes += text?.length ?? 0
    if (matches(text)) matching.add(customer)
  }
  return { matches: (customer) => matching.has(customer), looked: Math.floor(bytes / VARIABLES_BYTES) }
}

/** Finds the standings whose strict order is broken, each with what was reached before. */
async function brokenStandings(
  reader: StandingReader,
  standings: ReadonlyMap<Key, Standing>,
  { customer_type, window_ms, first_step, reached: least = 0 }: CustomerFilter,
  {
    event_ids,
    ...options
  }: { journey: Key; event_ids: readonly string[]; asOf_ms: number; signal: AbortSignal },
): Promise<Map<Key, Standing>> {
  // To the last step: a list shows all of them.
  const part = new JourneyPart({ ...(first_step !== undefined && { first_step }) }, event_ids.length)
  const steps = stepNumbers(event_ids)
  const until_ms = performance.now() + READING_MS
  const reading = new StrictReading(reader.history, {
    ...options,
    steps,
    part,
    window_ms,
    endsWithWindow: false,
    until_ms,
  })
  const candidates = [...standings].flatMap(([customer, standing]) => {
    if (standing.reached.length < least) return []
    if (customer_type !== undefined && standing.customer_type !== customer_type) return []
    return { customer, standing, reached_ms: standing.reached.map(({ at_ms }) => at_ms) }
  })
  const brokenAfter = await reading.brokenAfter(candidates)
  return new Map(
    candidates.flatMap(({ customer, standing }, index) => {
      const after = brokenAfter[index]
      if (after === undefined) return []
      const reached = standing.reached.slice(0, after)
      return [[customer, { ...standing, reached, early: outOfOrder(standing) }]]
    }),
  )
}

/** The standings of customers, from pages; both ascending. */
function standingsIn(rows: readonly PageRow[], customers: readonly Key[]): Map<Key, Standing> {
  const standings = new Map<Key, Standing>()
  let index = 0
  let page = new StandingPage(rows[0])
  for (const customer of customers) {
    const from = index
    while ((rows[index + 1]?.first ?? '') !== '' && (rows[index + 1]?.first ?? '') <= customer) index += 1
    if (index !== from) page = new StandingPage(rows[index])
    const standing = page.get(customer)
    if (standing) standings.set(customer, standing)
  }
  return standings
}

/** Returns a test for whether a filter accepts a standing, regardless of when it entered and of its variables. */
function standingTest(
  filter: CustomerFilter,
  steps: number,
  asOf_ms: number,
): (standing: Standing, isBroken: boolean) => boolean {
  const { customer_type, reached, not_reached, standing: course, out_of_order, window_ms } = filter
  const { first_step, last_step } = filter
  const first = (first_step ?? 1) - 1
  const last = Math.min(last_step ?? steps, steps)
  const asked = [reached, out_of_order].filter((step) => step !== undefined)
  if (asked.some((step) => step > steps)) return () => false
  return (standing, isBroken) => {
    if (customer_type !== undefined && standing.customer_type !== customer_type) return false
    if (standing.reached.length < (first_step ?? 0)) return false
    const begin_ms = standing.reached[first]?.at_ms ?? 0
    const end_ms = begin_ms + (window_ms ?? Number.POSITIVE_INFINITY)
    const count = standing.reached.filter(({ at_ms }) => at_ms <= end_ms).length
    if (reached !== undefined && count < reached) return false
    if (not_reached !== undefined && count >= not_reached) return false
    if (out_of_order !== undefined && !outOfOrder(standing).includes(out_of_order - 1)) return false
    if (course === undefined) return true
    if (window_ms === undefined || count <= first || count >= last) return false
    const isOver = asOf_ms > end_ms || (isBroken && count === standing.reached.length)
    return isOver === (course === 'dropped')
  }
}
