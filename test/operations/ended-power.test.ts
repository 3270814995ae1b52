// engines: sqlite, postgres

import { beforeAll, describe, expect, expectTypeOf, it, onTestFinished } from 'vitest'
import type { PersonClient } from '../../client/person.ts'
import type { Context } from '../../server/contract.ts'
import { RequestContext } from '../../server/http/request-context.ts'
import { type Cairn, startCairn, type Workspace } from '../fixtures/cairn.ts'
import { initialize } from '../fixtures/customer.ts'
import { addMember, browser, newEmail, newMember, type SignedUp, signIn, signUp } from '../fixtures/people.ts'
import { keptRefusals } from '../fixtures/refusals.ts'
import { createKey } from '../fixtures/service-keys.ts'

// A member whose rights end may have requests in flight at that moment. The audit log is in order of actions, so no
// action of that member may come after the entry that ended the rights.

const ROUNDS = 8

let cairn: Cairn
let workspace: Workspace
let owner: SignedUp
let now = Date.parse('2026-11-20T12:00:00Z')

beforeAll(async () => {
  // Every reading of the clock is a millisecond later: no two entries have the same time.
  cairn = await startCairn({ now: () => ++now })
  workspace = await cairn.workspace()
  owner = await signUp(cairn, workspace, 'owner')
  return cairn.stop
})

/** Changes that a member with full rights may make, each several times. */
function changesBy(member: Pick<SignedUp, 'client' | 'person_id'>, viewer: { person_id: string }) {
  const by = member.client()
  return Array.from({ length: 4 }, (_, count) => [
    () => by.updateMember({ path: { person_id: member.person_id }, body: { role: 'owner' } }),
    () => by.createServiceKey({ body: { kind: 'secret', name: `Key ${count}` } }),
    () => by.createInvitation({ body: { email: newEmail(), role: 'owner' } }),
    () => by.createJourney({ body: { name: `Journey ${count}` } }),
    () => by.createPasswordLink({ path: { person_id: viewer.person_id } }),
    () =>
      by.updateMember({
        path: { person_id: viewer.person_id },
        body: { role: count % 2 ? 'admin' : 'viewer' },
      }),
  ]).flat()
}

/** Asks until a request is served: on a busy machine one that has waited for too long is refused, and does nothing. */
async function served<Reply extends { response: Response }>(ask: () => Promise<Reply>): Promise<Reply> {
  const reply = await ask()
  return reply.response.status === 503 ? await served(ask) : reply
}

/** All entries of the audit log since a time, in order of actions. */
async function entriesSince(from_ms: number) {
  const entries = []
  let cursor: string | undefined
  do {
    const query = { limit: 500, from: new Date(from_ms).toISOString(), ...(cursor && { cursor }) }
    const { data } = await served(() => owner.client().listAuditLog({ query }))
    entries.push(...(data?.data ?? []))
    cursor = data?.next_cursor ?? undefined
  } while (cursor)
  return entries.reverse()
}

type Entry = Awaited<ReturnType<typeof entriesSince>>[number]

/**
 * Starts the changes and, among them, the request that ends the rights of the member making them.
 * @returns the member's actions after that according to the audit log, and the statuses of the refused requests
 */
async function race(
  changes: (() => Promise<{ response: Response }>)[],
  actorId: string,
  end: () => Promise<{ response: Response }>,
  isEnd: (entry: Entry) => boolean,
) {
  const from_ms = now
  const half = changes.length / 2
  const started = changes.slice(0, half).map((change) => change())
  const ending = served(end)
  const later = changes.slice(half).map((change) => change())
  expect((await ending).response.status).toBeLessThan(300)
  const answers = await Promise.all([...started, ...later])
  const entries = await entriesSince(from_ms)
  const ended = entries.findIndex(isEnd)
  expect(ended).toBeGreaterThanOrEqual(0)
  const afterwards = entries.slice(ended + 1).filter(({ actor }) => actor.id === actorId)
  return {
    afterwards: afterwards.map(({ action }) => action),
    refused: answers
      .map(({ response }) => response.status)
      .filter((status) => status >= 400 && status !== 503),
  }
}

it('is checked by every change: an operation has no other way to start a transaction', () => {
  expectTypeOf<Context['storage']['db']['transaction']>().toBeNever()
  expectTypeOf<Context['storage']['db']['startTransaction']>().toBeNever()
  expectTypeOf<Context['storage']['db']['connection']>().toBeNever()
})

