// engines: sqlite (reads settings; one server that serves a file is enough for the rest)

import { once } from 'node:events'
import { globSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it, onTestFinished } from 'vitest'
import { unknownVariables } from '../../server/cli/unknown-variables.ts'
import { readConfig, settings } from '../../server/config.ts'
import { sqlitePath } from '../../server/storage/sqlite/store-files.ts'
import { newStore, temporaryFolder } from '../fixtures/cairn.ts'
import { serve, startChildServer, startChildServerWithCustomer } from '../fixtures/child-server.ts'
import { runCairn } from '../fixtures/command.ts'
import { jsonLines } from '../fixtures/json-lines.ts'

const PORT = 'PORT must be a whole number from 0 to 65535'
const RATE = 'CAIRN_RATE_LIMIT must be a whole number from 0 to 1000000'
const MOST = 'CAIRN_RATE_LIMIT_MAX must be a whole number from 0 to 1000000'
const ACCOUNTS = 'CAIRN_ACCOUNTS must be invitation or operator'
const TOKEN = 'CAIRN_METRICS_TOKEN must have 32 to 255 characters from A-Z a-z 0-9 . _ ~ + / = -'
const PUBLIC_URL =
  'CAIRN_PUBLIC_URL must be a scheme and a host without a path, for example https://cairn.example.com'
const PROXIES =
  'CAIRN_TRUSTED_PROXIES must list addresses or networks, for example 10.0.0.7, 172.16.0.0/12, loopback'
const KEY =
  'CAIRN_ENCRYPTION_KEY must be 32 bytes in base64 or hexadecimal, as openssl rand -base64 32 prints'
const NETWORKS = 'CAIRN_WEBHOOK_ALLOW must list addresses or networks, for example 10.0.0.7, 172.16.0.0/12'
const ADDRESSES = 'CAIRN_LOG_ADDRESSES must be on or off'
const LEVEL = 'LOG_LEVEL must be one of trace, debug, info, warn, error, silent'
const REFUSALS = [
  'CAIRN_REFUSALS_DAYS must be a whole number from 0 to 3650',
  'CAIRN_REFUSALS_MEGABYTES must be a whole number from 0 to 100000',
  'CAIRN_REFUSALS_ROWS must be a whole number from 0 to 10000000',
]
const BLANK = 'begins or ends with whitespace'
const LINE_BREAK = 'contains a line break (perhaps an env file with Windows line endings)'
const QUOTED = 'begins or ends with a quotation mark; not every env file reader removes them'
const DATABASE = 'DATABASE_URL must be sqlite:PATH or postgres://…, for example sqlite:./data/cairn.db'

