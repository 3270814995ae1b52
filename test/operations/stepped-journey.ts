import { expect } from 'vitest'
import type { Workspace } from '../fixtures/cairn.ts'
import { initialize } from '../fixtures/customer.ts'
import { it as base } from '../fixtures/it.ts'
import { settled } from './settled.ts'

const STEPS = ['signed_up', 'plan_chosen', 'paid'].map((event_id) => ({ event_id, name: event_id }))

/** The time this many minutes after a base in the distant past. */
export const at = (minutes: number) => new Date(Date.UTC(2026, 0, 5, 12) + minutes * 60_000).toISOString()

/** `stepped` is a workspace whose journey has the steps `signed_up`, `plan_chosen` and `paid`. */
export const it = base.extend('stepped', async ({ workspace }) => await withSteps(workspace))

/** Sets these steps. */
export async function withSteps(workspace: Workspace): Promise<Workspace> {
  const { client, journey_id } = workspace
  await client.updateJourney({ path: { journey_id }, body: { steps: STEPS } })
  return workspace
}

export type Did = [event_id: string, minute: number, custom_variables?: Record<string, unknown> | string]

/** Initializes a customer and sends its events, in this order. @returns the customer */
export async function does(workspace: Workspace, client_customer_id: string, events: readonly Did[]) {
  const { client, journey_id } = workspace
  const customer_id = await initialize(workspace, client_customer_id)
  const sent = events.map(([event_id, minute, custom_variables]) => ({
    journey_id,
    customer_id,
    event_id,
    occurred_at: at(minute),
    ...(custom_variables !== undefined && { custom_variables }),
  }))
  const { data } = await client.createEvents({ body: { events: sent } })
  expect(data?.rejected).toBe(0)
  return customer_id
}

export type ReportQuery = NonNullable<
  NonNullable<Parameters<Workspace['client']['getJourneyReport']>[0]>['query']
>

/** A report with everything that was acknowledged before this call. */
export async function report({ client, journey_id }: Workspace, query: ReportQuery = {}) {
  return await settled(() => client.getJourneyReport({ path: { journey_id }, query }))
}
