// engines: sqlite, postgres

import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { OperationRequest } from '../../client/person.ts'
import { DAY_MS } from '../../server/domain/durations.ts'
import { type Cairn, startCairn, startCairnForTest, type Workspace } from '../fixtures/cairn.ts'
import { runCairn } from '../fixtures/command.ts'
import { type SignedUp, signUp } from '../fixtures/people.ts'
import { refusal, send } from '../fixtures/requests.ts'
import { storedText } from '../fixtures/store.ts'
import { within } from '../fixtures/within.ts'

let now = Date.parse('2026-11-20T12:00:00Z')
let shared: Cairn
let cairn: Cairn
let workspace: Workspace
let owner: SignedUp

beforeAll(async () => {
  shared = await startCairn({ now: () => now })
  return shared.stop
})
beforeEach(() => begin(shared))

/** Continues with a new workspace. */
async function begin(at: Cairn) {
  now = Date.parse('2026-11-20T12:00:00Z')
  cairn = at
  workspace = await cairn.workspace()
  owner = await signUp(cairn, workspace, 'owner')
}

type Creation = OperationRequest<'createServiceKey'>['body']
type Update = OperationRequest<'updateServiceKey'>['body']

/** Creates a key; returns it with its text. */
async function create(body: Partial<Creation> = {}) {
  const { data, error } = await owner
    .client()
    .createServiceKey({ body: { kind: 'publishable', name: 'Website', ...body } })
  if (error) throw new Error(error.detail)
  return { ...data, token: data.token ?? '' }
}

async function update(key_id: string, body: Update) {
  return await owner.client().updateServiceKey({ path: { key_id }, body })
}

async function listed() {
  const { data } = await owner.client().listServiceKeys({ query: { limit: 500 } })
  return data?.data ?? []
}

async function listedKey(key_id: string) {
  return (await listed()).find((key) => key.key_id === key_id)
}

/** The current response of the server to the key. */
async function status(key: string, origin?: string): Promise<number> {
  const body = JSON.stringify({
    client_customer_id: 'user-1',
    journey_id: workspace.journey_id,
    customer_type: 'contact',
    customer_name: 'Ada',
  })
  const headers = origin === undefined ? {} : { origin }
  const reply = await send(cairn, 'POST /customers/initialize', { key, body, headers })
  return reply.status === 201 ? 200 : reply.status
}

