import type { Operation } from '../contract.ts'
import { instant_ms, instantText } from '../domain/instants.ts'
import { Problem } from '../problems.ts'

export const initializeCustomer: Operation<'initializeCustomer'> = async (
  { workspaceId, body },
  { storage },
) => {
  const outcome = await storage.events.initializeCustomer(workspaceId, body)
  if (outcome.status === 'refused') throw new Problem(outcome.code)
  const { customer_id, created } = outcome
  return { status: created ? 201 : 200, body: { customer_id, created } }
}

export const createEvent: Operation<'createEvent'> = async ({ workspaceId, body }, { storage }) => {
  const { occurred_at, ...event } = body
  const occurred = occurred_at === undefined ? {} : { occurred_ms: instant_ms(occurred_at) }
  const [outcome] = await storage.events.insertEvents(workspaceId, [{ ...event, ...occurred }])
  if (!outcome) throw new Error('the store gave no outcome')
  if (outcome.status === 'rejected') throw new Problem(outcome.code)
  const { id, received_ms } = outcome
  const duplicate = outcome.status === 'duplicate'
  return {
    status: duplicate ? 200 : 201,
    body: { success: true, id, duplicate, received_at: instantText(received_ms) },
  }
}
