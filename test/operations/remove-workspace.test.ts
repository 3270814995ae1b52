// engines: sqlite, postgres

import { randomUUID } from 'node:crypto'
import { describe, expect } from 'vitest'
import { type Cairn, startCairnForTest, type Workspace } from '../fixtures/cairn.ts'
import { initialize } from '../fixtures/customer.ts'
import { inStore } from '../fixtures/in-store.ts'
import { it } from '../fixtures/it.ts'
import { withPatience } from '../fixtures/patience.ts'
import { addMember, type SignedUp, signUp } from '../fixtures/people.ts'
import { rowsOfWorkspace } from '../fixtures/rows-of-workspace.ts'
import { settled } from './settled.ts'

type Scene = { workspace: Workspace; owner: SignedUp; customer_id: string; name: string }

/** A workspace with a customer, an event, a report and more than one member. */
async function newScene(cairn: Cairn): Promise<Scene> {
  const workspace = await cairn.workspace()
  const { client, workspace_id, journey_id } = workspace
  const owner = await signUp(cairn, workspace, 'owner')
  const steps = [{ event_id: 'signed_up', name: 'Signed up' }]
  await client.updateJourney({ path: { journey_id }, body: { steps } })
  const customer_id = await initialize(workspace, 'user-1')
  const { data } = await client.createEvent({ body: eventOf({ workspace, customer_id }) })
  expect(data?.duplicate).toBe(false)
  const name = (await owner.client(workspace_id).getWorkspace()).data?.name ?? ''
  return { workspace, owner, customer_id, name }
}

function eventOf({ workspace, customer_id }: Pick<Scene, 'workspace' | 'customer_id'>, message_id = 'first') {
  const { journey_id } = workspace
  return { journey_id, customer_id, event_id: 'signed_up', message_id, custom_variables: { a: 1 } }
}

/** The owner's requests about the workspace. */
function about({ workspace, owner }: Scene) {
  return owner.client(workspace.workspace_id)
}

async function removed(scene: Scene): Promise<Scene> {
  await about(scene).archiveWorkspace()
  const { data } = await about(scene).removeWorkspace({ body: { name: scene.name } })
  expect(data).toBeDefined()
  return scene
}

/** Whether all its rows are deleted, except its own row, which contains only the identifier. */
async function isGone(cairn: Cairn, { workspace }: Scene) {
  const { workspace_id } = workspace
  const rows = () => inStore(cairn.databaseUrl, (db) => rowsOfWorkspace(db, workspace_id))
  await expect.poll(rows, { ...withPatience, interval: 200 }).toEqual({ workspaces: 1 })
}

describe('a workspace that is archived', () => {
  it('can be read as before and accepts nothing new, until it is restored', async ({ cairn }) => {
    const scene = await newScene(cairn)
    const { workspace, customer_id } = scene
    const { client } = workspace
    const { data: archived } = await about(scene).archiveWorkspace()
    expect(archived).toMatchObject({ workspace_id: workspace.workspace_id, status: 'archived' })
    expect((await about(scene).archiveWorkspace()).data).toEqual(archived)
    const refused = [
      await client.createEvent({ body: eventOf(scene, randomUUID()) }),
      await client.createEvent({ body: eventOf(scene, randomUUID()), query: { dry_run: true } }),
      await client.initializeCustomer({
        body: {
          client_customer_id: 'user-2',
          customer_type: 'contact',
          customer_name: 'Grace',
          journey_id: workspace.journey_id,
        },
      }),
    ]
    expect(refused.map(({ error }) => error?.code)).toEqual(refused.map(() => 'journey_archived'))
    const batch = await client.createEvents({
      body: { events: [eventOf(scene), eventOf(scene, randomUUID())] },
    })
    expect(batch.data?.results).toMatchObject([
      { status: 'duplicate' },
      { problem: { code: 'journey_archived' } },
    ])
    expect((await client.listEvents()).data?.data).toMatchObject([{ customer_id }])
    const { data } = await about(scene).restoreWorkspace()
    expect(data?.status).toBe('active')
    const again = await client.createEvent({ body: eventOf(scene, randomUUID()) })
    expect(again.data?.duplicate).toBe(false)
    const { data: log } = await about(scene).listAuditLog({ query: { limit: 2 } })
    expect(log?.data.map(({ action }) => action)).toEqual(['workspace_restored', 'workspace_archived'])
  })
})

