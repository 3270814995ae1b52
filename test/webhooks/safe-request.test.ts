// engines: none (opens no store)

import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { generate } from 'selfsigned'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Resolve } from '../../server/webhooks/name-lookups.ts'
import { type Network, readNetwork } from '../../server/webhooks/networks.ts'
import { RequestSender } from '../../server/webhooks/safe-request.ts'
import { freePort } from '../fixtures/free-port.ts'

const allow = networks('127.0.0.1')
const body = Buffer.from('{"type":"event.created"}')
const WORKSPACE = 'wsp_of_a_test'
/** What an attacker's name resolves to while it is saved. */
const PUBLIC = '93.184.216.34'

describe('a request', () => {
  it('is one POST of the very bytes, and its response is returned', async () => {
    const received: unknown[] = []
    const port = await serveHttp((request, response) => {
      const { method, url, headers } = request
      request.on('data', (chunk) => received.push([method, url, headers['x-one'], `${chunk}`]))
      request.on('end', () => response.writeHead(202, { 'retry-after': '7' }).end('thanks'))
    })
    const result = await send(`http://127.0.0.1:${port}/hook?a=b`)
    expect(result).toEqual({ status: 202, ms: expect.any(Number), response: 'thanks', retryAfter: '7' })
    expect(received).toEqual([['POST', '/hook?a=b', '1', `${body}`]])
  })

  it('does not follow a redirect', async () => {
    const inside: string[] = []
    const target = await serveHttp((request, response) => {
      inside.push(request.url ?? '')
      response.end()
    })
    const port = await serveHttp((_, response) =>
      response.writeHead(307, { location: `http://127.0.0.1:${target}/` }).end(),
    )
    expect(await send(`http://127.0.0.1:${port}/`)).toMatchObject({ status: 307 })
    expect(inside).toEqual([])
  })

  it('keeps 1 KiB of a response, in whole characters and without NUL', async () => {
    const port = await serveHttp((request, response) =>
      response.end(request.url === '/long' ? `x${'é'.repeat(10_000)}` : 'a\0b'),
    )
    const sender = newSender()
    const long = await sendBy(sender, `http://127.0.0.1:${port}/long`)
    expect(long).toMatchObject({ status: 200, response: `x${'é'.repeat(511)}` })
    expect(await sendBy(sender, `http://127.0.0.1:${port}/nul`)).toMatchObject({ response: 'a\ufffdb' })
  })

  it('closes the connection instead of reading a response of a gigabyte', async () => {
    let sent_bytes = 0
    const port = await serveHttp((request, response) => {
      response.writeHead(200, { 'content-length': 2 ** 30 })
      const chunk = Buffer.alloc(64 * 1024, 'x')
      const write = () => {
        while (!response.destroyed) {
          sent_bytes += chunk.byteLength
          if (!response.write(chunk)) return void response.once('drain', write)
        }
      }
      request.resume().on('end', write)
    })
    const result = await send(`http://127.0.0.1:${port}/`)
    expect(result).toMatchObject({ status: 200, response: 'x'.repeat(1024) })
    // What the buffers of the sockets take.
    expect(sent_bytes).toBeLessThan(64 * 2 ** 20)
  })

  it.each([
    ['never answers', 0, { error: 'timeout' }],
    ['answers, and then drips for ever', 20, { status: 200, response: expect.stringMatching(/^\.+$/) }],
    ['answers, and then never ends', 1e9, { status: 200, response: '.' }],
  ])('ends in time if the receiver %s', async (_, every_ms, expected) => {
    const port = await serveHttp((_request, response) => {
      if (every_ms === 0) return
      response.write('.')
      const timer = setInterval(() => response.write('.'), Math.min(every_ms, 2 ** 31 - 1))
      response.on('close', () => clearInterval(timer))
    })
    const result = await sendBy(newSender(), `http://127.0.0.1:${port}/`, 300)
    expect(result).toMatchObject(expected)
    expect(result.ms).toBeGreaterThanOrEqual(295)
  })

  it('drips headers no longer than its time', async () => {
    const port = await serveTcp((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n')
      const timer = setInterval(() => socket.write('x: y\r\n'), 20)
      socket.on('close', () => clearInterval(timer))
    })
    expect(await sendBy(newSender(), `http://127.0.0.1:${port}/`, 300)).toMatchObject({ error: 'timeout' })
  })

  it('says how a connection failed', async () => {
    const refused = `http://127.0.0.1:${await freePort()}/`
    expect(await send(refused)).toEqual({ error: 'connection_refused', ms: expect.any(Number) })
    const cut = await serveTcp((socket) => socket.once('data', () => socket.resetAndDestroy()))
    expect(await send(`http://127.0.0.1:${cut}/`)).toMatchObject({ error: 'connection_reset' })
    const closed = await serveTcp((socket) => socket.once('data', () => socket.end()))
    expect(await send(`http://127.0.0.1:${closed}/`)).toMatchObject({ error: 'connection_reset' })
    const mail = await serveTcp((socket) => socket.end('220 mail.example.com ESMTP\r\n'))
    expect(await send(`http://127.0.0.1:${mail}/`)).toMatchObject({ error: 'invalid_response' })
    expect(await send(`https://127.0.0.1:${mail}/`)).toMatchObject({ error: 'tls' })
    const upgrade = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'
    const switching = await serveTcp((socket) => socket.once('data', () => socket.write(upgrade)))
    expect(await send(`http://127.0.0.1:${switching}/`)).toMatchObject({ error: 'invalid_response' })
    const unknown = newSender({ resolve: () => Promise.reject(new Error('ENOTFOUND')) })
    expect(await sendBy(unknown, 'https://nowhere.example/')).toMatchObject({ error: 'dns' })
    expect(await sendBy(newSender({ resolve: async () => [] }), 'https://a.example/')).toMatchObject({
      error: 'dns',
    })
  })

  it('counts a status that arrived before the connection was cut', async () => {
    const port = await serveTcp((socket) =>
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf')),
    )
    expect(await send(`http://127.0.0.1:${port}/`)).toMatchObject({ status: 200, response: 'half' })
  })

  it('ignores an interim response', async () => {
    const hints = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'
    const port = await serveTcp((socket) =>
      socket.once('data', () => socket.write(`${hints}HTTP/1.1 204 No Content\r\n\r\n`)),
    )
    expect(await send(`http://127.0.0.1:${port}/`)).toMatchObject({ status: 204 })
  })

  it('trusts the certificates that the system trusts, for the name of the URL', async () => {
    const { private: key, cert } = await generate([{ name: 'commonName', value: 'hook.example' }], {
      extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'hook.example' }] }],
    })
    const server = createHttpsServer({ key, cert }, (_, response) => response.end('private'))
    const port = await listen(server)
    const sender = newSender({ resolve: async () => [{ address: '127.0.0.1', family: 4 }] })
    const url = `https://hook.example:${port}/`
    expect(await sendBy(sender, url)).toMatchObject({ error: 'tls' })
    const trusted = getCACertificates('default')
    onTestFinished(() => setDefaultCACertificates(trusted))
    setDefaultCACertificates([...trusted, cert])
    expect(await sendBy(sender, url)).toMatchObject({ status: 200, response: 'private' })
    expect(await sendBy(sender, `https://other.example:${port}/`)).toMatchObject({ error: 'tls' })
  })

  it('uses a connection again, and opens another if the receiver has closed it meanwhile', async () => {
    const ports = new Set<number | undefined>()
    const sockets: Socket[] = []
    let requests = 0
    const port = await serveTcp((socket) => {
      sockets.push(socket)
      socket.on('data', (chunk) => {
        if (!`${chunk}`.startsWith('POST')) return
        requests++
        ports.add(socket.remotePort)
        // The third request finds the connection dead.
        if (requests === 3) socket.resetAndDestroy()
        else socket.write('HTTP/1.1 204 No Content\r\n\r\n')
      })
    })
    const sender = newSender()
    for (let n = 0; n < 3; n++) {
      expect(await sendBy(sender, `http://127.0.0.1:${port}/`)).toMatchObject({ status: 204 })
    }
    expect({ connections: ports.size, requests }).toEqual({ connections: 2, requests: 4 })
  })
})

