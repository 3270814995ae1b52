import type { components } from '../../generated/contract.ts'
import type { Caller, Context, Operation } from '../contract.ts'
import { instantText } from '../domain/instants.ts'
import { Problem, problems } from '../problems.ts'
import type { Discretion, EventOutcome, EventRejection, NewEvent } from '../storage/events/event-store.ts'
import { customerNotFoundDetail } from './customer-not-found.ts'
import type { CheckedEvent } from './event-checks.ts'
import { definitionChangesOf, newBatchEvent, newEvent } from './new-event.ts'

type EventCreation = components['schemas']['EventCreation']
type EventResult = components['schemas']['EventResult']
type Violation = components['schemas']['Violation']

/**
 * Shortest time of an initialization with discretion. Nothing is stored for a known customer that takes part in the journey
 * already, so its reply need not wait for the disk, and its time would tell.
 */
const DISCREET_MS = 25

export const initializeCustomer: Operation<'initializeCustomer'> = async (
  { workspaceId, body, query },
  { storage, tallyOf, refundRate, caller },
) => {
  const discretion = discretionOf(caller)
  const call = query.dry_run ? 'checkCustomer' : 'initializeCustomer'
  const [outcome] = await Promise.all([
    storage.events[call](workspaceId, body, discretion),
    discretion && new Promise((resolve) => setTimeout(resolve, DISCREET_MS)),
  ])
  if (outcome.status === 'refused') {
    refundRate(1)
    throw new Problem(outcome.code)
  }
  if (!query.dry_run) tallyOf(keyIdOf(caller)).customer(outcome)
  const { customer_id } = outcome
  const created = outcome.created && !discretion
  return { status: created ? 201 : 200, body: { customer_id, created, ...markOf(query) } }
}

export const createEvent: Operation<'createEvent'> = async ({ workspaceId, body, query }, context) => {
  const [checked] = await checkedEvents(workspaceId, [body], context)
  const isDiscreet = discretionOf(context.caller) !== undefined
  const events = [newEvent(body, checked?.breaks)]
  const [outcome] = await outcomesOf(workspaceId, events, { isDry: query.dry_run, isDiscreet }, context)
  if (!outcome) throw new Error('the store returned no outcome')
  if (checked && !query.dry_run) countViolations(workspaceId, checked, outcome, context)
  if (outcome.status === 'rejected') {
    context.refundRate(1)
    const { code, detail } = toldOf(outcome.code, isDiscreet, body.customer_id)
    throw new Problem(code, { detail, keptAs: outcome.code, faults: faultsOf(outcome.code, checked) })
  }
  const { id, received_ms } = outcome
  const duplicate = outcome.status === 'duplicate'
  return {
    status: duplicate ? 200 : 201,
    body: {
      success: true,
      id,
      duplicate,
      received_at: instantText(received_ms),
      ...(checked && { warnings: checked.violations }),
      ...markOf(query),
    },
  }
}

export const createEvents: Operation<'createEvents'> = async ({ workspaceId, body, query }, context) => {
  const { refundRate, keepRefusal, caller } = context
  const { events } = body
  const checked = await checkedEvents(workspaceId, events, context)
  const rows = events.map((event, index) => newBatchEvent(event, checked[index]?.breaks))
  const isDiscreet = discretionOf(caller) !== undefined
  const outcomes = await outcomesOf(workspaceId, rows, { isDry: query.dry_run, isDiscreet }, context)
  const count = { created: 0, duplicate: 0, rejected: 0 }
  const shortened = new ShortenedLists()
  const results = outcomes.map((outcome, index) => {
    count[outcome.status] += 1
    const found = checked[index]
    if (found && !query.dry_run) countViolations(workspaceId, found, outcome, context)
    if (outcome.status === 'rejected') {
      const { code } = outcome
      const faults = faultsOf(code, found)
      keepRefusal({ code, status: problems[code].status, faults, item: index, sent: events[index] ?? {} })
    }
    const listed = shortened.of(found)
    return resultOf(outcome, events[index], { checked: listed, isDiscreet })
  })
  if (count.rejected > 0) refundRate(count.rejected)
  return { status: 200, body: { received: events.length, ...count, results, ...markOf(query) } }
}

/** Compares events with the definitions of their workspace; see `EventChecks`. */
async function checkedEvents(
  workspaceId: string,
  events: readonly EventCreation[],
  { eventChecks, caller }: Context,
) {
  return await eventChecks.check(workspaceId, definitionChangesOf(caller), events)
}