describe('a new key', () => {
  it('is valid immediately', async () => {
    const secret = await create({ kind: 'secret', name: 'Importer' })
    expect(secret).toEqual({
      key_id: expect.any(String),
      kind: 'secret',
      name: 'Importer',
      last_four: secret.token.slice(-4),
      token: expect.stringMatching(/^sk_/),
      allowed_origins: [],
      rate_limit: null,
      status: 'active',
      created_by: owner.name,
      created_at: '2026-11-20T12:00:00.000Z',
      last_used_at: null,
      expires_at: null,
      revoked_at: null,
    })
    expect(await status(secret.token)).toBe(200)
    expect((await cairn.client(secret.token).listEvents()).response.status).toBe(200)

    const publishable = await create({ allowed_origins: ['https://www.example.com'], rate_limit: 7 })
    expect(publishable).toMatchObject({
      kind: 'publishable',
      token: expect.stringMatching(/^pk_/),
      allowed_origins: ['https://www.example.com'],
      rate_limit: 7,
    })
    expect(await status(publishable.token, 'https://www.example.com')).toBe(200)
    expect(await status(publishable.token, 'https://evil.test')).toBe(403)
    expect((await cairn.client(publishable.token).listEvents()).error?.code).toBe('secret_key_required')
  })

  it('is only for the workspace in which it was created', async () => {
    const { token } = await create({ kind: 'secret' })
    const other = await cairn.workspace()
    const { data } = await cairn.client(token).listJourneys()
    expect(data?.data.map(({ journey_id }) => journey_id)).toEqual([workspace.journey_id])
    const { journey_id } = other
    expect((await cairn.client(token).getJourney({ path: { journey_id } })).response.status).toBe(404)
  })

  it('expires at the given instant', async () => {
    const expires_at = '2026-11-20T13:00:01+01:00'
    const { token, key_id, ...key } = await create({ kind: 'secret', expires_at })
    expect(key).toMatchObject({ status: 'active', expires_at: '2026-11-20T12:00:01.000Z' })
    now += 999
    expect([await status(token), (await listedKey(key_id))?.status]).toEqual([200, 'active'])
    now += 1
    expect([await status(token), (await listedKey(key_id))?.status]).toEqual([401, 'expired'])
  })

  it('is refused if it would be useless', async () => {
    const make = (body: object) =>
      owner.client().createServiceKey({ body: { kind: 'publishable', name: 'Website', ...body } })
    const origins = await make({ kind: 'secret', allowed_origins: ['https://www.example.com'] })
    expect(origins.error).toMatchObject({ status: 409, code: 'origins_for_secret_key' })
    const past = await make({ expires_at: '2026-11-20T12:00:00Z' })
    expect(past.error).toMatchObject({ status: 409, code: 'expires_at_in_past' })
    expect(await listed()).toHaveLength(2)
    expect((await make({ expires_at: '2026-11-20T12:00:00.001Z' })).response.status).toBe(201)
    expect((await make({ kind: 'secret', allowed_origins: [] })).response.status).toBe(201)
  })

  it.each([
    'https://www.example.com/',
    'https://www.example.com/a',
    'HTTPS://www.example.com',
    'https://WWW.example.com',
    'www.example.com',
    'https://*.example.com',
    'https://',
    'null',
    '*',
  ])('is refused with %j as an origin, which browsers never send', async (origin) => {
    const body: Creation = { kind: 'publishable', name: 'Website', allowed_origins: [origin] }
    const { error } = await owner.client().createServiceKey({ body })
    expect(error).toMatchObject({ status: 400, errors: [{ pointer: '/allowed_origins/0' }] })
  })
})

describe('the list of keys', () => {
  it('has all of them, newest first, page by page, with who created them', async () => {
    const made: string[] = []
    for (const name of ['a', 'b', 'c', 'd']) {
      now += 1000
      made.unshift((await create({ name })).key_id)
    }
    const keys = []
    let cursor: string | undefined
    do {
      const query = { limit: 4, ...(cursor && { cursor }) }
      const { data } = await owner.client().listServiceKeys({ query })
      keys.push(...(data?.data ?? []))
      cursor = data?.next_cursor ?? undefined
    } while (cursor)
    // Keys from `cairn init` have the time of this machine.
    const own = keys.filter(({ created_by }) => created_by !== null)
    expect(own.map(({ key_id }) => key_id)).toEqual(made)
    expect(new Set(own.map(({ created_by }) => created_by))).toEqual(new Set([owner.name]))
    expect(keys.map(({ name }) => name).sort()).toEqual([
      'First publishable key',
      'First secret key',
      'a',
      'b',
      'c',
      'd',
    ])
    const times = keys.map(({ created_at, key_id }) => created_at + key_id)
    expect(times).toEqual(times.toSorted().reverse())
  })

  it('shows publishable keys in full and the last four characters of secret ones', async () => {
    const secret = await create({ kind: 'secret' })
    const publishable = await create()
    expect(await listedKey(secret.key_id)).toEqual({ ...secret, token: null })
    expect(await listedKey(publishable.key_id)).toEqual(publishable)
  })

  it('shows when a key was last used', async () => {
    const { key_id, token } = await create()
    now += 5000
    expect(await status(token)).toBe(200)
    await expect.poll(async () => (await listedKey(key_id))?.last_used_at).toBe('2026-11-20T12:00:05.000Z')
  })
})

describe('a secret key', () => {
  it('is shown once, and the store has only its digest', async () => {
    const made = await create({ kind: 'secret' })
    const path = { key_id: made.key_id }
    const rotated = await owner.client().rotateServiceKey({ path, body: { grace_seconds: 60 } })
    const secrets = [made.token, rotated.data?.token ?? ''].map((token) => token.slice(3, -6))
    expect(secrets.map((secret) => secret.length)).toEqual([43, 43])
    expect(await status(made.token)).toBe(200)
    const shown = JSON.stringify([
      await listed(),
      (await update(made.key_id, { name: 'Other' })).data,
      (await owner.client().revokeServiceKey({ path })).data,
      (await owner.client().listAuditLog({ query: { limit: 500 } })).data,
      cairn.log,
    ])
    const stored = await storedText(cairn.databaseUrl)
    expect(stored).toContain(made.key_id)
    for (const secret of secrets) {
      expect(shown).not.toContain(secret)
      expect(stored.includes(secret)).toBe(false)
    }
  })
})

