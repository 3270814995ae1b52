// engines: sqlite, postgres

import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createWorkspace } from '../../server/cli/init.ts'
import { type Cairn, newStore, startCairn, temporaryFolder } from '../fixtures/cairn.ts'
import { runCairn, spawnCairn } from '../fixtures/command.ts'
import { browser, newEmail, type SignedUp, signIn, signUp } from '../fixtures/people.ts'
import { connectTo } from '../fixtures/store.ts'
import { within } from '../fixtures/within.ts'

const PASSWORD = 'enigma-is-a-machine'

let cairn: Cairn
let workspace: string
let workspace_id: string
let owner: SignedUp
/** An email that nobody has yet, and the options that make somebody with it. */
let email: string
let alan: string[]

beforeAll(async () => {
  cairn = await startCairn()
  return cairn.stop
})

beforeEach(async () => {
  workspace = randomUUID()
  const names = { workspace, journey: 'Onboarding' }
  workspace_id = (await createWorkspace(cairn.databaseUrl, names)).workspace_id
  owner = await signUp(cairn, { workspace_id }, 'owner')
  email = newEmail()
  alan = ['--email', email, '--name', 'Alan Turing']
})

/** Runs `cairn member ARGS` next to the server. @param stdin the password, as typed */
function member(args: string[], stdin?: string) {
  const environment = { DATABASE_URL: cairn.databaseUrl }
  return runCairn(['member', ...args], { environment, ...(stdin !== undefined && { stdin }) })
}

/** `cairn member add ARGS` in the workspace. */
function add(args: string[], stdin = `${PASSWORD}\n`) {
  return member(['add', '--workspace', workspace, ...args], stdin)
}

/** The members as listed by the command. */
async function listed() {
  const { code, stdout, stderr } = await member(['list', '--workspace', workspace, '--json'])
  expect([code, stderr]).toEqual([0, ''])
  return JSON.parse(stdout)
}

