// engines: sqlite, postgres

import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { type ClientRequest, request as startRequest } from 'node:http'
import { json } from 'node:stream/consumers'
import { describe, expect, it, vi } from 'vitest'
import { sqlitePath } from '../../server/storage/sqlite/store-files.ts'
import { newStore, temporaryFolder } from '../fixtures/cairn.ts'
import { type ChildServer, startChildServerWithCustomer } from '../fixtures/child-server.ts'
import { spawnCairn, startCommand } from '../fixtures/command.ts'
import { engine } from '../fixtures/engine.ts'
import { freePort } from '../fixtures/free-port.ts'
import { jsonLines } from '../fixtures/json-lines.ts'
import { withPatience } from '../fixtures/patience.ts'
import { openConnection } from '../fixtures/requests.ts'
import { connectTo, holdWrites, storedEvents } from '../fixtures/store.ts'

/** Starts a request and waits until the server has accepted it and waits for the body. */
async function beginRequest(server: ChildServer, secret_key: string): Promise<ClientRequest> {
  const request = startRequest(`${server.url}/v1/events/create`, {
    method: 'POST',
    agent: false,
    headers: { 'x-service-key': secret_key, 'content-type': 'application/json', expect: '100-continue' },
  })
  request.flushHeaders()
  await once(request, 'continue')
  return request
}

/** Resolves when the server accepts no connection any more. */
async function refusesConnections({ url }: ChildServer) {
  const connects = () =>
    fetch(`${url}/healthz`).then(
      () => 'connects',
      (error: Error) => (error.cause as { code?: string } | undefined)?.code,
    )
  await expect.poll(connects, { interval: 10 }).toBe('ECONNREFUSED')
}

describe.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('%s', (signal) => {
  it('stops a server in order from its first answer on', async () => {
    const PORT = String(await freePort())
    const server = spawnCairn(['serve'], { environment: { DATABASE_URL: await newStore(), PORT } })
    const status = () => fetch(`http://127.0.0.1:${PORT}/healthz`).then(({ status }) => status, String)
    await expect.poll(status, { interval: 5 }).toBe(200)
    server.process.kill(signal)
    expect(await server.ended).toMatchObject({ code: 0, signal: null })
  })

  it('lets the server finish requests in flight, and exit with 0', async () => {
    const { databaseUrl, server, client, secret_key, event } = await startChildServerWithCustomer()
    await client.createEvent({ body: { ...event, event_id: 'before' } })
    const other = await connectTo(databaseUrl)
    const release = await holdWrites(other)
    const requests = await Promise.all(Array.from({ length: 10 }, () => beginRequest(server, secret_key)))
    // A response after theirs: by now they are past the check whether the server is stopping.
    await fetch(`${server.url}/healthz`)
    const replies = requests.map(async (request) => {
      request.end(JSON.stringify(event))
      const [reply] = await once(request, 'response')
      return { status: reply.statusCode, body: await json(reply) }
    })
    server.kill(signal)
    await refusesConnections(server)
    await release()
    for (const reply of await Promise.all(replies)) {
      expect(reply).toMatchObject({ status: 201, body: { success: true } })
    }
    expect(await server.ended).toMatchObject({ code: 0, signal: null, stderr: '' })
    expect(await storedEvents(other)).toEqual(['before', ...Array(10).fill('signed_up')])
  })
})

describe('a connection without a request', () => {
  it.each([
    ['that nothing has come on', '', ''],
    ['with half of the first head', '', 'GET /healthz HTTP/1.1\r\nho'],
    [
      'with half of a later head',
      'GET /healthz HTTP/1.1\r\nhost: cairn\r\n\r\n',
      'GET /healthz HTTP/1.1\r\nho',
    ],
  ])('%s does not delay the shutdown', async (_name, whole, half) => {
    const { server } = await startChildServerWithCustomer()
    const { socket, answer, closed } = await openConnection(server)
    if (whole !== '') {
      socket.write(whole)
      await vi.waitFor(() => expect(answer()).toContain('HTTP/1.1 200'), withPatience)
    }
    if (half !== '') socket.write(half)
    // A response on a later connection: by now the server has accepted this one.
    await fetch(`${server.url}/healthz`)
    server.kill('SIGTERM')
    await closed
    expect(await server.ended).toMatchObject({ code: 0, signal: null, stderr: '' })
  })
})