/** Stores events, or for a dry run finds what storing them would do. @returns an outcome per event, in order */
function outcomesOf(
  workspaceId: string,
  events: NewEvent[],
  { isDry, isDiscreet }: { isDry: boolean | undefined; isDiscreet: boolean },
  { storage, tallyOf, caller }: Context,
): Promise<EventOutcome[]> {
  if (isDry) return storage.events.checkEvents(workspaceId, events, isDiscreet)
  const keyId = keyIdOf(caller)
  return tallyOf(keyId).events(events.length, () =>
    storage.events.insertEvents(workspaceId, events, keyId, isDiscreet),
  )
}

/** Counts an event that does not conform, if it was stored now or rejected for that. */
function countViolations(
  workspaceId: string,
  checked: CheckedEvent,
  outcome: EventOutcome,
  { violationTally, caller }: Context,
) {
  const rejected = outcome.status === 'rejected'
  if (outcome.status === 'duplicate' || (rejected && outcome.code !== checked.breaks)) return
  violationTally.count(workspaceId, { checked, key_id: keyIdOf(caller), rejected })
}

/** Returns the faults of a rejected event that are listed: those for which it was rejected. */
function faultsOf(code: EventRejection, checked: CheckedEvent | undefined): Violation[] {
  return checked?.breaks === code ? checked.violations : []
}

/**
 * Violations listed in a reply in full; further events get their first. Without a bound, a batch of 100 KB could have a
 * reply of 4 MB.
 */
const LISTED_IN_BATCH = 1_000

/** Shortens the lists of violations in the reply to a batch. */
class ShortenedLists {
  #listed = 0

  of(checked: CheckedEvent | undefined): CheckedEvent | undefined {
    if (!checked) return undefined
    if (this.#listed >= LISTED_IN_BATCH) return { ...checked, violations: checked.violations.slice(0, 1) }
    this.#listed += checked.violations.length
    return checked
  }
}

function markOf({ dry_run }: { dry_run?: boolean }) {
  return dry_run ? ({ dry_run: true } as const) : undefined
}

function discretionOf(caller: Caller): Discretion | undefined {
  return caller.kind === 'key' ? caller.key.discretion : undefined
}

/**
 * The one detail that a publishable key gets for an event that is not stored, so that it reveals no customer or
 * message.
 */
const DISCREET_DETAIL =
  'Use the customer_id that initializeCustomer returned for this journey, and a message_id that no other event has.'

/**
 * Returns the code and detail for the sender. If `message_id_conflict` had a response of its own, an event with a
 * stored `message_id` would reveal who is enrolled, or one for an unknown customer which `message_id` is stored.
 */
function toldOf(
  code: EventRejection,
  isDiscreet: boolean,
  customerId: string,
): { code: EventRejection; detail: string } {
  return isDiscreet && DISCREET_CODES.has(code)
    ? { code: 'customer_not_found', detail: DISCREET_DETAIL }
    : { code, detail: detailOf(code, customerId) }
}

const DISCREET_CODES: ReadonlySet<EventRejection> = new Set([
  'customer_not_found',
  'customer_erased',
  'customer_not_in_journey',
  'message_id_conflict',
])

function keyIdOf(caller: Caller): string {
  if (caller.kind !== 'key') throw new Error('ingestion is for keys only')
  return caller.key.key_id
}

function detailOf(code: EventRejection, customerId: string): string {
  return code === 'customer_not_found' ? customerNotFoundDetail(customerId) : problems[code].detail
}

function resultOf(
  outcome: EventOutcome,
  event: EventCreation | undefined,
  { checked, isDiscreet }: { checked: CheckedEvent | undefined; isDiscreet: boolean },
): EventResult {
  const message_id = event?.message_id ?? null
  if (outcome.status !== 'rejected') {
    const { status, id, received_ms } = outcome
    const warnings = checked && { warnings: checked.violations }
    return { status, id, message_id, received_at: instantText(received_ms), ...warnings }
  }
  const told = toldOf(outcome.code, isDiscreet, event?.customer_id ?? '')
  const errors = faultsOf(outcome.code, checked)
  const listed = errors.length > 0 && { errors }
  const problem = { type: `/docs/problems#${told.code}`, ...problems[told.code], ...told, ...listed }
  return { status: 'rejected', id: null, message_id, received_at: null, problem }
}
