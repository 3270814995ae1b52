// engines: sqlite, postgres

import { describe, expect } from 'vitest'
import { type Cairn, startCairnForTest } from '../fixtures/cairn.ts'
import { operations } from '../fixtures/contract/document.ts'
import { it } from '../fixtures/it.ts'
import { newMember, newPerson, type Person, signIn } from '../fixtures/people.ts'
import { refusal, send } from '../fixtures/requests.ts'

type Headers = Record<string, string>

/** The cookie under both of its names: an `Origin` of `https:` tells the server which one to read. */
function underBothNames({ cookie }: { cookie: string }): string {
  return `${cookie}; __Host-${cookie}`
}

describe('a cross-origin request', () => {
  /** Headers that browsers send for other pages, or if they cannot tell. */
  const foreign = (host: string): Headers[] => [
    {},
    { origin: 'https://evil.test' },
    { origin: `http://${host}.evil.test` },
    { origin: `http://evil.test/http://${host}` },
    { origin: `http://${host.replace(/:.*/, '')}:1` },
    { origin: 'null' },
    { origin: '' },
    { origin: 'nonsense' },
    { origin: `http://${host}, https://evil.test` },
    { referer: `http://${host}/admin/` },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'cross-site', origin: `http://${host}` },
    { 'sec-fetch-site': 'same-site', origin: `http://${host}` },
    { 'sec-fetch-site': 'none', origin: `http://${host}` },
    { 'sec-fetch-site': 'none' },
    { 'sec-fetch-site': '' },
    { 'sec-fetch-site': 'Same-Origin' },
    { 'sec-fetch-site': 'same-origin, same-origin' },
  ]

  it('changes nothing by cookie', async ({ cairn, owner }) => {
    const { headers, fetch } = owner
    const cookie = underBothNames(headers)
    const { host } = new URL(cairn.url)
    for (const { method, path, accepts } of operations) {
      if (!accepts.includes('Session') || method === 'GET') continue
      for (const sent of foreign(host)) {
        const line = `${method} ${path.replace(/\{\w+\}/, 'x')}`
        const reply = await send(cairn, line, { headers: { cookie, ...sent } })
        const refused = await refusal(reply)
        expect([line, sent, refused]).toEqual([line, sent, { status: 403, code: 'foreign_origin' }])
      }
    }
    expect((await fetch('GET /session')).status).toBe(200)
  })

  it('signs nobody in and uses no link', async ({ cairn, workspace }) => {
    const { host } = new URL(cairn.url)
    const { email, password } = await newPerson(cairn)
    const open = operations.filter(({ accepts, method }) => accepts.length === 0 && method !== 'GET')
    expect(open.map(({ operationId }) => operationId).sort()).toEqual([
      'acceptInvitation',
      'findInvitation',
      'findPasswordLink',
      'findSetupLink',
      'readSharedView',
      'resetPassword',
      'setUp',
      'signIn',
    ])
    for (const { method, path } of open) {
      for (const headers of foreign(host)) {
        for (const key of [undefined, workspace.secret_key]) {
          const reply = await send(cairn, `${method} ${path}`, {
            headers: { ...headers, ...(key && { 'x-service-key': key }) },
            body: JSON.stringify({ email, password }),
          })
          const refused = await refusal(reply)
          expect([path, headers, refused]).toEqual([path, headers, { status: 403, code: 'foreign_origin' }])
          expect(reply.headers.getSetCookie()).toEqual([])
        }
      }
    }
  })

  it('can read by cookie, which only the browser decides to send', async ({ cairn, owner }) => {
    const cookie = underBothNames(owner.headers)
    const { host } = new URL(cairn.url)
    for (const { method, path, accepts } of operations) {
      if (!accepts.includes('Session') || method !== 'GET') continue
      for (const sent of foreign(host)) {
        const line = `GET ${path.replace(/\{\w+\}/, 'x')}`
        const reply = await send(cairn, line, { headers: { cookie, ...sent } })
        expect([line, sent, [200, 404].includes(reply.status)]).toEqual([line, sent, true])
      }
    }
  })

  it('gets no CORS header that would let it read', async ({ cairn, owner }) => {
    const cookie = underBothNames(owner.headers)
    const origin = 'https://evil.test'
    for (const { method, path, accepts } of operations) {
      if (accepts.includes('PublishableKey')) continue
      const line = path.replace(/\{\w+\}/, 'x')
      for (const asked of [method, 'OPTIONS']) {
        const reply = await send(cairn, `${asked} ${line}`, {
          headers: { cookie, origin, 'access-control-request-method': method },
        })
        const cors = [...reply.headers.keys()].filter((name) => name.startsWith('access-control-'))
        expect([asked, line, cors]).toEqual([asked, line, []])
      }
    }
  })
})

