// engines: sqlite, postgres

import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Cairn, startCairn, type Workspace } from '../fixtures/cairn.ts'
import { initialize } from '../fixtures/customer.ts'
import { withPatience } from '../fixtures/patience.ts'
import { type Browser, signUp } from '../fixtures/people.ts'
import { keptRefusals } from '../fixtures/refusals.ts'
import { storedText } from '../fixtures/store.ts'
import { settled } from './settled.ts'

/** A server of its own, because the tests search the bytes of the whole store. */
let cairn: Cairn

beforeAll(async () => {
  cairn = await startCairn()
  return cairn.stop
})

type Scene = {
  workspace: Workspace
  owner: Browser
  /** The journey to be removed, and one that stays, with the same customer in both. */
  gone: string
  kept: string
  customer_id: string
}

/** Two journeys with a customer and an event in each. */
async function newScene(): Promise<Scene> {
  const workspace = await cairn.workspace()
  const { client, journey_id: kept } = workspace
  const owner = await signUp(cairn, workspace, 'owner')
  const steps = [{ event_id: 'signed_up', name: 'Signed up' }]
  await client.updateJourney({ path: { journey_id: kept }, body: { steps } })
  const { data } = await client.createJourney({ body: { name: 'Renewal', steps } })
  const gone = data?.journey_id ?? ''
  let customer_id = ''
  for (const journey_id of [kept, gone]) {
    customer_id = await initialize({ client, journey_id }, 'user-1')
    await client.createEvent({ body: eventIn(journey_id, customer_id) })
  }
  return { workspace, owner, gone, kept, customer_id }
}

function eventIn(journey_id: string, customer_id: string) {
  return { journey_id, customer_id, event_id: 'signed_up', message_id: `of ${journey_id}` }
}

async function remove({ owner, gone, workspace }: Scene, name = 'Renewal', query = '') {
  const headers = { 'x-workspace-id': workspace.workspace_id }
  const reply = await owner.fetch(`POST /journeys/${gone}/remove${query}`, { headers, body: { name } })
  return { status: reply.status, body: await reply.json() }
}

async function archived(scene: Scene): Promise<Scene> {
  await scene.workspace.client.archiveJourney({ path: { journey_id: scene.gone } })
  return scene
}

/** The entry of the audit log that says that the removal of the journey is complete. */
async function completed({ owner, workspace }: Scene) {
  const headers = { 'x-workspace-id': workspace.workspace_id }
  const entry = async () => {
    const { data } = await (await owner.fetch('GET /audit-log?area=journeys&limit=1', { headers })).json()
    return data[0]
  }
  await expect.poll(async () => (await entry()).after?.events, withPatience).toEqual(expect.any(Number))
  return await entry()
}

