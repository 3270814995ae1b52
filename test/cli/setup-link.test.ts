// engines: sqlite, postgres

import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { createWorkspace } from '../../server/cli/init.ts'
import { reachableAddress } from '../../server/setup-link.ts'
import { type Cairn, newStore, startCairnForTest, temporaryFolder } from '../fixtures/cairn.ts'
import { startChildServer } from '../fixtures/child-server.ts'
import { runCairn, spawnCairn } from '../fixtures/command.ts'
import { withPatience } from '../fixtures/patience.ts'
import { OWN_PAGE, signUp } from '../fixtures/people.ts'

function setupLink(databaseUrl: string, args: string[] = [], environment: Record<string, string> = {}) {
  return runCairn(['setup-link', ...args], { environment: { DATABASE_URL: databaseUrl, ...environment } })
}

/** The server's response to the link: the workspace it is for, or the code of the problem. */
async function lookUp(cairn: Cairn, link: string) {
  const reply = await cairn.fetch('/setup/look-up', {
    method: 'POST',
    headers: { ...OWN_PAGE, 'content-type': 'application/json' },
    body: JSON.stringify({ token: link.trim().replace(/^.*#token=/, '') }),
  })
  const body = await reply.json()
  return reply.status === 200 ? body : body.code
}

describe('the link of the first start', () => {
  it('is only on standard error, apart from the log', async () => {
    const databaseUrl = `sqlite:${join(temporaryFolder(), 'cairn.db')}`
    const server = await startChildServer({ databaseUrl, environment: { LOG_LEVEL: 'trace' } })
    await vi.waitUntil(() => /\/admin\/setup#token=setup_\w{43}\n/.test(server.stderr()), withPatience)
    expect((await server.end('SIGTERM')).stdout).not.toContain('setup_')
  })
})

describe('cairn setup-link', () => {
  it('creates a link that works for an hour on the running server, and voids earlier ones', async () => {
    const cairn = await startCairnForTest()
    const { databaseUrl } = cairn
    const began_ms = Date.now()
    const made = await setupLink(databaseUrl)
    expect(made).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringMatching(
        /^http:\/\/127\.0\.0\.1:3000\/admin\/setup#token=setup_[0-9A-Za-z]{43}\n$/,
      ),
    })
    const found = await lookUp(cairn, made.stdout)
    expect(found).toMatchObject({ workspace_name: null })
    const lasts_ms = Date.parse(found.expires_at) - 3_600_000
    expect(lasts_ms).toBeGreaterThanOrEqual(began_ms)
    expect(lasts_ms).toBeLessThanOrEqual(Date.now())
    expect(await lookUp(cairn, cairn.setupLink ?? '')).toBe('link_not_found')
    const environment = { DATABASE_URL: databaseUrl }
    const next = await spawnCairn(['setup-link'], { environment }).ended
    expect([await lookUp(cairn, made.stdout), await lookUp(cairn, next.stdout)]).toEqual([
      'link_not_found',
      found && expect.any(Object),
    ])
  })

  it('is for the only workspace, or for the one that is named', async () => {
    const cairn = await startCairnForTest()
    const { databaseUrl } = cairn
    const init = (workspace: string) => createWorkspace(databaseUrl, { workspace, journey: 'Onboarding' })
    await init('Acme')
    expect(await lookUp(cairn, (await setupLink(databaseUrl)).stdout)).toMatchObject({
      workspace_name: 'Acme',
    })
    await init('Babbage')
    expect(await setupLink(databaseUrl)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: 'cairn: choose a workspace with --workspace: "Acme", "Babbage"\n',
    })
    const named = await setupLink(databaseUrl, ['--workspace', 'Babbage', '--json'])
    const { link } = JSON.parse(named.stdout)
    expect(await lookUp(cairn, link)).toMatchObject({ workspace_name: 'Babbage' })
    // A refused command does not void links.
    const refused = { code: 3, stdout: '', stderr: 'cairn: no workspace has this name\n' }
    expect(await setupLink(databaseUrl, ['--workspace', 'Third'])).toMatchObject(refused)
    expect(await lookUp(cairn, link)).toMatchObject({ workspace_name: 'Babbage' })
  })

  it.each<[Record<string, string>, string]>([
    [{ CAIRN_PUBLIC_URL: 'https://cairn.example.com/' }, 'https://cairn.example.com/'],
    [{ CAIRN_PUBLIC_URL: 'https://cairn.example.com:8443' }, 'https://cairn.example.com:8443/'],
    [{ HOST: '::1' }, 'http://[::1]:3000/'],
    [{ HOST: 'localhost' }, 'http://localhost:3000/'],
  ])('points to where a browser finds the server: %j', async (environment, base) => {
    const { stdout } = await setupLink(await newStore(), [], environment)
    expect(stdout.replace(/#.*\n/, '')).toBe(`${base}admin/setup`)
  })

  it.each(['0.0.0.0', '::'])(
    'points to an address that other machines can reach, if HOST is %s',
    async (HOST) => {
      const everywhere = await startCairnForTest({ host: HOST })
      const { port: itsPort } = new URL(everywhere.url)
      const { stdout } = await setupLink(everywhere.databaseUrl, [], { HOST, PORT: itsPort })
      const { origin, hostname, pathname } = new URL(stdout.trim())
      expect(pathname).toBe('/admin/setup')
      expect((await fetch(`${origin}/healthz`)).status).toBe(200)
      const others = Object.values(networkInterfaces())
        .flat()
        .filter((found) => found && !found.internal && !/^(fe80:|169\.254\.)/.test(found.address))
        .map((found) => found?.address)
      const own = HOST === '::' ? '::1' : '127.0.0.1'
      const reachable = others.filter((other) => HOST === '::' || !other?.includes(':'))
      const address = hostname.replace(/[[\]]/g, '')
      expect(reachable.length > 0 ? reachable : [own]).toContain(address)
      expect(new URL(everywhere.setupLink ?? '').origin).toBe(origin)
    },
  )

  it.each([
    ['0.0.0.0', '127.0.0.1'],
    ['::', '::1'],
  ] as const)('points to this machine if HOST is %s and no interface may be listed', (host, own) => {
    const forbidden = () => {
      // What Node throws where AF_NETLINK is forbidden, as by deploy/systemd/cairn.service.
      throw new Error('A system error occurred: uv_interface_addresses returned Unknown system error 97')
    }
    expect(reachableAddress(host, forbidden)).toBe(own)
  })

  it('is recorded in the audit log of the workspace', async () => {
    const cairn = await startCairnForTest()
    const { workspace_id } = await cairn.workspace()
    const owner = await signUp(cairn, { workspace_id }, 'owner')
    expect(await setupLink(cairn.databaseUrl)).toMatchObject({ code: 0 })
    const { data } = await owner.client().listAuditLog({ query: { subject_id: workspace_id } })
    expect(data?.data[0]).toMatchObject({
      action: 'setup_link_created',
      actor: { kind: 'command_line', id: null, name: null },
      subject: { kind: 'workspace', id: workspace_id },
      address: null,
      before: null,
      after: null,
    })
  })

  it('does not create a store', async () => {
    expect(await setupLink(`sqlite:${join(temporaryFolder(), 'none.db')}`)).toMatchObject({
      code: 3,
      stdout: '',
      stderr: expect.stringContaining('there is no store at'),
    })
  })
})