describe('cairn member add', () => {
  it('adds a person who can sign in immediately, an owner by default', async () => {
    const started = { environment: { DATABASE_URL: cairn.databaseUrl }, stdin: `${PASSWORD}\n` }
    const args = ['member', 'add', '--workspace', workspace, ...alan, '--json']
    const made = await spawnCairn(args, started).ended
    expect(made).toMatchObject({ code: 0, stderr: '' })
    const { person_id, ...person } = JSON.parse(made.stdout)
    expect(person).toEqual({ name: 'Alan Turing', email, role: 'owner' })
    const { client } = browser(cairn, await signIn(cairn, { email, password: PASSWORD }))
    expect((await client().getSession()).data).toMatchObject({
      person: { person_id, name: 'Alan Turing', email },
      workspaces: [{ workspace_id, name: workspace, role: 'owner', status: 'active' }],
    })

    const ada = newEmail()
    const viewer = await add(['--email', ada, '--name', 'Ada', '--role', 'viewer'])
    expect(viewer).toMatchObject({ code: 0, stderr: '', stdout: 'Ada is now a viewer.\n' })
    expect(await listed()).toMatchObject([
      { email: ada, role: 'viewer' },
      { email, role: 'owner' },
      { email: owner.email, role: 'owner' },
    ])
    const { data } = await owner.client().listAuditLog({ query: { subject_id: person_id } })
    expect(data?.data.at(-1)).toMatchObject({
      action: 'member_added',
      actor: { kind: 'command_line', id: null, name: null },
      subject: { kind: 'person', id: person_id, name: 'Alan Turing' },
      address: null,
      before: null,
      after: { role: 'owner' },
      request_id: null,
    })
  })

  it('takes the first line as the password, whatever ends it, spaces included', async () => {
    const password = ' nine lives  of a möth '
    for (const [at, stdin] of [
      password,
      `${password}\n`,
      `${password}\r\n`,
      `${password}\nmore\n`,
    ].entries()) {
      const email = `ada-${at}@example.com`
      expect(await add(['--email', email, '--name', 'Ada'], stdin)).toMatchObject({ code: 0, stderr: '' })
      await expect(signIn(cairn, { email, password })).resolves.toBeDefined()
      await expect(signIn(cairn, { email, password: password.trim() })).rejects.toThrow('401')
    }
  })

  it('accepts a password of 12 characters and refuses one of 11; accepts 256 and refuses 257', async () => {
    for (const password of ['', '0123456789a', '👾'.repeat(11), 'x'.repeat(257)]) {
      expect(await add(alan, `${password}\n`)).toMatchObject({
        code: 2,
        stdout: '',
        stderr: 'cairn: the password must have 12 to 256 characters\n',
      })
    }
    expect(await add(alan, '')).toMatchObject({ code: 2, stdout: '' })
    expect(await listed()).toHaveLength(1)
    expect(await add(alan, '0123456789ab\n')).toMatchObject({ code: 0 })
    const ada = ['--email', newEmail(), '--name', 'Ada']
    expect(await add(ada, '👾'.repeat(256))).toMatchObject({ code: 0 })
  })

  it('lets an existing person keep name and password', async () => {
    const person = await signUp(cairn, await cairn.workspace(), 'owner')
    const options = ['--email', person.email.toUpperCase(), '--existing']
    const made = await add([...options, '--role', 'admin', '--json'], '')
    expect(made).toMatchObject({ code: 0, stderr: '' })
    const { person_id, name, email } = person
    expect(JSON.parse(made.stdout)).toEqual({ person_id, name, email, role: 'admin' })
    await expect(signIn(cairn, person)).resolves.toBeDefined()
    expect((await person.client().getSession()).data?.workspaces).toHaveLength(2)
  })

  it('adds nobody by an email alone, because emails are not verified', async () => {
    const person = await signUp(cairn, await cairn.workspace(), 'owner')
    const options = ['--email', person.email]
    expect(await add([...options, '--name', 'Ada'])).toMatchObject({
      code: 3,
      stdout: '',
      stderr: 'cairn: Grace Hopper already signs in with this email; use --existing to add that person\n',
    })
    expect(await add([...options, '--existing', '--name', 'Ada'])).toMatchObject({ code: 2, stdout: '' })
    expect(await add([...alan, '--existing'])).toMatchObject({
      code: 3,
      stdout: '',
      stderr: 'cairn: no person has this email\n',
    })
    expect(await listed()).toHaveLength(1)
    await expect(signIn(cairn, person)).resolves.toBeDefined()
  })

  it('refuses an existing member, a new person without a name, and an unknown role', async () => {
    expect(await add(['--email', owner.email, '--existing', '--role', 'viewer'])).toMatchObject({
      code: 3,
      stdout: '',
      stderr: 'cairn: the person is already a member\n',
    })
    expect(await add(['--email', email])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: 'cairn: --name is required for a new person\n',
    })
    expect(await add([...alan, '--role', 'king'])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('--role'),
    })
    expect(await listed()).toMatchObject([{ email: owner.email, role: 'owner' }])
  })

  it('refuses an email that the contract does not accept', async () => {
    const emails = [
      '',
      'ada',
      'ada@example',
      'a b@example.com',
      'ada@exämple.com',
      'ada@example..com',
      '.@b.co',
      `${'a'.repeat(65)}@example.com`,
      `ada@${'b'.repeat(64)}.com`,
    ]
    const refused = await Promise.all(emails.map((email) => add(['--email', email, '--name', 'Ada'])))
    for (const [at, answer] of refused.entries()) {
      const message = { code: 2, stdout: '', stderr: expect.stringContaining('--email') }
      expect([emails[at], answer]).toMatchObject([emails[at], message])
    }
    expect(await add(['--email', "a.d'a+b@x-1.example.com", '--name', 'Ada'])).toMatchObject({ code: 0 })
    expect(await listed()).toHaveLength(2)
  })

  it('asks which workspace if there are several, and adds nobody to one that does not exist', async () => {
    const DATABASE_URL = await newStore()
    const run = (...args: string[]) =>
      runCairn(['member', ...args], { environment: { DATABASE_URL }, stdin: PASSWORD })
    const listed = async (...args: string[]) => JSON.parse((await run('list', '--json', ...args)).stdout)
    await createWorkspace(DATABASE_URL, { workspace: 'Example Ltd', journey: 'Onboarding' })
    expect(await run('add', '--email', newEmail(), '--name', 'Ada')).toMatchObject({ code: 0 })
    expect(await listed()).toHaveLength(1)
    await createWorkspace(DATABASE_URL, { workspace: 'Other', journey: 'Onboarding' })
    expect(await run('add', ...alan)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: 'cairn: choose a workspace with --workspace: "Example Ltd", "Other"\n',
    })
    expect(await run('add', ...alan, '--workspace', 'Third')).toMatchObject({
      code: 3,
      stdout: '',
      stderr: 'cairn: no workspace has this name\n',
    })
    expect(await run('add', ...alan, '--workspace', 'Other')).toMatchObject({ code: 0 })
    expect(await listed('--workspace', 'Other')).toMatchObject([{ email }])
    expect(await listed('--workspace', 'Example Ltd')).toHaveLength(1)
  })

  it('says what to do if there is no workspace or no store', async () => {
    const environment = { DATABASE_URL: await newStore() }
    const empty = await runCairn(['member', 'add', ...alan], { environment, stdin: PASSWORD })
    expect(empty).toMatchObject({
      code: 3,
      stderr: 'cairn: there is no workspace yet; create one with cairn init\n',
    })
    const none = { DATABASE_URL: `sqlite:${join(temporaryFolder(), 'none.db')}` }
    const refused = await runCairn(['member', 'add', ...alan], { environment: none, stdin: PASSWORD })
    expect(refused).toMatchObject({
      code: 3,
      stdout: '',
      stderr: expect.stringContaining('there is no store at'),
    })
  })
})

