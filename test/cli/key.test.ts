// engines: sqlite, postgres

import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createWorkspace } from '../../server/cli/init.ts'
import { sqlitePath } from '../../server/storage/sqlite/store-files.ts'
import { type Cairn, newStore, startCairn, startCairnForTest, unmadeStore } from '../fixtures/cairn.ts'
import { runCairn, spawnCairn } from '../fixtures/command.ts'
import { engine } from '../fixtures/engine.ts'
import { storedText } from '../fixtures/store.ts'
import { within } from '../fixtures/within.ts'

type Workspace = Awaited<ReturnType<typeof newWorkspace>>

let cairn: Cairn
let workspace: Workspace

beforeAll(async () => {
  cairn = await startCairn()
  return cairn.stop
})

beforeEach(async () => {
  workspace = await newWorkspace(cairn)
})

async function newWorkspace({ databaseUrl }: Pick<Cairn, 'databaseUrl'>, name: string = randomUUID()) {
  return { ...(await createWorkspace(databaseUrl, { workspace: name, journey: 'Onboarding' })), name }
}

/** `cairn key ARGS` of the workspace. */
function key(command: string, ...args: string[]) {
  const whose = command === 'create' || command === 'list' ? ['--workspace', workspace.name] : []
  return runCairn(['key', command, ...whose, ...args], { environment: { DATABASE_URL: cairn.databaseUrl } })
}

/** Output of the command as JSON; it must succeed. */
async function keyJson(command: string, ...args: string[]) {
  const { code, stdout, stderr } = await key(command, ...args, '--json')
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toMatch(/^[[{].*[\]}]\n$/)
  return JSON.parse(stdout)
}

/** The current status of a request with the key. */
async function status(token: string): Promise<number> {
  const { response } = await cairn.client(token).initializeCustomer({
    body: {
      client_customer_id: 'user-1',
      journey_id: workspace.journey_id,
      customer_type: 'contact',
      customer_name: 'Ada',
    },
  })
  // A publishable key does not learn that the customer is new.
  return response.status === 201 ? 200 : response.status
}

const instant = expect.stringMatching(/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

describe('cairn key create', () => {
  it('creates a secret key that works immediately', async () => {
    const made = await keyJson('create', '--kind', 'secret', '--name', 'Backend')
    expect(made).toEqual({
      key_id: expect.stringMatching(/^key_\w{26}$/),
      kind: 'secret',
      name: 'Backend',
      last_four: made.key.slice(-4),
      state: 'active',
      publishable_key: null,
      allowed_origins: [],
      rate_limit: null,
      created_at: instant,
      last_used_at: null,
      expires_at: null,
      revoked_at: null,
      key: expect.stringMatching(/^sk_\w{49}$/),
    })
    expect(await status(made.key)).toBe(200)
    expect((await cairn.client(made.key).listEvents()).response.status).toBe(200)
  })

  it('creates a publishable key with origins, a rate and an expiry', async () => {
    const origins = ['--origin', 'https://a.example.com', '--origin', 'http://localhost:8080']
    const limits = ['--rate-limit', '2', '--expires-in', '30d']
    const made = await keyJson('create', '--kind', 'publishable', '--name', 'Shop', ...origins, ...limits)
    expect(made).toMatchObject({
      kind: 'publishable',
      publishable_key: made.key,
      allowed_origins: ['https://a.example.com', 'http://localhost:8080'],
      rate_limit: 2,
      key: expect.stringMatching(/^pk_\w{49}$/),
    })
    expect(Date.parse(made.expires_at) - Date.parse(made.created_at)).toBe(30 * 86_400_000)
    const reply = await cairn.fetch('/events/create', {
      method: 'POST',
      headers: { 'x-service-key': made.key, origin: 'https://b.example.com' },
    })
    expect(await reply.json()).toMatchObject({ code: 'origin_not_allowed' })
    expect(await status(made.key)).toBe(200)
    const { error } = await cairn.client(made.key).listEvents()
    expect(error?.code).toBe('secret_key_required')
  })

  it('prints the key for people too', async () => {
    const { stdout, stderr } = await key('create', '--kind', 'secret', '--name', 'Backend')
    expect(stdout).toMatch(/^key_id {2}key_\w{26}\nkey {5}sk_\w{49}\n$/)
    expect(stderr).toBe('')
  })

  it('refuses a missing or unknown kind, and origins of a secret key', async () => {
    const name = ['--name', 'A']
    const refused = await Promise.all([
      key('create', ...name),
      key('create', ...name, '--kind', 'public'),
      key('create', ...name, '--kind', 'secret', '--origin', 'https://a.example.com'),
    ])
    for (const answer of refused) {
      expect(answer).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/--(kind|origin)/) })
    }
    expect(await keyJson('list')).toHaveLength(2)
  })
})