describe('an address that is not public', () => {
  it.each([
    'http://127.0.0.1',
    'https://127.0.0.1',
    'https://localhost',
    'https://127.1',
    'https://0x7f.0.0.1',
    'https://0177.0.0.1',
    'https://2130706433',
    'https://0x7f000001',
    'https://１２７.0.0.1',
    'https://127.0.0.1.',
    'https://0',
    'https://[::1]',
    'https://[::]',
    'https://[::ffff:127.0.0.1]',
    'https://[::ffff:7f00:1]',
    'https://[64:ff9b::7f00:1]',
    'https://[2002:7f00:1::]',
    'https://169.254.169.254',
    'https://[fd00:ec2::254]',
  ])('is never connected to, nor saved: %s', async (origin) => {
    const { port, connections } = await countConnections()
    const sender = newSender({ allow: [] })
    expect(await sender.findUrlFault(`${origin}:${port}/`, WORKSPACE)).toBe('blocked_address')
    expect(await sendBy(sender, `${origin}:${port}/`)).toMatchObject({ error: 'blocked_address' })
    expect(connections()).toBe(0)
  })

  it('is never connected to if the resolver returns it later than at saving', async () => {
    const { port, connections } = await countConnections()
    const answers = [[PUBLIC], ['127.0.0.1'], [PUBLIC, '127.0.0.1'], ['::1', PUBLIC], ['::ffff:127.0.0.1']]
    const sender = newSender({ allow: [], resolve: inTurn(answers) })
    const url = `https://rebinding.example:${port}/`
    expect(await sender.findUrlFault(url, WORKSPACE)).toBeUndefined()
    for (const _ of answers.slice(1)) {
      expect(await sendBy(sender, url)).toMatchObject({ error: 'blocked_address' })
    }
    expect(connections()).toBe(0)
  })

  it('is not reached by a connection that is kept', async () => {
    const hosts: string[] = []
    const handler: RequestListener = (request, response) => {
      hosts.push(request.socket.localAddress ?? '')
      response.end()
    }
    const port = await serveHttp(handler, '127.0.0.1')
    const inside = createServer(handler)
    inside.listen(port, '127.0.0.2')
    await once(inside, 'listening')
    onTestFinished(() => void inside.close())
    const sender = newSender({ resolve: inTurn([['127.0.0.1'], ['127.0.0.2']]) })
    const url = `http://rebinding.example:${port}/`
    // On one connection, to the address that was checked.
    for (let n = 0; n < 2; n++) expect(await sendBy(sender, url)).toMatchObject({ status: 200 })
    expect(hosts).toEqual(['127.0.0.1', '127.0.0.1'])
    // A new connection is checked again.
    sender.close()
    expect(await sendBy(sender, url)).toMatchObject({ error: 'blocked_address' })
    // Nor does a sender with other rules use it.
    const strict = newSender({ allow: [], resolve: inTurn([['127.0.0.1']]) })
    expect(await sendBy(strict, url)).toMatchObject({ error: 'blocked_address' })
    expect(hosts).toHaveLength(2)
  })

  it('is reached over HTTP only if it is in an allowed network', async () => {
    const sender = newSender({ resolve: inTurn([[PUBLIC]]) })
    expect(await sendBy(sender, 'http://public.example/')).toMatchObject({ error: 'blocked_address' })
    expect(await sendBy(sender, `http://${PUBLIC}/`)).toMatchObject({ error: 'blocked_address' })
  })
})

