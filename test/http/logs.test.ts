// engines: sqlite, postgres

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, existsSync, openSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { newServiceKey } from '../../server/domain/service-keys.ts'
import { newToken } from '../../server/domain/tokens.ts'
import { type Cairn, newStore, startCairn, startCairnForTest, temporaryFolder } from '../fixtures/cairn.ts'
import { startChildServerWithCustomer } from '../fixtures/child-server.ts'
import { cairnFile, startCommand } from '../fixtures/command.ts'
import { customerInJourney } from '../fixtures/customer.ts'
import { freePort } from '../fixtures/free-port.ts'
import { jsonLines } from '../fixtures/json-lines.ts'
import { withPatience } from '../fixtures/patience.ts'
import { signUp } from '../fixtures/people.ts'
import { send } from '../fixtures/requests.ts'

let cairn: Cairn

beforeAll(async () => {
  cairn = await startCairn()
  return cairn.stop
})

/** The log lines of the request with this identifier, after it has ended. */
async function linesOf(requestId: string) {
  return await vi.waitFor(() => {
    const lines = cairn.log.filter(({ request_id }) => request_id === requestId)
    expect(lines).not.toEqual([])
    return lines
  }, withPatience)
}

describe('the log', () => {
  it('has one line per request, with what an operator looks for', async () => {
    const { workspace, event } = await customerInJourney(cairn)
    const { secret_key: key } = workspace
    const stranger = { ...event, customer_id: 'nobody' }
    const rejected = [stranger, { ...event, journey_id: 'none' }, stranger]
    const own = {
      address: '127.0.0.1',
      pid: expect.any(Number),
      hostname: expect.any(String),
      time: expect.any(Number),
      level: 30,
    }
    const ofKey = { key_id: expect.stringMatching(/^key_/) }
    const errors = [{ pointer: '', detail: expect.any(String) }]
    const counts = { customer_not_found: 2, journey_not_found: 1 }
    const create = { operation: 'createEvent', ...ofKey }
    const batch = { operation: 'createEvents', ...ofKey }
    const one = JSON.stringify(event)
    const many = JSON.stringify({ events: [event, ...rejected] })
    for (const [id, line, sent, status, fields] of [
      ['created', 'POST /events/create', { key, body: one }, 201, create],
      [
        'refused',
        'POST /events/create',
        { key, body: '{' },
        400,
        { ...create, code: 'invalid_json', errors },
      ],
      ['batch', 'POST /events/batch', { key, body: many }, 200, { ...batch, rejected: counts }],
      [
        'unauthorized',
        'GET /customers/x',
        { key: 'wrong' },
        401,
        { operation: 'getCustomer', code: 'unauthorized' },
      ],
      ['unknown', 'PUT /nowhere', {}, 404, { path: '/v1/*', code: 'not_found' }],
      ['method', 'PUT /events', {}, 405, { path: '/v1/events', code: 'method_not_allowed' }],
      ['preflight', 'OPTIONS /events/create?a=b', {}, 204, { path: '/v1/events/create' }],
      ['deep', `GET /events${'/a'.repeat(20)}`, {}, 404, { path: '/v1/events/*/*/*/*/*', code: 'not_found' }],
    ] as const) {
      await send(cairn, line, { ...sent, headers: { 'x-request-id': id } })
      const [method] = line.split(' ')
      expect(await linesOf(id)).toEqual([
        { ...own, method, status, ...fields, request_id: id, duration_ms: expect.any(Number) },
      ])
    }
  })

  it.each(['info', 'trace'])(
    'never contains a key, a body or a query, wherever the caller puts it: at level %s',
    async (logLevel) => {
      const cairn = await startCairnForTest({ logLevel })
      const { workspace, event } = await customerInJourney(cairn)
      const { secret_key, publishable_key } = workspace
      const wrong = newServiceKey('secret')
      const token = newToken('invitation_')
      const body = (change: object) => JSON.stringify({ ...event, ...change })
      const requests: [string, Parameters<typeof send>[2]][] = [
        ['POST /events/create', { key: publishable_key, body: body({ custom_variables: { a: 's3cret' } }) }],
        ['POST /events/create', { key: secret_key, body: body({ event_id: 's3cret', s3cret: 's3cret' }) }],
        ['POST /events/create', { key: secret_key, body: '{"s3cret": s3cret}' }],
        ['POST /events/create', { key: secret_key, body: '{"s3cret":1,"s3cret":2}' }],
        ['POST /events/create', { key: secret_key, body: body({ journey_id: 's3cret' }) }],
        ['POST /events/create', { key: secret_key, body: 's3cret'.repeat(20_000) }],
        ['POST /events/create', { key: wrong, body: body({ event_id: 's3cret' }) }],
        ['POST /events/create', { body: secret_key }],
        [`GET /events?event_id=s3cret&key=${secret_key}`, { key: secret_key }],
        [
          'POST /events/create',
          { key: secret_key, body: body({ custom_variables: { s3cret: { s3cret: '\ud800' } } }) },
        ],
        [`GET /events?s3cret=1&limit=s3cret`, { key: secret_key }],
        [`GET /events?${secret_key}`, { key: secret_key }],
        [`GET /events?x-service-key=${secret_key}`, {}],
        [`GET /customers/${secret_key}`, { key: secret_key }],
        [`GET /customers/${secret_key}/events`, {}],
        [`GET /${secret_key}`, {}],
        [`GET /nowhere/s3cret?s3cret=${wrong}`, {}],
        [`PUT /events?${secret_key}`, {}],
        [`GET /customers/%zz${secret_key}`, {}],
        [`POST /journeys/${secret_key}/archive`, { key: publishable_key }],
        ['GET /events', { headers: { authorization: `Bearer ${secret_key}`, cookie: `key=${secret_key}` } }],
        ['GET /events', { headers: { referer: `https://x.test/?${secret_key}`, 'user-agent': 's3cret' } }],
        ['GET /events', { headers: { 'x-request-id': `"${secret_key}"`, origin: `https://${wrong}` } }],
        ['GET /events', { headers: { 'x-request-id': secret_key } }],
        ['GET /events', { headers: { 'x-request-id': secret_key.slice(0, 40) } }],
        ['GET /events', { headers: { 'x-request-id': `for:${token}` } }],
      ]
      const ended = () => cairn.log.filter(({ duration_ms }) => duration_ms !== undefined).length
      await vi.waitFor(() => expect(ended()).toBe(1), withPatience)
      for (const [line, sent] of requests) await send(cairn, line, sent)
      await vi.waitFor(() => expect(ended()).toBe(1 + requests.length), withPatience)
      const log = JSON.stringify(cairn.log)
      for (const secret of [secret_key, publishable_key, wrong, token])
        expect(log).not.toContain(secret.slice(3, 30))
      expect(log).not.toContain('s3cret')
    },
  )

  it('names the fields of a refused request that the contract has, and never a value', async () => {
    const { workspace, event } = await customerInJourney(cairn)
    const { secret_key: key } = workspace
    const refusals: [string, string, object | undefined, object[]][] = [
      ['missing', 'POST /events/create', { ...event, event_id: undefined }, [{ pointer: '/event_id' }]],
      ['number', 'POST /events/create', { ...event, event_id: 4711 }, [{ pointer: '/event_id' }]],
      ['unknown', 'POST /events/create', { ...event, surname: 'x' }, [{ pointer: '/*' }]],
      [
        'in a list',
        'POST /events/batch',
        { events: [event, { ...event, event_id: '' }] },
        [{ pointer: '/events/1/event_id' }],
      ],
      [
        'deep',
        'POST /events/create',
        { ...event, custom_variables: { 4711: ['\ud800'] } },
        [{ pointer: '/custom_variables/*/*' }],
      ],
      [
        'parameters',
        'GET /events?limit=0&surname=x',
        undefined,
        [{ parameter: '*' }, { parameter: 'limit' }],
      ],
      [
        'many',
        'POST /events/batch',
        { events: Array(9).fill({}) },
        Array(5).fill({ pointer: expect.stringMatching(/^\/events\/\d\/[a-z]+_id$/) }),
      ],
    ]
    for (const [name, line, body, errors] of refusals) {
      const id = `fault-${name.replaceAll(' ', '-')}`
      await send(cairn, line, {
        key,
        ...(body && { body: JSON.stringify(body) }),
        headers: { 'x-request-id': id },
      })
      const [logged] = await linesOf(id)
      const told = errors.map((fault) => ({ ...fault, detail: expect.any(String) }))
      expect([name, logged?.errors]).toEqual([name, told])
    }
  })

  it('has only fields of a request that the guide explains', async () => {
    const { workspace, event } = await customerInJourney(cairn)
    const owner = await signUp(cairn, workspace, 'owner')
    await owner.client().getSession()
    const { secret_key: key } = workspace
    const events = JSON.stringify({ events: [event, { ...event, customer_id: 'nobody' }] })
    await send(cairn, 'POST /events/batch', { key, body: events })
    await send(cairn, 'POST /events/create', { key, body: '{' })
    await send(cairn, 'PUT /nowhere', { headers: { 'x-request-id': 'last' } })
    await linesOf('last')
    await vi.waitUntil(() => cairn.log.some(({ person_id }) => person_id === owner.person_id), withPatience)
    const ofPino = ['level', 'time', 'pid', 'hostname']
    const ofRequests = cairn.log.filter(({ request_id, msg }) => request_id && !msg)
    const fields = new Set(ofRequests.flatMap((line) => Object.keys(line)))
    const [, guide = ''] = /\n## Logs\n(.+?)\n## /s.exec(readFileSync('deploy/operations.md', 'utf8')) ?? []
    const explained = [...guide.matchAll(/`(\w+)`/g)].map(([, name]) => name)
    expect([...fields].filter((field) => ![...ofPino, ...explained].includes(field))).toEqual([])
  })

  it('has the client’s address behind a trusted proxy', async () => {
    const cairn = await startCairnForTest({ trustedProxies: ['loopback'] })
    await send(cairn, 'GET /events', { headers: { 'x-forwarded-for': '198.51.100.7, 203.0.113.9' } })
    await vi.waitFor(
      () => expect(cairn.log).toMatchObject([{ status: 401, address: '203.0.113.9' }]),
      withPatience,
    )
  })

  it('has no addresses if CAIRN_LOG_ADDRESSES is off', async () => {
    const cairn = await startCairnForTest({ logAddresses: false })
    await send(cairn, 'GET /events', { headers: { 'x-forwarded-for': '203.0.113.9' } })
    const { port } = new URL(cairn.url)
    connect(Number(port), '127.0.0.1').end('no HTTP\r\n\r\n').resume()
    const lines = [
      { status: 401 },
      { code: 'malformed_request' },
      { msg: expect.stringContaining('CAIRN_TRUSTED_PROXIES') },
    ]
    await vi.waitFor(() => {
      expect(cairn.log).toEqual(expect.arrayContaining(lines.map((line) => expect.objectContaining(line))))
    }, withPatience)
    expect(JSON.stringify(cairn.log)).not.toMatch(/127\.0\.0\.1|203\.0\.113\.9/)
  })
})

