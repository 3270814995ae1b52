// engines: sqlite, postgres

import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import type { OperationRequest, Schemas } from '../../client/person.ts'
import { type Cairn, startCairn, startCairnForTest, type Workspace } from '../fixtures/cairn.ts'
import { runCairn } from '../fixtures/command.ts'
import { contractDocument } from '../fixtures/contract/document.ts'
import {
  addMember,
  browser,
  newEmail,
  newMember,
  OWN_PAGE,
  type SignedUp,
  signIn,
  signUp,
} from '../fixtures/people.ts'

let cairn: Cairn

beforeAll(async () => {
  cairn = await startCairn({ trustedProxies: ['127.0.0.1'] })
  return cairn.stop
})

type Entry = Schemas['AuditEntry']
type Filter = NonNullable<OperationRequest<'listAuditLog'>['query']>

/** A workspace with a signed-in owner. */
async function newWorkspace(at = cairn): Promise<{ workspace: Workspace; owner: SignedUp }> {
  const workspace = await at.workspace()
  return { workspace, owner: await signUp(at, workspace, 'owner') }
}

/** The entries that the owner sees, newest first. */
async function entries(owner: Pick<SignedUp, 'client'>, query: Filter = {}): Promise<Entry[]> {
  const { data, error } = await owner.client().listAuditLog({ query: { limit: 500, ...query } })
  if (error) throw new Error(error.detail)
  return data.data
}

/** The newest entry with the action. */
async function newest(owner: Pick<SignedUp, 'client'>, action: Entry['action']): Promise<Entry | undefined> {
  return (await entries(owner)).find((entry) => entry.action === action)
}

const ADDRESS = '192.0.2.17'
const REQUEST = 'audited-request'
const from = { 'x-forwarded-for': ADDRESS, 'x-request-id': REQUEST }

/** The origin of a request, as recorded in an entry. */
const traced = {
  id: expect.stringMatching(/^aud_/),
  at: expect.any(String),
  address: ADDRESS,
  request_id: REQUEST,
}