describe('names that resolve slowly', () => {
  it('delay no other workspace, and are no longer looked up once nobody waits', async () => {
    const port = await serveHttp((_, response) => response.end())
    const begun: string[] = []
    const slow = Promise.withResolvers<void>()
    const sender = newSender({
      async resolve(hostname) {
        begun.push(hostname)
        if (hostname.startsWith('slow')) await slow.promise
        return [{ address: '127.0.0.1', family: 4 }]
      },
    })
    const names = [0, 1, 2, 3, 4].map((index) => `slow-${index}.example`)
    const late = names.map((name) => sendBy(sender, `http://${name}:${port}/`, 1_000, 'wsp_slow'))
    await expect.poll(() => begun).toEqual(['slow-0.example'])
    const other = await sendBy(sender, `http://quick.example:${port}/`, undefined, 'wsp_other')
    expect(other).toMatchObject({ status: 200 })
    for (const result of await Promise.all(late)) expect(result).toMatchObject({ error: 'timeout' })
    slow.resolve()
    expect(await sendBy(sender, `http://last.example:${port}/`, undefined, 'wsp_slow')).toMatchObject({
      status: 200,
    })
    expect(begun).toEqual(['slow-0.example', 'quick.example', 'last.example'])
  })
})

describe('the URL of a webhook', () => {
  it.each([
    'https://hook.example/path?query=1',
    'https://hook.example:8443/',
    'https://hook.example:80/',
    'https://hook.example:1024/',
    `https://${PUBLIC}/`,
  ])('is accepted: %s', async (url) => {
    expect(
      await newSender({ allow: [], resolve: inTurn([[PUBLIC]]) }).findUrlFault(url, WORKSPACE),
    ).toBeUndefined()
  })

  it.each([
    ['', 'invalid_url'],
    ['hook.example', 'invalid_url'],
    ['https://', 'invalid_url'],
    ['https://[::1', 'invalid_url'],
    ['https://hook.example:65536/', 'invalid_url'],
    ['ftp://hook.example/', 'scheme'],
    ['file:///etc/passwd', 'scheme'],
    ['javascript:alert(1)', 'scheme'],
    ['https://user@hook.example/', 'credentials'],
    ['https://user:password@hook.example/', 'credentials'],
    ['https://hook.example/#part', 'fragment'],
    ['https://hook.example/#', 'fragment'],
    ['http://hook.example/', 'http'],
    ['https://hook.example:25/', 'port'],
    ['https://hook.example:1023/', 'port'],
    ['https://hook.example:0/', 'port'],
  ])('is refused: %j (%s)', async (url, fault) => {
    expect(await newSender({ allow: [], resolve: inTurn([[PUBLIC]]) }).findUrlFault(url, WORKSPACE)).toBe(
      fault,
    )
  })

  it('is refused if its host is unknown', async () => {
    const sender = newSender({ resolve: () => Promise.reject(new Error('ENOTFOUND')) })
    expect(await sender.findUrlFault('https://nowhere.example/', WORKSPACE)).toBe('unknown_host')
  })

  it('may have any port, and HTTP, in an allowed network', async () => {
    const sender = newSender({ resolve: inTurn([['127.0.0.1']]) })
    expect(await sender.findUrlFault('http://inside.example:81/', WORKSPACE)).toBeUndefined()
    const mixed = newSender({ resolve: inTurn([['127.0.0.1', PUBLIC]]) })
    expect(await mixed.findUrlFault('http://inside.example/', WORKSPACE)).toBe('http')
    expect(await mixed.findUrlFault('https://inside.example/', WORKSPACE)).toBeUndefined()
  })
})

