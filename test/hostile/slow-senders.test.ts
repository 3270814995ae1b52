// engines: sqlite (settled before the store is asked for more than the key)

import { gzipSync } from 'node:zlib'
import { expect, it, vi } from 'vitest'
import { scrape, sumOf } from '../fixtures/exposition.ts'
import { within } from '../fixtures/within.ts'
import { answerOn, openSilently, startTarget } from './target.ts'

const KIB = 1024
const MIB = 1024 * KIB

/** Shorter than the timeout of slow senders without competition. */
const SOON_MS = 8_000

type Target = Awaited<ReturnType<typeof startTarget>>

/** The head of a request that announces a body. */
function head(path: string, headers: Record<string, string | number>): string {
  const fields = Object.entries({ host: 'cairn', 'content-type': 'application/json', ...headers })
  return `POST /v1${path} HTTP/1.1\r\n${fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`
}

/** A batch of nearly 4 MiB. */
const greatBatch = ({ event }: Target) => ({
  events: Array(100).fill({ ...event, custom_variables: { text: 'x'.repeat(41_000) } }),
})

async function signIn({ url }: Target['server']): Promise<number> {
  const reply = await fetch(`${url}/v1/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url },
    body: JSON.stringify({ email: 'nobody@example.com', password: 'a wrong password' }),
  })
  await reply.arrayBuffer()
  return reply.status
}

it('accepts everyone’s bodies while connections announce large ones and send nothing', async () => {
  const target = await startTarget()
  const { server, client, secret_key } = target
  const idle = await Promise.all(Array.from({ length: 40 }, () => openSilently(server)))
  const length = 4 * MIB
  for (const [index, socket] of idle.entries()) {
    const encoding = index % 2 === 0 ? { 'content-length': length } : { 'transfer-encoding': 'chunked' }
    socket.write(head('/events/batch', { 'x-service-key': secret_key, ...encoding }))
  }
  const { response } = await client.createEvents({ body: greatBatch(target) })
  expect(response.status).toBe(200)
  // All of them get a response and are disconnected.
  const answers = await Promise.all(idle.map((socket) => answerOn(socket, /"code":"[a-z_]+"/)))
  for (const answer of answers) expect(answer).toMatch(/^HTTP\/1.1 503 .*"code":"overloaded"/s)
  expect(sumOf(await scrape(server), 'cairn_slow_peers_total', { waiting_for: 'body' })).toBe(40)
})

it('gives the reservation of senders that stop half-way to the next, with the same key or another', async () => {
  const target = await startTarget()
  const { server, client, secret_key } = target
  // As much as one sender may hold without completing a batch; then more than that.
  const part = Buffer.alloc(256 * KIB, ' ')
  const sockets = await Promise.all(Array.from({ length: 200 }, () => openSilently(server)))
  let refused = 0
  for (const socket of sockets) {
    socket.once('data', () => {
      refused += 1
    })
    socket.resume()
    socket.write(head('/events/batch', { 'x-service-key': secret_key, 'content-length': 4 * MIB }))
    socket.write(part)
  }
  await vi.waitFor(
    async () => {
      const { response } = await client.createEvents({ body: greatBatch(target) })
      expect(response.status).toBe(200)
    },
    { timeout: SOON_MS, interval: 300 },
  )
  // Together they never held more than half of the 64 MiB for bodies.
  await vi.waitFor(() => expect(refused).toBeGreaterThanOrEqual(sockets.length - 128), { timeout: SOON_MS })
})

it('lets people sign in while hundreds without a credential hold back their bodies', async () => {
  const { server } = await startTarget()
  const { url: origin } = server
  const sockets = await Promise.all(Array.from({ length: 300 }, () => openSilently(server)))
  const body = { origin, host: new URL(origin).host }
  const zip = gzipSync(Buffer.alloc(15 * KIB, ' ')).subarray(0, -8)
  for (const [index, socket] of sockets.entries()) {
    const encoding = index % 3 === 2 ? { 'content-encoding': 'gzip' } : {}
    socket.write(head('/session', { ...body, ...encoding, 'content-length': 15 * KIB }))
    // Some send nothing, some a file that inflates to nearly everything, and the others ever less, to fill every gap.
    if (index % 3 === 1) socket.write(Buffer.alloc(index < 150 ? 14 * KIB : index < 225 ? 512 : 8, ' '))
    if (index % 3 === 2) socket.write(zip)
  }
  // From an address of their own once the others have been slow for a second. On a busy machine the server reads some
  // data later, and these senders become slow later.
  for (let count = 0; count < 4; count += 1) {
    await within(3, async () => expect(await signIn(server)).toBe(401))
  }
})

it('lets people sign in from elsewhere at once', async () => {
  const { server } = await startTarget()
  const { url: origin } = server
  const sockets = await Promise.all(Array.from({ length: 300 }, () => openSilently(server, '127.0.0.2')))
  for (const socket of sockets) {
    socket.write(head('/session', { origin, host: new URL(origin).host, 'content-length': 16 * KIB }))
    socket.write(Buffer.alloc(16 * KIB - 1, ' '))
  }
  for (let count = 0; count < 5; count += 1) expect(await signIn(server)).toBe(401)
})
