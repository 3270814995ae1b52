// engines: sqlite, postgres

import { describe, expect } from 'vitest'
import { inStore } from '../../server/cli/store.ts'
import { newId } from '../../server/domain/identifiers.ts'
import { insertMember } from '../../server/storage/tables/members.ts'
import { insertWorkspace } from '../../server/storage/tables/workspaces.ts'
import type { Cairn, Workspace } from '../fixtures/cairn.ts'
import { initialize } from '../fixtures/customer.ts'
import { it } from '../fixtures/it.ts'
import {
  addMember,
  browser,
  newEmail,
  newMember,
  newPerson,
  type SignedUp,
  signIn,
  signUp,
} from '../fixtures/people.ts'

const ROLES = ['owner', 'admin', 'viewer'] as const
type Role = (typeof ROLES)[number]

/** A new workspace with an owner who is signed in. */
async function newWorkspace(cairn: Cairn): Promise<{ workspace: Workspace; owner: SignedUp }> {
  const workspace = await cairn.workspace()
  return { workspace, owner: await signUp(cairn, workspace, 'owner') }
}

/** Outcome of giving the member a role: the code of the problem, or the new role. */
async function giveRole(by: SignedUp, person_id: string, role: Role) {
  const { data, error } = await by.client().updateMember({ path: { person_id }, body: { role } })
  return error?.code ?? data?.role
}

/** Outcome of removing the member: the code of the problem, or the status. */
async function remove(by: SignedUp, person_id: string) {
  const { error, response } = await by.client().removeMember({ path: { person_id } })
  return error?.code ?? response.status
}

/** The roles of the members by `person_id`, from the list. */
async function rolesSeenBy(by: SignedUp): Promise<Record<string, Role>> {
  const { data } = await by.client().listMembers({ query: { limit: 500 } })
  return Object.fromEntries((data?.data ?? []).map(({ person_id, role }) => [person_id, role]))
}

/** Outcome of creating a journey: the status, or the code of the problem. */
async function makeJourney(by: SignedUp) {
  const { error, response } = await by.client().createJourney({ body: { name: 'Renewal' } })
  return error?.code ?? response.status
}

describe('members', () => {
  it('are listed newest first, page by page, with their names and emails', async ({
    cairn,
    workspace,
    owner,
  }) => {
    const people = [owner]
    for (const role of ['admin', 'viewer', 'viewer'] as const) {
      people.unshift(await signUp(cairn, workspace, role))
    }
    const listed = []
    let cursor: string | undefined
    do {
      const { data } = await owner.client().listMembers({ query: { limit: 3, ...(cursor && { cursor }) } })
      listed.push(...(data?.data ?? []))
      cursor = data?.next_cursor ?? undefined
    } while (cursor)
    expect(listed.map(({ person_id }) => person_id).sort()).toEqual(
      people.map(({ person_id }) => person_id).sort(),
    )
    expect(listed.at(-1)).toEqual({
      person_id: owner.person_id,
      name: owner.name,
      email: owner.email,
      role: 'owner',
      joined_at: expect.any(String),
    })
    const times = listed.map(({ joined_at, person_id }) => joined_at + person_id)
    expect(times).toEqual(times.toSorted().reverse())
  })

  it('have their new role from the next request on', async ({ cairn, workspace, owner }) => {
    const member = await signUp(cairn, workspace, 'viewer')
    expect(await makeJourney(member)).toBe('role_not_allowed')
    expect(await giveRole(owner, member.person_id, 'admin')).toBe('admin')
    expect(await makeJourney(member)).toBe(201)
    expect((await member.client().getSession()).data?.workspaces).toMatchObject([{ role: 'admin' }])
    expect(await giveRole(owner, member.person_id, 'viewer')).toBe('viewer')
    expect(await makeJourney(member)).toBe('role_not_allowed')
  })

  it('can do nothing in the workspace from the moment that they are removed', async ({
    cairn,
    workspace,
    owner,
  }) => {
    const member = await signUp(cairn, workspace, 'admin')
    const { owner: other, workspace: elsewhere } = await newWorkspace(cairn)
    await addMember(cairn, elsewhere, member, 'viewer')
    expect(await remove(owner, member.person_id)).toBe(204)

    const { error } = await member.client(workspace.workspace_id).listJourneys()
    expect(error).toMatchObject({ status: 403, code: 'not_a_member' })
    expect((await member.client().getSession()).data?.workspaces).toMatchObject([
      { workspace_id: elsewhere.workspace_id },
    ])
    expect((await member.client().listJourneys()).data?.data).toMatchObject([
      { journey_id: elsewhere.journey_id },
    ])
    expect(await rolesSeenBy(owner)).toEqual({ [owner.person_id]: 'owner' })
    expect(await rolesSeenBy(other)).toMatchObject({ [member.person_id]: 'viewer' })
    expect(await remove(owner, member.person_id)).toBe('member_not_found')
    expect(await giveRole(owner, member.person_id, 'viewer')).toBe('member_not_found')
  })

  it('can remove themselves', async ({ cairn, workspace }) => {
    const member = await signUp(cairn, workspace, 'admin')
    expect(await remove(member, member.person_id)).toBe(204)
    expect(await makeJourney(member)).toBe('not_a_member')
  })
})

