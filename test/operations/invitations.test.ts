// engines: sqlite, postgres

import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { DAY_MS } from '../../server/domain/durations.ts'
import { type Cairn, startCairn, startCairnForTest, type Workspace } from '../fixtures/cairn.ts'
import {
  addMember,
  browser,
  newEmail,
  newPerson,
  OWN_PAGE,
  type SignedUp,
  signIn,
  signUp,
} from '../fixtures/people.ts'
import { codeOf } from './code-of.ts'

let now = Date.parse('2026-11-20T12:00:00Z')
let shared: Cairn
let cairn: Cairn
let workspace: Workspace
let owner: SignedUp

beforeAll(async () => {
  shared = await startCairn({ now: () => now })
  return shared.stop
})

beforeEach(async () => {
  now = Date.parse('2026-11-20T12:00:00Z')
  cairn = shared
  workspace = await cairn.workspace()
  owner = await signUp(cairn, workspace, 'owner')
})

type Role = 'owner' | 'admin' | 'viewer'

/** An invitation with its token. */
async function invite(email: string, role: Role = 'viewer', by = owner) {
  const { data, error } = await by.client().createInvitation({ body: { email, role } })
  if (error) throw new Error(error.detail)
  return data
}

/** A client of somebody with the link but without an account. */
const nobody = () => browser(cairn, OWN_PAGE).client()

const find = (token: string) => codeOf(nobody().findInvitation({ body: { token } }))
const accept = (token: string, password = 'enigma-is-a-machine') =>
  codeOf(nobody().acceptInvitation({ body: { token, name: 'Alan Turing', password } }))
const joinAs = (by: Pick<SignedUp, 'client'>, token: string) =>
  codeOf(by.client().joinWorkspace({ body: { token } }))

/** The emails of the open invitations, newest first. */
async function open(): Promise<string[]> {
  const { data } = await owner.client().listInvitations()
  return (data?.data ?? []).map(({ email }) => email)
}

/** The emails and roles of the members. */
async function members() {
  const { data } = await owner.client().listMembers()
  return Object.fromEntries((data?.data ?? []).map(({ email, role }) => [email, role]))
}

