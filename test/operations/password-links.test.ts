// engines: sqlite, postgres

import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Cairn, startCairn, type Workspace } from '../fixtures/cairn.ts'
import { runCairn } from '../fixtures/command.ts'
import { newAddress } from '../fixtures/contract/target.ts'
import {
  addMember,
  browser,
  newMember,
  OWN_PAGE,
  type Person,
  type SignedUp,
  signIn,
  signUp,
} from '../fixtures/people.ts'

const HOUR_MS = 3_600_000
const NEW_PASSWORD = 'enigma-is-a-machine'

let now = Date.parse('2026-11-20T12:00:00Z')
let cairn: Cairn
let workspace: Workspace
let owner: SignedUp
/** The headers of somebody with the link and no session. */
let guest: Record<string, string>

beforeAll(async () => {
  cairn = await startCairn({ now: () => now, trustedProxies: ['127.0.0.1'] })
  return cairn.stop
})

beforeEach(async () => {
  now = Date.parse('2026-11-20T12:00:00Z')
  // Wrong tokens are counted by address.
  guest = { ...OWN_PAGE, 'x-forwarded-for': newAddress() }
  workspace = await cairn.workspace()
  owner = await signUp(cairn, workspace, 'owner')
})

type Role = 'owner' | 'admin' | 'viewer'

/** Outcome of requesting a link: its token, or the code of the problem. */
async function linkFor({ person_id }: Pick<Person, 'person_id'>, by = owner) {
  const { data, error } = await by.client(workspace.workspace_id).createPasswordLink({ path: { person_id } })
  return data?.token ?? error?.code ?? ''
}

const nobody = () => browser(cairn, guest).client()

const find = async (token: string) => {
  const { error } = await nobody().findPasswordLink({ body: { token } })
  return error?.code ?? null
}
const reset = async (token: string, password = NEW_PASSWORD) => {
  const { error } = await nobody().resetPassword({ body: { token, password } })
  return error?.code ?? null
}

/** Whether the person can sign in with the password. */
async function signsIn({ email }: Pick<Person, 'email'>, password: string): Promise<boolean> {
  return await signIn(cairn, { email, password }).then(
    () => true,
    () => false,
  )
}

/** The status of reading the session. */
async function sessionStatus({ fetch }: Pick<SignedUp, 'fetch'>): Promise<number> {
  return (await fetch('GET /session')).status
}

const TOKEN = expect.stringMatching(/^password_[0-9A-Za-z]{43}$/)