describe('cairn member list', () => {
  it('shows all members, also if they fill more than a page', async () => {
    const { run } = await connectTo(cairn.databaseUrl)
    await run(`
      CREATE TEMP TABLE more AS WITH RECURSIVE counter (value) AS (
        SELECT 1 UNION ALL SELECT value + 1 FROM counter WHERE value < 1200) SELECT value FROM counter;
      INSERT INTO people SELECT 'per_' || value, 'Ada', value || '@example.com', CAST(value AS TEXT), '', 0, '' FROM more;
      INSERT INTO members SELECT '${workspace_id}', 'per_' || value, 'viewer', value FROM more`)
    const emails = (await listed()).map(({ email }: { email: string }) => email)
    const others = Array.from({ length: 1200 }, (_, index) => `${1200 - index}@example.com`)
    expect(emails).toEqual([owner.email, ...others])
  })

  it('lists the members, newest first, as the contract defines them', async () => {
    await add([...alan, '--role', 'admin'])
    const { data } = await owner.client().listMembers()
    expect(await listed()).toEqual(data?.data)
    const { stdout } = await member(['list', '--workspace', workspace])
    expect(stdout.trim().split('\n')).toEqual([
      expect.stringMatching(/^EMAIL +ROLE +JOINED +NAME$/),
      expect.stringMatching(new RegExp(`^${email} +admin +20\\S+Z {2}Alan Turing$`)),
      expect.stringMatching(/^\S+@example\.com +owner +20\S+Z {2}Grace Hopper$/),
    ])
  })
})

describe('cairn member set-password', () => {
  const set = (email: string, stdin = 'a-moth-in-relay-70\n') =>
    member(['set-password', '--email', email], stdin)

  it('lets the person sign in with the new password only, and ends all sessions', async () => {
    const second = browser(cairn, await signIn(cairn, owner))
    const other = await signUp(cairn, { workspace_id }, 'owner')
    expect(await set(owner.email.toUpperCase())).toMatchObject({
      code: 0,
      stderr: '',
      stdout: `The password of ${owner.name} has been changed.\n`,
    })
    for (const { client } of [owner, second]) {
      await within(1, async () => expect((await client().getSession()).response.status).toBe(401))
    }
    expect((await other.client().getSession()).response.status).toBe(200)
    await expect(signIn(cairn, owner)).rejects.toThrow('401')
    await expect(signIn(cairn, { ...owner, password: 'a-moth-in-relay-70' })).resolves.toBeDefined()
    const { data } = await other.client().listAuditLog({ query: { subject_id: owner.person_id } })
    expect(data?.data).toContainEqual(
      expect.objectContaining({
        action: 'password_changed',
        actor: { kind: 'command_line', id: null, name: null },
        address: null,
      }),
    )
  })

  it('refuses an unknown person and a short password, and changes nothing', async () => {
    expect(await set('nobody@example.com')).toMatchObject({
      code: 3,
      stdout: '',
      stderr: 'cairn: no person has this email\n',
    })
    expect(await set(owner.email, 'short\n')).toMatchObject({ code: 2, stdout: '' })
    expect((await owner.client().getSession()).response.status).toBe(200)
    await expect(signIn(cairn, owner)).resolves.toBeDefined()
  })
})

describe('a password', () => {
  it('is printed by no command', async () => {
    const answers = [
      await add([...alan, '--json']),
      await add(alan),
      await member(['set-password', '--email', email], `${PASSWORD}\n`),
      await member(['set-password', '--email', email], `${PASSWORD.slice(0, 11)}\n`),
      await member(['list', '--workspace', workspace, '--json']),
    ]
    for (const { stdout, stderr } of answers) {
      expect(stdout + stderr).not.toContain(PASSWORD.slice(0, 11))
      expect(stdout + stderr).not.toContain('argon2')
    }
  })
})