describe('an invitation', () => {
  it('makes a new person a member, signed in with the password that they chose', async () => {
    const email = newEmail()
    const { token, ...invitation } = await invite(email, 'admin')
    expect(invitation).toEqual({
      invitation_id: expect.any(String),
      email,
      role: 'admin',
      invited_by: owner.name,
      created_at: '2026-11-20T12:00:00.000Z',
      expires_at: '2026-11-27T12:00:00.000Z',
    })
    expect((await owner.client().listInvitations()).data?.data).toEqual([invitation])
    const found = await nobody().findInvitation({ body: { token } })
    const { name } = (await owner.client().getSession()).data?.workspaces[0] ?? {}
    expect(found.data).toEqual({
      workspace_name: name,
      email,
      role: 'admin',
      expires_at: '2026-11-27T12:00:00.000Z',
    })

    now += 1000
    const body = { token, name: 'Alan Turing', password: 'enigma-is-a-machine' }
    const { data, response } = await nobody().acceptInvitation({ body })
    expect(data).toEqual({
      person: { person_id: expect.any(String), name: 'Alan Turing', email },
      workspaces: [{ workspace_id: workspace.workspace_id, name, role: 'admin', status: 'active' }],
      owners_make_workspaces: true,
      created_at: '2026-11-20T12:00:01.000Z',
      expires_at: '2026-12-04T12:00:01.000Z',
    })
    const [cookie = ''] = response.headers.getSetCookie()[0]?.split(';') ?? []
    expect(
      (
        await browser(cairn, { cookie, ...OWN_PAGE })
          .client()
          .getSession()
      ).data,
    ).toEqual(data)
    await expect(signIn(cairn, { email, password: body.password })).resolves.toBeDefined()
    expect(await members()).toMatchObject({ [email]: 'admin' })
    expect(await open()).toEqual([])
  })

  it('works once', async () => {
    const { token } = await invite(newEmail())
    expect([await find(token), await find(token)]).toEqual([null, null])
    expect(await accept(token)).toBe(null)
    expect(await find(token)).toBe('link_not_found')
    expect(await accept(token)).toBe('link_not_found')
    expect(await joinAs(owner, token)).toBe('link_not_found')
  })

  it('works for one of two requests at once', async () => {
    const { token, email } = await invite(newEmail())
    const passwords = ['enigma-is-a-machine', 'bombe-is-a-machine', 'a-moth-in-relay-70']
    const codes = await Promise.all(passwords.map((password) => accept(token, password)))
    expect(codes.sort()).toEqual(['link_not_found', 'link_not_found', null].sort())
    expect(Object.keys(await members())).toHaveLength(2)
    const signedIn = passwords.map((password) => signIn(cairn, { email, password }).catch(() => undefined))
    expect((await Promise.all(signedIn)).filter(Boolean)).toHaveLength(1)
  })

  it('works for 7 days', async () => {
    const emails = [newEmail(), newEmail()]
    const [one, two] = [await invite(emails[0] ?? ''), await invite(emails[1] ?? '')]
    now += 7 * DAY_MS - 1
    owner = { ...owner, ...browser(cairn, await signIn(cairn, owner)) }
    expect((await open()).sort()).toEqual(emails.sort())
    expect(await accept(one.token)).toBe(null)
    now += 1
    expect(await open()).toEqual([])
    expect(await find(two.token)).toBe('link_not_found')
    expect(await accept(two.token)).toBe('link_not_found')
    const { invitation_id } = two
    const revoked = codeOf(owner.client().revokeInvitation({ path: { invitation_id } }))
    expect(await revoked).toBe('invitation_not_found')
    expect(await accept((await invite(two.email)).token)).toBe(null)
  })

  it('is voided when the same email is invited again', async () => {
    const email = newEmail()
    const first = await invite(email, 'viewer')
    const second = await invite(email.toUpperCase(), 'admin')
    expect(await open()).toEqual([email.toUpperCase()])
    expect(await accept(first.token)).toBe('link_not_found')
    expect(await accept(second.token)).toBe(null)
    expect(await members()).toMatchObject({ [email.toUpperCase()]: 'admin' })
  })

  it('of another workspace for the same email stays valid', async () => {
    const email = newEmail()
    const other = await signUp(cairn, await cairn.workspace(), 'owner')
    const theirs = await invite(email, 'viewer', other)
    const own = await invite(email)
    expect([await find(theirs.token), await find(own.token)]).toEqual([null, null])
    expect(await accept(own.token)).toBe(null)
    const person = browser(cairn, await signIn(cairn, { email, password: 'enigma-is-a-machine' }))
    expect(await joinAs(person, theirs.token)).toBe(null)
    expect((await person.client().getSession()).data?.workspaces).toHaveLength(2)
  })

  it('is no longer valid when it is revoked', async () => {
    const { invitation_id, token } = await invite(newEmail())
    const kept = await invite(newEmail())
    const path = { invitation_id }
    expect(await codeOf(owner.client().revokeInvitation({ path }))).toBe(null)
    expect(await open()).toEqual([kept.email])
    expect(await accept(token)).toBe('link_not_found')
    expect(await codeOf(owner.client().revokeInvitation({ path }))).toBe('invitation_not_found')
    expect(await accept(kept.token)).toBe(null)
  })

  it('of a member is no longer valid when the member may not invite any more', async () => {
    const second = await signUp(cairn, workspace, 'owner')
    const { person_id } = second
    const owners = await invite(newEmail(), 'owner', second)
    const viewers = await invite(newEmail(), 'viewer', second)
    const kept = await invite(newEmail())
    await owner.client().updateMember({ path: { person_id }, body: { role: 'admin' } })
    expect([await find(owners.token), await find(viewers.token)]).toEqual(['link_not_found', null])
    await owner.client().updateMember({ path: { person_id }, body: { role: 'viewer' } })
    expect(await find(viewers.token)).toBe('link_not_found')

    await owner.client().updateMember({ path: { person_id }, body: { role: 'admin' } })
    const last = await invite(newEmail(), 'admin', second)
    await owner.client().removeMember({ path: { person_id } })
    expect(await accept(last.token)).toBe('link_not_found')
    expect(await open()).toEqual([kept.email])
    expect(await accept(kept.token)).toBe(null)
  })

  it('of a person who became a member in another way ends with the membership', async () => {
    const { person_id, email } = await signUp(cairn, workspace, 'viewer')
    await owner.client().removeMember({ path: { person_id } })
    const { token } = await invite(email, 'admin')
    await addMember(cairn, workspace, { person_id }, 'viewer')
    await owner.client().removeMember({ path: { person_id } })
    expect([await find(token), await open()]).toEqual(['link_not_found', []])
    const { data } = await owner.client().listAuditLog({ query: { area: 'members' } })
    const revoked = data?.data.filter(({ action }) => action === 'invitation_revoked')
    expect(revoked).toMatchObject([{ subject: { name: email }, before: { role: 'admin' } }])
  })

  it('of an owner is revoked and replaced only by owners', async () => {
    const admin = await signUp(cairn, workspace, 'admin')
    const { invitation_id, email, token } = await invite(newEmail(), 'owner')
    const revoked = await admin.client().revokeInvitation({ path: { invitation_id } })
    const replaced = await admin.client().createInvitation({ body: { email, role: 'viewer' } })
    for (const { error } of [revoked, replaced]) {
      expect(error).toMatchObject({ status: 403, code: 'role_not_allowed' })
    }
    expect(await accept(token)).toBe(null)
    expect(await members()).toMatchObject({ [email]: 'owner' })
  })

  it('of an owner that has expired is replaced by admins, and not revoked by that', async () => {
    const { email } = await invite(newEmail(), 'owner')
    now += 7 * DAY_MS
    owner = { ...owner, ...browser(cairn, await signIn(cairn, owner)) }
    const admin = await signUp(cairn, workspace, 'admin')
    const { token } = await invite(email, 'viewer', admin)
    const { data } = await owner.client().listAuditLog({ query: { area: 'members' } })
    expect(data?.data.map(({ action }) => action)).not.toContain('invitation_revoked')
    expect(await accept(token)).toBe(null)
    expect(await members()).toMatchObject({ [email]: 'viewer' })
  })

  it('is found only by its token', async () => {
    const { token, invitation_id } = await invite(newEmail())
    const others = [
      token.slice(0, -1),
      `${token}0`,
      token.toUpperCase(),
      token.replace('invitation_', 'setup_'),
    ]
    for (const other of [...others, invitation_id, "' OR 1=1 --", '%']) {
      expect([other, await find(other)]).toEqual([other, 'link_not_found'])
    }
    const setup = await codeOf(nobody().findSetupLink({ body: { token } }))
    expect(setup).toBe('link_not_found')
  })

  it('is not created for an existing member', async () => {
    const member = await signUp(cairn, workspace, 'viewer')
    for (const email of [member.email, member.email.toUpperCase()]) {
      const { error } = await owner.client().createInvitation({ body: { email, role: 'admin' } })
      expect(error).toMatchObject({ status: 409, code: 'already_member' })
    }
    expect(await open()).toEqual([])
  })

  it('is listed newest first, page by page', async () => {
    const made: string[] = []
    for (let count = 0; count < 5; count += 1) {
      now += 1000
      made.unshift((await invite(newEmail())).email)
    }
    const listed: string[] = []
    let cursor: string | undefined
    do {
      const query = { limit: 2, ...(cursor && { cursor }) }
      const { data } = await owner.client().listInvitations({ query })
      listed.push(...(data?.data ?? []).map(({ email }) => email))
      cursor = data?.next_cursor ?? undefined
    } while (cursor)
    expect(listed).toEqual(made)
  })

  it('requires a valid email', async () => {
    const emails = [
      'ada',
      '@example.com',
      'ada@',
      'a b@example.com',
      'ada@exa\u0000mple.com',
      `${'a'.repeat(255)}@b.co`,
    ]
    for (const email of emails) {
      const { error } = await owner.client().createInvitation({ body: { email, role: 'viewer' } })
      expect(error).toMatchObject({ status: 400 })
      // An empty email and one that is too long are one fault each.
      expect(new Set(error?.errors?.map(({ pointer }) => pointer))).toEqual(new Set(['/email']))
    }
  })
})