describe('a link for a new password', () => {
  it('sets the member’s new password and signs the member in, only there', async () => {
    const member = await signUp(cairn, workspace, 'viewer')
    const { person_id, name, email, password } = member
    const { data } = await owner.client().createPasswordLink({ path: { person_id } })
    expect(data).toEqual({ person_id, expires_at: '2026-11-20T13:00:00.000Z', token: TOKEN })
    const { token = '' } = data ?? {}
    const found = await nobody().findPasswordLink({ body: { token } })
    expect(found.data).toEqual({ name, email, expires_at: '2026-11-20T13:00:00.000Z' })
    // Nothing changes until it is used.
    expect([await sessionStatus(member), await signsIn(member, password)]).toEqual([200, true])

    now += 1000
    const used = await nobody().resetPassword({ body: { token, password: NEW_PASSWORD } })
    expect(used.data).toEqual({
      person: { person_id, name, email },
      workspaces: [
        { workspace_id: workspace.workspace_id, name: expect.any(String), role: 'viewer', status: 'active' },
      ],
      owners_make_workspaces: true,
      created_at: '2026-11-20T12:00:01.000Z',
      expires_at: '2026-12-04T12:00:01.000Z',
    })
    const [cookie = ''] = used.response.headers.getSetCookie()[0]?.split(';') ?? []
    expect(await sessionStatus(browser(cairn, { cookie, ...OWN_PAGE }))).toBe(200)
    expect(await sessionStatus(member)).toBe(401)
    expect([await signsIn(member, password), await signsIn(member, NEW_PASSWORD)]).toEqual([false, true])
  })

  it('works once', async () => {
    const token = await linkFor(await newMember(cairn, workspace, 'viewer'))
    expect([await find(token), await find(token)]).toEqual([null, null])
    expect(await reset(token)).toBe(null)
    expect([await find(token), await reset(token)]).toEqual(['link_not_found', 'link_not_found'])
  })

  it('works for one of several requests at once', async () => {
    const member = await newMember(cairn, workspace, 'viewer')
    const token = await linkFor(member)
    const passwords = [NEW_PASSWORD, 'bombe-is-a-machine', 'a-moth-in-relay-70']
    const codes = await Promise.all(passwords.map((password) => reset(token, password)))
    expect(codes.filter((code) => code === null)).toHaveLength(1)
    const works = await Promise.all(passwords.map((password) => signsIn(member, password)))
    expect(works).toEqual(codes.map((code) => code === null))
  })

  it('works for an hour', async () => {
    const [one, two] = [
      await newMember(cairn, workspace, 'viewer'),
      await newMember(cairn, workspace, 'viewer'),
    ]
    const [first, second] = [await linkFor(one), await linkFor(two)]
    now += HOUR_MS - 1
    expect([await find(second), await reset(first)]).toEqual([null, null])
    now += 1
    expect([await find(second), await reset(second)]).toEqual(['link_not_found', 'link_not_found'])
    expect(await reset(await linkFor(two))).toBe(null)
  })

  it('is voided when another is created for the same person, by anyone', async () => {
    const member = await newMember(cairn, workspace, 'viewer')
    const other = await newMember(cairn, workspace, 'viewer')
    const kept = await linkFor(other)
    const first = await linkFor(member)
    const second = await linkFor(member, await signUp(cairn, workspace, 'admin'))
    expect([await find(first), await find(second), await find(kept)]).toEqual(['link_not_found', null, null])
    expect([await reset(first), await reset(second)]).toEqual(['link_not_found', null])
  })

  it('is found only by its token', async () => {
    const token = await linkFor(await newMember(cairn, workspace, 'viewer'))
    const others = [
      token.slice(0, -1),
      `${token}0`,
      token.toUpperCase(),
      token.replace('password_', 'setup_'),
    ]
    for (const other of [...others, owner.person_id, "' OR 1=1 --", '%']) {
      expect([other, await find(other)]).toEqual([other, 'link_not_found'])
    }
    const { error } = await nobody().findInvitation({ body: { token } })
    expect(error?.code).toBe('link_not_found')
    const setup = await nobody().findSetupLink({ body: { token } })
    expect(setup.error?.code).toBe('link_not_found')
  })

  it('ends the waiting after wrong guesses', async () => {
    const member = await newMember(cairn, workspace, 'viewer')
    for (const _ of Array(5)) expect(await signsIn(member, 'wrong')).toBe(false)
    await expect(signIn(cairn, member)).rejects.toThrow('429')
    expect(await reset(await linkFor(member))).toBe(null)
    expect(await signsIn(member, NEW_PASSWORD)).toBe(true)
  })

  it('accepts a password of 12 characters, and none of 11, and is still valid after that', async () => {
    const token = await linkFor(await newMember(cairn, workspace, 'viewer'))
    expect([await reset(token, 'x'.repeat(11)), await reset(token, 'x'.repeat(257))]).toEqual([
      'invalid_request',
      'invalid_request',
    ])
    expect(await reset(token, 'x'.repeat(12))).toBe(null)
  })
})

describe('the creator of a link', () => {
  it.each<[Role, Record<Role, unknown>]>([
    ['owner', { owner: TOKEN, admin: TOKEN, viewer: TOKEN }],
    ['admin', { owner: 'role_not_allowed', admin: TOKEN, viewer: TOKEN }],
    ['viewer', { owner: 'role_not_allowed', admin: 'role_not_allowed', viewer: 'role_not_allowed' }],
  ])('is in the role %s for the members that it manages', async (role, expected) => {
    const maker = await signUp(cairn, workspace, role)
    for (const [other, answer] of Object.entries(expected)) {
      const member = await newMember(cairn, workspace, other as Role)
      expect([other, await linkFor(member, maker)]).toEqual([other, answer])
    }
  })

  it('creates none for themselves, with which an open session would be worth a password', async () => {
    for (const role of ['owner', 'admin'] as const) {
      const maker = await signUp(cairn, workspace, role)
      expect(await linkFor(maker, maker)).toBe('own_password')
    }
  })

  it('creates none for a person who is not a member', async () => {
    const stranger = await signUp(cairn, await cairn.workspace(), 'viewer')
    expect(await linkFor(stranger)).toBe('member_not_found')
    expect(await linkFor({ person_id: 'unknown' })).toBe('member_not_found')
  })
})

