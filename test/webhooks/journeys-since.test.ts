// engines: sqlite, postgres

import { describe, expect } from 'vitest'
import type { Schemas } from '../../client/index.ts'
import { insertWindows } from '../../server/storage/tables/webhook-windows.ts'
import type { Workspace } from '../fixtures/cairn.ts'
import { initialize } from '../fixtures/customer.ts'
import { inStore } from '../fixtures/in-store.ts'
import { it } from '../fixtures/it.ts'
import { type Receiver, startReceiver } from '../fixtures/receiver.ts'
import { newWebhook } from '../fixtures/webhook.ts'

/** A webhook in a journey of one step. */
async function webhookInJourney(
  { client, journey_id }: Workspace,
  body: Omit<Schemas['WebhookCreation'], 'url'>,
) {
  const steps = [{ event_id: 'signed_up', name: 'Signed up' }]
  await client.updateJourney({ path: { journey_id }, body: { steps } })
  const receiver = await startReceiver()
  const { path } = await newWebhook(client, { url: receiver.url, ...body })
  const update = async (body: Schemas['WebhookUpdate']) => {
    expect((await client.updateWebhook({ path, body })).response.status).toBe(200)
  }
  const replay = async () => {
    const from = '2026-01-01T00:00:00Z'
    expect((await client.replayWebhook({ path, body: { from } })).response.status).toBe(200)
  }
  return { receiver, path, update, replay }
}

/** A customer who enters the journey and reaches its step. */
async function signUp(workspace: Workspace, name: string): Promise<string> {
  const { client, journey_id } = workspace
  const customer_id = await initialize(workspace, name)
  await client.createEvent({ body: { journey_id, customer_id, event_id: 'signed_up' } })
  return customer_id
}

/** Which types a receiver was told about a customer. */
function typesAbout({ received }: Receiver, customer_id: string): string[] {
  return received.filter(({ data }) => data.customer_id === customer_id).map(({ type }) => type)
}

describe('a webhook that skips what it has missed', () => {
  it('is told of no journey who entered it, or did not complete it, before', async ({ cairn, workspace }) => {
    const { workspace_id, journey_id } = workspace
    const types: Schemas['WebhookType'][] = ['journey.entered', 'journey.dropped']
    const { receiver, path, update } = await webhookInJourney(workspace, { types, dropped_after: 'PT1S' })
    await update({ enabled: false })
    const missed = await initialize(workspace, 'missed')
    // As if the webhook had been told who entered, and was disabled before the window closed.
    const window = { journey_id, customer_id: missed, entered_ms: null, closes_ms: Date.now() }
    await inStore(cairn.databaseUrl, (db) => insertWindows(db, { workspace_id, ...path }, [window]))
    const occurred_at = new Date(Date.now() - 86_400_000).toISOString()
    const earlier = await initialize(workspace, 'earlier')
    const event = { journey_id, customer_id: earlier, event_id: 'opened', occurred_at }
    await workspace.client.createEvent({ body: event })
    await update({ enabled: true, skip_missed: true })
    // As if its entry was told before that event, which has made it a day earlier.
    const closes_ms = Date.now()
    const shifted = { journey_id, customer_id: earlier, entered_ms: closes_ms - 1_000, closes_ms }
    await inStore(cairn.databaseUrl, (db) => insertWindows(db, { workspace_id, ...path }, [shifted]))
    const late = await initialize(workspace, 'late')
    await expect.poll(() => typesAbout(receiver, late)).toEqual(types)
    expect([missed, earlier].flatMap((customer_id) => typesAbout(receiver, customer_id))).toEqual([])
  })
})

describe('a replay', () => {
  const types: Schemas['WebhookType'][] = ['event.created', 'journey.step_reached']

  it('tells no steps that were reached before the webhook was created', async ({ workspace }) => {
    const early = await signUp(workspace, 'early')
    const { receiver, replay } = await webhookInJourney(workspace, { types })
    await replay()
    const late = await signUp(workspace, 'late')
    await expect.poll(() => typesAbout(receiver, late).sort()).toEqual(types)
    await expect.poll(() => typesAbout(receiver, early)).toEqual(['event.created'])
  })

  it('tells no steps that the webhook has skipped, and those that it has missed since', async ({
    workspace,
  }) => {
    const { receiver, update, replay } = await webhookInJourney(workspace, { types })
    await update({ enabled: false })
    const early = await signUp(workspace, 'early')
    await update({ skip_missed: true })
    const missed = await signUp(workspace, 'missed')
    await replay()
    await update({ enabled: true })
    await expect.poll(() => typesAbout(receiver, missed).sort()).toEqual(types)
    await expect.poll(() => typesAbout(receiver, early)).toEqual(['event.created'])
  })
})
