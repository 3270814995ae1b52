// engines: sqlite, postgres

import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { inStore } from '../../server/cli/store.ts'
import { DAY_MS } from '../../server/domain/durations.ts'
import { newId } from '../../server/domain/identifiers.ts'
import { newToken } from '../../server/domain/tokens.ts'
import { insertSession } from '../../server/storage/tables/sessions.ts'
import { type Cairn, startCairn, type Workspace } from '../fixtures/cairn.ts'
import { browser, newMember, newPerson, type Person, signIn, signUp } from '../fixtures/people.ts'

const MINUTE_MS = 60_000
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0'

let now = Date.parse('2026-11-20T12:00:00Z')
let cairn: Cairn
let workspace: Workspace
let person: Person

beforeAll(async () => {
  cairn = await startCairn({ now: () => now })
  return cairn.stop
})

beforeEach(async () => {
  now = Date.parse('2026-11-20T12:00:00Z')
  workspace = await cairn.workspace()
  person = await newMember(cairn, workspace, 'viewer')
})

/** A session of the person, started by a browser with this user agent. */
async function newSession(userAgent = '', by = person) {
  return browser(cairn, await signIn(cairn, by, userAgent))
}

type Session = Awaited<ReturnType<typeof newSession>>

async function listed({ client }: Session) {
  const { data } = await client().listSessions()
  return data?.data ?? []
}

/** The identifier of a session, from its own list entry. */
async function idOf(session: Session): Promise<string> {
  return (await listed(session)).find(({ current }) => current)?.session_id ?? ''
}

/** Outcome of ending a session: the status, or the code of the problem. */
async function end(by: Session, session_id: string) {
  const { response, error } = await by.client().endSession({ path: { session_id } })
  return error?.code ?? response.status
}

async function statusOf({ fetch }: Session): Promise<number> {
  return (await fetch('GET /session')).status
}

describe("a person's sessions", () => {
  it('are listed, the last used first, with their start, last use and end, and with the current one marked', async () => {
    const first = await newSession(FIREFOX)
    now += 30 * MINUTE_MS
    const second = await newSession()
    const session_id = expect.stringMatching(/^ses_/)
    const ofFirst = {
      session_id,
      browser: 'Firefox on Linux',
      created_at: '2026-11-20T12:00:00.000Z',
      expires_at: '2026-12-04T12:00:00.000Z',
    }
    const ofSecond = {
      session_id,
      browser: null,
      created_at: '2026-11-20T12:30:00.000Z',
      last_used_at: '2026-11-20T12:30:00.000Z',
      expires_at: '2026-12-04T12:30:00.000Z',
    }
    expect(await listed(second)).toEqual([
      { ...ofSecond, current: true },
      { ...ofFirst, last_used_at: '2026-11-20T12:00:00.000Z', current: false },
    ])
    now += MINUTE_MS
    await first.fetch('GET /session')
    await expect
      .poll(() => listed(first))
      .toEqual([
        { ...ofFirst, last_used_at: '2026-11-20T12:31:00.000Z', current: true },
        { ...ofSecond, current: false },
      ])
  })

  it('are no longer listed once they have ended, for any reason', async () => {
    const kept = await newSession()
    await (await newSession()).fetch('DELETE /session')
    expect(await listed(kept)).toHaveLength(1)
    await newSession()
    expect(await listed(kept)).toHaveLength(2)
    // Twelve hours without a request end the other session.
    now += DAY_MS / 2 - MINUTE_MS
    await kept.fetch('GET /session')
    now += MINUTE_MS
    await expect.poll(() => listed(kept)).toMatchObject([{ current: true }])
  })

  it('are visible only to that person', async () => {
    const own = await newSession()
    const stranger = await newSession('', await newPerson(cairn))
    expect(await listed(stranger)).toMatchObject([{ current: true }])
    expect(await end(stranger, await idOf(own))).toBe('session_not_found')
    expect(await statusOf(own)).toBe(200)
  })

  it('are at most a hundred: another one ends the least recently used', async () => {
    const first = await newSession()
    now += 1
    const second = await newSession()
    await inStore(cairn.databaseUrl, async (db) => {
      for (let count = 0; count < 98; count += 1) {
        const times = { created_ms: now + 1, expires_ms: now + DAY_MS }
        const named = { token: newToken(''), session_id: newId('ses'), person_id: person.person_id }
        await insertSession(db, { ...named, browser: null, ...times })
      }
    })
    now += 2
    expect([await statusOf(first), await statusOf(second)]).toEqual([200, 200])
    const last = await newSession()
    expect([await statusOf(first), await statusOf(second), await statusOf(last)]).toEqual([401, 200, 200])
    expect(await listed(last)).toHaveLength(100)
  })

  it('reveal nothing that would open them, nor from where they were used', async () => {
    const session = await newSession(FIREFOX)
    const text = await (await session.fetch('GET /sessions')).text()
    expect(text).not.toContain(session.headers.cookie.slice('cairn_session='.length))
    expect(text).not.toContain('127.0.0.1')
    expect(text).not.toContain('145.0')
  })
})

