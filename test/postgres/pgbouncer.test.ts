// engines: postgres (what only PostgreSQL has)

import { chmodSync, existsSync, readdirSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { dirname, join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { processEnvironment } from '../../server/config.ts'
import { startCairnForTest, temporaryFolder } from '../fixtures/cairn.ts'
import { startCommand } from '../fixtures/command.ts'
import { customerInJourney } from '../fixtures/customer.ts'
import { freePort } from '../fixtures/free-port.ts'
import { withPatience } from '../fixtures/patience.ts'
import { type PostgresServer, postgresUrl } from '../fixtures/postgres/server.ts'
import { runSql } from '../fixtures/postgres/sql.ts'
import { hasPrograms, pathOf } from '../fixtures/programs.ts'
import { ownServer } from './own-server.ts'

/** As deploy/postgres.md says. */
const IGNORED = 'statement_timeout,idle_in_transaction_session_timeout'

/** Starts PgBouncer in transaction mode in front of a server. @returns the `DATABASE_URL` through it */
async function startPgBouncer({ folder }: PostgresServer, ignored = IGNORED): Promise<string> {
  const program = pathOf('pgbouncer') ?? ''
  const port = await freePort()
  const own = temporaryFolder()
  // It refuses to run as root.
  chmodSync(own, 0o755)
  const users = join(own, 'users.txt')
  writeFileSync(users, '"postgres" ""\n')
  const settings = join(own, 'pgbouncer.ini')
  writeFileSync(
    settings,
    `[databases]
* = host=${folder}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${users}
pool_mode = transaction
default_pool_size = 8
${ignored && `ignore_startup_parameters = ${ignored}`}
`,
  )
  const asOther = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
  const pooler = startCommand(program, [...asOther, settings], { environment: withLibraries(program) })
  const accepts = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false))
      socket.on('connect', () => socket.end())
    })
  const ended = pooler.ended.then(({ stderr }) => {
    throw new Error(`pgbouncer ended: ${stderr}`)
  })
  ended.catch(() => {})
  await Promise.race([vi.waitUntil(accepts, withPatience), ended])
  return `postgres://postgres@127.0.0.1:${port}/postgres`
}

/** The libraries beside a program that was unpacked and not installed. */
function withLibraries(program: string): Record<string, string> {
  const lib = join(dirname(program), '../lib')
  if (!existsSync(lib) || lib === '/usr/lib') return {}
  const folders = readdirSync(lib).map((name) => join(lib, name))
  const { LD_LIBRARY_PATH } = processEnvironment()
  return { LD_LIBRARY_PATH: [...folders, ...(LD_LIBRARY_PATH ? [LD_LIBRARY_PATH] : [])].join(':') }
}

describe.skipIf(!hasPrograms('pgbouncer'))('behind PgBouncer in transaction mode', () => {
  it('a server stores everything once, and reports it', async () => {
    const server = await ownServer()
    const databaseUrl = await startPgBouncer(server)
    const cairn = await startCairnForTest({ databaseUrl })
    const { workspace, event } = await customerInJourney(cairn)
    const { client, journey_id } = workspace
    const sent = Array.from({ length: 200 }, (_, number) => ({
      ...event,
      message_id: `message ${number % 100}`,
    }))
    const replies = await Promise.all(sent.map((body) => client.createEvent({ body })))
    expect(replies.filter(({ response }) => response.status === 201)).toHaveLength(100)
    expect(replies.filter(({ response }) => response.status === 200)).toHaveLength(100)
    const batch = await client.createEvents({ body: { events: sent.slice(0, 100) } })
    expect(batch.data).toMatchObject({ received: 100, created: 0, duplicate: 100 })
    const [row] = await runSql(postgresUrl(server.folder), 'SELECT count(*)::int AS events FROM events')
    expect(row).toEqual({ events: 100 })
    await expect
      .poll(async () => (await client.getJourneyReport({ path: { journey_id } })).data?.enrolled)
      .toBe(1)
    expect((await fetch(`${cairn.url}/readyz`)).status).toBe(200)
  })

  it.each([
    [
      'options',
      '?options=-csearch_path%3Dpublic',
      IGNORED,
      /does not accept (options|search_path) when connecting; take `options` out/,
    ],
    [
      'a timeout',
      '',
      '',
      /does not accept \w+_timeout; in its settings, set ignore_startup_parameters = statement_timeout,idle/,
    ],
  ])('is told what to change where it does not accept %s', async (_, query, ignored, message) => {
    const databaseUrl = `${await startPgBouncer(await ownServer(), ignored)}${query}`
    await expect(startCairnForTest({ databaseUrl })).rejects.toThrow(message)
  })
})