describe('an invitation for a person with an account', () => {
  it('is accepted by signing in, and keeps name and password', async () => {
    const person = await newPerson(cairn, { name: 'Ada Lovelace' })
    const { token } = await invite(person.email.toUpperCase(), 'admin')
    expect(await accept(token)).toBe('sign_in_refused')

    const signedIn = browser(cairn, await signIn(cairn, person))
    const { data } = await signedIn.client().joinWorkspace({ body: { token } })
    expect(data).toMatchObject({
      person: { name: 'Ada Lovelace', email: person.email },
      workspaces: [{ workspace_id: workspace.workspace_id, role: 'admin' }],
    })
    expect((await signedIn.client().getSession()).data).toEqual(data)
    expect(await members()).toMatchObject({ [person.email]: 'admin' })
    expect(await joinAs(signedIn, token)).toBe('link_not_found')
    await expect(signIn(cairn, person)).resolves.toBeDefined()
  })

  it('is refused to everyone else, and stays valid', async () => {
    const person = await newPerson(cairn)
    const stranger = await signUp(cairn, await cairn.workspace(), 'owner')
    const { token } = await invite(person.email)
    expect(await joinAs(stranger, token)).toBe('invitation_for_another')
    expect(await joinAs(owner, token)).toBe('invitation_for_another')
    expect((await stranger.client().getSession()).data?.workspaces).toHaveLength(1)
    expect(await open()).toEqual([person.email])
    expect(await joinAs(browser(cairn, await signIn(cairn, person)), token)).toBe(null)
  })

  it('is refused if the person has become a member in the meantime, and changes no role', async () => {
    const person = await newPerson(cairn)
    const { token } = await invite(person.email, 'owner')
    await addMember(cairn, workspace, person, 'viewer')
    expect(await joinAs(browser(cairn, await signIn(cairn, person)), token)).toBe('already_member')
    expect(await members()).toMatchObject({ [person.email]: 'viewer' })
    expect(await open()).toEqual([person.email])
  })

  it('creates no second account if the person has created one in the meantime', async () => {
    const email = newEmail()
    const { token } = await invite(email)
    const other = await signUp(cairn, await cairn.workspace(), 'owner')
    const theirs = await invite(email, 'viewer', other)
    expect(await accept(theirs.token, 'nine-lives-of-a-moth')).toBe(null)
    expect(await accept(token, 'another-password')).toBe('sign_in_refused')
    await expect(signIn(cairn, { email, password: 'another-password' })).rejects.toThrow('401')
    const person = browser(cairn, await signIn(cairn, { email, password: 'nine-lives-of-a-moth' }))
    expect(await joinAs(person, token)).toBe(null)
  })
})