describe('an admin', () => {
  it('manages admins and viewers', async ({ cairn, workspace, owner }) => {
    const admin = await signUp(cairn, workspace, 'admin')
    const { person_id } = await newMember(cairn, workspace, 'viewer')
    expect(await giveRole(admin, person_id, 'admin')).toBe('admin')
    expect(await giveRole(admin, person_id, 'viewer')).toBe('viewer')
    expect(await remove(admin, person_id)).toBe(204)
    expect(await giveRole(admin, admin.person_id, 'viewer')).toBe('viewer')
    expect(await rolesSeenBy(owner)).toEqual({ [owner.person_id]: 'owner', [admin.person_id]: 'viewer' })
  })

  it('does not manage owners, even if there are several', async ({ cairn, workspace, owner }) => {
    const second = await newMember(cairn, workspace, 'owner')
    const admin = await signUp(cairn, workspace, 'admin')
    const viewer = await newMember(cairn, workspace, 'viewer')
    const before = await rolesSeenBy(owner)
    for (const { person_id } of [admin, viewer, second, owner]) {
      expect(await giveRole(admin, person_id, 'owner')).toBe('role_not_allowed')
    }
    for (const { person_id } of [second, owner]) {
      expect(await giveRole(admin, person_id, 'admin')).toBe('role_not_allowed')
      expect(await giveRole(admin, person_id, 'viewer')).toBe('role_not_allowed')
      expect(await remove(admin, person_id)).toBe('role_not_allowed')
    }
    const invitation = await admin.client().createInvitation({ body: { email: newEmail(), role: 'owner' } })
    expect(invitation.error).toMatchObject({ status: 403, code: 'role_not_allowed' })
    expect(await rolesSeenBy(owner)).toEqual(before)
    expect((await owner.client().listInvitations()).data?.data).toEqual([])
  })
})

describe('the last owner', () => {
  it('stays one, even if they want to leave', async ({ cairn, workspace, owner }) => {
    await newMember(cairn, workspace, 'admin')
    // An owner of another workspace does not count.
    await newMember(cairn, await cairn.workspace(), 'owner')
    expect(await giveRole(owner, owner.person_id, 'admin')).toBe('last_owner')
    expect(await giveRole(owner, owner.person_id, 'viewer')).toBe('last_owner')
    expect(await remove(owner, owner.person_id)).toBe('last_owner')
    expect(await giveRole(owner, owner.person_id, 'owner')).toBe('owner')
  })

  it('is the one left of two', async ({ cairn, workspace, owner }) => {
    const second = await signUp(cairn, workspace, 'admin')
    expect(await giveRole(owner, second.person_id, 'owner')).toBe('owner')
    expect(await giveRole(second, owner.person_id, 'viewer')).toBe('viewer')
    expect(await giveRole(owner, second.person_id, 'viewer')).toBe('role_not_allowed')
    expect(await remove(second, second.person_id)).toBe('last_owner')
  })

  it('is left if all owners remove each other at once', async ({ cairn, workspace, owner }) => {
    const owners = [owner, await signUp(cairn, workspace, 'owner'), await signUp(cairn, workspace, 'owner')]
    await Promise.all(
      owners.flatMap((by) =>
        owners.filter((other) => other !== by).map(({ person_id }) => remove(by, person_id)),
      ),
    )
    const workspaces = owners.map(async (one) => (await one.client().getSession()).data?.workspaces.length)
    expect((await Promise.all(workspaces)).sort()).toEqual([0, 0, 1])
  })
})