describe('a member of several workspaces', () => {
  it('gets no link from a member who manages only one of them', async () => {
    const elsewhere = await cairn.workspace()
    for (const role of ['owner', 'admin', 'viewer'] as const) {
      const member = await newMember(cairn, workspace, 'viewer')
      await addMember(cairn, elsewhere, member, role)
      expect([role, await linkFor(member)]).toEqual([role, 'member_elsewhere'])
      expect(await signsIn(member, member.password)).toBe(true)
    }
  })

  it('gets none from an admin if it is an owner elsewhere, or the creator is only a viewer there', async () => {
    const elsewhere = await cairn.workspace()
    const admin = await signUp(cairn, workspace, 'admin')
    await addMember(cairn, elsewhere, admin, 'admin')
    const boss = await newMember(cairn, workspace, 'viewer')
    await addMember(cairn, elsewhere, boss, 'owner')
    expect(await linkFor(boss, admin)).toBe('member_elsewhere')

    const reader = await signUp(cairn, workspace, 'admin')
    await addMember(cairn, elsewhere, reader, 'viewer')
    const member = await newMember(cairn, workspace, 'viewer')
    await addMember(cairn, elsewhere, member, 'viewer')
    expect(await linkFor(member, reader)).toBe('member_elsewhere')
    expect(await linkFor(member, admin)).toEqual(TOKEN)
  })

  it('gets one from a member who manages all of them', async () => {
    const elsewhere = await cairn.workspace()
    const member = await newMember(cairn, workspace, 'admin')
    await addMember(cairn, elsewhere, member, 'owner')
    await addMember(cairn, elsewhere, owner, 'owner')
    expect(await reset(await linkFor(member))).toBe(null)
    expect(await signsIn(member, NEW_PASSWORD)).toBe(true)
  })

  it('that has joined another workspace since the link was created keeps its password', async () => {
    const member = await newMember(cairn, workspace, 'viewer')
    const token = await linkFor(member)
    const other = await signUp(cairn, await cairn.workspace(), 'owner')
    const invited = await other.client().createInvitation({ body: { email: member.email, role: 'owner' } })
    const own = browser(cairn, await signIn(cairn, member))
    await own.client().joinWorkspace({ body: { token: invited.data?.token ?? '' } })
    expect([await find(token), await reset(token)]).toEqual(['link_not_found', 'link_not_found'])
    expect([await signsIn(member, NEW_PASSWORD), await signsIn(member, member.password)]).toEqual([
      false,
      true,
    ])
  })
})

describe('a link ends permanently', () => {
  const removes = (by: SignedUp, { person_id }: Person) => by.client().removeMember({ path: { person_id } })
  const gives = (by: SignedUp, { person_id }: Person, role: Role) =>
    by.client().updateMember({ path: { person_id }, body: { role } })

  it.each<[string, (maker: SignedUp, member: Person) => Promise<unknown>]>([
    ['its maker is removed', (maker) => removes(owner, maker)],
    [
      'its maker is demoted, and promoted again',
      async (maker) => {
        await gives(owner, maker, 'viewer')
        await gives(owner, maker, 'admin')
      },
    ],
    [
      'the member is removed, and is one again',
      async (_maker, member) => {
        await removes(owner, member)
        await addMember(cairn, workspace, member, 'viewer')
      },
    ],
    [
      'the member becomes an owner, about whom its maker decides nothing',
      (_maker, member) => gives(owner, member, 'owner'),
    ],
    [
      'the member changes its password',
      async (_maker, member) => {
        const own = browser(cairn, await signIn(cairn, member))
        const body = { current_password: member.password, new_password: 'a-moth-in-relay-70' }
        await own.client().changePassword({ body })
      },
    ],
    [
      'an operator gives another password',
      async (_maker, { email }) => {
        await runCairn(['member', 'set-password', '--email', email], {
          environment: { DATABASE_URL: cairn.databaseUrl },
          stdin: 'a-moth-in-relay-70\n',
        })
      },
    ],
  ])('when %s', async (_name, end) => {
    const maker = await signUp(cairn, workspace, 'admin')
    const member = await newMember(cairn, workspace, 'viewer')
    const untouched = await newMember(cairn, workspace, 'viewer')
    const [token, kept] = [await linkFor(member, maker), await linkFor(untouched)]
    await end(maker, member)
    expect([await find(token), await reset(token)]).toEqual(['link_not_found', 'link_not_found'])
    expect(await signsIn(member, NEW_PASSWORD)).toBe(false)
    expect(await reset(kept)).toBe(null)
  })
})