describe('the configuration', () => {
  it('has a default for everything, also if a variable is empty', () => {
    const defaults = {
      port: 3000,
      host: '127.0.0.1',
      databaseUrl: 'sqlite:./data/cairn.db',
      publicUrl: undefined,
      trustedProxies: [],
      rateLimit: 500,
      rateLimitMax: 5000,
      accounts: 'invitation',
      metricsToken: undefined,
      refusals: { days: 7, bytes: 50_000_000, rows: 100_000 },
      erasuresFile: undefined,
      encryptionKey: undefined,
      webhookAllow: [],
      logLevel: 'info',
      logAddresses: true,
    }
    expect(readConfig({})).toEqual(defaults)
    expect(readConfig(Object.fromEntries(settings.map(({ name }) => [name, ''])))).toEqual(defaults)
  })

  it.each([
    ['PORT', '0'],
    ['PORT', '65535'],
    ['CAIRN_RATE_LIMIT', '0'],
    ['CAIRN_RATE_LIMIT', '1000000'],
    ['CAIRN_RATE_LIMIT_MAX', '0'],
    ['CAIRN_RATE_LIMIT_MAX', '500'],
    ['CAIRN_ACCOUNTS', 'operator'],
    ['CAIRN_METRICS_TOKEN', '0123456789abcdefABCDEF-._~+/=000'],
    ['CAIRN_METRICS_TOKEN', 'x'.repeat(255)],
    ['CAIRN_PUBLIC_URL', 'https://cairn.example.com/'],
    ['CAIRN_TRUSTED_PROXIES', '10.0.0.7'],
    ['LOG_LEVEL', 'silent'],
    ['DATABASE_URL', 'sqlite:cairn.db'],
    ['DATABASE_URL', 'sqlite:./my data/Löwe & 100%.db'],
    ['DATABASE_URL', 'sqlite:/var/lib/cairn.db'],
    ['DATABASE_URL', 'sqlite:///var/lib/cairn.db'],
  ])('takes %s=%s', (name, value) => {
    expect(Object.values(readConfig({ [name]: value })).map(String)).toContain(value)
  })

  it('takes a key in base64, also for URLs, or in hexadecimal', () => {
    const key = Buffer.from('fbff'.repeat(16), 'hex')
    for (const text of [
      key.toString('base64'),
      key.toString('base64url'),
      key.toString('hex'),
      key.toString('hex').toUpperCase(),
    ]) {
      expect(readConfig({ CAIRN_ENCRYPTION_KEY: text }).encryptionKey).toEqual(key)
    }
  })

  it('takes networks separated by commas or whitespace', () => {
    const { webhookAllow } = readConfig({ CAIRN_WEBHOOK_ALLOW: '10.0.0.0/8, 127.0.0.1 ::1,fd00::/8' })
    expect(webhookAllow.map(([address, bits]) => `${address}/${bits}`)).toEqual([
      '10.0.0.0/8',
      '127.0.0.1/32',
      '::1/128',
      'fd00::/8',
    ])
  })

  it.each([
    ['PORT', '65536', PORT],
    ['PORT', '-1', PORT],
    ['PORT', '80.5', PORT],
    ['PORT', '0x50', PORT],
    ['PORT', ' 80', `PORT ${BLANK}`],
    ['PORT', '80\r', `PORT ${LINE_BREAK}`],
    ['PORT', '"80"', `PORT ${QUOTED}`],
    ['HOST', '127.0.0.1\r', `HOST ${LINE_BREAK}`],
    ['CAIRN_ACCOUNTS', "'operator'", `CAIRN_ACCOUNTS ${QUOTED}`],
    ['CAIRN_ERASURES_FILE', '/var/lib/erasures ', `CAIRN_ERASURES_FILE ${BLANK}`],
    ['CAIRN_ERASURES_FILE', '"/var/lib/erasures"', `CAIRN_ERASURES_FILE ${QUOTED}`],
    ['LOG_LEVEL', 'info\n', `LOG_LEVEL ${LINE_BREAK}`],
    ['PORT', 'http', PORT],
    ['CAIRN_RATE_LIMIT', '1000001', RATE],
    ['CAIRN_RATE_LIMIT', '1e3', RATE],
    ['CAIRN_RATE_LIMIT', 'none', RATE],
    ['CAIRN_RATE_LIMIT_MAX', '-1', MOST],
    ['CAIRN_ACCOUNTS', 'open', ACCOUNTS],
    ['CAIRN_METRICS_TOKEN', 'x'.repeat(31), TOKEN],
    ['CAIRN_METRICS_TOKEN', 'x'.repeat(256), TOKEN],
    ['CAIRN_METRICS_TOKEN', `${'x'.repeat(32)} `, `CAIRN_METRICS_TOKEN ${BLANK}`],
    ['CAIRN_METRICS_TOKEN', `${'x'.repeat(32)}é`, TOKEN],
    ['CAIRN_METRICS_TOKEN', 'é'.repeat(32), TOKEN],
    ['CAIRN_PUBLIC_URL', 'cairn.example.com', PUBLIC_URL],
    ['CAIRN_PUBLIC_URL', 'https://cairn.example.com/admin', PUBLIC_URL],
    ['CAIRN_PUBLIC_URL', 'https://ada@cairn.example.com', PUBLIC_URL],
    ['CAIRN_PUBLIC_URL', 'https://:secret@cairn.example.com', PUBLIC_URL],
    ['CAIRN_PUBLIC_URL', 'ftp://cairn.example.com', PUBLIC_URL],
    ['CAIRN_PUBLIC_URL', 'https://cairn.example.com/?x', PUBLIC_URL],
    ['CAIRN_PUBLIC_URL', 'https://cairn.example.com/#x', PUBLIC_URL],
    ['CAIRN_PUBLIC_URL', ' https://cairn.example.com', `CAIRN_PUBLIC_URL ${BLANK}`],
    ['CAIRN_PUBLIC_URL', 'https://cairn.\texample.com', 'CAIRN_PUBLIC_URL contains a control character'],
    ['CAIRN_TRUSTED_PROXIES', 'proxy.example.com', PROXIES],
    ['CAIRN_TRUSTED_PROXIES', '"10.0.0.7"', PROXIES],
    ['CAIRN_TRUSTED_PROXIES', '10.0.0.0/33', PROXIES],
    ['CAIRN_ENCRYPTION_KEY', 'secret', KEY],
    ['CAIRN_ENCRYPTION_KEY', 'x'.repeat(32), KEY],
    ['CAIRN_ENCRYPTION_KEY', Buffer.alloc(31).toString('base64'), KEY],
    ['CAIRN_ENCRYPTION_KEY', Buffer.alloc(33).toString('base64'), KEY],
    ['CAIRN_ENCRYPTION_KEY', 'ab'.repeat(31), KEY],
    ['CAIRN_ENCRYPTION_KEY', `${'ab'.repeat(32)} `, `CAIRN_ENCRYPTION_KEY ${BLANK}`],
    ['CAIRN_WEBHOOK_ALLOW', 'loopback', NETWORKS],
    ['CAIRN_WEBHOOK_ALLOW', '10.0.0.0/33', NETWORKS],
    ['CAIRN_WEBHOOK_ALLOW', '10/8', NETWORKS],
    ['CAIRN_WEBHOOK_ALLOW', '10.0.0.0/8, ::ffff:10.0.0.0/104', NETWORKS],
    ['CAIRN_WEBHOOK_ALLOW', '"127.0.0.1"', NETWORKS],
    ['LOG_LEVEL', 'verbose', LEVEL],
    ['LOG_LEVEL', 'INFO', LEVEL],
    ['CAIRN_LOG_ADDRESSES', 'no', ADDRESSES],
    [
      'DATABASE_URL',
      'postgres://cairn:secret@localhost/cairn?target_session_attrs=standby',
      'DATABASE_URL: target_session_attrs must be any, read-write or primary: Cairn writes',
    ],
    ['DATABASE_URL', 'mysql://localhost/cairn', DATABASE],
    ['DATABASE_URL', './data/cairn.db', DATABASE],
    ['DATABASE_URL', 'sqlite:', DATABASE],
    ['DATABASE_URL', 'sqlite:/', DATABASE],
    ['DATABASE_URL', 'sqlite::memory:', DATABASE],
    ['DATABASE_URL', 'sqlite://data/cairn.db', DATABASE],
    ['DATABASE_URL', 'sqlite://', DATABASE],
    ['DATABASE_URL', 'sqlite:file:cairn.db', DATABASE],
    ['DATABASE_URL', 'SQLITE:./cairn.db', DATABASE],
    ['DATABASE_URL', 'sqlite:./cairn.db ', `DATABASE_URL ${BLANK}`],
    ['DATABASE_URL', 'sqlite:./cairn.db\u00a0', `DATABASE_URL ${BLANK}`],
    ['DATABASE_URL', ' sqlite:./cairn.db', `DATABASE_URL ${BLANK}`],
    ['DATABASE_URL', 'sqlite:./cairn.db\r', `DATABASE_URL ${LINE_BREAK}`],
    ['DATABASE_URL', 'sqlite:./cairn\r.db', `DATABASE_URL ${LINE_BREAK}`],
    ['DATABASE_URL', 'sqlite:./cairn\t.db', 'DATABASE_URL contains a control character'],
    ['DATABASE_URL', '"sqlite:./cairn.db"', `DATABASE_URL ${QUOTED}`],
    ['DATABASE_URL', "sqlite:./cairn.db'", `DATABASE_URL ${QUOTED}`],
    ['DATABASE_URL', 'postgres://cairn:secret@localhost/cairn\r', `DATABASE_URL ${LINE_BREAK}`],
    [
      'DATABASE_URL',
      'sqlite:./cairn.db?mode=ro',
      'DATABASE_URL contains a ?, but a sqlite: URL has no parameters; its path is used literally',
    ],
    [
      'DATABASE_URL',
      'sqlite:./cairn.db#main',
      'DATABASE_URL contains a #, but a sqlite: URL has no fragment; its path is used literally',
    ],
    [
      'DATABASE_URL',
      'sqlite:./my%20cairn.db',
      'DATABASE_URL is percent-encoded; the path of a sqlite: URL is used literally',
    ],
    ['DATABASE_URL', 'sqlite:./$NAME.db', 'DATABASE_URL contains a variable that was not expanded'],
    [
      'DATABASE_URL',
      'sqlite: ./cairn.db',
      'DATABASE_URL has a path that begins with a quotation mark or whitespace',
    ],
  ])('refuses %s=%s', (name, value, message) => {
    expect(() => readConfig({ [name]: value })).toThrow(new Error(message))
  })

  it('reads a list of proxies with any separators', () => {
    const { trustedProxies } = readConfig({ CAIRN_TRUSTED_PROXIES: '10.0.0.7\nloopback, 10.1.0.0/16\r\n' })
    expect(trustedProxies).toEqual(['10.0.0.7', 'loopback', '10.1.0.0/16'])
  })

  it('checks the port that a DATABASE_URL leaves to the environment', () => {
    const PGPORT = '$PORT'
    expect(() => readConfig({ DATABASE_URL: 'postgres://db/cairn', PGPORT })).toThrow(
      'PGPORT must be a number from 1 to 65535, because DATABASE_URL names no port',
    )
    readConfig({ DATABASE_URL: 'postgres://db:5432/cairn', PGPORT })
    readConfig({ DATABASE_URL: 'sqlite:./cairn.db', PGPORT })
    readConfig({ DATABASE_URL: 'postgres://db/cairn', PGPORT: '6432' })
  })

  it.each([' ', '\r', '?mode=ro'])(
    'that appends %j to the path of a store does not create another store',
    async (added) => {
      const folder = temporaryFolder()
      const args = ['init', '--workspace', 'A', '--journey', 'B']
      const DATABASE_URL = `sqlite:${join(folder, 'cairn.db')}${added}`
      expect(await runCairn(args, { environment: { DATABASE_URL } })).toMatchObject({ code: 2, stdout: '' })
      expect(readdirSync(folder)).toEqual([])
    },
  )

  it.each([
    ['501', '500', 501],
    ['5001', '', 5001],
    ['0', '500', 0],
    ['500', '0', 0],
  ])(
    'with CAIRN_RATE_LIMIT=%s and CAIRN_RATE_LIMIT_MAX=%s lets members give %s',
    (rate, most, rateLimitMax) => {
      expect(readConfig({ CAIRN_RATE_LIMIT: rate, CAIRN_RATE_LIMIT_MAX: most })).toMatchObject({
        rateLimitMax,
      })
    },
  )

  it('that is invalid ends every command with exit code 2 and a list of all faults', async () => {
    const environment = Object.fromEntries(settings.map(({ name }) => [name, 'x']))
    const stderr = `cairn: ${[PORT, PUBLIC_URL, RATE, MOST, ACCOUNTS, ...REFUSALS, KEY, NETWORKS, ADDRESSES, TOKEN, PROXIES, LEVEL, DATABASE].join('\n')}\n`
    const commands = [['serve'], ['init', '--workspace', 'A', '--journey', 'B'], ['key', 'list']]
    for (const refused of await Promise.all(commands.map((args) => runCairn(args, { environment })))) {
      expect(refused).toMatchObject({ code: 2, stdout: '', stderr })
    }
  })
})

