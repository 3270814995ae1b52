// engines: none (opens no store)

import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { expect, it, onTestFinished, vi } from 'vitest'
import { UnreadAnswers } from '../../server/http/answers/unread-answers.ts'
import { noteBegun } from '../../server/http/requests-by-socket.ts'
import { withPatience } from '../fixtures/patience.ts'
import { openConnection } from '../fixtures/requests.ts'

const MIB = 1024 * 1024

/**
 * A server whose responses are sent by the test, and a connection with two pipelined requests that it reads.
 * @param rest sent after them
 */
async function twoRequests(rest = '') {
  const answers = new UnreadAnswers()
  const responses: ServerResponse[] = []
  const server = createServer((_req, res) => responses.push(res))
  // Without a listener, Node would close the connection.
  const connected = vi.fn((_req, socket) => socket.on('error', () => {}))
  server.on('connect', connected)
  server.listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const connection = await openConnection({ url: `http://127.0.0.1:${port}` })
  connection.socket.write('POST / HTTP/1.1\r\nhost: cairn\r\n\r\n'.repeat(2) + rest)
  await vi.waitUntil(() => responses.length === 2, withPatience)
  const [first, second] = responses
  if (!first || !second) throw new Error('two requests have arrived')
  const clock = vi.spyOn(performance, 'now')
  onTestFinished(() => clock.mockRestore())
  const start_ms = performance.now()
  return {
    ...connection,
    first,
    second,
    answers,
    connected,
    send(res: ServerResponse, body: string | Buffer) {
      res.end(body)
      answers.watch(res, { owner: 'key', onCut: () => {} })
    },
    /** Needs all of the memory, when this much time has passed. */
    press(after_ms: number) {
      clock.mockReturnValue(start_ms + after_ms)
      answers.makeRoom('another key', 64 * MIB)
    },
  }
}

it('a response waits for its client only once the earlier ones of the connection are sent', async () => {
  const { first, second, send, press, answer, socket } = await twoRequests()
  socket.pause()
  // More than the connection buffers.
  const whole = Buffer.alloc(24 * MIB)
  send(second, whole)
  press(60_000)
  expect(second.req.socket.destroyed).toBe(false)
  send(first, 'first')
  await once(first, 'finish')
  press(60_900)
  expect(second.req.socket.destroyed).toBe(false)
  socket.resume()
  await vi.waitFor(() => expect(answer().length).toBeGreaterThan(whole.length), withPatience)
})

it('a response that its client does not take is cut a second after the earlier ones are sent', async () => {
  const { first, second, send, press, socket } = await twoRequests()
  socket.pause()
  send(second, Buffer.alloc(24 * MIB))
  press(60_000)
  send(first, 'first')
  await once(first, 'finish')
  press(61_100)
  expect(second.req.socket.destroyed).toBe(true)
})

it('a response behind another gives its memory back when its connection ends, also after a CONNECT', async () => {
  const { first, second, answers, connected, send, socket } = await twoRequests(
    'CONNECT cairn:80 HTTP/1.1\r\n\r\n',
  )
  await vi.waitUntil(() => connected.mock.calls.length === 1, withPatience)
  send(second, Buffer.alloc(30 * MIB))
  expect(answers.makeRoom('another key', 25 * MIB)).toBe(false)
  const closed = new Promise((resolve) => first.req.socket.once('close', resolve))
  socket.resetAndDestroy()
  await closed
  expect(answers.makeRoom('another key', 25 * MIB)).toBe(true)
})

it('a response takes no memory once its connection has ended', async () => {
  const { first, second, answers, send, socket } = await twoRequests()
  const closed = [first, second].map((res) => once(res, 'close'))
  socket.resetAndDestroy()
  await Promise.all(closed)
  // Nobody takes its head.
  second.writeHead(200, { 'content-type': 'text/plain' })
  send(second, 'second')
  // All that one may take.
  expect(answers.makeRoom('another key', 32 * MIB)).toBe(true)
})

it('a response that is sent in parts waits no longer when its connection ends, also after a CONNECT', async () => {
  const { second, answers, connected, socket } = await twoRequests('CONNECT cairn:80 HTTP/1.1\r\n\r\n')
  await vi.waitUntil(() => connected.mock.calls.length === 1, withPatience)
  second.write(Buffer.alloc(MIB))
  const taken = answers.taken(second, { owner: 'key', onCut: () => {} })
  socket.resetAndDestroy()
  await taken
  expect(answers.makeRoom('another key', 32 * MIB)).toBe(true)
  // Nor does the next part.
  second.write(Buffer.alloc(MIB))
  await answers.taken(second, { owner: 'key', onCut: () => {} })
  expect(answers.makeRoom('another key', 32 * MIB)).toBe(true)
})

it('a connection is closed on which more than a thousand requests wait for their responses', async () => {
  const begun: ServerResponse[] = []
  const server = createServer((_req, res) => {
    if (noteBegun(res)) begun.push(res)
  })
  server.listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const { socket, answer, closed } = await openConnection({ url: `http://127.0.0.1:${port}` })
  const request = 'POST / HTTP/1.1\r\nhost: cairn\r\n\r\n'
  socket.write(request.repeat(1000))
  await vi.waitUntil(() => begun.length === 1000, withPatience)
  for (const res of begun.splice(0)) res.end()
  await vi.waitFor(() => expect(answer().match(/HTTP\/1.1 200/g)).toHaveLength(1000), withPatience)
  expect(socket.destroyed).toBe(false)

  socket.write(request.repeat(3000))
  await closed
  expect(begun).toHaveLength(1000)
})