describe('a change of a key', () => {
  it('replaces what is sent, keeps the rest, and applies from the next request', async () => {
    const { key_id, token } = await create({ allowed_origins: ['https://a.example.com'], rate_limit: 900 })
    expect(await status(token, 'https://b.example.com')).toBe(403)
    const allowed_origins = ['https://b.example.com']
    const changed = await update(key_id, { allowed_origins })
    expect(changed.data).toMatchObject({ name: 'Website', allowed_origins, rate_limit: 900, token })
    expect(await status(token, 'https://b.example.com')).toBe(200)
    expect(await status(token, 'https://a.example.com')).toBe(403)

    await update(key_id, { allowed_origins: [], name: 'Shop' })
    expect(await status(token, 'https://a.example.com')).toBe(200)
    expect(await listedKey(key_id)).toMatchObject({ name: 'Shop', allowed_origins: [], rate_limit: 900 })
  })

  it('of its rate applies from the next request', async () => {
    const { key_id, token } = await create()
    expect((await Promise.all(Array.from({ length: 5 }, () => status(token)))).sort()).toEqual(
      Array(5).fill(200),
    )
    await update(key_id, { rate_limit: 1 })
    const limited = [await status(token), await status(token), await status(token)]
    expect(limited).toEqual([200, 200, 429])
    await update(key_id, { rate_limit: 0 })
    expect(await status(token)).toBe(200)
    await update(key_id, { rate_limit: 1 })
    await update(key_id, { rate_limit: null })
    expect(await status(token)).toBe(200)
    expect((await listedKey(key_id))?.rate_limit).toBe(null)
  })

  it('of its expiry applies from the next request, and can be reverted until then', async () => {
    const { key_id, token } = await create({ kind: 'secret' })
    expect(await status(token)).toBe(200)
    await update(key_id, { expires_at: '2026-11-20T12:00:00.001Z' })
    const again = await update(key_id, { expires_at: null })
    expect(again.data).toMatchObject({ status: 'active', expires_at: null })
    await update(key_id, { expires_at: '2026-11-20T12:00:00.001Z' })
    expect(await status(token)).toBe(200)
    now += 1
    expect(await status(token)).toBe(401)
  })

  it('is refused if the key would be useless, or is malformed, and changes nothing', async () => {
    const secret = await create({ kind: 'secret' })
    const origins = await update(secret.key_id, { name: 'x', allowed_origins: ['https://www.example.com'] })
    expect(origins.error).toMatchObject({ status: 409, code: 'origins_for_secret_key' })
    const past = await update(secret.key_id, { name: 'x', expires_at: '2026-11-20T12:00:00Z' })
    expect(past.error).toMatchObject({ status: 409, code: 'expires_at_in_past' })
    expect((await update(secret.key_id, {})).error).toMatchObject({ status: 400 })
    const unknown = JSON.parse('{"name": "x", "kind": "publishable", "token": "x"}')
    expect((await update(secret.key_id, unknown)).error?.errors?.map(({ pointer }) => pointer)).toEqual([
      '/kind',
      '/token',
    ])
    expect(await listedKey(secret.key_id)).toEqual({ ...secret, token: null })
    expect((await update('key_unknown', { name: 'x' })).error?.code).toBe('service_key_not_found')
  })
})

