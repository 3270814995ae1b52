// engines: sqlite (passwords are queued before the store is used)

import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { getPriority } from 'node:os'
import { expect, it, vi } from 'vitest'
import { newStore, startCairnForTest } from '../fixtures/cairn.ts'
import { startChildServer } from '../fixtures/child-server.ts'
import { scrape, sumOf } from '../fixtures/exposition.ts'
import { withPatience } from '../fixtures/patience.ts'
import { newMember, OWN_PAGE } from '../fixtures/people.ts'

it('lets a known browser sign in while sixty connections from as many networks try passwords', async () => {
  const cairn = await startCairnForTest({ trustedProxies: ['127.0.0.1'] })
  const { email, password } = await newMember(cairn, await cairn.workspace(), 'owner')
  const signIn = async (body: object, headers: Record<string, string>) => {
    const reply = await cairn.fetch('/session', {
      method: 'POST',
      headers: { ...OWN_PAGE, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    await reply.arrayBuffer()
    return reply
  }
  const first = await signIn({ email, password }, { 'x-forwarded-for': '2001:db8:ffff::1' })
  const device = first.headers.getSetCookie().find((cookie) => cookie.startsWith('cairn_device='))
  expect(device).toBeDefined()
  const cookie = String(device).split(';')[0] ?? ''

  let isOver = false
  let sent = 0
  const flood = Array.from({ length: 60 }, async () => {
    while (!isOver) {
      sent += 1
      const from = `2001:db8:${(sent >> 8).toString(16)}:${(sent & 255).toString(16)}::1`
      const reply = await signIn(
        { email: `nobody-${sent}@example.com`, password: 'a wrong password' },
        { 'x-forwarded-for': from },
      )
      expect([401, 503]).toContain(reply.status)
    }
  })
  const refused = async (lane: string) =>
    sumOf(await scrape(cairn), 'cairn_passwords_refused_total', { lane })
  await vi.waitUntil(async () => (await refused('other')) > 0, withPatience)
  const statuses: number[] = []
  for (let tries = 0; tries < 20; tries += 1) {
    const reply = await signIn({ email, password }, { cookie, 'x-forwarded-for': '2001:db8:ffff::1' })
    statuses.push(reply.status)
  }
  isOver = true
  await Promise.all(flood)
  expect(statuses).toEqual(Array(20).fill(201))
  expect(await refused('known')).toBe(0)
})

it.runIf(process.platform === 'linux')(
  'leaves ingestion most of a core: passwords are hashed in threads of lower priority',
  async () => {
    const { pid } = await startChildServer({ databaseUrl: await newStore() })
    const threads = `/proc/${pid}/task`
    // Other threads may end meanwhile.
    const pool = readdirSync(threads).filter((thread) => {
      return spawnSync('cat', [`${threads}/${thread}/comm`]).stdout.toString() === 'libuv-worker\n'
    })
    expect(pool).toHaveLength(4)
    const main = getPriority(pid)
    expect(pool.map((thread) => getPriority(Number(thread)))).toEqual(Array(4).fill(Math.min(main + 5, 19)))
  },
)