describe('cairn key list', () => {
  it('lists the keys of the workspace, oldest first, and no secret', async () => {
    const listed = await keyJson('list')
    expect(listed).toMatchObject([
      { kind: 'secret', name: 'First secret key', state: 'active', publishable_key: null },
      { kind: 'publishable', name: 'First publishable key', publishable_key: workspace.publishable_key },
    ])
    const { stdout } = await key('list')
    expect(stdout.trim().split('\n')).toEqual([
      expect.stringMatching(/^KEY_ID +KIND +ENDS +STATE +LAST USED +EXPIRES +NAME$/),
      expect.stringMatching(
        /^key_\w{26} {2}secret {7}…\w{4} {2}active {2}never {6}never {4}First secret key$/,
      ),
      expect.stringMatching(
        /^key_\w{26} {2}publishable {2}…\w{4} {2}active {2}never {6}never {4}First publishable key$/,
      ),
    ])
  })

  it('does not create a store if there is none, and says so', async () => {
    const DATABASE_URL = await unmadeStore()
    for (let time = 0; time < 2; time += 1) {
      const { code, stderr } = await runCairn(['key', 'list'], { environment: { DATABASE_URL } })
      expect([code, stderr]).toEqual([3, expect.stringContaining('there is no store')])
    }
    if (engine === 'sqlite') expect(existsSync(sqlitePath(DATABASE_URL))).toBe(false)
  })

  it('asks which workspace if there are several', async () => {
    const databaseUrl = await newStore()
    const key = (...args: string[]) =>
      runCairn(['key', ...args], { environment: { DATABASE_URL: databaseUrl } })
    const listed = async (...args: string[]) => JSON.parse((await key('list', '--json', ...args)).stdout)
    const create = ['create', '--kind', 'secret', '--name', 'A']
    await newWorkspace({ databaseUrl }, 'Example Ltd')
    expect(await key(...create)).toMatchObject({ code: 0 })
    expect(await listed()).toHaveLength(3)
    await newWorkspace({ databaseUrl }, 'Other')
    const stderr = 'cairn: choose a workspace with --workspace: "Example Ltd", "Other"\n'
    for (const refused of [await key('list'), await key(...create)]) {
      expect(refused).toMatchObject({ code: 2, stdout: '', stderr })
    }
    expect(await listed('--workspace', 'Other')).toHaveLength(2)
    expect(await key(...create, '--workspace', 'Other')).toMatchObject({ code: 0 })
    expect(await listed('--workspace', 'Other')).toHaveLength(3)
    expect(await listed('--workspace', 'Example Ltd')).toHaveLength(3)
    const unknown = await key('list', '--workspace', 'Third')
    expect(unknown).toMatchObject({ code: 3, stdout: '', stderr: 'cairn: no workspace has this name\n' })
  })

  it('says what to do if there is no workspace', async () => {
    const environment = { DATABASE_URL: await newStore() }
    expect(await runCairn(['key', 'list'], { environment })).toMatchObject({
      code: 3,
      stdout: '',
      stderr: 'cairn: there is no workspace yet; create one with cairn init\n',
    })
  })
})

