// engines: sqlite, postgres

import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { createWorkspace } from '../../server/cli/init.ts'
import { insertRemoval } from '../../server/storage/removals/removals.ts'
import { removeWorkspace } from '../../server/storage/removals/workspace-removals.ts'
import { newStore } from '../fixtures/cairn.ts'
import { type ChildServer, startChildServer } from '../fixtures/child-server.ts'
import { initialize } from '../fixtures/customer.ts'
import { inStore } from '../fixtures/in-store.ts'
import { withPatience } from '../fixtures/patience.ts'
import { rowsOfWorkspace } from '../fixtures/rows-of-workspace.ts'
import { connectTo } from '../fixtures/store.ts'

/** Enough that a removal is still running when this process is paused for a second. */
const EVENTS = 24_000

/** A workspace with a customer and its events. */
async function newScene(databaseUrl: string, server: ChildServer) {
  const workspace = await createWorkspace(databaseUrl, { workspace: randomUUID(), journey: 'Onboarding' })
  const client = server.client(workspace.secret_key)
  const customer_id = await initialize({ ...workspace, client }, 'user-1')
  const event = { journey_id: workspace.journey_id, customer_id, event_id: 'signed_up' }
  for (let left = EVENTS; left > 0; left -= 1000) {
    const events = Array.from({ length: 1000 }, () => ({ ...event, message_id: randomUUID() }))
    const { data } = await client.createEvents({ body: { events } })
    expect(data?.created).toBe(1000)
  }
  return { ...workspace, client, event }
}

it('continues to erase, to apply retention and to remove after a server was killed in the middle', async () => {
  const databaseUrl = await newStore()
  const server = await startChildServer({ databaseUrl })
  const [erased, aged, removed] = [
    await newScene(databaseUrl, server),
    await newScene(databaseUrl, server),
    await newScene(databaseUrl, server),
  ]
  const store = await connectTo(databaseUrl)
  const count = async () => Number((await store.run('SELECT count(*) AS n FROM events'))[0]?.n)

  const begun_ms = Date.now()
  await inStore(databaseUrl, async (db) => {
    const { workspace_id } = aged
    const ageing = { workspace_id, kind: 'workspace', subject_id: workspace_id, begun_ms } as const
    await insertRemoval(db, { ...ageing, before_ms: begun_ms + 1, place: '{}' })
    // So long ago that the removal does not wait for requests that were admitted before it.
    await removeWorkspace(db, removed.workspace_id, begun_ms - 10_000)
  })
  await expect.poll(() => Date.now()).toBeGreaterThan(begun_ms + 1)
  const { data: late } = await aged.client.createEvent({ body: aged.event })
  const other = await initialize(erased, 'user-2')
  const { data: others } = await erased.client.createEvent({ body: { ...erased.event, customer_id: other } })
  const path = { customer_id: erased.event.customer_id }
  await erased.client.eraseCustomer({ path })
  await expect.poll(count, { ...withPatience, interval: 1 }).toBeLessThan(3 * EVENTS)
  await server.end('SIGKILL')
  expect(await count()).toBeGreaterThan(2)

  const second = await startChildServer({ databaseUrl })
  const kept = async (key: string) => (await second.client(key).listEvents()).data?.data.map(({ id }) => id)
  await expect.poll(() => kept(erased.secret_key), withPatience).toEqual([others?.id])
  await expect.poll(() => kept(aged.secret_key), withPatience).toEqual([late?.id])
  const again = async () => (await second.client(erased.secret_key).eraseCustomer({ path })).data
  await expect.poll(async () => (await again())?.completed_at, withPatience).toEqual(expect.any(String))
  expect(await again()).toMatchObject({ events: EVENTS })
  const rows = () => inStore(databaseUrl, (db) => rowsOfWorkspace(db, removed.workspace_id))
  await expect.poll(rows, { ...withPatience, interval: 200 }).toEqual({ workspaces: 1 })
})