describe('a variable that is most likely a misspelt setting', () => {
  const misspelt = { CAIRN_RATE_LIMT: 'sk_secret' }
  const warning = 'CAIRN_RATE_LIMT is not a setting and has no effect; did you mean CAIRN_RATE_LIMIT?'

  it('is named once in the log of a server, without its value', async () => {
    const environment = { ...misspelt, LOG_LEVEL: 'warn' }
    const { server } = await startChildServerWithCustomer({ environment })
    const { stdout, stderr } = await server.end('SIGTERM')
    const messages = jsonLines(stdout).map(({ level, msg }) => [level, msg])
    expect(messages.filter(([, msg]) => msg.includes('CAIRN_RATE_LIMT'))).toEqual([[40, warning]])
    expect([stderr, stdout.includes('sk_secret')]).toEqual(['', false])
  })

  it('is named on the standard error of a command, which does its work', async () => {
    const environment = { DATABASE_URL: await newStore(), ...misspelt }
    expect(await runCairn(['migrate'], { environment })).toMatchObject({
      code: 0,
      stderr: `cairn: ${warning}\n`,
    })
    expect(await runCairn(['key', 'list', '--help'], { environment })).toMatchObject({ code: 0, stderr: '' })
  })

  it.each([
    [
      'a name without the prefix',
      { LOGLEVEL: 'debug' },
      ['LOGLEVEL is not a setting and has no effect; did you mean LOG_LEVEL?'],
    ],
    [
      'another case',
      { database_url: 'x' },
      ['database_url is not a setting and has no effect; did you mean DATABASE_URL?'],
    ],
    [
      'letters that changed places',
      { DATABSAE_URL: 'x' },
      ['DATABSAE_URL is not a setting and has no effect; did you mean DATABASE_URL?'],
    ],
    ['one of another program, beside the setting', { DATABASE_URI: 'x', DATABASE_URL: 'sqlite:a.db' }, []],
    [
      'others of another program',
      { HOME: '/', HOSTS: 'a', PATH: '/bin', POST: '1', LOG_DIR: '/', RATE_LIMIT: '1' },
      [],
    ],
    [
      'the address to listen on',
      { CAIRN_HOST: '0.0.0.0' },
      ['CAIRN_HOST is not a setting and has no effect; did you mean HOST?'],
    ],
    ['the host name that the sample of Caddy reads', { CAIRN_HOST: 'cairn.example.com' }, []],
  ])('is told from those of other programs: %s', (_what, environment, warnings) => {
    expect(unknownVariables(environment)).toEqual(warnings)
  })

  it.each([
    ['CAIRN_LOG_LEVEL', '; did you mean LOG_LEVEL?'],
    ['CAIRN_DATABASE_URI', '; did you mean DATABASE_URL?'],
    ['CAIRN_PORT', '; did you mean PORT?'],
    ['cairn_accounts', '; did you mean CAIRN_ACCOUNTS?'],
    ['CAIRN_WEBHOOK_ALOWED', ''],
    ['CAIRN_TELEMETRY', ''],
  ])('is answered with the setting that is near to it, if there is one: %s', (name, advice) => {
    expect(unknownVariables({ [name]: '1' })).toEqual([`${name} is not a setting and has no effect${advice}`])
  })

  it('is not one of those that Kubernetes sets beside a service called cairn', () => {
    const environment = {
      CAIRN_SERVICE_HOST: '10.0.0.1',
      CAIRN_SERVICE_PORT: '3000',
      CAIRN_SERVICE_PORT_HTTP: '3000',
      CAIRN_PORT: 'tcp://10.0.0.1:3000',
      CAIRN_PORT_3000_TCP: 'tcp://10.0.0.1:3000',
      CAIRN_PORT_3000_TCP_PROTO: 'tcp',
      CAIRN_DB_SERVICE_HOST: '10.0.0.2',
      CAIRN_DB_PORT: 'tcp://10.0.0.2:5432',
    }
    expect(unknownVariables(environment)).toEqual([])
  })

  it('is none that the documentation, the samples, the programs or the tests use', () => {
    const files = globSync(
      ['*.md', '{client,deploy,server,test}/**/*.{md,service,ts,yaml}', 'deploy/caddy/*'],
      {
        exclude: ['**/node_modules', 'test/cli/configuration.test.ts'],
      },
    )
    const texts = files.map((file) => readFileSync(file, 'utf8'))
    const names = new Set(texts.flatMap((text) => text.match(/\bCAIRN_[A-Z_]*[A-Z]\b/g) ?? []))
    expect([...names]).toEqual(
      expect.arrayContaining(['CAIRN_ACCOUNTS', 'CAIRN_SERVICE_KEY', 'CAIRN_HOST', 'CAIRN_UPSTREAM']),
    )
    expect(unknownVariables(Object.fromEntries([...names].map((name) => [name, ''])))).toEqual([])
  })
})

