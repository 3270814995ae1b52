// engines: sqlite, postgres

import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import type { OperationRequest } from '../../client/person.ts'
import { createWorkspace } from '../../server/cli/init.ts'
import { inStore } from '../../server/cli/store.ts'
import { makeSetupLink } from '../../server/setup-link.ts'
import { type Cairn, startCairnForTest, temporaryFolder } from '../fixtures/cairn.ts'
import { startChildServer } from '../fixtures/child-server.ts'
import { type Ended, runCairn } from '../fixtures/command.ts'
import { browser, newEmail, newPerson, OWN_PAGE, signIn } from '../fixtures/people.ts'
import { codeOf } from './code-of.ts'

const HOUR_MS = 3_600_000

let now: number
let cairn: Cairn

beforeEach(async () => {
  now = Date.parse('2026-11-20T12:00:00Z')
  cairn = await startCairnForTest({ now: () => now })
})

type Setup = OperationRequest<'setUp'>['body']

function tokenOf(link = ''): string {
  const [, token = ''] =
    /^http:\/\/127\.0\.0\.1:\d+\/admin\/setup#token=(setup_[0-9A-Za-z]{43})$/.exec(link) ?? []
  expect(token, link).not.toBe('')
  return token
}

/** A link from the command line, for the workspace or for a new one. */
async function newToken(workspace_id: string | null = null): Promise<string> {
  const link = { workspace_id, baseUrl: cairn.url, now_ms: now }
  return tokenOf(await inStore(cairn.databaseUrl, (db) => makeSetupLink(db, link)))
}

const nobody = () => browser(cairn, OWN_PAGE).client()

/** The fields of the form. */
function form(token: string, change: Partial<Setup> = {}): Setup {
  const person = { name: 'Grace Hopper', email: newEmail(), password: 'nine-lives-of-a-moth' }
  return { token, ...person, ...change }
}

const find = (token: string) => codeOf(nobody().findSetupLink({ body: { token } }))
const setUp = (body: Setup) => codeOf(nobody().setUp({ body }))

/** The browser that has completed the setup. */
async function browserAfter(body: Setup) {
  const { error, response } = await nobody().setUp({ body })
  if (error) throw new Error(error.detail)
  const [cookie = ''] = response.headers.getSetCookie()[0]?.split(';') ?? []
  return browser(cairn, { cookie, ...OWN_PAGE })
}

describe('getSetup', () => {
  it('says without a credential whether anyone has an account, with a workspace or without', async () => {
    const told = async () => (await (await cairn.fetch('/setup')).json()) as unknown
    expect(await told()).toEqual({ has_accounts: false })
    await createWorkspace(cairn.databaseUrl, { workspace: 'Acme', journey: 'Onboarding' })
    expect(await told()).toEqual({ has_accounts: false })
    await newPerson(cairn)
    expect(await told()).toEqual({ has_accounts: true })
  })
})

