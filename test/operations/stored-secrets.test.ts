// engines: sqlite, postgres

import { describe, expect, it } from 'vitest'
import { inStore } from '../../server/cli/store.ts'
import { makeSetupLink } from '../../server/setup-link.ts'
import { startCairnForTest } from '../fixtures/cairn.ts'
import { browser, OWN_PAGE } from '../fixtures/people.ts'
import { storedText } from '../fixtures/store.ts'

describe('no secret', () => {
  it('is in the store, in the audit log or in the log, whatever people do', async () => {
    const at = await startCairnForTest()
    const secrets: string[] = []
    const secret = (text: string | null | undefined) => {
      if (!text) throw new Error('no secret')
      secrets.push(text)
      return text
    }
    const send = async (line: string, body: object) => {
      const [method = '', path = ''] = line.split(' ')
      return await at.fetch(path, {
        method,
        headers: { ...OWN_PAGE, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    }
    const session = (reply: Response) => {
      const cookies = reply.headers.getSetCookie().map((line) => line.split(';')[0] ?? '')
      for (const cookie of cookies) secret(cookie.split('=')[1])
      return browser(at, { cookie: cookies[0] ?? '', ...OWN_PAGE })
    }
    const tokenOf = (link = '') => secret(link.replace(/^.*#token=/, ''))

    const password = secret('correct-horse-battery-staple')
    const email = 'grace@example.com'
    const form = { token: tokenOf(at.setupLink), name: 'Grace', email, password, workspace_name: 'Acme' }
    const owner = session(await send('POST /setup', form))
    const client = owner.client()

    const invited = await client.createInvitation({ body: { email: 'alan@example.com', role: 'viewer' } })
    const token = secret(invited.data?.token)
    await send('POST /invitations/look-up', { token })
    const alans = secret('enigma-is-a-machine')
    const alan = session(await send('POST /invitations/accept', { token, name: 'Alan', password: alans }))
    const { person_id = '' } = (await alan.client().getSession()).data?.person ?? {}
    const forgotten = await client.createPasswordLink({ path: { person_id } })
    const ofAlan = { token: secret(forgotten.data?.token), password: secret('bombe-is-a-machine') }
    await send('POST /password-links/look-up', { token: ofAlan.token })
    session(await send('POST /password-links/use', ofAlan))
    secret((await client.createInvitation({ body: { email: 'ada@example.com', role: 'admin' } })).data?.token)

    for (const kind of ['secret', 'publishable'] as const) {
      const made = await client.createServiceKey({ body: { kind, name: kind } })
      const path = { key_id: made.data?.key_id ?? '' }
      const rotated = await client.rotateServiceKey({ path, body: { grace_seconds: 60 } })
      await client.revokeServiceKey({ path })
      if (kind === 'secret') for (const { data } of [made, rotated]) secret(data?.token)
      await at.client(rotated.data?.token ?? '').listJourneys()
    }

    await send('POST /session', { email, password: secret('a-wrong-guess-of-it') })
    await send('POST /session', { email: secret('typed-into-the-wrong-field'), password })
    const second = session(await send('POST /session', { email, password }))
    const changed = secret('a-moth-in-relay-70')
    await second.fetch('POST /session/password', {
      body: { current_password: secret('not-the-current-one'), new_password: changed },
    })
    await second.fetch('POST /session/password', {
      body: { current_password: password, new_password: changed },
    })
    const link = { workspace_id: null, baseUrl: at.url, now_ms: Date.now() }
    tokenOf(await inStore(at.databaseUrl, (db) => makeSetupLink(db, link)))

    const auditLog = async () => {
      const { data } = await second.client().listAuditLog({ query: { limit: 500 } })
      return JSON.stringify(data?.data)
    }
    await expect.poll(auditLog).toContain('sign_in_failed')
    const shown = await auditLog()
    await at.stop()
    const stored = await storedText(at.databaseUrl)
    expect(stored.includes('grace@example.com')).toBe(true)
    expect(secrets).toHaveLength(22)
    for (const text of secrets) {
      // The format of a key or a token is no secret; the middle is.
      const core = text.length > 40 ? text.slice(8, 32) : text
      expect(shown).not.toContain(core)
      expect(JSON.stringify(at.log)).not.toContain(core)
      expect(stored.includes(core), text).toBe(false)
    }
  })
})
