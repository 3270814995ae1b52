// engines: postgres (what only PostgreSQL has)

import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generate } from 'selfsigned'
import { beforeAll, describe, expect, it } from 'vitest'
import { readAddress } from '../../server/domain/postgres-urls.ts'
import { Connection, Servers } from '../../server/storage/postgres/connection/connection.ts'
import { startCairnForTest, temporaryFolder } from '../fixtures/cairn.ts'
import { runCairn } from '../fixtures/command.ts'
import { customerInJourney } from '../fixtures/customer.ts'
import { freePort } from '../fixtures/free-port.ts'
import { giveTo, programsForTests } from '../fixtures/postgres/programs.ts'
import { postgresUrl, startPostgresServer } from '../fixtures/postgres/server.ts'
import { runSql } from '../fixtures/postgres/sql.ts'

const password = randomUUID()
/** Files of the authority that signed the server's certificate, which is for `localhost`, and of another authority. */
let authority: string
let stranger: string
let port: number
/** The URL for the server's owner, through the socket. */
let owner: string
let removeServer: () => Promise<void>

beforeAll(async () => {
  const folder = temporaryFolder()
  authority = join(folder, 'authority.pem')
  stranger = join(folder, 'stranger.pem')
  const [ours, other] = [await newAuthority(), await newAuthority()]
  writeFileSync(authority, ours.cert)
  writeFileSync(stranger, other.cert)
  port = await freePort()
  const server = await startPostgresServer(programsForTests(), {
    listen_addresses: '127.0.0.1',
    port: String(port),
    ssl_cert_file: 'server.pem',
    ssl_key_file: 'server.key',
  })
  removeServer = server.remove
  owner = `${postgresUrl(server.folder)}&port=${port}`
  const data = join(server.folder, 'data')
  const own = await newCertificate('localhost', ours)
  writeFileSync(join(data, 'server.pem'), own.cert)
  writeFileSync(join(data, 'server.key'), own.private, { mode: 0o600 })
  writeFileSync(join(data, 'pg_hba.conf'), 'local all all trust\nhostssl all all all scram-sha-256\n')
  if (process.getuid?.() === 0) giveTo(65_534, data)
  await runSql(
    owner,
    `CREATE ROLE cairn LOGIN PASSWORD '${password}'`,
    'CREATE DATABASE cairn OWNER cairn',
    'ALTER SYSTEM SET ssl = on',
    'SELECT pg_reload_conf()',
  )
  return async () => await removeServer()
})

async function newAuthority() {
  return await generate([{ name: 'commonName', value: 'An authority of the tests' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, critical: true },
    ],
  })
}

async function newCertificate(host: string, by: { private: string; cert: string }) {
  return await generate([{ name: 'commonName', value: host }], {
    keyType: 'ec',
    algorithm: 'sha256',
    ca: { key: by.private, cert: by.cert },
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: host }] }],
  })
}

function urlOf(parameters: Record<string, string>, host = 'localhost') {
  return `postgres://cairn:${password}@${host}:${port}/cairn?${new URLSearchParams(parameters)}`
}

/** The encryption of a connection, as reported by the server. */
async function encryption(url: string) {
  const connection = await Connection.open(new Servers(readAddress(url)), { statement_ms: 10_000 })
  try {
    const { rows } = await connection.run<{ ssl: boolean; version: string | null }>(
      'SELECT ssl, version FROM pg_stat_ssl WHERE pid = pg_backend_pid()',
      [],
    )
    return rows[0]
  } finally {
    connection.close()
  }
}

describe('a server that accepts only TLS', () => {
  it.each([
    ['require', () => urlOf({ sslmode: 'require' })],
    ['require, under another name', () => urlOf({ sslmode: 'require' }, '127.0.0.1')],
    ['verify-ca', () => urlOf({ sslmode: 'verify-ca', sslrootcert: authority })],
    [
      'verify-ca, under another name',
      () => urlOf({ sslmode: 'verify-ca', sslrootcert: authority }, '127.0.0.1'),
    ],
    ['verify-full', () => urlOf({ sslmode: 'verify-full', sslrootcert: authority })],
    [
      'verify-full, with a password that is bound to the channel',
      () => urlOf({ sslmode: 'verify-full', sslrootcert: authority, channel_binding: 'require' }),
    ],
    [
      'verify-full, without being asked first',
      () => urlOf({ sslmode: 'verify-full', sslrootcert: authority, sslnegotiation: 'direct' }),
    ],
  ])('is connected to with %s', async (_, url) => {
    expect(await encryption(url())).toEqual({ ssl: true, version: 'TLSv1.3' })
  })

  it.each([
    ['disable', () => urlOf({ sslmode: 'disable' }), 'no encryption'],
    [
      'require, without a password',
      () => urlOf({ sslmode: 'require' }).replace(`:${password}@`, '@'),
      'the server asks for a password; set it in DATABASE_URL, PGPASSWORD or ~/.pgpass',
    ],
    [
      'require, with an empty password',
      () => urlOf({ sslmode: 'require' }).replace(`:${password}@`, ':@'),
      'the server asks for a password; set it in DATABASE_URL, PGPASSWORD or ~/.pgpass',
    ],
    [
      'verify-ca, of another authority of the same name',
      () => urlOf({ sslmode: 'verify-ca', sslrootcert: stranger }),
      "set sslrootcert to the authority's file",
    ],
    [
      'verify-full, of the authorities that Node trusts',
      () => urlOf({ sslmode: 'verify-full', sslrootcert: 'system' }),
      "set sslrootcert to the authority's file",
    ],
    [
      'verify-full, under another name',
      () => urlOf({ sslmode: 'verify-full', sslrootcert: authority }, '127.0.0.1'),
      "IP: 127.0.0.1 is not in the cert's list",
    ],
    [
      'verify-full, of an authority whose file is missing',
      () => urlOf({ sslmode: 'verify-full', sslrootcert: `${authority}.old` }),
      'a file for TLS cannot be read: ENOENT',
    ],
  ])('is not with %s, and cairn says why', async (_, url, reason) => {
    const init = await runCairn(['init', '--workspace', 'Acme', '--journey', 'Onboarding'], {
      environment: { DATABASE_URL: url() },
    })
    expect(init).toMatchObject({ code: 1, stderr: expect.stringContaining(reason) })
    expect(init.stdout + init.stderr).not.toContain(password)
    expect(init.stderr).not.toContain('--use-system-ca')
  })

  it('has all connections of a Cairn encrypted', async () => {
    const databaseUrl = urlOf({ sslmode: 'verify-full', sslrootcert: authority })
    const cairn = await startCairnForTest({ databaseUrl })
    const { workspace, event } = await customerInJourney(cairn)
    const { response } = await workspace.client.createEvent({ body: event })
    expect(response.status).toBe(201)
    const connections = await runSql(
      owner,
      "SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE datname = 'cairn'",
    )
    expect(connections.length).toBeGreaterThan(3)
    expect(connections.every(({ ssl }) => ssl)).toBe(true)
    expect(JSON.stringify(cairn.log)).not.toContain(password)
  })
})