/** A SQLite database, as the store itself is. */
function databaseFile(): string {
  const path = join(temporaryFolder(), 'other.db')
  new Database(path).exec('CREATE TABLE notes (text TEXT)').close()
  return path
}

describe('a file of erasures that would keep nothing', () => {
  it.each([
    ['a folder', temporaryFolder, /^cairn: CAIRN_ERASURES_FILE must be a file, but .+\n$/],
    ['a device', () => '/dev/null', /^cairn: CAIRN_ERASURES_FILE must be a file, but .+\n$/],
    ['a SQLite database', databaseFile, /^cairn: The file of erasures .+ is a SQLite database\. .+\n$/],
    [
      'in a folder that does not exist',
      () => join(temporaryFolder(), 'disk', 'erased'),
      /^cairn: the folder .+ of CAIRN_ERASURES_FILE does not exist\. Create it or mount its disk, .+\n$/,
    ],
  ])('ends the server with exit code 1 and its variable: %s', async (_what, place, message) => {
    const CAIRN_ERASURES_FILE = place()
    const databaseUrl = `sqlite:${join(temporaryFolder(), 'cairn.db')}`
    expect(await serve({ databaseUrl, environment: { CAIRN_ERASURES_FILE } }).ended).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(message),
    })
  })
})

describe('a server that cannot start', () => {
  it('ends if its file of erasures cannot be read, and names it', async () => {
    const path = join(temporaryFolder(), 'cairn.db')
    mkdirSync(`${path}-erasures`)
    expect(await serve({ databaseUrl: `sqlite:${path}` }).ended).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^cairn: Cannot read the file of erasures .+cairn\.db-erasures: EISDIR.+\n$/,
      ),
    })
  })

  it('ends if an erasure cannot be recorded that its file of erasures lacks', async () => {
    const { server, client, event, databaseUrl } = await startChildServerWithCustomer()
    await client.eraseCustomer({ path: { customer_id: event.customer_id } })
    await server.end('SIGTERM')
    const journal = `${sqlitePath(databaseUrl)}-erasures`
    rmSync(journal)
    symlinkSync(join(temporaryFolder(), 'none', 'erased'), journal)
    expect(await serve({ databaseUrl }).ended).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^cairn: ENOENT.+cairn\.db-erasures'\n$/),
    })
  })
})

