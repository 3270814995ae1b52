// engines: sqlite (the samples of deploy/ are about what stands around the server)

import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { type Cairn, startCairnForTest, temporaryFolder } from '../fixtures/cairn.ts'
import { startCommand } from '../fixtures/command.ts'
import { customerInJourney } from '../fixtures/customer.ts'
import { freePort } from '../fixtures/free-port.ts'
import { withPatience } from '../fixtures/patience.ts'
import { newMember, signUp } from '../fixtures/people.ts'
import { hasPrograms, pathOf } from '../fixtures/programs.ts'

/** A proxy that listens. */
type Proxy = {
  port: number
  plainPort: number
  /** The certificate that browsers have to trust. */
  ca(): string
  /** What it has printed to standard error. */
  stderr(): string
}

describe.skipIf(!hasPrograms('nginx', 'openssl'))('the sample for nginx', () => {
  passesOnWhatMatters(startNginx)

  it('leaves an export with Cairn until its reader takes it, and writes none of it to a file', async () => {
    const { cairn, proxy } = await behind(startNginx)
    const { workspace, event } = await customerInJourney(cairn)
    const events = Array.from({ length: 50 }, () => ({ ...event, custom_variables: 'x'.repeat(60_000) }))
    for (let sent = 0; sent < 300; sent += events.length)
      await workspace.client.createEvents({ body: { events } })
    const { ca, port } = proxy
    const target = { host: '127.0.0.1', servername: 'localhost', port, ca: ca(), agent: false }
    const headers = { host: `localhost:${port}`, 'x-service-key': workspace.secret_key }
    const sent = request({ ...target, path: '/v1/events/export', headers })
    onTestFinished(() => void sent.destroy())
    sent.end()
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    let bytes = 0
    for await (const chunk of answer) {
      bytes += chunk.length
      // nginx has one process: it has meanwhile read from Cairn what it wants to.
      if (bytes < 2_000_000) await ask(proxy, 'GET /healthz')
    }
    expect(bytes).toBeGreaterThan(300 * 60_000)
    expect(proxy.stderr()).not.toContain('temporary file')
  })
})

describe.skipIf(!hasPrograms('caddy'))('the sample for Caddy', () => {
  passesOnWhatMatters(startCaddy)
})

function passesOnWhatMatters(start: (upstream: URL) => Promise<Proxy>) {
  it('terminates TLS, accepts a batch of 4 MiB, and leaves the answer to a larger one to Cairn', async () => {
    const { cairn, proxy } = await behind(start)
    const { workspace, event } = await customerInJourney(cairn)
    const headers = { 'x-service-key': workspace.secret_key, 'content-type': 'application/json' }
    const batch = (bytes: number) => {
      const text = JSON.stringify({ events: Array.from({ length: 1000 }, () => event) })
      return text + ' '.repeat(bytes - text.length)
    }
    const send = (bytes: number) => ask(proxy, 'POST /v1/events/batch', { headers, body: batch(bytes) })

    const stored = await send(4 * 2 ** 20)
    expect(stored).toMatchObject({ status: 200, body: { received: 1000, created: 1000 } })
    const refused = await send(4 * 2 ** 20 + 1)
    expect(refused).toMatchObject({ status: 413, body: { code: 'body_too_large' } })
  })

  it("reports the sender's address, whatever the sender claims", async () => {
    const { cairn, proxy } = await behind(start)
    const workspace = await cairn.workspace()
    const owner = await signUp(cairn, workspace, 'owner')
    const { email, password } = await newMember(cairn, workspace, 'viewer')
    const origin = `https://localhost:${proxy.port}`
    const signedIn = await ask(proxy, 'POST /v1/session', {
      headers: { origin, 'content-type': 'application/json', 'x-forwarded-for': '203.0.113.7' },
      body: JSON.stringify({ email, password }),
      localAddress: '127.0.0.9',
    })
    expect(signedIn.status).toBe(201)
    expect(signedIn.headers['set-cookie']?.[0]).toMatch(/^__Host-.*; Secure/)

    const { data } = await owner.client(workspace.workspace_id).listAuditLog()
    expect(data?.data[0]).toMatchObject({ address: '127.0.0.9' })
  })

  it('serves the interface, redirects HTTP to HTTPS, and does not expose metrics', async () => {
    const { cairn, proxy } = await behind(start)
    expect(await ask(proxy, 'GET /healthz')).toMatchObject({ status: 200 })
    const metrics = await ask(proxy, 'GET /metrics', { headers: { authorization: `Bearer ${TOKEN}` } })
    expect(metrics.status).toBe(404)
    expect((await fetch(`${cairn.url}/metrics`)).status).toBe(200)
    const plain = await fetch(`http://localhost:${proxy.plainPort}/admin/`, { redirect: 'manual' })
    expect(plain.headers.get('location')).toMatch(/^https:\/\/localhost(:\d+)?\/admin\/$/)
  })
}

const TOKEN = '0123456789abcdef0123456789abcdef'