describe('a journey', () => {
  it('is removed only if it is archived and its name is given', async () => {
    const scene = await newScene()
    expect(await remove(scene)).toMatchObject({ status: 409, body: { code: 'journey_active' } })
    await archived(scene)
    expect(await remove(scene, 'renewal')).toMatchObject({ status: 409, body: { code: 'name_differs' } })
    const removal = { journey_id: scene.gone, enrolments: 1, events: 1, more_events: false }
    expect(await remove(scene, 'Renewal', '?dry_run=true')).toEqual({
      status: 200,
      body: { ...removal, dry_run: true },
    })
    expect(await remove(scene)).toEqual({ status: 200, body: removal })
    expect(await remove(scene)).toMatchObject({ status: 404, body: { code: 'journey_not_found' } })
  })

  it('is removed with its events and enrolments at the first attempt', async () => {
    const scene = await archived(await newScene())
    await remove(scene)
    await completed(scene)
    expect(cairn.log.filter(({ msg }) => String(msg).startsWith('could not delete'))).toEqual([])
  })

  it('is found nowhere once it is removed, and accepts nothing', async () => {
    const scene = await archived(await newScene())
    const { workspace, gone, kept, customer_id } = scene
    const { client } = workspace
    await remove(scene)
    const path = { journey_id: gone }
    const refused = [
      await client.getJourney({ path }),
      await client.restoreJourney({ path }),
      await client.updateJourney({ path, body: { name: 'Again' } }),
      await client.getJourneyReport({ path }),
      await client.getJourneyTrend({ path }),
      await client.getJourneyStepTimes({ path, query: { step: 1 } }),
      await client.listJourneyCustomers({ path }),
      await client.createEvent({ body: eventIn(gone, customer_id) }),
      await client.createEvent({ body: { ...eventIn(gone, customer_id), message_id: randomUUID() } }),
      await client.createEvent({ body: eventIn(gone, customer_id), query: { dry_run: true } }),
    ]
    expect(refused.map(({ error }) => error?.code)).toEqual(refused.map(() => 'journey_not_found'))
    const { data } = await client.createEvents({ body: { events: [eventIn(gone, customer_id)] } })
    expect(data?.results).toMatchObject([{ problem: { code: 'journey_not_found' } }])
    expect((await client.listJourneys()).data?.data).toMatchObject([{ journey_id: kept }])
    expect((await client.listEvents()).data?.data).toMatchObject([{ journey_id: kept }])
    expect((await client.listEvents({ query: { journey_id: gone } })).data?.data).toEqual([])
    const timeline = await client.listCustomerEvents({ path: { customer_id } })
    expect(timeline.data?.data).toMatchObject([{ journey_id: kept }])
    const customers = await client.listCustomers({ query: { include: 'activity' } })
    expect(customers.data?.data).toMatchObject([{ activity: { event_count: 1 } }])
  })

  it('leaves only who removed it, when and how much, and others unchanged', async () => {
    const scene = await archived(await newScene())
    const { workspace, gone, kept, customer_id } = scene
    const { client } = workspace
    const { error } = await client.createEvent({
      body: { ...eventIn(gone, customer_id), message_id: randomUUID() },
    })
    expect(error?.code).toBe('journey_archived')
    const mark = `mark ${randomUUID()}`
    const bodies = [
      { mark, journeyId: gone },
      { mark, data: [{ journey: ` ${gone}` }] },
      { pad: 'x'.repeat(20_000), mark, journey: gone },
    ]
    for (const body of bodies) {
      const headers = { 'x-service-key': workspace.secret_key, 'content-type': 'application/json' }
      const sent = { method: 'POST', headers, body: JSON.stringify(body) }
      expect((await cairn.fetch('/events/create', sent)).status).toBe(400)
    }
    await keptRefusals(client, 1 + bodies.length)
    expect(await storedText(cairn.databaseUrl)).toContain(mark)
    await remove(scene)
    expect(await completed(scene)).toMatchObject({
      action: 'journey_removed',
      actor: { kind: 'person' },
      subject: { kind: 'journey', id: gone, name: 'Renewal' },
      after: { enrolments: 1, events: 1 },
    })
    expect((await client.listRefusals()).data?.data).toEqual([])
    // Nor in the bytes of a write-ahead log.
    expect(await storedText(cairn.databaseUrl)).not.toContain(mark)
    const journeys = await client.listCustomerJourneys({ path: { customer_id } })
    expect(journeys.data?.data).toMatchObject([{ journey_id: kept }])
    const report = await settled(() => client.getJourneyReport({ path: { journey_id: kept } }))
    expect(report).toMatchObject({ enrolled: 1, steps: [{ reached: 1 }] })
    const activity = async () => {
      return (await client.getActivity({ query: { by: 'day', group_by: 'journey' } })).data
    }
    await expect.poll(async () => JSON.stringify(await activity()), withPatience).not.toContain(gone)
    expect((await activity())?.total).toMatchObject({ created: 2 })
  })

  it('leaves the counts of names that are new afterwards exact', async () => {
    const scene = await newScene()
    const { workspace, gone, kept, customer_id } = scene
    const { client } = workspace
    const send = (journey_id: string, event_id: string) =>
      client.createEvent({ body: { journey_id, customer_id, event_id } })
    await send(gone, 'renewed')
    await send(kept, 'left')
    await remove(await archived(scene))
    await completed(scene)
    const counts = async () => {
      const query = { by: 'day', group_by: 'event', journey_id: kept } as const
      const { data } = await client.getActivity({ query })
      return Object.fromEntries(data?.groups.map(({ event_id, created }) => [event_id, created]) ?? [])
    }
    const report = () => client.getJourneyReport({ path: { journey_id: kept } })
    await settled(report)
    await send(kept, 'returned')
    expect(await counts()).toEqual({ signed_up: 1, left: 1, returned: 1 })
    await settled(report)
    expect(await counts()).toEqual({ signed_up: 1, left: 1, returned: 1 })
  })
})