describe('an address that cannot be listened on', () => {
  it('ends the server with exit code 3 and the reason: a port that is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void other.close())
    await once(other, 'listening')
    const address = other.address()
    const port = String(typeof address === 'object' ? address?.port : '')
    const databaseUrl = `sqlite:${join(temporaryFolder(), 'cairn.db')}`
    expect(await serve({ databaseUrl, environment: { PORT: port } }).ended).toMatchObject({
      code: 3,
      stdout: '',
      stderr: `cairn: Cannot listen on 127.0.0.1:${port}: the port is in use; set PORT to another\n`,
    })
    await startChildServer({ databaseUrl })
  })

  it.each([
    // For documentation (RFC 5737), so no machine has it.
    ['of another machine', '192.0.2.1', 'this machine does not have the address'],
    // RFC 6761.
    ['whose name has no address', 'cairn.invalid', 'the name has no address'],
  ])('ends the server with exit code 1 and the reason: one %s', async (_what, HOST, reason) => {
    const databaseUrl = `sqlite:${join(temporaryFolder(), 'cairn.db')}`
    const { code, stdout, stderr } = await serve({ databaseUrl, environment: { HOST } }).ended
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/^cairn: .+; set HOST to .+\n$/)
    expect(stderr).toContain(`Cannot listen on ${HOST}:0: ${reason}`)
  })
})