describe('the link of a new store', () => {
  it('creates person, workspace and journey, and signs the person in', async () => {
    const token = tokenOf(cairn.setupLink)
    const found = await nobody().findSetupLink({ body: { token } })
    expect(found.data).toEqual({ workspace_name: null, expires_at: '2026-11-20T13:00:00.000Z' })

    const body = form(token, { workspace_name: 'Acme', journey_name: 'Onboarding' })
    const { data, response } = await nobody().setUp({ body })
    expect(data).toEqual({
      person: { person_id: expect.any(String), name: body.name, email: body.email },
      workspaces: [{ workspace_id: expect.any(String), name: 'Acme', role: 'owner', status: 'active' }],
      owners_make_workspaces: true,
      created_at: '2026-11-20T12:00:00.000Z',
      expires_at: '2026-12-04T12:00:00.000Z',
    })
    const [cookie = ''] = response.headers.getSetCookie()[0]?.split(';') ?? []
    const client = browser(cairn, { cookie, ...OWN_PAGE }).client()
    expect((await client.getSession()).data).toEqual(data)
    expect((await client.listJourneys()).data?.data).toMatchObject([{ name: 'Onboarding', status: 'active' }])
    expect((await client.listMembers()).data?.data).toMatchObject([{ email: body.email, role: 'owner' }])
    expect((await client.listServiceKeys()).data?.data).toEqual([])
  })

  it('creates no journey if none is named', async () => {
    const { client } = await browserAfter(form(tokenOf(cairn.setupLink), { workspace_name: 'Acme' }))
    expect((await client().listJourneys()).data?.data).toEqual([])
  })

  it('sets the person’s password, with which they sign in again', async () => {
    const body = form(tokenOf(cairn.setupLink), { workspace_name: 'Acme' })
    await browserAfter(body)
    const { client } = browser(cairn, await signIn(cairn, body))
    expect((await client().getSession()).data?.person).toMatchObject({ name: body.name, email: body.email })
  })

  it('works once', async () => {
    const token = tokenOf(cairn.setupLink)
    expect(await setUp(form(token, { workspace_name: 'Acme' }))).toBe(null)
    expect(await find(token)).toBe('link_not_found')
    expect(await setUp(form(token, { workspace_name: 'Babbage' }))).toBe('link_not_found')
  })

  it('works for one of two requests at once', async () => {
    const token = tokenOf(cairn.setupLink)
    const forms = ['A', 'B', 'C'].map((workspace_name) => form(token, { workspace_name }))
    const answers = await Promise.all(forms.map((body) => nobody().setUp({ body })))
    const codes = answers.map(({ error, response }) => error?.code ?? response.status).sort()
    expect(codes).toEqual([201, 'link_not_found', 'link_not_found'])
    const signedIn = await Promise.all(forms.map((body) => signIn(cairn, body).catch(() => undefined)))
    expect(signedIn.filter(Boolean)).toHaveLength(1)
  })

  it('works for an hour', async () => {
    const token = tokenOf(cairn.setupLink)
    now += HOUR_MS - 1
    expect(await find(token)).toBe(null)
    now += 1
    expect(await find(token)).toBe('link_not_found')
    expect(await setUp(form(token, { workspace_name: 'Acme' }))).toBe('link_not_found')
    const next = await newToken()
    now += HOUR_MS - 1
    expect(await setUp(form(next, { workspace_name: 'Acme' }))).toBe(null)
  })

  it('is valid until the next one is created', async () => {
    const first = tokenOf(cairn.setupLink)
    const second = await newToken()
    const third = await newToken()
    expect([await find(first), await find(second)]).toEqual(['link_not_found', 'link_not_found'])
    expect(await setUp(form(second, { workspace_name: 'Acme' }))).toBe('link_not_found')
    expect(await setUp(form(third, { workspace_name: 'Acme' }))).toBe(null)
  })

  it('is found only by its token', async () => {
    const token = tokenOf(cairn.setupLink)
    for (const other of [
      token.toUpperCase(),
      token.slice(0, -1),
      `${token}0`,
      token.slice(6),
      'setup_',
      "'",
    ]) {
      expect([other, await find(other)]).toEqual([other, 'link_not_found'])
    }
    expect(await find(token)).toBe(null)
  })
})