describe('the standard output of a server', () => {
  /** Makes a server emit a Node warning on a signal. */
  const preload = "process.on('SIGUSR2', () => process.emitWarning('careful\\nnow', { code: 'TEST01' }))"
  const environment = { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(preload)}` }

  it('has JSON in every line, from start to shutdown, including Node’s warnings', async () => {
    const { server, client } = await startChildServerWithCustomer({
      environment: { ...environment, LOG_LEVEL: 'info' },
    })
    await client.listJourneys()
    server.kill('SIGUSR2')
    await vi.waitUntil(() => server.stdout().includes('careful'), withPatience)
    const { stdout, stderr, code } = await server.end('SIGTERM')
    expect([code, stderr]).toEqual([0, ''])
    const lines = jsonLines(stdout)
    expect(lines[0]).toMatchObject({
      url: server.url,
      msg: expect.stringContaining(`listens on ${server.url}`),
    })
    expect(lines).toContainEqual(expect.objectContaining({ operation: 'listJourneys', status: 200 }))
    expect(lines).toContainEqual(
      expect.objectContaining({ level: 40, warning: 'Warning', msg: 'careful\nnow' }),
    )
    expect(lines.slice(-2)).toMatchObject([
      { signal: 'SIGTERM', msg: expect.stringMatching(/^shutting down/) },
      { msg: 'shutdown complete' },
    ])
  })

  /** Starts a server whose command a shell completes. */
  async function startServing(shell: string) {
    const port = await freePort()
    const command = startCommand(
      'sh',
      ['-c', `exec "$0" "$@" ${shell}`, process.execPath, cairnFile, 'serve'],
      {
        environment: { DATABASE_URL: await newStore(), PORT: String(port), LOG_LEVEL: 'info' },
      },
    )
    const request = async (path: string, requestId = 'r') => {
      const headers = { 'x-request-id': requestId }
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers })
      await answer.arrayBuffer()
      return answer.status
    }
    return { command, request }
  }

  it.runIf(existsSync('/dev/full'))('may be on a full disk: the server serves, and stops', async () => {
    const { command, request } = await startServing('>/dev/full')
    // Each request makes a line, which cannot be written. From the first answer on, a signal stops the server in order.
    for (let times = 0; times < 3; times += 1) {
      await expect.poll(() => request('/readyz').catch(String)).toBe(200)
    }
    command.process.kill('SIGTERM')
    expect(await command.ended).toMatchObject({ code: 0 })
  })

  it('lacks lines if nobody reads it for long, and then says how many', async () => {
    const { command, request } = await startServing('')
    await vi.waitUntil(() => command.stdout().includes('listens on'), withPatience)
    command.process.stdout?.pause()
    // More than what waits in the server and in the pipe.
    const sent = 8_000
    for (let times = 0; times < sent; times += 50) {
      await Promise.all(Array.from({ length: 50 }, () => request('/v1/unknown', 'r'.repeat(128))))
    }
    command.process.stdout?.resume()
    await vi.waitUntil(() => command.stdout().includes('"dropped":'), withPatience)
    command.process.kill('SIGTERM')
    const { code, stdout } = await command.ended
    const lines = jsonLines(stdout)
    const dropped = lines.reduce((sum, line) => sum + (line.dropped ?? 0), 0)
    expect(lines.filter(({ status }) => status === 404)).toHaveLength(sent - dropped)
    expect([code, lines.at(-1)]).toMatchObject([0, { msg: 'shutdown complete' }])
  })

  it('may be a full pipe that nobody reads, and that blocks: the server stops', async () => {
    const pipe = join(temporaryFolder(), 'log')
    execFileSync('mkfifo', [pipe])
    const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK)
    const writer = openSync(pipe, constants.O_WRONLY)
    // Node restores the flags of a pipe at its end to what they were at its start: a pipe that blocks.
    const until = "process.on('disconnect', () => process.exit()); process.send('started')"
    const other = spawn(process.execPath, ['-e', until], { stdio: ['ignore', writer, 'inherit', 'ipc'] })
    await once(other, 'message')
    const port = await freePort()
    const server = spawn(process.execPath, [cairnFile, 'serve'], {
      stdio: ['ignore', writer, 'ignore'],
      env: { DATABASE_URL: await newStore(), PORT: String(port), LOG_LEVEL: 'info' },
    })
    onTestFinished(() => {
      for (const child of [other, server]) child.kill('SIGKILL')
      for (const descriptor of [reader, writer]) closeSync(descriptor)
    })
    const request = async (path: string) => {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`)
      await answer.arrayBuffer()
      return answer.status
    }
    await expect.poll(() => request('/readyz').catch(String), withPatience).toBe(200)
    other.disconnect()
    await once(other, 'exit')
    // More than a pipe holds.
    for (let times = 0; times < 600; times += 50) {
      await Promise.all(Array.from({ length: 50 }, () => request('/v1/unknown')))
    }
    server.kill('SIGTERM')
    expect(await once(server, 'exit')).toEqual([0, null])
  })

  it('has only the listening address at LOG_LEVEL=silent', async () => {
    const { server, client } = await startChildServerWithCustomer()
    await client.listJourneys()
    const { stdout } = await server.end('SIGTERM')
    expect(jsonLines(stdout)).toMatchObject([{ url: server.url }])
  })
})