describe('a key that has expired or was revoked stays so', () => {
  const ways: [string, (key_id: string) => Promise<{ error?: unknown }>][] = [
    ['revoked', (key_id) => owner.client().revokeServiceKey({ path: { key_id } })],
    ['expired', (key_id) => update(key_id, { expires_at: new Date(now + 1).toISOString() })],
    [
      'rotated without grace',
      (key_id) => owner.client().rotateServiceKey({ path: { key_id }, body: { grace_seconds: 0 } }),
    ],
    [
      'rotated, after the grace period',
      (key_id) => owner.client().rotateServiceKey({ path: { key_id }, body: { grace_seconds: 1 } }),
    ],
  ]

  it.each(ways)('%s', async (_name, end) => {
    const { key_id, token } = await create({ kind: 'secret' })
    expect(await status(token)).toBe(200)
    // The use of a key is stored after the response, and is part of what is compared below.
    await expect.poll(async () => (await listedKey(key_id))?.last_used_at).not.toBe(null)
    expect((await end(key_id)).error).toBe(undefined)
    now += 1000
    const ended = await listedKey(key_id)
    for (const change of [{ expires_at: null }, { expires_at: '2999-01-01T00:00:00Z' }, { name: 'x' }]) {
      const { error } = await update(key_id, change)
      expect(error).toMatchObject({ status: 409, code: 'service_key_revoked' })
    }
    expect(await status(token)).toBe(401)
    expect(await listedKey(key_id)).toEqual(ended)
  })
})

describe('the rate of a key', () => {
  it('set by members is at most what the operator allows; operators may set any', async () => {
    await begin(await startCairnForTest({ now: () => now, rateLimit: 100, rateLimitMax: 900 }))
    const codeOf = async (rate_limit: number | null, of?: string) => {
      const body = { kind: 'secret', name: 'Importer', rate_limit } as const
      const { error } = of
        ? await update(of, { rate_limit })
        : await owner.client().createServiceKey({ body })
      return error && [error.status, error.code, error.detail]
    }
    const { key_id } = await create()
    for (const of of [undefined, key_id]) {
      for (const rate of [1, 900, null]) expect(await codeOf(rate, of)).toBe(undefined)
      for (const rate of [901, 1_000_000, 0]) {
        expect(await codeOf(rate, of)).toEqual([409, 'rate_limit_too_high', expect.stringContaining('900')])
      }
    }
    expect((await listedKey(key_id))?.rate_limit).toBe(null)

    const args = ['create', '--kind', 'secret', '--name', 'Import', '--rate-limit', '0', '--json']
    const made = await runCairn(['key', ...args], { environment: { DATABASE_URL: cairn.databaseUrl } })
    const theirs = JSON.parse(made.stdout)
    expect(theirs.rate_limit).toBe(0)
    // An operator's setting stays until a member changes it.
    const renamed = await update(theirs.key_id, { name: 'Import of 2024', rate_limit: 0 })
    expect(renamed.data).toMatchObject({ name: 'Import of 2024', rate_limit: 0 })
    expect(await codeOf(5, theirs.key_id)).toBe(undefined)
    expect(await codeOf(0, theirs.key_id)).toEqual([409, 'rate_limit_too_high', expect.any(String)])
  })
})

describe('a revoked key', () => {
  it('is refused at once, permanently', async () => {
    const { key_id, token } = await create({ kind: 'secret' })
    expect(await status(token)).toBe(200)
    const revoked = await owner.client().revokeServiceKey({ path: { key_id } })
    expect(await status(token)).toBe(401)
    expect(revoked.data).toMatchObject({
      status: 'revoked',
      revoked_at: '2026-11-20T12:00:00.000Z',
      token: null,
    })

    now += 1000
    expect((await owner.client().revokeServiceKey({ path: { key_id } })).data).toEqual(revoked.data)
    expect((await update(key_id, { expires_at: null })).error).toMatchObject({
      status: 409,
      code: 'service_key_revoked',
    })
    const rotated = await owner.client().rotateServiceKey({ path: { key_id }, body: { grace_seconds: 60 } })
    expect(rotated.error).toMatchObject({ status: 409, code: 'service_key_revoked' })
    expect(await status(token)).toBe(401)
    expect(await status(workspace.secret_key)).toBe(200)
  })

  it('is refused for requests concurrent with its revocation, once that is answered', async () => {
    const { key_id, token } = await create({ kind: 'secret' })
    const before = Array.from({ length: 20 }, () => status(token))
    const revoked = owner.client().revokeServiceKey({ path: { key_id } })
    const beside = Array.from({ length: 20 }, () => status(token))
    await revoked
    const after = await Promise.all(Array.from({ length: 20 }, () => status(token)))
    expect(after).toEqual(Array(20).fill(401))
    await Promise.all([...before, ...beside])
  })
})