function networks(...texts: string[]): Network[] {
  return texts.flatMap((text) => {
    const network = readNetwork(text)
    return network ? [network] : []
  })
}

function newSender(options: { allow?: Network[]; resolve?: Resolve } = {}): RequestSender {
  const sender = new RequestSender({ allow, ...options })
  onTestFinished(() => sender.close())
  return sender
}

async function send(url: string) {
  return await sendBy(newSender(), url)
}

async function sendBy(sender: RequestSender, url: string, timeout_ms?: number, workspaceId = WORKSPACE) {
  return await sender.send({
    workspaceId,
    url,
    headers: { 'x-one': '1' },
    body,
    ...(timeout_ms ? { timeout_ms } : {}),
  })
}

/** A resolver that gives each answer once, and then the last one. */
function inTurn(answers: string[][]): Resolve {
  let next = 0
  return async () => {
    const addresses = answers[Math.min(next++, answers.length - 1)] ?? []
    return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  }
}

async function serveHttp(handler: RequestListener, host?: string): Promise<number> {
  return await listen(createServer(handler), host)
}

async function serveTcp(handler: (socket: Socket) => void): Promise<number> {
  return await listen(
    createTcpServer((socket) => {
      socket.on('error', () => undefined)
      handler(socket)
    }),
  )
}

async function listen(server: Server, host = '127.0.0.1'): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  onTestFinished(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  server.listen(0, host)
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** On all addresses of the machine. */
async function countConnections() {
  let count = 0
  const server = createTcpServer((socket) => {
    count++
    socket.destroy()
  })
  return { port: await listen(server, '::'), connections: () => count }
}