describe('nothing is changed afterwards, by requests in flight,', () => {
  it('by a member who was removed', async () => {
    const viewer = await newMember(cairn, workspace, 'viewer')
    const member = await signUp(cairn, workspace, 'owner')
    for (let round = 0; round < ROUNDS; round += 1) {
      if (round > 0) await addMember(cairn, workspace, member, 'owner')
      const path = { person_id: member.person_id }
      const { afterwards, refused } = await race(
        changesBy(member, viewer),
        member.person_id,
        () => owner.client().removeMember({ path }),
        ({ action, subject }) => action === 'member_removed' && subject.id === member.person_id,
      )
      expect(afterwards).toEqual([])
      // All of the others may have been faster than the removal, but not this one.
      const { response } = await member.client().createJourney({ body: { name: 'Too late' } })
      expect(new Set([...refused, response.status])).toEqual(new Set([403]))
    }
  })

  it('by an owner who was demoted, who does not restore itself', async () => {
    const viewer = await newMember(cairn, workspace, 'viewer')
    const member = await signUp(cairn, workspace, 'owner')
    for (let round = 0; round < ROUNDS; round += 1) {
      const path = { person_id: member.person_id }
      const { afterwards } = await race(
        changesBy(member, viewer),
        member.person_id,
        () => owner.client().updateMember({ path, body: { role: 'viewer' } }),
        ({ action, subject, after }) =>
          action === 'member_role_changed' && subject.id === member.person_id && after?.role === 'viewer',
      )
      expect(afterwards).toEqual([])
      const { data } = await member.client().getSession()
      expect(data?.workspaces).toMatchObject([{ role: 'viewer' }])
      await owner.client().updateMember({ path, body: { role: 'owner' } })
    }
  })

  it('by a session that was ended', async () => {
    const viewer = await newMember(cairn, workspace, 'viewer')
    const person = await newMember(cairn, workspace, 'owner')
    for (let round = 0; round < ROUNDS; round += 1) {
      const member = { ...person, ...browser(cairn, await signIn(cairn, person)) }
      const elsewhere = browser(cairn, await signIn(cairn, person))
      const { afterwards } = await race(
        changesBy(member, viewer),
        member.person_id,
        () => elsewhere.client().signOutEverywhere(),
        ({ action, actor }) => action === 'signed_out_everywhere' && actor.id === person.person_id,
      )
      expect(afterwards).toEqual([])
    }
  })

  it('by a key that was revoked', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { key_id, key } = await createKey(cairn, workspace, 'secret')
      const by = cairn.client(key)
      const changes = Array.from({ length: 20 }, (_, count) => [
        () => by.createJourney({ body: { name: `Journey ${count}` } }),
        () =>
          by.updateJourney({
            path: { journey_id: workspace.journey_id },
            body: { description: `${round} ${count}` },
          }),
      ])
      const { afterwards } = await race(
        changes.flat(),
        key_id,
        () => owner.client().revokeServiceKey({ path: { key_id } }),
        ({ action, subject }) => action === 'service_key_revoked' && subject.id === key_id,
      )
      expect(afterwards).toEqual([])
    }
  })

  it.each([
    [
      'a member',
      'role_not_allowed',
      async (workspace: Workspace, by: PersonClient) => {
        const { client, person_id } = await signUp(cairn, workspace, 'admin')
        const path = { person_id }
        return [client(), () => by.updateMember({ path, body: { role: 'viewer' } })] as const
      },
    ],
    [
      'a key',
      'unauthorized',
      async (workspace: Workspace, by: PersonClient) => {
        const { key_id, key } = await createKey(cairn, workspace, 'secret')
        return [cairn.client(key), () => by.revokeServiceKey({ path: { key_id } })] as const
      },
    ],
  ] as const)('by a replay of refusals of %s that was still being validated', async (_, code, newCaller) => {
    const workspace = await cairn.workspace()
    const { client, journey_id } = workspace
    const customer_id = await initialize(workspace, 'user-1')
    const path = { journey_id }
    await client.archiveJourney({ path })
    await client.createEvent({ body: { journey_id, customer_id, event_id: 'signed_up' } })
    await client.restoreJourney({ path })
    await keptRefusals(client, 1)
    const owner = await signUp(cairn, workspace, 'owner')
    const [caller, end] = await newCaller(workspace, owner.client())
    const validating = Promise.withResolvers<void>()
    const ended = Promise.withResolvers<void>()
    const property = Object.getOwnPropertyDescriptor(RequestContext.prototype, 'checkBody') ?? {}
    onTestFinished(() => void Object.defineProperty(RequestContext.prototype, 'checkBody', property))
    const held: Context['checkBody'] = async (_, body) => {
      validating.resolve()
      await ended.promise
      return body as never
    }
    Object.defineProperty(RequestContext.prototype, 'checkBody', { ...property, get: () => held })
    const replay = caller.replayRefusals({ body: {} })
    await validating.promise
    expect((await end()).response.status).toBeLessThan(300)
    ended.resolve()
    expect((await replay).error?.code).toBe(code)
    expect((await client.listEvents()).data?.data).toEqual([])
  })
})
