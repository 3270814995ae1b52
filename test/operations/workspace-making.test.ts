// engines: sqlite, postgres

import { randomUUID } from 'node:crypto'
import { describe, expect } from 'vitest'
import { inStore } from '../../server/cli/store.ts'
import { newId } from '../../server/domain/identifiers.ts'
import { insertWorkspace } from '../../server/storage/tables/workspaces.ts'
import { type Cairn, startCairnForTest } from '../fixtures/cairn.ts'
import { it } from '../fixtures/it.ts'
import { addMember, type SignedUp, signUp } from '../fixtures/people.ts'

/** A workspace with an owner who is signed in. */
async function newOwner(cairn: Cairn) {
  const workspace = await cairn.workspace()
  return { workspace, owner: await signUp(cairn, workspace, 'owner') }
}

/** Outcome of creating a workspace: its identifier, or the code of the problem. */
async function make(by: SignedUp, at: string, name: string = randomUUID()) {
  const { data, error } = await by.client(at).createWorkspace({ body: { name } })
  return data?.workspace_id ?? error?.code ?? ''
}

/** Outcome of renaming the workspace: its name, or the code of the problem. */
async function rename(by: SignedUp, at: string, name: string) {
  const { data, error } = await by.client(at).updateWorkspace({ body: { name } })
  return data?.name ?? error?.code
}

async function workspacesOf(by: SignedUp) {
  return (await by.client().getSession()).data?.workspaces ?? []
}

const MADE = expect.stringMatching(/^wsp_/)

describe('a workspace that an owner creates', () => {
  it('is owned only by its creator, and is empty', async ({ workspace, owner }) => {
    const name = randomUUID()
    const { data } = await owner.client(workspace.workspace_id).createWorkspace({ body: { name } })
    expect(data).toEqual({ workspace_id: MADE, name, role: 'owner', status: 'active' })
    const { workspace_id = '' } = data ?? {}
    expect(await workspacesOf(owner)).toContainEqual(data)
    const client = owner.client(workspace_id)
    expect((await client.listMembers()).data?.data).toMatchObject([
      { person_id: owner.person_id, role: 'owner' },
    ])
    expect((await client.listJourneys()).data?.data).toEqual([])
    const actor = { kind: 'person', id: owner.person_id }
    const { data: log } = await client.listAuditLog()
    expect(log?.data).toHaveLength(2)
    expect(log?.data).toMatchObject(
      expect.arrayContaining([
        expect.objectContaining({
          action: 'workspace_created',
          actor: expect.objectContaining(actor),
          subject: { kind: 'workspace', id: workspace_id, name },
        }),
        expect.objectContaining({ action: 'member_joined', after: { role: 'owner' } }),
      ]),
    )
  })

  it('is created by owners only, whatever they are elsewhere', async ({ cairn, workspace }) => {
    const { workspace: elsewhere } = await newOwner(cairn)
    for (const role of ['admin', 'viewer'] as const) {
      const member = await signUp(cairn, workspace, role)
      expect(await make(member, workspace.workspace_id)).toBe('role_not_allowed')
      await addMember(cairn, elsewhere, member, 'owner')
      expect(await make(member, workspace.workspace_id)).toBe('role_not_allowed')
      expect(await make(member, elsewhere.workspace_id)).toEqual(MADE)
    }
  })

  it('has a unique name, and one that is taken creates nothing', async ({ cairn, workspace, owner }) => {
    const { owner: other } = await newOwner(cairn)
    const [{ name: taken = '' } = {}] = await workspacesOf(other)
    expect(await make(owner, workspace.workspace_id, taken)).toBe('workspace_exists')
    expect(await workspacesOf(owner)).toHaveLength(1)
  })

  it('is one of at most twenty that a person creates, at once or one by one', async ({
    cairn,
    workspace,
    owner,
  }) => {
    await inStore(cairn.databaseUrl, async (db) => {
      for (let count = 0; count < 18; count += 1) {
        const workspace_id = newId('wsp')
        const made = { created_ms: Date.now(), created_by: owner.person_id }
        await insertWorkspace(db, { workspace_id, name: workspace_id, ...made })
      }
    })
    const answers = await Promise.all(Array.from({ length: 5 }, () => make(owner, workspace.workspace_id)))
    expect(answers.sort()).toEqual([
      ...Array(3).fill('too_many_workspaces'),
      ...answers.filter((answer) => answer.startsWith('wsp_')).sort(),
    ])
    expect(answers.filter((answer) => answer.startsWith('wsp_'))).toHaveLength(2)
    // Each person has a limit of its own.
    expect(await make(await signUp(cairn, workspace, 'owner'), workspace.workspace_id)).toEqual(MADE)
  })

  it('is created by operators only if they create the accounts, and can still be renamed by its owner', async () => {
    const at = await startCairnForTest({ accounts: 'operator' })
    const { workspace, owner } = await newOwner(at)
    expect(await make(owner, workspace.workspace_id)).toBe('operators_only')
    expect((await owner.client().getSession()).data).toMatchObject({ owners_make_workspaces: false })
    expect(await workspacesOf(owner)).toHaveLength(1)
    expect(await rename(owner, workspace.workspace_id, 'Babbage')).toBe('Babbage')
  })
})