describe('somebody with several workspaces', () => {
  it('names the workspace with each request', async ({ cairn }) => {
    const { workspace: one, owner: person } = await newWorkspace(cairn)
    const { workspace: two } = await newWorkspace(cairn)
    await addMember(cairn, two, person, 'viewer')
    const other = await cairn.workspace()

    const unsaid = await person.client().listJourneys()
    expect(unsaid.error).toMatchObject({ status: 403, code: 'workspace_required' })
    for (const { workspace_id, journey_id } of [one, two, one]) {
      const { data } = await person.client(workspace_id).listJourneys()
      expect(data?.data.map((journey) => journey.journey_id)).toEqual([journey_id])
    }
    for (const id of [
      other.workspace_id,
      'wsp_unknown',
      one.workspace_id.toUpperCase(),
      `${one.workspace_id}, `,
    ]) {
      const { error } = await person.client(id).listJourneys()
      expect([id, error?.code]).toEqual([id, 'not_a_member'])
    }
    // The role in the workspace of the request decides.
    const body = { name: 'Renewal' }
    expect((await person.client(one.workspace_id).createJourney({ body })).response.status).toBe(201)
    expect((await person.client(two.workspace_id).createJourney({ body })).error?.code).toBe(
      'role_not_allowed',
    )
    const { data } = await person.client().getSession()
    expect(data?.workspaces.map(({ workspace_id, role }) => [workspace_id, role]).sort()).toEqual(
      [
        [one.workspace_id, 'owner'],
        [two.workspace_id, 'viewer'],
      ].sort(),
    )
  })

  it('need not name the only one, and gets an error for another one', async ({ cairn, workspace, owner }) => {
    const { workspace: other } = await newWorkspace(cairn)
    expect((await owner.client().listJourneys()).response.status).toBe(200)
    expect((await owner.client(workspace.workspace_id).listJourneys()).response.status).toBe(200)
    expect((await owner.client(other.workspace_id).listJourneys()).error?.code).toBe('not_a_member')
    const nobody = browser(cairn, await signIn(cairn, await newPerson(cairn)))
    expect((await nobody.client().listJourneys()).error?.code).toBe('not_a_member')
  })

  it('can use each of them, however many there are; the session shows 500', async ({ cairn }) => {
    const person = await newPerson(cairn)
    const made = Array.from({ length: 501 }, (_, at) => ({ workspace_id: newId('wsp'), created_ms: at }))
    await inStore(cairn.databaseUrl, async (db) => {
      for (const { workspace_id, created_ms } of made) {
        await insertWorkspace(db, { workspace_id, name: workspace_id, created_ms })
        const member = {
          workspace_id,
          person_id: person.person_id,
          role: 'admin',
          joined_ms: created_ms,
        } as const
        await insertMember(db, member)
      }
    })
    const { client } = browser(cairn, await signIn(cairn, person))
    expect((await client().getSession()).data?.workspaces).toHaveLength(500)
    for (const { workspace_id } of [...made.slice(0, 2), ...made.slice(-2)]) {
      const { error } = await client(workspace_id).listJourneys()
      expect([workspace_id, error?.code]).toEqual([workspace_id, undefined])
    }
  })
})

describe('what another workspace owns', () => {
  it('is answered like something that does not exist, whatever the operation', async ({
    cairn,
    workspace,
    owner,
  }) => {
    const other = await newWorkspace(cairn)
    const theirs = other.owner.client()
    const key = await theirs.createServiceKey({ body: { kind: 'secret', name: 'Theirs' } })
    const email = newEmail()
    const invitation = await theirs.createInvitation({ body: { email, role: 'viewer' } })
    const customer_id = await initialize(other.workspace, 'user-1')
    const { key_id = '' } = key.data ?? {}
    const { invitation_id = '' } = invitation.data ?? {}
    const { person_id } = other.owner
    const { journey_id } = other.workspace

    const client = owner.client(workspace.workspace_id)
    const answers = {
      updateMember: await client.updateMember({ path: { person_id }, body: { role: 'viewer' } }),
      removeMember: await client.removeMember({ path: { person_id } }),
      revokeInvitation: await client.revokeInvitation({ path: { invitation_id } }),
      updateServiceKey: await client.updateServiceKey({ path: { key_id }, body: { name: 'Mine' } }),
      rotateServiceKey: await client.rotateServiceKey({ path: { key_id }, body: { grace_seconds: 0 } }),
      revokeServiceKey: await client.revokeServiceKey({ path: { key_id } }),
      getJourney: await client.getJourney({ path: { journey_id } }),
      updateJourney: await client.updateJourney({ path: { journey_id }, body: { name: 'Mine' } }),
      archiveJourney: await client.archiveJourney({ path: { journey_id } }),
      restoreJourney: await client.restoreJourney({ path: { journey_id } }),
      getCustomer: await client.getCustomer({ path: { customer_id } }),
      listCustomerEvents: await client.listCustomerEvents({ path: { customer_id } }),
    }
    for (const [name, { error }] of Object.entries(answers)) {
      expect([name, error?.status, error?.code.endsWith('_not_found')]).toEqual([name, 404, true])
    }

    expect(await rolesSeenBy(other.owner)).toEqual({ [person_id]: 'owner' })
    expect((await theirs.listInvitations()).data?.data).toMatchObject([{ invitation_id, email }])
    const keys = await theirs.listServiceKeys()
    expect(keys.data?.data.find((one) => one.key_id === key_id)).toMatchObject({
      name: 'Theirs',
      status: 'active',
    })
    expect((await theirs.getJourney({ path: { journey_id } })).data).toMatchObject({
      name: 'Onboarding',
      status: 'active',
    })
  })

  it('is in no list', async ({ cairn, owner }) => {
    const other = await newWorkspace(cairn)
    await initialize(other.workspace, 'user-1')
    await other.owner.client().createInvitation({ body: { email: newEmail(), role: 'viewer' } })
    const client = owner.client()
    const own = JSON.stringify([
      await client.listMembers(),
      await client.listInvitations(),
      await client.listServiceKeys(),
      await client.listAuditLog({ query: { limit: 500 } }),
      await client.listJourneys(),
      await client.listCustomers(),
      await client.listCustomers({ query: { search: 'a' } }),
      await client.listEvents(),
    ])
    expect(own).toContain(owner.person_id)
    const theirs = [other.owner.person_id, other.workspace.workspace_id, other.workspace.journey_id, 'user-1']
    for (const id of theirs) expect(own).not.toContain(id)
  })
})