describe('a stop under load', () => {
  it('stores what is acknowledged and acknowledges what is stored', async () => {
    const { databaseUrl, server, client, event } = await startChildServerWithCustomer()
    const answered: string[] = []
    const send = async (sender: number) => {
      for (let count = 0; ; count += 1) {
        const event_id = `${sender}-${count}`
        try {
          const { data } = await client.createEvent({ body: { ...event, event_id } })
          if (!data) return
          answered.push(event_id)
          if (answered.length === 200) server.kill('SIGTERM')
        } catch {
          return
        }
      }
    }
    await Promise.all(Array.from({ length: 16 }, (_, sender) => send(sender)))
    expect(await server.ended).toMatchObject({ code: 0, signal: null })
    const stored = await storedEvents(await connectTo(databaseUrl))
    expect(stored.toSorted()).toEqual(answered.toSorted())
  })

  it('writes every log line completely, including its last', async () => {
    const { server, client } = await startChildServerWithCustomer({ environment: { LOG_LEVEL: 'info' } })
    await Promise.all(Array.from({ length: 60 }, () => client.listJourneys({ query: { limit: 1 } })))
    const { code, stdout } = await server.end('SIGTERM')
    expect(code).toBe(0)
    const lines = jsonLines(stdout)
    expect(lines.filter(({ operation }) => operation === 'listJourneys')).toHaveLength(60)
    expect(lines.at(-1)).toMatchObject({ msg: 'shutdown complete' })
  })
})

describe('a second signal', () => {
  it.each([
    ['SIGTERM', 'SIGTERM'],
    ['SIGINT', 'SIGINT'],
    ['SIGTERM', 'SIGINT'],
  ] as const)('ends the server at once: %s, then %s', async (first, second) => {
    const { server, secret_key } = await startChildServerWithCustomer()
    // A request whose body never arrives delays the stop.
    const request = await beginRequest(server, secret_key)
    request.on('error', () => {})
    server.kill(first)
    await refusesConnections(server)
    expect(await server.end(second)).toMatchObject({ code: 1, signal: null })
  })

  it('does not, if both are SIGHUP: the shell and the kernel each send one when a terminal is closed', async () => {
    const { server, secret_key, event } = await startChildServerWithCustomer()
    const request = await beginRequest(server, secret_key)
    server.kill('SIGHUP')
    await refusesConnections(server)
    server.kill('SIGHUP')
    request.end(JSON.stringify(event))
    const [reply] = await once(request, 'response')
    expect(reply.statusCode).toBe(201)
    expect(await server.ended).toMatchObject({ code: 0, signal: null, stderr: '' })
  })
})

describe.each(['SIGUSR1', 'SIGUSR2'] as const)('%s', (signal) => {
  it('neither ends a server nor opens the debugger, and is in the log', async () => {
    const { server, client, event } = await startChildServerWithCustomer({
      // The debugger would be on this port.
      environment: { LOG_LEVEL: 'warn', NODE_OPTIONS: '--inspect-port=0' },
    })
    server.kill(signal)
    await vi.waitUntil(() => server.stdout().includes(signal), withPatience)
    expect((await client.createEvent({ body: event })).response.status).toBe(201)
    const { code, stdout, stderr } = await server.end('SIGTERM')
    expect([code, stderr]).toEqual([0, ''])
    expect(jsonLines(stdout)).toContainEqual(expect.objectContaining({ level: 40, signal }))
  })
})

describe('npm start', () => {
  it('ends its server on a supervisor’s signal', async () => {
    const folder = temporaryFolder()
    const databaseUrl = await newStore()
    const { stdout, process, ended } = startCommand('npm', ['start'], {
      environment: { DATABASE_URL: databaseUrl, PORT: '0', LOG_LEVEL: 'silent', HOME: folder },
    })
    const url = await vi.waitUntil(() => /listens on (\S+)/.exec(stdout())?.[1], withPatience)
    process.kill('SIGTERM')
    await ended
    await expect.poll(() => fetch(`${url}/healthz`).catch(() => 'ended')).toBe('ended')
    if (engine === 'sqlite') expect(existsSync(`${sqlitePath(databaseUrl)}-wal`)).toBe(false)
  })
})