describe('the audit log', () => {
  it('records each change of a member, by whom, from where, and what changed', async () => {
    const { workspace, owner } = await newWorkspace()
    const member = await newMember(cairn, workspace, 'viewer')
    const actor = { kind: 'person', id: owner.person_id, name: owner.name }
    const subject = { kind: 'person', id: member.person_id, name: member.name }

    const path = `/members/${member.person_id}`
    await owner.fetch(`PATCH ${path}`, { body: { role: 'admin' }, headers: from })
    expect(await newest(owner, 'member_role_changed')).toEqual({
      ...traced,
      area: 'members',
      action: 'member_role_changed',
      actor,
      subject,
      before: { role: 'viewer' },
      after: { role: 'admin' },
    })
    await owner.fetch(`DELETE ${path}`, { headers: from })
    expect(await newest(owner, 'member_removed')).toEqual({
      ...traced,
      area: 'members',
      action: 'member_removed',
      actor,
      subject,
      before: { role: 'admin' },
      after: null,
    })
  })

  it('records each invitation, and who has accepted it', async () => {
    const { owner } = await newWorkspace()
    const actor = { kind: 'person', id: owner.person_id, name: owner.name }
    const email = newEmail()
    const invited = await owner.fetch('POST /invitations', { body: { email, role: 'admin' }, headers: from })
    const { invitation_id, token } = await invited.json()
    const subject = { kind: 'invitation', id: invitation_id, name: email }
    const area = 'members'
    expect(await newest(owner, 'member_invited')).toEqual({
      ...traced,
      area,
      action: 'member_invited',
      actor,
      subject,
      before: null,
      after: { role: 'admin' },
    })
    const accepted = await cairn.fetch('/invitations/accept', {
      method: 'POST',
      headers: { ...OWN_PAGE, ...from, 'content-type': 'application/json' },
      body: JSON.stringify({ token, name: 'Alan Turing', password: 'enigma-is-a-machine' }),
    })
    const { person } = await accepted.json()
    expect(await newest(owner, 'member_joined')).toEqual({
      ...traced,
      area,
      action: 'member_joined',
      actor: { kind: 'person', id: person.person_id, name: 'Alan Turing' },
      subject: { kind: 'person', id: person.person_id, name: 'Alan Turing' },
      before: null,
      after: { role: 'admin' },
    })
    const revoked = {
      ...traced,
      area,
      action: 'invitation_revoked',
      actor,
      before: { role: 'viewer' },
      after: null,
    }
    const body = { email: newEmail(), role: 'viewer' }
    const first = await (await owner.fetch('POST /invitations', { body })).json()
    const again = await (await owner.fetch('POST /invitations', { body, headers: from })).json()
    expect(await newest(owner, 'invitation_revoked')).toEqual({
      ...revoked,
      subject: { kind: 'invitation', id: first.invitation_id, name: body.email },
    })
    await owner.fetch(`DELETE /invitations/${again.invitation_id}`, { headers: from })
    expect(await newest(owner, 'invitation_revoked')).toEqual({
      ...revoked,
      subject: { kind: 'invitation', id: again.invitation_id, name: body.email },
    })
  })

  it('records who has joined with an existing account', async () => {
    const { owner } = await newWorkspace()
    const { workspace, owner: other } = await newWorkspace()
    const invited = await owner.fetch('POST /invitations', { body: { email: other.email, role: 'viewer' } })
    const { token } = await invited.json()
    await other.fetch('POST /invitations/join', { body: { token }, headers: from })
    expect(await newest(owner, 'member_joined')).toMatchObject({
      ...traced,
      actor: { kind: 'person', id: other.person_id, name: other.name },
      subject: { kind: 'person', id: other.person_id },
      after: { role: 'viewer' },
    })
    const elsewhere = await other.client(workspace.workspace_id).listAuditLog()
    expect(elsewhere.data?.data.filter(({ action }) => action === 'member_joined')).toEqual([])
  })

  it('records each change of a key, with everything that identifies the key', async () => {
    const { owner } = await newWorkspace()
    const actor = { kind: 'person', id: owner.person_id, name: owner.name }
    const area = 'service_keys'
    const body = { kind: 'publishable', name: 'Website', allowed_origins: ['https://a.example.com'] }
    const made = await (await owner.fetch('POST /service-keys', { body, headers: from })).json()
    const subject = { kind: 'service_key', id: made.key_id, name: 'Website' }
    const { last_four } = made
    expect(await newest(owner, 'service_key_created')).toEqual({
      ...traced,
      area,
      action: 'service_key_created',
      actor,
      subject,
      before: null,
      after: { ...body, last_four, rate_limit: null, expires_at: null },
    })
    const path = `/service-keys/${made.key_id}`
    const change = { name: 'Shop', allowed_origins: ['https://a.example.com'], rate_limit: 7 }
    await owner.fetch(`PATCH ${path}`, { body: change, headers: from })
    expect(await newest(owner, 'service_key_updated')).toEqual({
      ...traced,
      area,
      action: 'service_key_updated',
      actor,
      subject: { ...subject, name: 'Shop' },
      before: { name: 'Website', rate_limit: null },
      after: { name: 'Shop', rate_limit: 7 },
    })
    const rotated = await owner.fetch(`POST ${path}/rotate`, { body: { grace_seconds: 60 }, headers: from })
    const replacement = await rotated.json()
    expect(await newest(owner, 'service_key_rotated')).toMatchObject({
      ...traced,
      area,
      actor,
      subject: { ...subject, name: 'Shop' },
      before: { expires_at: null },
      after: {
        expires_at: expect.stringMatching(/Z$/),
        new_key_id: replacement.key_id,
        new_last_four: replacement.last_four,
      },
    })
    const again = `POST /service-keys/${replacement.key_id}/rotate`
    const atOnce = await owner.fetch(again, { body: { grace_seconds: 0 }, headers: from })
    expect(await newest(owner, 'service_key_rotated')).toMatchObject({
      ...traced,
      actor,
      subject: { ...subject, id: replacement.key_id, name: 'Shop' },
      after: { new_key_id: (await atOnce.json()).key_id },
    })
    await owner.fetch(`POST ${path}/revoke`, { headers: from })
    expect(await newest(owner, 'service_key_revoked')).toMatchObject({ ...traced, area, actor })
  })

  it('records each change of a journey, by a person or a key', async () => {
    const { workspace, owner } = await newWorkspace()
    const key = await owner.client().createServiceKey({ body: { kind: 'secret', name: 'Backend' } })
    const { key_id, token } = key.data ?? {}
    const { journey_id } = workspace
    const change = async (line: string, body?: object) => {
      await cairn.fetch(line.split(' ')[1] ?? '', {
        method: line.split(' ')[0] ?? '',
        headers: {
          'x-service-key': token ?? '',
          ...from,
          ...(body && { 'content-type': 'application/json' }),
        },
        ...(body && { body: JSON.stringify(body) }),
      })
    }
    const actor = { kind: 'service_key', id: key_id, name: 'Backend' }
    const area = 'journeys'
    await change('POST /journeys', { name: 'Renewal' })
    expect(await newest(owner, 'journey_created')).toMatchObject({
      ...traced,
      area,
      actor,
      subject: { kind: 'journey', name: 'Renewal' },
      before: null,
      after: { name: 'Renewal' },
    })
    await change(`PATCH /journeys/${journey_id}`, { name: 'Welcome', description: '' })
    expect(await newest(owner, 'journey_updated')).toEqual({
      ...traced,
      area,
      action: 'journey_updated',
      actor,
      subject: { kind: 'journey', id: journey_id, name: 'Welcome' },
      before: { name: 'Onboarding' },
      after: { name: 'Welcome' },
    })
    await change(`POST /journeys/${journey_id}/archive`)
    expect(await newest(owner, 'journey_archived')).toMatchObject({ ...traced, area, actor })
    await owner.fetch(`POST /journeys/${journey_id}/restore`, { headers: from })
    expect(await newest(owner, 'journey_restored')).toMatchObject({
      ...traced,
      area,
      actor: { kind: 'person', id: owner.person_id },
      subject: { kind: 'journey', id: journey_id, name: 'Welcome' },
    })
  })

  it('records what people do about their sessions, in each of their workspaces', async () => {
    const { workspace, owner } = await newWorkspace()
    const { workspace: second, owner: other } = await newWorkspace()
    const person = await newMember(cairn, workspace, 'viewer')
    await addMember(cairn, second, person, 'viewer')
    const actor = { kind: 'person', id: person.person_id, name: person.name }
    const subject = { kind: 'person', id: person.person_id }
    const area = 'sessions'
    const tryToSignIn = (password: string) =>
      cairn.fetch('/session', {
        method: 'POST',
        headers: { ...OWN_PAGE, ...from, 'content-type': 'application/json' },
        body: JSON.stringify({ email: person.email, password }),
      })

    await tryToSignIn('wrong')
    const unknown = { kind: 'unknown', id: null, name: null }
    await expect
      .poll(() => newest(owner, 'sign_in_failed'))
      .toMatchObject({ ...traced, area, actor: unknown, subject, before: null, after: null })
    await tryToSignIn(person.password)
    const own = browser(cairn, await signIn(cairn, person))
    const guess = { current_password: 'wrong', new_password: 'a-moth-in-relay-70' }
    await own.fetch('POST /session/password', { body: guess, headers: from })
    const change = { current_password: person.password, new_password: 'a-moth-in-relay-70' }
    await own.fetch('POST /session/password', { body: change, headers: from })
    await own.fetch('DELETE /session', { headers: from })
    const last = browser(cairn, await signIn(cairn, { ...person, password: change.new_password }))
    await last.fetch('DELETE /sessions', { headers: from })

    for (const one of [owner, other]) {
      const about = await entries(one, { subject_id: person.person_id })
      expect(about.map(({ action }) => action)).toEqual([
        'signed_out_everywhere',
        'signed_in',
        'signed_out',
        'password_changed',
        'password_change_failed',
        'signed_in',
        'signed_in',
        'sign_in_failed',
      ])
      for (const entry of about.slice(0, -1)) expect(entry).toMatchObject({ area, actor, subject })
      for (const at of [0, 2, 3, 4, 6]) expect(about[at]).toMatchObject(traced)
    }
  })

  it('records who creates a password link, and its use, in each workspace of the person', async () => {
    const { workspace, owner } = await newWorkspace()
    const { workspace: second, owner: other } = await newWorkspace()
    await addMember(cairn, second, owner, 'owner')
    const person = await newMember(cairn, workspace, 'viewer')
    await addMember(cairn, second, person, 'viewer')
    const path = `/members/${person.person_id}/password-link`
    const headers = { ...from, 'x-workspace-id': workspace.workspace_id }
    const { token } = await (await owner.fetch(`POST ${path}`, { headers })).json()
    await cairn.fetch('/password-links/use', {
      method: 'POST',
      headers: { ...OWN_PAGE, ...from, 'content-type': 'application/json' },
      body: JSON.stringify({ token, password: 'enigma-is-a-machine' }),
    })
    const subject = { kind: 'person', id: person.person_id, name: person.email }
    const own = { kind: 'person', id: person.person_id, name: person.name }
    const actor = { kind: 'person', id: owner.person_id, name: owner.name }
    const nothing = { before: null, after: null }
    const inFirst = { client: () => owner.client(workspace.workspace_id) }
    for (const one of [inFirst, other]) {
      expect(await newest(one, 'password_link_created')).toEqual({
        ...traced,
        ...nothing,
        area: 'members',
        action: 'password_link_created',
        actor,
        subject,
      })
      expect(await newest(one, 'password_reset')).toEqual({
        ...traced,
        ...nothing,
        area: 'sessions',
        action: 'password_reset',
        actor: own,
        subject,
      })
      expect(await newest(one, 'signed_in')).toMatchObject({ ...traced, actor: own, subject })
    }
  })

  it('records what the command line does, without an address', async () => {
    const at = await startCairnForTest()
    const { owner } = await newWorkspace(at)
    const run = async (...args: string[]) => {
      const { code, stdout } = await runCairn(args, { environment: { DATABASE_URL: at.databaseUrl } })
      expect(code).toBe(0)
      return JSON.parse(stdout)
    }
    const { key_id } = await run('key', 'create', '--kind', 'secret', '--name', 'Backend', '--json')
    const rotated = await run('key', 'rotate', key_id, '--json')
    await run('key', 'revoke', rotated.key_id, '--json')
    const command = { kind: 'command_line', id: null, name: null }
    const nowhere = { actor: command, address: null, request_id: null }
    const [revoked, replaced, created] = await entries(owner, { area: 'service_keys' })
    expect(revoked).toMatchObject({
      ...nowhere,
      action: 'service_key_revoked',
      subject: { id: rotated.key_id },
    })
    expect(replaced).toMatchObject({
      ...nowhere,
      action: 'service_key_rotated',
      subject: { id: key_id },
      before: { expires_at: null },
      after: { new_key_id: rotated.key_id, new_last_four: rotated.last_four },
    })
    expect(created).toMatchObject({
      ...nowhere,
      action: 'service_key_created',
      after: {
        name: 'Backend',
        kind: 'secret',
        last_four: expect.any(String),
        allowed_origins: [],
        rate_limit: null,
        expires_at: null,
      },
    })
    // And the entry of the workspace's creation.
    expect(await newest(owner, 'workspace_created')).toMatchObject({
      ...nowhere,
      subject: { kind: 'workspace' },
    })
  })

  it('records the first person and what that person created', async () => {
    const at = await startCairnForTest({ trustedProxies: ['127.0.0.1'] })
    const reply = await at.fetch('/setup', {
      method: 'POST',
      headers: { ...OWN_PAGE, ...from, 'content-type': 'application/json' },
      body: JSON.stringify({
        token: at.setupLink?.replace(/^.*#token=/, ''),
        name: 'Grace Hopper',
        email: 'grace@example.com',
        password: 'nine-lives-of-a-moth',
        workspace_name: 'Acme',
        journey_name: 'Onboarding',
      }),
    })
    const { person, workspaces } = await reply.json()
    const [cookie = ''] = reply.headers.getSetCookie()[0]?.split(';') ?? []
    const all = await entries(browser(at, { cookie, ...OWN_PAGE }))
    const by = { ...traced, actor: { kind: 'person', id: person.person_id, name: 'Grace Hopper' } }
    expect(all).toHaveLength(4)
    expect(all).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          ...by,
          action: 'signed_in',
          subject: expect.objectContaining({ kind: 'person', id: person.person_id }),
        }),
        expect.objectContaining({
          ...by,
          action: 'workspace_created',
          subject: { kind: 'workspace', id: workspaces[0].workspace_id, name: 'Acme' },
        }),
        expect.objectContaining({
          ...by,
          action: 'member_joined',
          subject: { kind: 'person', id: person.person_id, name: 'Grace Hopper' },
          after: { role: 'owner' },
        }),
        expect.objectContaining({
          ...by,
          action: 'journey_created',
          subject: { kind: 'journey', id: expect.any(String), name: 'Onboarding' },
          after: { name: 'Onboarding', description: '', steps: [], status: 'active' },
        }),
      ]),
    )
  })

  it('records nothing that was refused or has changed nothing', async () => {
    const { workspace, owner } = await newWorkspace()
    const { person_id } = await newMember(cairn, workspace, 'admin')
    const client = owner.client()
    const key = await client.createServiceKey({ body: { kind: 'secret', name: 'Backend' } })
    const path = { key_id: key.data?.key_id ?? '' }
    await client.revokeServiceKey({ path })
    const before = await entries(owner)

    const { journey_id } = workspace
    await client.updateMember({ path: { person_id }, body: { role: 'admin' } })
    await client.updateMember({ path: { person_id: owner.person_id }, body: { role: 'viewer' } })
    await client.removeMember({ path: { person_id: 'per_unknown' } })
    await client.revokeServiceKey({ path })
    await client.updateServiceKey({ path, body: { name: 'x' } })
    await client.updateJourney({ path: { journey_id }, body: { name: 'Onboarding' } })
    await client.restoreJourney({ path: { journey_id } })
    await client.createInvitation({ body: { email: owner.email, role: 'viewer' } })
    await owner.fetch('POST /journeys', { body: { name: 'x' }, headers: { 'sec-fetch-site': 'cross-site' } })
    expect(await entries(owner)).toEqual(before)
  })

  it('keeps the names of what was deleted', async () => {
    const { workspace, owner } = await newWorkspace()
    const member = await signUp(cairn, workspace, 'owner')
    await member.client().createJourney({ body: { name: 'Renewal' } })
    await owner.client().removeMember({ path: { person_id: member.person_id } })
    expect(await newest(owner, 'journey_created')).toMatchObject({
      actor: { id: member.person_id, name: member.name },
    })
  })

  it('covers every action of the contract in these tests', () => {
    const { components } = contractDocument() as {
      components: { schemas: Record<string, { enum: string[] }> }
    }
    const commands = ['member', 'setup-link', 'sqlite/restore'].map((name) => `../cli/${name}.test.ts`)
    const others = [
      'erase-customer',
      'event-definitions',
      'exports',
      'open-sessions',
      'protected-customers',
      'refusals',
      'remove-journey',
      'remove-workspace',
      'retention',
      'view-links',
      'views',
      'webhooks',
      'workspace-making',
    ].map((name) => `./${name}.test.ts`)
    const files = ['./audit-log.test.ts', ...others, ...commands]
    const text = files.map((file) => readFileSync(new URL(file, import.meta.url), 'utf8')).join()
    for (const action of components.schemas.AuditAction?.enum ?? []) expect(text).toContain(`'${action}'`)
  })
})

