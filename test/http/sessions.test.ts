// engines: sqlite, postgres

import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { HOUR_MS } from '../../server/domain/durations.ts'
import { tokenDigest } from '../../server/domain/tokens.ts'
import {
  type Cairn,
  type CairnOptions,
  startCairn,
  startCairnForTest,
  type Workspace,
} from '../fixtures/cairn.ts'
import { operations } from '../fixtures/contract/document.ts'
import { customerInJourney } from '../fixtures/customer.ts'
import { pausedExport } from '../fixtures/exported.ts'
import {
  addMember,
  browser,
  newMember,
  newPerson,
  OWN_PAGE,
  type Person,
  type SignedUp,
  signIn,
  signUp,
} from '../fixtures/people.ts'
import { head, openConnection, problemOf, refusal, send } from '../fixtures/requests.ts'
import { connectTo } from '../fixtures/store.ts'

let cairn: Cairn
let workspace: Workspace

beforeAll(async () => {
  cairn = await startCairn()
  workspace = await cairn.workspace()
  return cairn.stop
})

describe('an export without x-workspace-id', () => {
  const EVENTS = 300

  /** Starts an export of the person's only workspace, and does the rest as if the last check were too old. */
  async function exportWhile(change: (workspace: Workspace, person: SignedUp) => Promise<unknown>) {
    const { workspace, event } = await customerInJourney(cairn)
    // More than a connection buffers for a reader that does not read.
    const events = Array(50).fill({ ...event, custom_variables: 'x'.repeat(60_000) })
    for (let sent = 0; sent < EVENTS; sent += 50) await workspace.client.createEvents({ body: { events } })
    const person = await signUp(cairn, workspace, 'admin')
    const answer = await pausedExport(cairn, '/events/export', person.headers)
    onTestFinished(() => void answer.destroy())
    await change(workspace, person)
    const now = performance.now.bind(performance)
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + 2000)
    onTestFinished(() => clock.mockRestore())
    return await text(answer)
  }

  it('stays in its workspace when the person joins another one', async () => {
    const exported = await exportWhile(async (_workspace, person) =>
      addMember(cairn, await cairn.workspace(), person, 'owner'),
    )
    expect(JSON.parse(exported.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({ end: EVENTS })
  })

  it('is disconnected when the person is removed from its workspace', async () => {
    const exported = exportWhile(async (workspace, { person_id }) => {
      await addMember(cairn, await cairn.workspace(), { person_id }, 'owner')
      const owner = await signUp(cairn, workspace, 'owner')
      expect((await owner.fetch(`DELETE /members/${person_id}`)).status).toBe(204)
    })
    await expect(exported).rejects.toThrow('aborted')
  })
})

type Settings = Pick<CairnOptions, 'publicUrl' | 'trustedProxies'>

/** By their settings. */
const others = new Map<string, Promise<Cairn>>()

afterAll(async () => {
  for (const other of others.values()) await (await other).stop()
})

/** The server of these tests with the settings: `cairn` if there are none. */
async function cairnWith(settings: Settings): Promise<Cairn> {
  const name = JSON.stringify(settings)
  if (name === '{}') return cairn
  const other = others.get(name) ?? startCairn(settings)
  others.set(name, other)
  return await other
}

type Headers = Record<string, string>

/** The response to a sign-in by a page that sends the headers. */
async function signInReply(at: Cairn, { email, password }: Person, headers: Headers = OWN_PAGE) {
  return await send(at, 'POST /session', { headers, body: JSON.stringify({ email, password }) })
}

/** The cookies in `Set-Cookie` by name: the value and the attributes, in any order. */
function cookiesOf(reply: Response) {
  const cookies = reply.headers.getSetCookie().map((line) => {
    const [, name = '', value = '', attributes = ''] = /^([^=]+)=([^;]*); (.*)$/.exec(line) ?? []
    return [name, { value, attributes: attributes.split('; ').sort() }] as const
  })
  return Object.fromEntries(cookies)
}

/** The value of the session's cookie. */
function tokenOf({ cookie }: { cookie: string }): string {
  return cookie.slice(cookie.indexOf('=') + 1)
}

/** The status of reading the session with a cookie. */
async function statusOf(cookie: string, { at = cairn, headers = {} as Headers } = {}): Promise<number> {
  return (await send(at, 'GET /session', { headers: { cookie, ...headers } })).status
}

describe('the cookie of a session', () => {
  const token = expect.stringMatching(/^[0-9A-Za-z]{43}$/)
  const device = expect.stringMatching(/^[0-9a-f]{32}\.[0-9a-f]{64}$/)
  const attributes = (seconds: number) => ['HttpOnly', `Max-Age=${seconds}`, 'Path=/', 'SameSite=Strict']

  it('is for this host only, hidden from scripts and from other sites’ requests', async () => {
    const reply = await signInReply(cairn, await newPerson(cairn))
    expect(reply.status).toBe(201)
    expect(cookiesOf(reply)).toEqual({
      cairn_session: { value: token, attributes: attributes(14 * 86_400) },
      cairn_device: { value: device, attributes: attributes(180 * 86_400) },
    })
  })

  it.each<[string, Settings, Headers]>([
    ['CAIRN_PUBLIC_URL says so', { publicUrl: 'https://cairn.example.com' }, {}],
    ['a trusted proxy says so', { trustedProxies: ['127.0.0.1'] }, { 'x-forwarded-proto': 'https' }],
    ['the page says so', {}, { origin: 'https://cairn.example.com', host: 'cairn.example.com' }],
    [
      'the page says so next to a port',
      {},
      { origin: 'https://cairn.example.com', host: 'cairn.example.com:443' },
    ],
  ])('is sent over HTTPS only, and can be set by no other host, if %s', async (_name, options, headers) => {
    const at = await cairnWith(options)
    const reply = await signInReply(at, await newPerson(at), { ...OWN_PAGE, ...headers })
    expect(cookiesOf(reply)).toEqual({
      '__Host-cairn_session': { value: token, attributes: [...attributes(14 * 86_400), 'Secure'] },
      '__Host-cairn_device': { value: device, attributes: [...attributes(180 * 86_400), 'Secure'] },
    })
  })

  it('is an ordinary one if an untrusted peer claims HTTPS', async () => {
    const at = await cairnWith({ trustedProxies: ['192.0.2.1'] })
    const headers = { ...OWN_PAGE, 'x-forwarded-proto': 'https', forwarded: 'proto=https' }
    const reply = await signInReply(at, await newPerson(at), headers)
    expect(Object.keys(cookiesOf(reply))).toEqual(['cairn_session', 'cairn_device'])
  })

  it('is removed by signing out', async () => {
    const removed = { value: '', attributes: attributes(0) }
    const over = await signUp(cairn, workspace, 'viewer')
    expect(cookiesOf(await over.fetch('DELETE /session'))).toEqual({ cairn_session: removed })
    const everywhere = await signUp(cairn, workspace, 'viewer')
    expect(cookiesOf(await everywhere.fetch('DELETE /sessions'))).toEqual({ cairn_session: removed })

    const secure = await cairnWith({ publicUrl: 'https://cairn.example.com' })
    const headers = await signIn(secure, await newPerson(secure))
    const reply = await browser(secure, headers).fetch('DELETE /session')
    expect(cookiesOf(reply)).toEqual({
      '__Host-cairn_session': { value: '', attributes: [...attributes(0), 'Secure'] },
    })
  })

  it('is not set by a refused sign-in', async () => {
    const person = await newPerson(cairn)
    const wrong = await signInReply(cairn, { ...person, password: 'wrong' })
    const foreign = await signInReply(cairn, person, {})
    expect([wrong.status, foreign.status]).toEqual([401, 403])
    expect([wrong, foreign].map((reply) => reply.headers.getSetCookie())).toEqual([[], []])
  })
})

describe('behind HTTPS', () => {
  it.each<[string, Settings, Headers]>([
    ['CAIRN_PUBLIC_URL', { publicUrl: 'https://cairn.example.com' }, {}],
    ['a trusted proxy', { trustedProxies: ['127.0.0.1'] }, { 'x-forwarded-proto': 'https' }],
  ])('a cookie that another host could have set is not read, with %s', async (_name, options, headers) => {
    const at = await cairnWith(options)
    const [person, other] = [await newPerson(at), await newPerson(at)]
    const tokenFor = async (whose: Person) => {
      const reply = await signInReply(at, whose, { ...OWN_PAGE, ...headers })
      return cookiesOf(reply)['__Host-cairn_session']?.value
    }
    const [token, foreign] = [await tokenFor(person), await tokenFor(other)]
    expect(await statusOf(`__Host-cairn_session=${token}`, { at, headers })).toBe(200)
    expect(await statusOf(`cairn_session=${token}`, { at, headers })).toBe(401)

    const cookie = `cairn_session=${foreign}; __Host-cairn_session=${token}`
    for (const both of [cookie, cookie.split('; ').reverse().join('; ')]) {
      const reply = await send(at, 'GET /session', { headers: { cookie: both, ...headers } })
      expect(await reply.json()).toMatchObject({ person: { email: person.email } })
    }
  })

  it('a session is valid if the proxy does not report TLS', async () => {
    const own = { origin: 'https://cairn.example.com', host: 'cairn.example.com' }
    const reply = await signInReply(cairn, await newPerson(cairn), own)
    const { value } = cookiesOf(reply)['__Host-cairn_session'] ?? {}
    const cookie = `__Host-cairn_session=${value}`
    // Browsers send no Origin when they read from the page's own server.
    expect(await statusOf(cookie, { headers: { host: own.host } })).toBe(200)
    expect((await send(cairn, 'DELETE /session', { headers: { ...own, cookie } })).status).toBe(204)
    expect(await statusOf(cookie, { headers: { host: own.host } })).toBe(401)
  })
})

describe('a session', () => {
  it('shows the person and the times, and no secret', async () => {
    let now = Date.parse('2026-11-20T12:00:00Z')
    const at = await startCairnForTest({ now: () => now })
    const { workspace_id } = await at.workspace()
    const person = await newMember(at, { workspace_id }, 'admin')
    const reply = await signInReply(at, { ...person, email: person.email.toUpperCase() })
    const session = {
      person: { person_id: person.person_id, name: person.name, email: person.email },
      workspaces: [{ workspace_id, name: expect.any(String), role: 'admin', status: 'active' }],
      created_at: '2026-11-20T12:00:00.000Z',
      expires_at: '2026-12-04T12:00:00.000Z',
      owners_make_workspaces: true,
    }
    expect(await reply.json()).toEqual(session)
    now += 1000
    const cookie = `cairn_session=${cookiesOf(reply).cairn_session?.value}`
    const read = await send(at, 'GET /session', { headers: { cookie: `a=b; ${cookie};c="d"` } })
    expect(await read.json()).toEqual(session)
  })

  it('begins with the password however its characters are composed', async () => {
    const person = await newPerson(cairn)
    const own = browser(cairn, await signIn(cairn, person))
    const body = { current_password: person.password, new_password: 'zo\u00eb-in-\uff21msterdam' }
    expect((await own.fetch('POST /session/password', { body })).status).toBe(200)
    const composed = { ...person, password: 'zoe\u0308-in-Amsterdam' }
    expect((await signInReply(cairn, composed)).status).toBe(201)
    expect((await signInReply(cairn, { ...person, password: 'zoe-in-Amsterdam' })).status).toBe(401)
  })

  it('has the rate limit of its person, who is named in the log', async () => {
    const at = await startCairnForTest({ now: () => 0, rateLimit: 2 })
    const [person, other] = [await newPerson(at), await newPerson(at)]
    const [one, two] = [await signIn(at, person), await signIn(at, person)]
    const statuses = []
    for (const { cookie } of [one, two, one, two, one, two]) statuses.push(await statusOf(cookie, { at }))
    expect(statuses).toEqual([200, 200, 200, 200, 429, 429])
    expect(await statusOf((await signIn(at, other)).cookie, { at })).toBe(200)
    const { person_id } = person
    await expect
      .poll(() => at.log.filter((line) => line.person_id === person_id).map(({ status }) => status))
      .toEqual(statuses)
  })

  it('ends at once when its person signs out, and no other with it', async () => {
    const person = await newPerson(cairn)
    const [one, two] = [await signIn(cairn, person), await signIn(cairn, person)]
    expect((await browser(cairn, one).fetch('DELETE /session')).status).toBe(204)
    expect([await statusOf(one.cookie), await statusOf(two.cookie)]).toEqual([401, 200])
  })

  it('ends with all others when its person signs out everywhere', async () => {
    const [person, other] = [await newPerson(cairn), await newPerson(cairn)]
    const sessions = [await signIn(cairn, person), await signIn(cairn, person), await signIn(cairn, person)]
    const [own] = sessions
    const stranger = await signIn(cairn, other)
    expect((await browser(cairn, own ?? stranger).fetch('DELETE /sessions')).status).toBe(204)
    for (const { cookie } of sessions) expect(await statusOf(cookie)).toBe(401)
    expect(await statusOf(stranger.cookie)).toBe(200)
  })

  it('goes on when its person changes the password, and all others end', async () => {
    const person = await newPerson(cairn)
    const [own, other, stolen] = [
      await signIn(cairn, person),
      await signIn(cairn, person),
      await signIn(cairn, person),
    ]
    const body = { current_password: person.password, new_password: 'a-moth-in-relay-70' }
    const reply = await browser(cairn, own).fetch('POST /session/password', { body })
    expect(reply.status).toBe(200)
    expect(await reply.json()).toMatchObject({ person: { email: person.email } })
    expect(await statusOf(own.cookie)).toBe(200)
    expect([await statusOf(other.cookie), await statusOf(stolen.cookie)]).toEqual([401, 401])
    expect((await signInReply(cairn, person)).status).toBe(401)
    expect((await signInReply(cairn, { ...person, password: body.new_password })).status).toBe(201)
  })

  it('and the password stay unchanged if the current password is wrong', async () => {
    const person = await newPerson(cairn)
    const [own, other] = [await signIn(cairn, person), await signIn(cairn, person)]
    const body = { current_password: 'not-this-one', new_password: 'a-moth-in-relay-70' }
    const reply = await browser(cairn, own).fetch('POST /session/password', { body })
    expect(await refusal(reply)).toEqual({ status: 409, code: 'password_wrong' })
    expect([await statusOf(own.cookie), await statusOf(other.cookie)]).toEqual([200, 200])
    expect((await signInReply(cairn, person)).status).toBe(201)
  })

  it('changes the password once, if it is told to twice at the same time', async () => {
    const person = await newPerson(cairn)
    const own = browser(cairn, await signIn(cairn, person))
    const passwords = ['a-moth-in-relay-70', 'a-moth-in-relay-71']
    const change = async (new_password: string) => {
      const body = { current_password: person.password, new_password }
      return (await own.fetch('POST /session/password', { body })).status
    }
    const statuses = await Promise.all(passwords.map(change))
    expect(statuses.filter((status) => status === 200)).toHaveLength(1)
    const password = passwords[statuses.indexOf(200)] ?? ''
    expect((await signInReply(cairn, { ...person, password })).status).toBe(201)
  })

  it('does not begin with a password that was changed in the meantime', async () => {
    const person = await newPerson(cairn)
    const own = browser(cairn, await signIn(cairn, person))
    const body = { current_password: person.password, new_password: 'a-moth-in-relay-70' }
    const change = { isUnderWay: true }
    const tokens: string[] = []
    const keepSigningIn = async () => {
      while (change.isUnderWay) {
        const { value } = cookiesOf(await signInReply(cairn, person)).cairn_session ?? {}
        if (value !== undefined) tokens.push(value)
      }
    }
    // Passwords are compared on other threads: some of these are when the change is stored.
    const others = [keepSigningIn(), keepSigningIn(), keepSigningIn()]
    expect((await own.fetch('POST /session/password', { body })).status).toBe(200)
    change.isUnderWay = false
    await Promise.all(others)
    expect(tokens).not.toEqual([])
    for (const token of tokens) expect(await statusOf(`cairn_session=${token}`)).toBe(401)
  })

  it('that has ended while the body of a request was arriving changes nothing', async () => {
    const { headers, fetch } = await signUp(cairn, workspace, 'owner')
    const other = await signUp(cairn, workspace, 'owner')
    const body = JSON.stringify({ name: 'Held back' })
    const { socket, answer } = await openConnection(cairn)
    const sent = { 'content-type': 'application/json', 'content-length': String(body.length), ...headers }
    socket.write(head('POST /journeys', sent) + body.slice(0, 1))
    const began = performance.now()
    // Each of them takes a while, and the request above waits in their queue.
    while (performance.now() - began < 100) await other.fetch('GET /session')
    await fetch('DELETE /session')
    socket.write(body.slice(1))
    await expect.poll(answer).toMatch(/^HTTP\/1\.1 401 /)
    expect(await (await other.fetch('GET /journeys')).text()).not.toContain('Held back')
  })

  it('that a sign-in carries ends when another begins', async () => {
    const person = await newPerson(cairn)
    const first = await signIn(cairn, person)
    const reply = await signInReply(cairn, person, first)
    expect(reply.status).toBe(201)
    expect(await statusOf(first.cookie)).toBe(401)
    expect(await statusOf(`cairn_session=${cookiesOf(reply).cairn_session?.value}`)).toBe(200)
  })

  it('continues if a sign-in that carries it is refused', async () => {
    const person = await newPerson(cairn)
    const first = await signIn(cairn, person)
    expect((await signInReply(cairn, { ...person, password: 'wrong' }, first)).status).toBe(401)
    expect(await statusOf(first.cookie)).toBe(200)
  })

  it('ends after 12 hours without a request', async () => {
    let now = Date.now()
    const at = await startCairnForTest({ now: () => now })
    const person = await newPerson(at)
    const [one, two] = [await signIn(at, person), await signIn(at, person)]
    now += 12 * HOUR_MS - 1
    expect(await statusOf(one.cookie, { at })).toBe(200)
    now += 1
    expect(await statusOf(two.cookie, { at })).toBe(401)
  })

  it('ends after 12 hours without a request, also if the clock was set back before the last one', async () => {
    const began = Date.now()
    let now = began
    const at = await startCairnForTest({ now: () => now })
    const { cookie } = await signIn(at, await newPerson(at))
    const { run } = await connectTo(at.databaseUrl)
    for (now of [began + 6 * HOUR_MS, began]) {
      expect(await statusOf(cookie, { at })).toBe(200)
      await expect.poll(() => run('SELECT last_seen_ms FROM sessions')).toEqual([{ last_seen_ms: now }])
    }
    now = began + 12 * HOUR_MS
    expect(await statusOf(cookie, { at })).toBe(401)
  })

  it('ends after 14 days in any case', async () => {
    const began = Date.now()
    let now = began
    const at = await startCairnForTest({ now: () => now })
    const { cookie } = await signIn(at, await newPerson(at))
    const { run } = await connectTo(at.databaseUrl)
    const end = began + 14 * 24 * HOUR_MS
    for (now = began; now < end; now += 11 * HOUR_MS) {
      expect(await statusOf(cookie, { at })).toBe(200)
      await expect.poll(() => run('SELECT last_seen_ms FROM sessions')).toEqual([{ last_seen_ms: now }])
    }
    now = end - 1
    expect(await statusOf(cookie, { at })).toBe(200)
    now = end
    expect(await statusOf(cookie, { at })).toBe(401)
  })

  it('is accepted only by its cookie', async () => {
    const headers = await signIn(cairn, await newPerson(cairn))
    const token = tokenOf(headers)
    const other = token.endsWith('0') ? '1' : '0'
    const problems = []
    for (const sent of [
      {},
      { cookie: '' },
      { cookie: 'cairn_session' },
      { cookie: 'cairn_session=' },
      { cookie: token },
      { cookie: `cairn_session=${token.slice(0, -1)}` },
      { cookie: `cairn_session=${token.slice(0, -1)}${other}` },
      { cookie: `cairn_session=${token}0` },
      { cookie: `cairn_session="${token}"` },
      { cookie: `Cairn_Session=${token}` },
      { cookie: `cairn_device=${token}` },
      // What the store contains of it.
      { cookie: `cairn_session=${tokenDigest(token)}` },
      { cookie: "cairn_session=' OR 1=1 --" },
      { cookie: `cairn_session=${'x'.repeat(10_000)}` },
      { authorization: `Bearer ${token}` },
      { 'x-session': token },
    ]) {
      const reply = await send(cairn, 'GET /session', { headers: sent })
      expect([sent, reply.status]).toEqual([sent, 401])
      expect(reply.headers.get('www-authenticate')).toBe('Session cookie="cairn_session"')
      const { request_id: _, ...problem } = await problemOf(reply)
      problems.push(JSON.stringify(problem))
    }
    expect(new Set(problems).size).toBe(1)
    expect((await send(cairn, `GET /session?cairn_session=${token}`)).status).toBe(401)
    expect((await send(cairn, 'GET /session', { key: token })).status).toBe(401)
    expect(await statusOf(headers.cookie)).toBe(200)
  })
})

describe('a key next to a cookie', () => {
  it('decides: its workspace, its rights, and whether there is a response at all', async () => {
    const member = await signUp(cairn, workspace, 'owner')
    const other = await cairn.workspace()
    const { cookie } = member.headers
    const journeys = async (key: string) =>
      send(cairn, 'GET /journeys', { key, headers: { cookie, 'x-workspace-id': workspace.workspace_id } })

    const listed = await journeys(other.secret_key)
    expect(await listed.json()).toMatchObject({ data: [{ journey_id: other.journey_id }] })
    for (const key of ['', 'wrong', `${workspace.secret_key}0`]) {
      expect((await journeys(key)).status).toBe(401)
    }
    expect(await refusal(await journeys(other.publishable_key))).toEqual({
      status: 403,
      code: 'secret_key_required',
    })
    expect((await send(cairn, 'GET /journeys', { headers: { cookie } })).status).toBe(200)
  })

  it('is refused wherever a person is required', async () => {
    const { headers } = await signUp(cairn, workspace, 'owner')
    for (const { method, path, accepts } of operations) {
      if (accepts.join() !== 'Session') continue
      const line = `${method} ${path.replace(/\{\w+\}/, 'x')}`
      for (const key of [workspace.secret_key, workspace.publishable_key]) {
        const refused = await refusal(await send(cairn, line, { key, headers }))
        expect([line, refused]).toEqual([line, { status: 403, code: 'session_required' }])
      }
      expect([line, (await send(cairn, line, { key: 'wrong', headers })).status]).toEqual([line, 401])
    }
    expect(await statusOf(headers.cookie)).toBe(200)
  })
})

describe('a cookie', () => {
  it('never opens ingestion', async () => {
    const { headers } = await signUp(cairn, workspace, 'owner')
    for (const path of ['/customers/initialize', '/events/create', '/events/batch']) {
      const reply = await send(cairn, `POST ${path}`, { headers, body: '{}' })
      expect(reply.status).toBe(401)
      expect(reply.headers.get('www-authenticate')).toBe('ServiceKey header="x-service-key"')
    }
  })
})