describe('the link of a new store, when cairn init has created workspaces in the meantime', () => {
  const init = (workspace: string) => {
    return createWorkspace(cairn.databaseUrl, { workspace, journey: 'Onboarding' })
  }

  it('is for the only one, and creates its first owner and no other workspace', async () => {
    const token = tokenOf(cairn.setupLink)
    const { workspace_id } = await init('Acme')
    const found = await nobody().findSetupLink({ body: { token } })
    expect(found.data).toEqual({ workspace_name: 'Acme', expires_at: '2026-11-20T13:00:00.000Z' })
    // A visitor who opened the page earlier, and was asked for a name, does not create a second one.
    expect(await setUp(form(token, { workspace_name: 'Babbage' }))).toBe('workspace_exists')

    const { client } = await browserAfter(form(token))
    const { data } = await client().getSession()
    expect(data?.workspaces).toEqual([{ workspace_id, name: 'Acme', role: 'owner', status: 'active' }])
    expect((await client().listJourneys()).data?.data).toMatchObject([{ name: 'Onboarding' }])
    expect((await client().listServiceKeys()).data?.data).toHaveLength(2)
  })

  it('is not valid if there are several: cairn setup-link says which', async () => {
    const token = tokenOf(cairn.setupLink)
    await init('Acme')
    expect(await find(token)).toBe(null)
    await init('Babbage')
    expect(await find(token)).toBe('link_not_found')
    expect(await setUp(form(token))).toBe('link_not_found')
    expect(await setUp(form(token, { workspace_name: 'Third' }))).toBe('link_not_found')
  })

  it('is not valid if there is a member: its holder may not join them', async () => {
    const token = tokenOf(cairn.setupLink)
    await init('Acme')
    const person = ['--email', 'ada@example.com', '--name', 'Ada']
    const environment = { DATABASE_URL: cairn.databaseUrl }
    const added = await runCairn(['member', 'add', ...person], {
      environment,
      stdin: 'enigma-is-a-machine\n',
    })
    expect(added).toMatchObject({ code: 0, stderr: '' })
    expect(await find(token)).toBe('link_not_found')
    expect(await setUp(form(token))).toBe('link_not_found')
  })

  it('creates one owner if two use it at once', async () => {
    const token = tokenOf(cairn.setupLink)
    await init('Acme')
    const codes = await Promise.all([setUp(form(token)), setUp(form(token))])
    expect(codes.sort()).toEqual(['link_not_found', null])
  })
})

describe('a setup that is refused', () => {
  it('leaves the link valid and nothing half created', async () => {
    const { email } = await newPerson(cairn)
    const token = await newToken()
    const journey_name = 'Onboarding'
    const good = form(token, { workspace_name: 'Acme', journey_name })
    const { workspace_name: _, ...unnamed } = good
    expect(await setUp({ ...good, email: email.toUpperCase() })).toBe('person_exists')
    expect(await setUp(unnamed)).toBe('workspace_name_required')

    expect(await find(token)).toBe(null)
    // Neither the person nor the workspace exists yet.
    const { client } = await browserAfter(good)
    const [workspace] = (await client().getSession()).data?.workspaces ?? []
    expect(workspace).toMatchObject({ name: 'Acme', role: 'owner' })
    expect((await client().listJourneys()).data?.data).toHaveLength(1)
    expect((await client().listMembers()).data?.data).toHaveLength(1)
    const audited = (await client().listAuditLog()).data?.data.map(({ action }) => action)
    expect(audited?.sort()).toEqual(['journey_created', 'member_joined', 'signed_in', 'workspace_created'])
  })

  it('is one with a password of 11 characters; 12 are accepted, and 256, and not 257', async () => {
    const token = await newToken()
    const body = (password: string) => form(token, { password, workspace_name: randomUUID() })
    const [short, long] = ['must NOT have fewer than 12 characters', 'must NOT have more than 256 characters']
    for (const [password, detail] of [
      ['', short],
      ['0123456789a', short],
      ['👾'.repeat(11), short],
      ['x'.repeat(257), long],
    ] as const) {
      const { error } = await nobody().setUp({ body: body(password) })
      expect(error).toMatchObject({ status: 400, errors: [{ pointer: '/password', detail }] })
    }
    expect(await setUp(body('0123456789ab'))).toBe(null)
    const { workspace_id } = await createWorkspace(cairn.databaseUrl, { workspace: 'Acme', journey: 'First' })
    const longest = form(await newToken(workspace_id), { password: '👾'.repeat(256) })
    expect(await setUp(longest)).toBe(null)
    await expect(signIn(cairn, longest)).resolves.toBeDefined()
    await expect(signIn(cairn, { ...longest, password: '👾'.repeat(255) })).rejects.toThrow('401')
  })
})

