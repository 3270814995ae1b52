// engines: sqlite, postgres

import { expect, it } from 'vitest'
import { answerOn, openSilently, startTarget } from './target.ts'

it('refuses nobody else while one network asks for thousands of sessions that do not exist', async () => {
  const { server, secret_key } = await startTarget()
  // Without the retries of the client.
  const statusOfList = async () => {
    const reply = await fetch(`${server.url}/v1/journeys`, { headers: { 'x-service-key': secret_key } })
    await reply.arrayBuffer()
    return reply.status
  }
  expect(await statusOfList()).toBe(200)
  const sockets = await Promise.all(Array.from({ length: 30 }, () => openSilently(server, '127.0.0.2')))
  const last = Promise.all(sockets.map((socket) => answerOn(socket, /x-request-id: last/i)))
  // Should the test fail before.
  last.catch(() => {})
  const request = 'DELETE /v1/session HTTP/1.1\r\nhost: localhost\r\ncookie: cairn_session=none\r\n'
  for (const socket of sockets) {
    socket.write(`${request}\r\n`.repeat(250))
    socket.write(`${request}x-request-id: last\r\n\r\n`)
  }
  for (let count = 0; count < 40; count += 1) {
    expect(await statusOfList()).toBe(200)
  }
  for (const answer of await last) expect(answer).toMatch(/^HTTP\/1.1 (401|503) /)
})