describe('a request from a page of the server', () => {
  /** The response to a sign-in by a page that sends the headers. */
  async function signInReply(at: Cairn, { email, password }: Person, headers: Headers) {
    return await send(at, 'POST /session', { headers, body: JSON.stringify({ email, password }) })
  }

  /** The status of a sign-in, and of a change by cookie. */
  async function statuses(at: Cairn, headers: Headers): Promise<number[]> {
    const member = await newMember(at, await at.workspace(), 'owner')
    const cookie = underBothNames(await signIn(at, member))
    const body = JSON.stringify({ name: 'Renewal' })
    const change = await send(at, 'POST /journeys', { headers: { cookie, ...headers }, body })
    return [(await signInReply(at, member, headers)).status, change.status]
  }

  it('is recognized by Sec-Fetch-Site, or by an Origin of the same host and port', async ({ cairn }) => {
    const { host } = new URL(cairn.url)
    for (const headers of [
      { 'sec-fetch-site': 'same-origin' },
      { 'sec-fetch-site': 'same-origin', origin: 'https://elsewhere.test' },
      { origin: `http://${host}` },
      // TLS ends at a proxy that does not report it.
      { origin: `https://${host}` },
      { origin: 'http://localhost:8080', host: 'localhost:8080' },
      { origin: 'https://cairn.example.com', host: 'cairn.example.com' },
    ]) {
      expect([headers, await statuses(cairn, headers)]).toEqual([headers, [201, 201]])
    }
  })

  it('is recognized in any letter case, and with or without the default port', async ({ cairn }) => {
    for (const headers of [
      { origin: 'http://cairn.lan', host: 'cairn.lan:80' },
      { origin: 'http://cairn.lan:80', host: 'cairn.lan' },
      { origin: 'https://cairn.lan', host: 'cairn.lan:443' },
      { origin: 'https://cairn.lan:443', host: 'cairn.lan' },
      { origin: 'http://cairn.lan', host: 'CAIRN.lan' },
      { origin: 'HTTP://CAIRN.LAN', host: 'cairn.lan' },
      { origin: 'http://cairn.lan.', host: 'cairn.lan.' },
      { origin: 'http://[fd00::7]', host: '[FD00:0::7]:80' },
      { origin: 'http://[fd00::7]:3000', host: '[fd00::7]:3000' },
    ]) {
      expect([headers, await statuses(cairn, headers)]).toEqual([headers, [201, 201]])
    }
    for (const headers of [
      { origin: 'http://cairn.lan', host: 'cairn.lan:443' },
      { origin: 'https://cairn.lan', host: 'cairn.lan:80' },
      { origin: 'http://cairn.lan', host: 'cairn.lan:8080' },
      // Browsers treat these as two hosts.
      { origin: 'http://cairn.lan.', host: 'cairn.lan' },
      { origin: 'http://cairn.lan', host: 'evil.test@cairn.lan' },
      { origin: 'http://cairn.lan/', host: 'cairn.lan' },
      { origin: 'http://evil.test@cairn.lan', host: 'cairn.lan' },
      { origin: 'ftp://cairn.lan', host: 'cairn.lan' },
    ]) {
      expect([headers, await statuses(cairn, headers)]).toEqual([headers, [403, 403]])
    }
  })

  it.each([
    ['https://CAIRN.example.com:443/', 'https://cairn.example.com'],
    ['https://cairn.example.com', 'https://Cairn.example.com:443'],
    ['http://[FD00:0::7]:80', 'http://[fd00::7]'],
  ])('is recognized if CAIRN_PUBLIC_URL is %s and its Origin %s', async (publicUrl, origin) => {
    expect(await statuses(await startCairnForTest({ publicUrl }), { origin })).toEqual([201, 201])
  })

  it('is recognized by CAIRN_PUBLIC_URL if it is set, whatever Host says', async () => {
    const at = await startCairnForTest({ publicUrl: 'http://cairn.example.com:8080' })
    const origin = 'http://cairn.example.com:8080'
    expect(await statuses(at, { origin })).toEqual([201, 201])
    expect(await statuses(at, { 'sec-fetch-site': 'same-origin' })).toEqual([201, 201])
    for (const headers of [
      { origin: at.url },
      { origin: 'http://evil.test', host: 'evil.test' },
      { origin: 'https://cairn.example.com:8080' },
      { origin: 'http://cairn.example.com' },
    ]) {
      expect([headers, await statuses(at, headers)]).toEqual([headers, [403, 403]])
    }
  })

  it('is recognized by X-Forwarded-Host only if a trusted proxy sends it', async ({ cairn }) => {
    const headers = { origin: 'https://cairn.example.com', 'x-forwarded-host': 'cairn.example.com' }
    const behind = await startCairnForTest({ trustedProxies: ['127.0.0.1'] })
    const cookie = underBothNames(await signIn(behind, await newPerson(behind)))
    expect((await signInReply(behind, await newPerson(behind), headers)).status).toBe(201)
    expect((await send(behind, 'DELETE /session', { headers: { cookie, ...headers } })).status).toBe(204)
    for (const alone of [cairn, await startCairnForTest({ trustedProxies: ['192.0.2.1'] })]) {
      expect(await statuses(alone, headers)).toEqual([403, 403])
    }
  })
})