describe('the link for an existing workspace', () => {
  it('creates an owner of it, and a journey if one is named', async () => {
    const { workspace_id } = await createWorkspace(cairn.databaseUrl, { workspace: 'Acme', journey: 'First' })
    const token = await newToken(workspace_id)
    const found = await nobody().findSetupLink({ body: { token } })
    expect(found.data).toMatchObject({ workspace_name: 'Acme' })
    expect(await setUp(form(token, { workspace_name: 'Acme' }))).toBe('workspace_exists')
    expect(await setUp(form(token, { workspace_name: 'Other' }))).toBe('workspace_exists')

    const { client } = await browserAfter(form(token, { journey_name: 'Second' }))
    const session = await client().getSession()
    expect(session.data?.workspaces).toEqual([
      { workspace_id, name: 'Acme', role: 'owner', status: 'active' },
    ])
    const journeys = await client().listJourneys()
    expect(journeys.data?.data.map(({ name }) => name).sort()).toEqual(['First', 'Second'])
  })
})

describe('a server', () => {
  const link = /http:\/\/[^ ]+#token=setup_[0-9A-Za-z]{43}/g

  /** Starts `cairn serve`, does something, and stops it. @returns everything that it printed */
  async function serveOnce(databaseUrl: string, work: (url: string) => Promise<void> = async () => {}) {
    const server = await startChildServer({ databaseUrl, environment: { LOG_LEVEL: 'trace' } })
    await work(server.url)
    const { stdout, stderr }: Ended = await server.end('SIGTERM')
    // The link is not printed to the log, which is stored and read by others.
    expect(stdout).not.toMatch(link)
    return { stdout, stderr }
  }

  it('prints a link if the store is empty, and never again', async () => {
    const databaseUrl = `sqlite:${join(temporaryFolder(), 'cairn.db')}`
    const first = (await serveOnce(databaseUrl)).stderr.match(link) ?? []
    expect(first).toHaveLength(1)

    const environment = { DATABASE_URL: databaseUrl, PORT: '3999' }
    const made = await runCairn(['setup-link'], { environment })
    expect(made).toMatchObject({ code: 0, stderr: '' })
    const token = tokenOf(made.stdout.trim())
    expect(made.stdout).toContain('http://127.0.0.1:3999/')
    let printed = ''
    const { stdout, stderr } = await serveOnce(databaseUrl, async (url) => {
      const setUp = (token: string) =>
        fetch(`${url}/v1/setup`, {
          method: 'POST',
          headers: { ...OWN_PAGE, 'content-type': 'application/json' },
          body: JSON.stringify(form(token, { workspace_name: 'Acme' })),
        })
      // The store is still empty: this start has created another link, which voids earlier ones.
      expect((await setUp(tokenOf(first[0]))).status).toBe(404)
      expect((await setUp(token)).status).toBe(404)
      const again = await runCairn(['setup-link', '--json'], { environment })
      printed = JSON.parse(again.stdout).link
      expect((await setUp(tokenOf(printed))).status).toBe(201)
    })
    expect(stderr.match(link)).toHaveLength(1)
    expect(stdout + stderr).not.toContain(tokenOf(printed))
    expect((await serveOnce(databaseUrl)).stderr).toBe('')
  })

  it('prints none if a workspace was created on the command line', async () => {
    const databaseUrl = `sqlite:${join(temporaryFolder(), 'cairn.db')}`
    await createWorkspace(databaseUrl, { workspace: 'Acme', journey: 'Onboarding' })
    expect((await serveOnce(databaseUrl)).stderr).not.toMatch(link)
  })

  it('writes the token of a link into no line of the log', async () => {
    const token = tokenOf(cairn.setupLink)
    await find(token)
    await setUp(form(token, { workspace_name: 'Acme' }))
    await setUp(form(token, { workspace_name: 'Acme' }))
    await expect.poll(() => cairn.log.length).toBeGreaterThanOrEqual(3)
    expect(JSON.stringify(cairn.log)).not.toContain(token.slice(10, 30))
  })
})