describe('a workspace', () => {
  it('is removed only if it is archived and its name is given', async ({ cairn }) => {
    const scene = await newScene(cairn)
    const { workspace, name } = scene
    const client = about(scene)
    const remove = (name: string) => client.removeWorkspace({ body: { name } })
    expect((await remove(name)).error?.code).toBe('workspace_active')
    await client.archiveWorkspace()
    expect((await remove(`${name}.`)).error?.code).toBe('name_differs')
    const removal = {
      workspace_id: workspace.workspace_id,
      journeys: 1,
      customers: 1,
      more_customers: false,
      events: 1,
      more_events: false,
      keys: 2,
      members: 1,
    }
    const tried = await client.removeWorkspace({ body: { name }, query: { dry_run: true } })
    expect(tried.data).toEqual({ ...removal, dry_run: true })
    expect((await client.getWorkspace()).data?.status).toBe('archived')
    expect((await remove(name)).data).toEqual(removal)
    expect((await remove(name)).error?.code).toBe('not_a_member')
  })

  it('is found nowhere once it is removed, and its name is free', async ({ cairn }) => {
    const scene = await newScene(cairn)
    const { workspace, owner, name } = scene
    const { client, workspace_id } = workspace
    const other = await cairn.workspace()
    await addMember(cairn, other, owner, 'owner')
    await removed(scene)
    const refused = [
      await client.createEvent({ body: eventOf(scene) }),
      await client.listEvents(),
      await client.getJourney({ path: { journey_id: workspace.journey_id } }),
    ]
    expect(refused.map(({ error }) => error?.code)).toEqual(refused.map(() => 'unauthorized'))
    expect((await owner.client(workspace_id).getWorkspace()).error?.code).toBe('not_a_member')
    const { data: session } = await owner.client().getSession()
    expect(session?.workspaces.map(({ workspace_id }) => workspace_id)).toEqual([other.workspace_id])
    const made = await owner.client(other.workspace_id).createWorkspace({ body: { name } })
    expect(made.data).toMatchObject({ name })
    expect(made.data?.workspace_id).not.toBe(workspace_id)
  })

  it('leaves nothing behind, also if the clock is set back afterwards', async () => {
    let ahead_ms = 86_400_000
    const at = await startCairnForTest({ now: () => Date.now() + ahead_ms })
    const scene = await removed(await newScene(at))
    ahead_ms = 0
    await isGone(at, scene)
  })

  it('leaves nothing behind, while customers are being erased too, and its neighbours unchanged', async ({
    cairn,
  }) => {
    const scene = await newScene(cairn)
    const neighbour = await newScene(cairn)
    const { workspace, customer_id } = scene
    const { client } = workspace
    const { data: second } = await client.createJourney({ body: { name: 'Renewal' } })
    const other_id = await initialize({ client, journey_id: second?.journey_id ?? '' }, 'user-2')
    const events = Array.from({ length: 500 }, (_, index) => eventOf(scene, `of ${index}`))
    await client.createEvents({ body: { events } })
    await about(scene).createInvitation({ body: { email: 'ada@example.com', role: 'viewer' } })
    expect((await client.createEvent({ body: eventOf(scene, 'of 1 other') })).data?.duplicate).toBe(false)
    expect(
      (await client.createEvent({ body: { ...eventOf(scene), journey_id: 'jrn_0' } })).error,
    ).toBeDefined()
    await settled(() => client.getJourneyReport({ path: { journey_id: workspace.journey_id } }))
    await about(scene).eraseCustomer({ path: { customer_id: other_id } })
    await about(scene).eraseCustomer({ path: { customer_id } })
    await isGone(cairn, await removed(scene))

    const report = await settled(() =>
      neighbour.workspace.client.getJourneyReport({ path: { journey_id: neighbour.workspace.journey_id } }),
    )
    expect(report).toMatchObject({ enrolled: 1, steps: [{ reached: 1 }] })
    const resent = await neighbour.workspace.client.createEvent({ body: eventOf(neighbour) })
    expect(resent.data?.duplicate).toBe(true)
    expect((await neighbour.workspace.client.listEvents()).data?.data).toMatchObject([
      { message_id: 'first' },
    ])
  })
})
