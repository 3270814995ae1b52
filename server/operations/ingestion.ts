import type { components } from '../../generated/contract.ts'
import type { Caller, Operation } from '../contract.ts'
import { isTooLarge } from '../domain/event-content.ts'
import { instant_ms, instantText } from '../domain/instants.ts'
import { Problem, problems } from '../problems.ts'
import type { EventOutcome, NewEvent } from '../storage/event-store.ts'

type EventCreation = components['schemas']['EventCreation']
type EventResult = components['schemas']['EventResult']

export const initializeCustomer: Operation<'initializeCustomer'> = async (
  { workspaceId, body, query },
  { storage, tally, rejected },
) => {
  const outcome = query.dry_run
    ? await storage.events.checkCustomer(workspaceId, body)
    : await storage.events.initializeCustomer(workspaceId, body)
  if (outcome.status === 'refused') {
    rejected(1)
    throw new Problem(outcome.code)
  }
  if (!query.dry_run) tally.customer(outcome)
  const { customer_id, created } = outcome
  return { status: created ? 201 : 200, body: { customer_id, created, ...markOf(query) } }
}

export const createEvent: Operation<'createEvent'> = async (
  { workspaceId, body, query },
  { storage, tally, rejected, caller },
) => {
  const events = [newEvent(body)]
  const [outcome] = query.dry_run
    ? await storage.events.checkEvents(workspaceId, events)
    : await tally.events(1, () => storage.events.insertEvents(workspaceId, events, keyIdOf(caller)))
  if (!outcome) throw new Error('the store gave no outcome')
  if (outcome.status === 'rejected') {
    rejected(1)
    throw new Problem(outcome.code)
  }
  const { id, received_ms } = outcome
  const duplicate = outcome.status === 'duplicate'
  return {
    status: duplicate ? 200 : 201,
    body: { success: true, id, duplicate, received_at: instantText(received_ms), ...markOf(query) },
  }
}

export const createEvents: Operation<'createEvents'> = async (
  { workspaceId, body, query },
  { storage, tally, rejected, refused, caller },
) => {
  const { events } = body
  const rows = events.map(newBatchEvent)
  const outcomes = query.dry_run
    ? await storage.events.checkEvents(workspaceId, rows)
    : await tally.events(rows.length, () => storage.events.insertEvents(workspaceId, rows, keyIdOf(caller)))
  const count = { created: 0, duplicate: 0, rejected: 0 }
  const results = outcomes.map((outcome, index) => {
    count[outcome.status] += 1
    if (outcome.status === 'rejected') {
      const { code } = outcome
      refused({ code, status: problems[code].status, item: index, sent: events[index] ?? {} })
    }
    return resultOf(outcome, events[index]?.message_id ?? null)
  })
  if (count.rejected > 0) rejected(count.rejected)
  return { status: 200, body: { received: events.length, ...count, results, ...markOf(query) } }
}

function markOf({ dry_run }: { dry_run?: boolean }) {
  return dry_run ? ({ dry_run: true } as const) : undefined
}

/** An event of a batch has a bound of its own; alone it has that of its body. */
function newBatchEvent(event: EventCreation): NewEvent {
  const row = newEvent(event)
  return isTooLarge(event, row.custom_variables) ? { ...row, custom_variables: null, isTooLarge: true } : row
}

function keyIdOf(caller: Caller): string | undefined {
  return caller.kind === 'key' ? caller.key.key_id : undefined
}

function newEvent(event: EventCreation): NewEvent {
  const { journey_id, customer_id, event_id, message_id = null, occurred_at, custom_variables } = event
  return {
    journey_id,
    customer_id,
    event_id,
    message_id,
    occurred_ms: occurred_at === undefined ? null : instant_ms(occurred_at),
    custom_variables: custom_variables === undefined ? null : JSON.stringify(custom_variables),
  }
}

function resultOf(outcome: EventOutcome, message_id: string | null): EventResult {
  if (outcome.status !== 'rejected') {
    const { status, id, received_ms } = outcome
    return { status, id, message_id, received_at: instantText(received_ms) }
  }
  const { code } = outcome
  const problem = { type: `/docs/problems#${code}`, ...problems[code], code }
  return { status: 'rejected', id: null, message_id, received_at: null, problem }
}