describe('the list of entries', () => {
  it('is filtered by area, actor, subject and time, alone and together', async () => {
    let now = Date.parse('2026-11-20T12:00:00Z')
    const at = await startCairnForTest({ now: () => now })
    const { workspace, owner } = await newWorkspace(at)
    const admin = await signUp(at, workspace, 'admin')
    const step = () => {
      now += 1000
    }
    step()
    const key = await admin.client().createServiceKey({ body: { kind: 'secret', name: 'Backend' } })
    const key_id = key.data?.key_id ?? ''
    step()
    await owner.client().updateServiceKey({ path: { key_id }, body: { name: 'Other' } })
    step()
    await owner.client().updateMember({ path: { person_id: admin.person_id }, body: { role: 'viewer' } })
    step()
    await cairnJourney()
    const filtered = async (query: Filter) => (await entries(owner, query)).map(({ action }) => action)

    const [signedIn, created, updated, changed, journey] = [
      'signed_in',
      'service_key_created',
      'service_key_updated',
      'member_role_changed',
      'journey_created',
    ] as const
    const span = { from: '2026-11-20T12:00:00Z', to: '2026-11-20T12:00:10Z' }
    expect(await filtered(span)).toEqual([journey, changed, updated, created, signedIn, signedIn])
    expect(await filtered({ ...span, area: 'service_keys' })).toEqual([updated, created])
    expect(await filtered({ ...span, area: 'members' })).toEqual([changed])
    expect(await filtered({ ...span, area: 'sessions' })).toEqual([signedIn, signedIn])
    expect(await filtered({ actor_id: admin.person_id })).toEqual([created, signedIn])
    expect(await filtered({ actor_id: key_id })).toEqual([journey])
    expect(await filtered({ subject_id: key_id })).toEqual([updated, created])
    expect(await filtered({ subject_id: admin.person_id })).toEqual([changed, signedIn])
    expect(await filtered({ subject_id: key_id, actor_id: owner.person_id })).toEqual([updated])
    expect(await filtered({ from: '2026-11-20T13:00:02+01:00', to: '2026-11-20T12:00:04Z' })).toEqual([
      changed,
      updated,
    ])
    const nothing = [
      { actor_id: 'per_unknown' },
      { subject_id: 'x' },
      { from: '2026-11-20T12:00:02Z', to: '2026-11-20T12:00:02Z' },
      { area: 'journeys', actor_id: owner.person_id } as const,
    ]
    for (const query of nothing) expect([query, await filtered(query)]).toEqual([query, []])

    async function cairnJourney() {
      const { error } = await at.client(key.data?.token ?? '').createJourney({ body: { name: 'Renewal' } })
      expect(error).toBeUndefined()
    }
  })

  it('has each entry once, newest first, in pages of any size, while more arrive', async () => {
    // Held still, so that all entries have one timestamp, except the workspace's own.
    const now = Date.now() + 60_000
    const at = await startCairnForTest({ now: () => now })
    const { owner } = await newWorkspace(at)
    const client = owner.client()
    for (const name of ['a', 'b', 'c', 'd', 'e']) await client.createJourney({ body: { name } })
    const all = await entries(owner)
    expect(all.length).toBeGreaterThan(8)
    const times = all.map(({ at, id }) => at + id)
    expect(times).toEqual(times.toSorted().reverse())
    for (const limit of [1, 2, 3, 500]) {
      const seen: Entry[] = []
      let cursor: string | undefined
      do {
        const { data } = await client.listAuditLog({ query: { limit, ...(cursor && { cursor }) } })
        seen.push(...(data?.data ?? []))
        if (cursor === undefined) await client.createJourney({ body: { name: `after ${limit}` } })
        cursor = data?.next_cursor ?? undefined
      } while (cursor)
      expect(seen).toEqual((await entries(owner)).slice(1))
    }
  })

  it("never has another workspace's", async () => {
    const { workspace, owner } = await newWorkspace()
    const { workspace: other, owner: theirs } = await newWorkspace()
    const person = await signUp(cairn, workspace, 'owner')
    await addMember(cairn, other, person, 'owner')
    await theirs.client().createJourney({ body: { name: 'Theirs' } })
    await person.client(other.workspace_id).createJourney({ body: { name: 'Theirs too' } })
    await person.client(workspace.workspace_id).createJourney({ body: { name: 'Ours' } })
    for (const query of [
      {},
      { actor_id: person.person_id },
      { actor_id: theirs.person_id },
      { area: 'journeys' } as const,
    ]) {
      const seen = JSON.stringify(await entries(owner, query))
      expect(seen).not.toContain('Theirs')
      expect(seen).not.toContain(theirs.person_id)
    }
    const own = await entries(owner, { actor_id: person.person_id, area: 'journeys' })
    expect(own.map(({ subject }) => subject.name)).toEqual(['Ours'])
  })
})