describe('a rotated key', () => {
  const rotate = async (key_id: string, grace_seconds: number) => {
    const { data, error } = await owner
      .client()
      .rotateServiceKey({ path: { key_id }, body: { grace_seconds } })
    if (error) throw new Error(error.code)
    return { ...data, token: data.token ?? '' }
  }

  it('is valid together with the new one until the grace period is over', async () => {
    const rules = { allowed_origins: ['https://www.example.com'], rate_limit: 900 }
    const old = await create({ ...rules, name: 'Shop', expires_at: '2027-11-20T12:00:00Z' })
    const made = await rotate(old.key_id, 60)
    expect(made).toMatchObject({
      ...rules,
      name: 'Shop',
      kind: 'publishable',
      expires_at: null,
      status: 'active',
    })
    expect([made.key_id, made.token]).not.toEqual([old.key_id, old.token])
    expect((await listedKey(old.key_id))?.expires_at).toBe('2026-11-20T12:01:00.000Z')
    now += 59_999
    expect([await status(old.token), await status(made.token)]).toEqual([200, 200])
    now += 1
    expect([await status(old.token), await status(made.token)]).toEqual([401, 200])
    expect((await listedKey(old.key_id))?.status).toBe('expired')
  })

  it('is no longer valid at once without a grace period', async () => {
    const old = await create({ kind: 'secret' })
    expect(await status(old.token)).toBe(200)
    const made = await rotate(old.key_id, 0)
    expect([await status(old.token), await status(made.token)]).toEqual([401, 200])
    await expect(rotate(old.key_id, 0)).rejects.toThrow('service_key_revoked')
  })

  it('that expires earlier anyway keeps its expiry', async () => {
    const old = await create({ kind: 'secret', expires_at: '2026-11-20T12:00:10Z' })
    const made = await rotate(old.key_id, 60)
    expect(made.expires_at).toBe(null)
    expect((await listedKey(old.key_id))?.expires_at).toBe('2026-11-20T12:00:10.000Z')
  })

  it('has a grace period of at most 30 days', async () => {
    const old = await create({ kind: 'secret' })
    const path = { key_id: old.key_id }
    for (const grace_seconds of [2_592_001, -1]) {
      const { error } = await owner.client().rotateServiceKey({ path, body: { grace_seconds } })
      expect(error).toMatchObject({ status: 400, errors: [{ pointer: '/grace_seconds' }] })
    }
    await rotate(old.key_id, 2_592_000)
    const { expires_at } = (await listedKey(old.key_id)) ?? {}
    expect(Date.parse(expires_at ?? '') - now).toBe(30 * DAY_MS)
  })
})

describe('keys of the command line and of members', () => {
  it('are the same: each side sees and revokes those of the other', async () => {
    // With several workspaces the command requires a choice.
    await begin(await startCairnForTest({ now: () => now }))
    const environment = { DATABASE_URL: cairn.databaseUrl }
    const run = async (...args: string[]) =>
      JSON.parse((await runCairn(['key', ...args, '--json'], { environment })).stdout)
    const theirs = await run('create', '--kind', 'secret', '--name', 'Backend')
    expect(await listedKey(theirs.key_id)).toMatchObject({ name: 'Backend', created_by: null })
    expect(await status(theirs.key)).toBe(200)
    await owner.client().revokeServiceKey({ path: { key_id: theirs.key_id } })
    expect(await status(theirs.key)).toBe(401)

    const own = await create({ kind: 'secret' })
    expect(await run('list')).toContainEqual(expect.objectContaining({ key_id: own.key_id }))
    await run('revoke', own.key_id)
    await within(1, async () => expect(await status(own.token)).toBe(401))
    expect(await refusal(await send(cairn, 'GET /journeys', { key: own.token }))).toMatchObject({
      status: 401,
    })
  })
})
