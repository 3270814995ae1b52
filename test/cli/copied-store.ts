import { expect } from 'vitest'
import { type Cairn, type CairnOptions, startCairn } from '../cairn.ts'
import { runCairn } from '../command.ts'
import { initialize } from '../operations/customer.ts'
import { signUp } from '../people.ts'

/** A UUID in its usual form, a UUID stored as text, and another text. */
const MESSAGES = [
  '0198c2f0-7d1a-7b3c-9d4e-2f6a8b0c1d2e',
  '0198C2F0-7D1A-7B3C-9D4E-2F6A8B0C1D2F',
  'order 7, line 3',
] as const

/** Runs `cairn copy` from one store to another. */
export function copy(from: string, to: string) {
  return runCairn(['copy', '--from', from, '--to', to, '--json'])
}

/** Starts a server with everything that a store can hold. */
export async function filled(options: CairnOptions = {}) {
  const cairn = await startCairn(options)
  const workspace = await cairn.workspace()
  const { client, journey_id } = workspace
  const customer_id = await initialize(workspace, 'user-1')
  const event = { journey_id, customer_id, event_id: 'signed_up' }
  const contents = [
    {},
    { custom_variables: { text: 'a\u0000b "ü" 🜚', list: [1.5, null, [true]], __proto__: 1 } },
    { custom_variables: 'only a text' },
    { occurred_at: '2024-02-29T23:59:59.999Z' },
    ...MESSAGES.map((message_id) => ({ message_id })),
  ]
  for (const content of contents) {
    expect((await client.createEvent({ body: { ...event, ...content } })).response.status).toBe(201)
  }
  await client.createJourney({ body: { name: 'Renewal', steps: [{ event_id: 'renewed', name: 'Renewed' }] } })
  const owner = await signUp(cairn, workspace, 'owner')
  await owner.client().updateWorkspace({ body: { protect_customers: false } })
  await owner.client().createInvitation({ body: { email: 'ada@example.com', role: 'admin' } })
  return { cairn, workspace, owner, event, customer_id }
}

export type Filled = Awaited<ReturnType<typeof filled>>

/** Returns everything that callers see of a store. */
export async function seen(at: Pick<Cairn, 'client' | 'fetch'>, { workspace, owner, customer_id }: Filled) {
  const client = at.client(workspace.secret_key)
  const ofOwner = async (path: string) => await (await at.fetch(path, { headers: owner.headers })).json()
  return {
    events: (await client.listEvents()).data,
    timeline: (await client.listCustomerEvents({ path: { customer_id } })).data,
    customers: (await client.listCustomers({ query: { search: 'ada' } })).data,
    journeys: (await client.listJourneys()).data,
    keys: await ofOwner('/service-keys'),
    members: await ofOwner('/members'),
    invitations: await ofOwner('/invitations'),
    workspace: await ofOwner('/workspace'),
    audit: await ofOwner('/audit-log'),
  }
}

/** Stops the server on a store, copies it, and expects a server on the copy to behave like the first one. */
export async function expectSameCopy(store: Filled, to: string) {
  const before = await seen(store.cairn, store)
  expect(before.workspace).toMatchObject({ protect_customers: false })
  const again = { ...store.event, message_id: MESSAGES[0] }
  const { data: first } = await store.workspace.client.createEvent({ body: again })
  await store.cairn.stop()
  const copied = await copy(store.cairn.databaseUrl, to)
  expect(copied).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse(copied.stdout)).toMatchObject({ workspaces: 1, events: 7, enrolments: 1, members: 1 })

  const there = await startCairn({ databaseUrl: to })
  expect(await seen(there, store)).toEqual(before)
  const client = there.client(store.workspace.secret_key)
  expect((await client.createEvent({ body: again })).data).toEqual(first)
  const { error } = await client.createEvent({ body: { ...again, event_id: 'other' } })
  expect(error?.code).toBe('message_id_conflict')
  expect((await client.createEvent({ body: store.event })).response.status).toBe(201)
  await there.stop()
}