describe('a session that is ended', () => {
  it('is no longer valid, and the others continue', async () => {
    const [own, other, third] = [await newSession(), await newSession(), await newSession()]
    const session_id = await idOf(other)
    const reply = await own.fetch(`DELETE /sessions/${session_id}`)
    // The browser keeps its own cookie.
    expect([reply.status, reply.headers.getSetCookie()]).toEqual([204, []])
    expect([await statusOf(own), await statusOf(other), await statusOf(third)]).toEqual([200, 401, 200])
    expect(await end(own, session_id)).toBe('session_not_found')
  })

  it('can be the one that ends it, whose cookie is removed', async () => {
    const own = await newSession()
    const reply = await own.fetch(`DELETE /sessions/${await idOf(own)}`)
    expect(reply.status).toBe(204)
    expect(reply.headers.getSetCookie()).toMatchObject([expect.stringMatching(/^cairn_session=;.*Max-Age=0/)])
    expect(await statusOf(own)).toBe(401)
  })

  it("is in the audit log of each of its person's workspaces", async () => {
    const owner = await signUp(cairn, workspace, 'owner')
    const [own, other] = [await newSession(FIREFOX), await newSession()]
    await end(own, await idOf(other))
    const { data } = await owner.client().listAuditLog({ query: { area: 'sessions', limit: 1 } })
    expect(data?.data).toMatchObject([
      {
        action: 'session_ended',
        actor: { kind: 'person', id: person.person_id },
        subject: { kind: 'person', id: person.person_id, name: person.email },
        before: { created_at: '2026-11-20T12:00:00.000Z' },
        after: null,
      },
    ])
  })
})

describe('a browser is described by its name', () => {
  const chrome = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0'
  it.each([
    ['Firefox on Linux', FIREFOX],
    ['Chrome on Windows', `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${chrome} Safari/537.36`],
    ['Edge on Windows', `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${chrome} Safari/537.36 Edg/142.0.0.0`],
    [
      'Opera on macOS',
      `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${chrome} Safari/537.36 OPR/120.0.0.0`,
    ],
    ['Chrome on Android', `Mozilla/5.0 (Linux; Android 10; K) ${chrome} Mobile Safari/537.36`],
    [
      'Safari on iPhone',
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1',
    ],
    [
      'Safari on macOS',
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15',
    ],
    ['Linux', 'Mozilla/5.0 (Linux) <b>Sneaky</b>'],
    [null, 'curl/8.5.0'],
    [null, ''],
    [null, 'x'.repeat(4000)],
  ])('%s', async (name, userAgent) => {
    expect(await listed(await newSession(userAgent))).toMatchObject([{ browser: name }])
  })
})
