import type { components } from '../../generated/contract.ts'
import type { Context } from '../contract.ts'
import { unmadeId } from '../domain/identifiers.ts'
import { parseJson } from '../domain/json.ts'
import { isPartial } from '../domain/sent-head.ts'
import { Problem } from '../problems.ts'
import type { EventOutcome, NewEvent } from '../storage/events/event-store.ts'
import type { RefusalRow } from '../storage/refusals/refusal-table.ts'
import { customerName } from '../storage/tables/customers.ts'
import { definitionChangesOf, newBatchEvent } from './new-event.ts'

type Customer = components['schemas']['CustomerInitialization']
type EventCreation = components['schemas']['EventCreation']

/** The outcome of a replayed refusal (contract: `RefusalReplayResult`). */
export type Replayed = Pick<components['schemas']['RefusalReplayResult'], 'outcome' | 'id' | 'code'>

/** What to replay, parsed and validated; or why that is not possible. */
type Attempt = { customer: Customer; key_id: string } | { events: ReplayedEvent[] } | { settled: Replayed }

/** As it was sent and as it is stored, with the key that sent it. */
type ReplayedEvent = { sent: EventCreation; event: NewEvent; key_id: string }

type Options = { isDry: boolean; context: Context }

/** Outcomes from worst to best; for a whole refused batch the worst is reported. */
const WORST = ['incomplete', 'refused', 'replayed', 'duplicate'] as const satisfies Replayed['outcome'][]

/** Parses and validates refusals: one after the other, because it takes the main thread, which others share. */
export async function attemptsOf(rows: readonly RefusalRow[], context: Context): Promise<Attempt[]> {
  const attempts: Attempt[] = []
  for (const row of rows) attempts.push(await attemptOf(row, context))
  return attempts
}

/**
 * Replays refusals, through the same checks and into the same store as the first time; customers first, because events
 * may refer to them.
 * @returns the outcome of each, or for a dry run what it would be
 */
export async function replayed(
  workspaceId: string,
  attempts: readonly Attempt[],
  options: Options,
): Promise<Replayed[]> {
  const settled = await Promise.all(
    attempts.map((attempt) => {
      if ('settled' in attempt) return attempt.settled
      return 'customer' in attempt ? initialized(workspaceId, attempt, options) : undefined
    }),
  )
  const events = attempts.flatMap((attempt) => ('events' in attempt ? attempt.events : []))
  const outcomes = await stored(workspaceId, events, options)
  let end = 0
  return attempts.map((attempt, index): Replayed => {
    if ('events' in attempt) {
      end += attempt.events.length
      return worstOf(outcomes.slice(end - attempt.events.length, end).map(replayedOf))
    }
    const known = settled[index]
    if (!known) throw new Error('a replayed refusal has no outcome')
    return known
  })
}

async function attemptOf(row: RefusalRow, { checkBody }: Context): Promise<Attempt> {
  const { operation, item, refusal_id, key_id } = row
  if (isPartial(row.sent, row.sent_bytes)) return { settled: { outcome: 'incomplete', id: null, code: null } }
  const sent = Buffer.from(row.sent)
  try {
    if (operation === 'initializeCustomer') {
      return { customer: await checkBody('initializeCustomer', parseJson(sent)), key_id }
    }
    if (operation === 'createEvent' || item !== null) {
      const event = await checkBody('createEvent', parseJson(sent))
      return { events: [replayedEvent(row, event, `refusal:${refusal_id}`)] }
    }
    const { events } = await checkBody('createEvents', parseJson(sent, 'batch'))
    return {
      events: events.map((event, index) => replayedEvent(row, event, `refusal:${refusal_id}:${index}`)),
    }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return { settled: refusedAs(error.code) }
  }
}

/**
 * An event without a time gets the time at which it was first received, because now is when someone has fixed the
 * cause. So it equals what its sender may have resent meanwhile, and other refusals of the same event.
 * @param message_id idempotency key for an event without one, so that repeated replays store it once
 */
function replayedEvent(
  { received_ms, key_id }: RefusalRow,
  event: EventCreation,
  message_id: string,
): ReplayedEvent {
  const row = newBatchEvent({ message_id, ...event })
  const dated =
    row.occurred_ms === null ? { ...row, occurred_ms: received_ms, isUndated: true as const } : row
  return { sent: event, event: dated, key_id }
}

/** A known customer keeps its name, which is newer than the refused one; what is stored then is its enrolment. */
async function initialized(
  workspaceId: string,
  { customer, key_id }: { customer: Customer; key_id: string },
  { isDry, context }: Options,
): Promise<Replayed> {
  const { storage, tallyOf } = context
  const customer_name = (await customerName(storage.db, workspaceId, customer)) ?? customer.customer_name
  const named = { ...customer, customer_name }
  const outcome = isDry
    ? await storage.events.checkCustomer(workspaceId, named)
    : await storage.events.initializeCustomer(workspaceId, named)
  if (outcome.status === 'refused') return refusedAs(outcome.code)
  if (!isDry) tallyOf(key_id).customer(outcome)
  return { outcome: outcome.enrolled ? 'replayed' : 'duplicate', id: outcome.customer_id, code: null }
}

/** Only events that pass the checks are stored, because the store would count a refused one again. */
async function stored(
  workspaceId: string,
  replayed: readonly ReplayedEvent[],
  { isDry, context }: Options,
): Promise<EventOutcome[]> {
  if (replayed.length === 0) return []
  const { storage, tallyOf, eventChecks, caller } = context
  const checked = await eventChecks.check(
    workspaceId,
    definitionChangesOf(caller),
    replayed.map(({ sent }) => sent),
  )
  const sent = replayed.map(({ event, key_id }, index) => {
    const breaks = checked[index]?.breaks
    return { event: breaks ? { ...event, breaks } : event, key_id }
  })
  const outcomes = await storage.events.checkEvents(
    workspaceId,
    sent.map(({ event }) => event),
  )
  if (isDry) return outcomes
  const due = sent
    .map(({ event, key_id }, index) => ({ event, key_id, index }))
    .filter(({ index }) => isNew(outcomes[index]))
  for (const [key_id, ofKey] of Map.groupBy(due, ({ key_id }) => key_id)) {
    const events = ofKey.map(({ event }) => event)
    const made = await tallyOf(key_id).events(events.length, () =>
      storage.events.insertEvents(workspaceId, events, key_id),
    )
    for (const [at, outcome] of made.entries()) {
      const index = ofKey[at]?.index
      if (index !== undefined) outcomes[index] = outcome
    }
  }
  return outcomes
}

/** Whether an event can be stored: it has no identifier yet, nor has the second of two with the same message. */
function isNew(outcome: EventOutcome | undefined): boolean {
  return outcome !== undefined && outcome.status !== 'rejected' && outcome.id === unmadeId('evt')
}

function replayedOf(outcome: EventOutcome): Replayed {
  if (outcome.status === 'rejected') return refusedAs(outcome.code)
  return { outcome: outcome.status === 'created' ? 'replayed' : 'duplicate', id: outcome.id, code: null }
}

function worstOf(each: Replayed[]): Replayed {
  const [worst] = each.toSorted((a, b) => WORST.indexOf(a.outcome) - WORST.indexOf(b.outcome))
  if (!worst) throw new Error('a refusal without events was replayed')
  return each.length === 1 ? worst : { ...worst, id: null }
}

function refusedAs(code: NonNullable<Replayed['code']>): Replayed {
  return { outcome: 'refused', id: null, code }
}
