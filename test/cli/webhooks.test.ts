// engines: sqlite, postgres

import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { describe, expect, onTestFinished } from 'vitest'
import { newWebhookSecret } from '../../server/webhooks/signature.ts'
import { runCairn, spawnCairn } from '../fixtures/command.ts'
import { freePort } from '../fixtures/free-port.ts'
import { it } from '../fixtures/it.ts'
import { startFaultyProxy } from './importer.ts'

const secret = newWebhookSecret()

describe('cairn webhooks listen', () => {
  it('sends what arrives to a receiver, signed, and waits for one that is not there yet', async ({
    cairn,
    workspace,
    client,
    event,
  }) => {
    const send = async (event_id: string) => {
      const { data } = await client.createEvent({ body: { ...event, event_id } })
      return data?.id ?? ''
    }
    await send('before')
    const port = await freePort()
    const listening = spawnCairn(
      ['webhooks', 'listen', '--forward', `http://127.0.0.1:${port}/hook`, '--base-url', `${cairn.url}/v1`],
      { environment: { CAIRN_SERVICE_KEY: workspace.secret_key, CAIRN_WEBHOOK_SECRET: secret } },
    )
    await expect.poll(listening.stdout).toMatch(/^Secret: whsec_\S+\nSending events since \S+ to http:/)
    expect(listening.stdout()).toContain(`Secret: ${secret}\n`)
    const first = await send('first')
    await expect.poll(listening.stderr).toContain('does not answer (ECONNREFUSED); trying again')

    const received: { id: unknown; message: unknown }[] = []
    await receive(port, (request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk) => chunks.push(chunk))
      request.on('end', () => {
        const headers = Object.fromEntries(
          Object.entries(request.headers).map(([name, value]) => [name, `${value}`]),
        )
        const message = new Webhook(secret).verify(`${Buffer.concat(chunks)}`, headers)
        received.push({ id: headers['webhook-id'], message })
        // The second is refused, and not sent again.
        response.writeHead(received.length === 2 ? 500 : 204).end()
      })
    })
    await expect.poll(() => received.length).toBe(1)
    const second = await send('second')
    await expect.poll(() => received.length).toBe(2)
    const third = await send('third')
    await expect
      .poll(listening.stdout)
      .toMatch(/"first" 204 \d+ ms\n.*"second" 500 \d+ ms\n.*"third" 204 \d+ ms\n$/)

    const { data } = await client.listEvents({ query: { order: 'oldest' } })
    const stored = data?.data.filter(({ id }) => [first, second, third].includes(id)) ?? []
    expect(received).toEqual(
      stored.map((event) => ({
        id: event.id.replace('evt_', 'msg_'),
        message: { type: 'event.created', timestamp: event.received_at, data: { ...event, link: null } },
      })),
    )
    expect(received).toHaveLength(3)
    listening.process.kill('SIGINT')
    expect(await listening.ended).toMatchObject({ code: 0 })
  })

  it('waits for a server that restarts, and misses nothing', async ({ cairn, workspace, client, event }) => {
    const port = await receive(0, (request, response) => {
      request.resume().on('end', () => response.writeHead(204).end())
    })
    let isAway = false
    const url = await startFaultyProxy(cairn.url, () => (isAway ? 'dropped' : undefined))
    const args = ['--forward', `http://127.0.0.1:${port}/hook`, '--base-url', `${url}/v1`]
    const listening = spawnCairn(['webhooks', 'listen', ...args], {
      environment: { CAIRN_SERVICE_KEY: workspace.secret_key },
    })
    await expect.poll(listening.stdout).toContain('Sending events since')
    isAway = true
    await client.createEvent({ body: { ...event, event_id: 'meanwhile' } })
    await expect.poll(listening.stderr).toMatch(/^waiting for the server: .+\n$/)
    isAway = false
    await expect.poll(listening.stdout).toContain(' "meanwhile" 204 ')
    listening.process.kill('SIGINT')
    expect(await listening.ended).toMatchObject({ code: 0 })
  })

  it('escapes what a name would do to a terminal', async ({ cairn, workspace, client, event }) => {
    const port = await receive(0, (request, response) => {
      request.resume().on('end', () => response.writeHead(204).end())
    })
    const args = ['--forward', `http://127.0.0.1:${port}/hook`, '--base-url', `${cairn.url}/v1`]
    const listening = spawnCairn(['webhooks', 'listen', ...args], {
      environment: { CAIRN_SERVICE_KEY: workspace.secret_key },
    })
    await expect.poll(listening.stdout).toContain('Sending events since')
    await client.createEvent({ body: { ...event, event_id: '\u009b31m \u202eadA' } })
    await expect.poll(listening.stdout).toContain(' "\\u{9b}31m \\u{202e}adA" 204 ')
    listening.process.kill('SIGINT')
    expect(await listening.ended).toMatchObject({ code: 0 })
  })

  it.each([
    [['--forward', 'localhost:4000'], {}, 'Use the form http://localhost:4000/hook.'],
    [['--forward', 'http://localhost:4000', '--from', 'yesterday'], {}, 'Use the form 2026-11-20T08:00:00Z.'],
    [[], {}, "required option '--forward <url>' not specified"],
    [['--forward', 'http://localhost:4000'], {}, 'listening needs a service key.'],
    [
      ['--forward', 'http://localhost:4000'],
      { CAIRN_SERVICE_KEY: 'sk_x', CAIRN_WEBHOOK_SECRET: 'whsec_short' },
      'CAIRN_WEBHOOK_SECRET must be whsec_ and at least 24 bytes in base64',
    ],
  ])('refuses %j %o', async (args, environment, message) => {
    const { code, stderr } = await runCairn(['webhooks', 'listen', ...args], { environment })
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) })
  })
})

async function receive(port: number, handler: RequestListener) {
  const server = createServer(handler).listen(port, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}