/** Starts Cairn and a reverse proxy in front of it, as in the samples. */
async function behind(start: (upstream: URL) => Promise<Proxy>): Promise<{ cairn: Cairn; proxy: Proxy }> {
  // Both must know the public address before either runs.
  const port = await freePort()
  ports.push(port)
  const cairn = await startCairnForTest({
    publicUrl: `https://localhost:${port}`,
    trustedProxies: ['127.0.0.1'],
    metricsToken: TOKEN,
  })
  return { cairn, proxy: await start(new URL(cairn.url)) }
}

/** The ports of the next proxy. */
const ports: number[] = []

async function startNginx(upstream: URL): Promise<Proxy> {
  const folder = temporaryFolder()
  const [port, plainPort] = [ports.pop() ?? 0, await freePort()]
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')]
  const options = ['-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost']
  const names = ['-addext', 'subjectAltName=DNS:localhost']
  execFileSync('openssl', ['req', '-x509', ...options, ...names, '-keyout', key, '-out', certificate], {
    stdio: 'pipe',
  })
  const sample = readFileSync('deploy/nginx/cairn.conf', 'utf8')
    .replaceAll('127.0.0.1:3000', upstream.host)
    .replaceAll('cairn.example.com', 'localhost')
    .replace(/ssl_certificate .*;/, `ssl_certificate ${certificate};`)
    .replace(/ssl_certificate_key .*;/, `ssl_certificate_key ${key};`)
    .replace(/^ +listen \[::\].*\n/gm, '')
    .replace('listen 443', `listen ${port}`)
    .replace('listen 80', `listen ${plainPort}`)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${join(folder, name)};`,
  )
  const file = join(folder, 'nginx.conf')
  // A single process: it is killed when the test ends, and workers would survive it.
  writeFileSync(
    file,
    `daemon off; master_process off; pid ${join(folder, 'pid')}; error_log stderr warn;
events {}
http {
access_log off;
${temporary.join('\n')}
${sample}
}
`,
  )
  // Started as root, it would write to its folder as another user.
  chmodSync(folder, 0o755)
  const nginx = startCommand(pathOf('nginx') ?? '', ['-e', 'stderr', '-c', file])
  const ca = () => readFileSync(certificate, 'utf8')
  return await listening({ port, plainPort, ca, stderr: nginx.stderr }, nginx)
}

async function startCaddy(upstream: URL): Promise<Proxy> {
  const folder = temporaryFolder()
  const [port, plainPort] = [ports.pop() ?? 0, await freePort()]
  const file = join(folder, 'Caddyfile')
  mkdirSync(join(folder, 'data'))
  // Self-signed certificates instead of a certificate authority's, and unprivileged ports.
  writeFileSync(
    file,
    `{
	admin off
	local_certs
	skip_install_trust
	http_port ${plainPort}
	https_port ${port}
}
${readFileSync('deploy/caddy/Caddyfile', 'utf8')}`,
  )
  const caddy = startCommand(pathOf('caddy') ?? '', ['run', '--config', file, '--adapter', 'caddyfile'], {
    environment: {
      HOME: folder,
      XDG_DATA_HOME: join(folder, 'data'),
      CAIRN_HOST: 'localhost',
      CAIRN_UPSTREAM: upstream.host,
    },
  })
  const ca = () => readFileSync(join(folder, 'data/caddy/pki/authorities/local/root.crt'), 'utf8')
  return await listening({ port, plainPort, ca, stderr: caddy.stderr }, caddy)
}

/** Waits until the proxy answers. */
async function listening(proxy: Proxy, program: ReturnType<typeof startCommand>): Promise<Proxy> {
  const ended = program.ended.then(({ code, stderr }) => {
    throw new Error(`the proxy ended with ${code}: ${stderr}`)
  })
  const answers = async () => {
    const reply = await ask(proxy, 'GET /healthz').catch(() => undefined)
    return reply?.status === 200
  }
  await Promise.race([vi.waitUntil(answers, withPatience), ended])
  ended.catch(() => {})
  return proxy
}

type Sent = { headers?: Record<string, string>; body?: string; localAddress?: string }

/** Sends a request over TLS, as a program that trusts the certificate. */
async function ask({ port, ca }: Proxy, line: string, { headers, body = '', localAddress }: Sent = {}) {
  const [method, path] = line.split(' ')
  const sent = request({
    ...{ host: '127.0.0.1', servername: 'localhost', port, method, path, ca: ca(), agent: false },
    ...(localAddress !== undefined && { localAddress }),
    headers: { host: `localhost:${port}`, 'content-length': Buffer.byteLength(body), ...headers },
  })
  sent.end(body)
  const [reply] = (await once(sent, 'response')) as [IncomingMessage]
  const isJson = /json/.test(reply.headers['content-type'] ?? '')
  return {
    status: reply.statusCode,
    headers: reply.headers,
    body: isJson ? await json(reply) : reply.resume() && undefined,
  }
}
