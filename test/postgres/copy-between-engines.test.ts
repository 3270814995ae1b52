// engines: postgres (what only PostgreSQL has)

import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Client } from '../../client/index.ts'
import { startCairn, startCairnForTest, temporaryFolder } from '../fixtures/cairn.ts'
import { copy, expectNothingToldAgain, expectSameCopy, filled } from '../fixtures/copied-store.ts'
import { initialize } from '../fixtures/customer.ts'
import { newDatabase } from '../fixtures/postgres/databases.ts'

const newFile = () => `sqlite:${join(temporaryFolder(), 'cairn.db')}`

/** Reads a page of each list that a program can follow. */
async function followed(client: Client, cursors: { customers?: string; events?: string } = {}) {
  const after = (cursor?: string) => ({ query: { order: 'oldest', ...(cursor && { cursor }) } }) as const
  const { data: customers } = await client.listCustomers(after(cursors.customers))
  const { data: events } = await client.listEvents(after(cursors.events))
  return {
    customers: customers?.data.map(({ customer_id }) => customer_id),
    events: events?.data.map(({ id }) => id),
    cursors: { customers: customers?.next_cursor ?? '', events: events?.next_cursor ?? '' },
  }
}

/** Copies a store, and expects a program that followed its lists to find what is new in the copy. */
async function expectNothingHidden(databaseUrl: string, to: string) {
  const source = await startCairn({ databaseUrl })
  const workspace = await source.workspace()
  const { journey_id, secret_key } = workspace
  const customer_id = await initialize(workspace, 'user-1')
  const event = { journey_id, event_id: 'signed_up' }
  const { data: first } = await workspace.client.createEvent({ body: { ...event, customer_id } })
  const all = { customers: [customer_id], events: [first?.id] }
  await expect.poll(() => followed(workspace.client)).toMatchObject(all)
  const { cursors } = await followed(workspace.client)
  await source.stop()
  expect(await copy(databaseUrl, to)).toMatchObject({ code: 0, stderr: '' })

  const client = (await startCairnForTest({ databaseUrl: to })).client(secret_key)
  const made = await initialize({ ...workspace, client }, 'user-2')
  const { data: second } = await client.createEvent({ body: { ...event, customer_id: made } })
  const added = { customers: expect.arrayContaining([made]), events: expect.arrayContaining([second?.id]) }
  await expect.poll(() => followed(client, cursors)).toMatchObject(added)
}

describe('cairn copy', () => {
  it('takes a store from a file to PostgreSQL', async () => {
    await expectSameCopy(await filled({ databaseUrl: newFile() }), await newDatabase())
  })

  it('takes a store from PostgreSQL to a file', async () => {
    await expectSameCopy(await filled({ databaseUrl: await newDatabase() }), newFile())
  })

  it('tells no webhook again what it was told before, and all that it was not', async () => {
    await expectNothingToldAgain(newFile(), await newDatabase())
    await expectNothingToldAgain(await newDatabase(), newFile())
  })

  it('hides no new customer or event from a program with the cursors of the other engine', async () => {
    await expectNothingHidden(newFile(), await newDatabase())
    await expectNothingHidden(await newDatabase(), newFile())
  })
})