describe('whether the email of an invitation has an account', () => {
  it('is not revealed by looking up the link', async () => {
    const person = await newPerson(cairn)
    const answers = []
    for (const email of [person.email, newEmail()]) {
      const { token } = await invite(email)
      const { data, response } = await nobody().findInvitation({ body: { token } })
      const headers = [...response.headers].filter(([name]) => !['x-request-id', 'date'].includes(name))
      answers.push(JSON.stringify({ data: { ...data, email: 'email' }, headers }))
    }
    expect(new Set(answers).size).toBe(1)
  })

  it('is revealed only by its password, which lets the person join and keeps the name', async () => {
    const person = await newPerson(cairn, { name: 'Ada Lovelace' })
    const { token } = await invite(person.email.toUpperCase(), 'admin')
    expect(await accept(token)).toBe('sign_in_refused')
    const body = { token, name: 'Mallory', password: person.password }
    const { data, response } = await nobody().acceptInvitation({ body })
    expect(data).toMatchObject({
      person: { person_id: person.person_id, name: 'Ada Lovelace', email: person.email },
      workspaces: [{ workspace_id: workspace.workspace_id, role: 'admin' }],
    })
    expect(response.headers.getSetCookie()[0]).toMatch(/^cairn_session=.{40}/)
    expect(await accept(token, person.password)).toBe('link_not_found')
  })

  it('costs a failed sign-in per wrong password, which the person’s workspaces see', async () => {
    const elsewhere = await cairn.workspace()
    const victim = await signUp(cairn, elsewhere, 'owner')
    const { token } = await invite(victim.email)
    const codes = []
    for (let count = 0; count < 6; count += 1) codes.push(await accept(token))
    expect(codes).toEqual([...Array(5).fill('sign_in_refused'), 'too_many_attempts'])
    const failed = async () => {
      const { data } = await victim.client().listAuditLog({ query: { area: 'sessions' } })
      return data?.data.filter(({ action }) => action === 'sign_in_failed').length
    }
    await expect.poll(failed).toBe(5)
    expect(await open()).toEqual([victim.email])
  })
})

describe('if only operators create accounts', () => {
  beforeEach(async () => {
    cairn = await startCairnForTest({ now: () => now, accounts: 'operator' })
    workspace = await cairn.workspace()
    owner = await signUp(cairn, workspace, 'owner')
  })

  it('an invitation creates none, and an email without one is answered like a wrong password', async () => {
    const person = await newPerson(cairn)
    const answers = []
    for (const email of [person.email, newEmail()]) {
      const { token } = await invite(email)
      const body = { token, name: 'Alan Turing', password: 'enigma-is-a-machine' }
      const { error, response } = await nobody().acceptInvitation({ body })
      const headers = [...response.headers].filter(([name]) => !['x-request-id', 'date'].includes(name))
      answers.push(JSON.stringify({ ...error, request_id: '', headers }))
      await expect(signIn(cairn, { email, password: body.password })).rejects.toThrow('401')
    }
    expect(answers[0]).toContain('sign_in_refused')
    expect(new Set(answers).size).toBe(1)
    expect(Object.keys(await members())).toEqual([owner.email])
  })

  it('a person with an account accepts with the password, or signed in', async () => {
    const people = [await newPerson(cairn), await newPerson(cairn)] as const
    expect(await accept((await invite(people[0].email)).token, people[0].password)).toBe(null)
    const signedIn = browser(cairn, await signIn(cairn, people[1]))
    expect(await joinAs(signedIn, (await invite(people[1].email)).token)).toBe(null)
    expect(Object.keys(await members())).toHaveLength(3)
  })
})