describe('cairn key rotate', () => {
  it('creates a key like the old one; both work during the grace period, then only the new one', async () => {
    const origins = ['--origin', 'https://a.example.com']
    const old = await keyJson(
      'create',
      '--kind',
      'publishable',
      '--name',
      'Shop',
      '--rate-limit',
      '900',
      ...origins,
    )
    const made = await keyJson('rotate', old.key_id, '--grace', '1s')
    const { name, kind, allowed_origins, rate_limit } = old
    expect(made).toMatchObject({ name, kind, allowed_origins, rate_limit, expires_at: null, state: 'active' })
    expect(made.key).not.toBe(old.key)
    expect(await status(made.key)).toBe(200)

    const again = await keyJson('rotate', made.key_id)
    expect(await Promise.all([status(made.key), status(again.key)])).toEqual([200, 200])
    const listed = await keyJson('list')
    const { expires_at } = listed.find(({ key_id }: { key_id: string }) => key_id === made.key_id)
    expect(Date.parse(expires_at) - Date.parse(again.created_at)).toBe(24 * 3_600_000)

    await within(2, async () => expect(await status(old.key)).toBe(401))
    expect(await status(again.key)).toBe(200)
  })

  it('--grace 0s lets the old key end at once', async () => {
    const old = await keyJson('create', '--kind', 'secret', '--name', 'Backend')
    expect(await status(old.key)).toBe(200)
    const made = await keyJson('rotate', old.key_id, '--grace', '0s')
    expect(await status(made.key)).toBe(200)
    await within(1, async () => expect(await status(old.key)).toBe(401))
    const stderr = `cairn: ${old.key_id} has expired or was revoked; create a new key instead\n`
    expect(await key('rotate', old.key_id)).toMatchObject({ code: 3, stdout: '', stderr })
    expect(await keyJson('list')).toHaveLength(4)
  })

  it('refuses an unknown key and an invalid grace period', async () => {
    const [unknown, wrong] = await Promise.all([
      key('rotate', 'key_unknown'),
      key('rotate', 'key_unknown', '--grace', 'soon'),
    ])
    const stderr = 'cairn: the key key_unknown does not exist; cairn key list shows all keys\n'
    expect(unknown).toMatchObject({ code: 3, stdout: '', stderr })
    expect(wrong).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('90s, 15m, 24h or 30d'),
    })
  })
})

describe('cairn key revoke', () => {
  it('ends a key within a second, permanently', async () => {
    const made = await keyJson('create', '--kind', 'secret', '--name', 'Backend')
    expect(await status(made.key)).toBe(200)
    const environment = { DATABASE_URL: cairn.databaseUrl }
    const { stdout } = await spawnCairn(['key', 'revoke', made.key_id, '--json'], { environment }).ended
    const revoked = JSON.parse(stdout)
    await within(1, async () => expect(await status(made.key)).toBe(401))
    expect(revoked).toMatchObject({ key_id: made.key_id, state: 'revoked', revoked_at: instant })
    expect(await keyJson('revoke', made.key_id)).toMatchObject({ revoked_at: revoked.revoked_at })
    expect(await key('rotate', made.key_id)).toMatchObject({ code: 3, stdout: '' })
    expect(await status(workspace.secret_key)).toBe(200)
    const unknown = await key('revoke', 'key_unknown', '--json')
    expect(unknown).toMatchObject({ code: 3, stdout: '' })
  })
})

describe('a secret key', () => {
  it('is printed once and is in no file', async () => {
    const alone = await startCairnForTest()
    const workspace = await newWorkspace(alone)
    const environment = { DATABASE_URL: alone.databaseUrl }
    const key = (...args: string[]) => runCairn(['key', ...args], { environment })
    const keyJson = async (...args: string[]) => JSON.parse((await key(...args, '--json')).stdout)
    const made = await keyJson('create', '--kind', 'secret', '--name', 'Backend')
    const rotated = await keyJson('rotate', made.key_id)
    expect((await alone.client(rotated.key).listEvents()).response.status).toBe(200)
    const secrets = [workspace.secret_key, made.key, rotated.key].map((token: string) => token.slice(3, -6))
    const printed = await Promise.all([
      key('list'),
      key('list', '--json'),
      key('revoke', made.key_id),
      key('revoke', made.key_id, '--json'),
      key('rotate', rotated.key_id, '--json'),
    ])
    const stored = await storedText(alone.databaseUrl)
    for (const secret of secrets) {
      for (const { code, stdout, stderr } of printed) {
        expect(code).toBe(0)
        expect(stdout + stderr).not.toContain(secret)
      }
      expect(stored.includes(secret)).toBe(false)
      expect(JSON.stringify(alone.log)).not.toContain(secret)
    }
    expect(stored.includes(workspace.publishable_key)).toBe(true)
  })
})