describe('a workspace', () => {
  it('is renamed by its owners, for everybody, and the audit log says so', async ({
    cairn,
    workspace,
    owner,
  }) => {
    const admin = await signUp(cairn, workspace, 'admin')
    const [{ name: before = '' } = {}] = await workspacesOf(owner)
    const name = randomUUID()
    expect(await rename(owner, workspace.workspace_id, name)).toBe(name)
    expect(await workspacesOf(admin)).toMatchObject([{ name }])
    expect((await workspace.client.listJourneys()).response.status).toBe(200)
    const renamed = async () => {
      const { data } = await owner.client().listAuditLog({ query: { area: 'members' } })
      return data?.data.filter(({ action }) => action === 'workspace_renamed')
    }
    const entry = {
      actor: { kind: 'person', id: owner.person_id },
      subject: { kind: 'workspace', id: workspace.workspace_id, name },
      before: { name: before },
      after: { name },
    }
    expect(await renamed()).toMatchObject([entry])
    // Setting the same name is not a change.
    expect(await rename(owner, workspace.workspace_id, name)).toBe(name)
    expect(await renamed()).toHaveLength(1)
  })

  it('is renamed by nobody else, and not to a taken name', async ({ cairn, workspace, owner }) => {
    const { owner: other } = await newOwner(cairn)
    const [{ name: taken = '' } = {}] = await workspacesOf(other)
    const [{ name = '' } = {}] = await workspacesOf(owner)
    expect(await rename(owner, workspace.workspace_id, taken)).toBe('workspace_exists')
    expect(await rename(other, workspace.workspace_id, randomUUID())).toBe('not_a_member')
    for (const role of ['admin', 'viewer'] as const) {
      const member = await signUp(cairn, workspace, role)
      expect(await rename(member, workspace.workspace_id, randomUUID())).toBe('role_not_allowed')
    }
    expect(await workspacesOf(owner)).toMatchObject([{ name }])
  })
})

describe("a person's own name", () => {
  it('is changed in all of its workspaces, and their audit logs say so', async ({
    cairn,
    workspace,
    owner,
  }) => {
    const { workspace: second, owner: other } = await newOwner(cairn)
    const person = await signUp(cairn, workspace, 'viewer')
    await addMember(cairn, second, person, 'viewer')
    const { data } = await person.client().changeName({ body: { name: 'Grace Murray Hopper' } })
    expect(data?.person).toEqual({
      person_id: person.person_id,
      name: 'Grace Murray Hopper',
      email: person.email,
    })
    expect((await person.client().getSession()).data).toEqual(data)
    for (const one of [owner, other]) {
      const members = (await one.client().listMembers()).data?.data
      expect(members).toContainEqual(
        expect.objectContaining({ person_id: person.person_id, name: 'Grace Murray Hopper' }),
      )
      const query = { subject_id: person.person_id, area: 'members' } as const
      expect((await one.client().listAuditLog({ query })).data?.data).toMatchObject([
        {
          action: 'person_renamed',
          actor: { kind: 'person', id: person.person_id },
          before: { name: person.name },
          after: { name: 'Grace Murray Hopper' },
        },
      ])
    }
  })

  it('follows the rules of names, and an unchanged name is not recorded as a change', async ({
    cairn,
    workspace,
    owner,
  }) => {
    const person = await signUp(cairn, workspace, 'viewer')
    for (const name of ['', 'x'.repeat(256), 'a\u0000b']) {
      expect((await person.client().changeName({ body: { name } })).error?.code).toBe('invalid_request')
    }
    expect((await person.client().changeName({ body: { name: person.name } })).response.status).toBe(200)
    const query = { subject_id: person.person_id, area: 'members' } as const
    expect((await owner.client().listAuditLog({ query })).data?.data).toEqual([])
  })
})
