// engines: sqlite (settled before the store is asked for more than the key)

import { beforeAll, describe, expect, it, vi } from 'vitest'
import type { Cairn, Workspace } from '../fixtures/cairn.ts'
import { withPatience } from '../fixtures/patience.ts'
import { head, openConnection, send } from '../fixtures/requests.ts'
import { sharedCairn } from '../fixtures/shared-cairn.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

let cairn: Cairn
let workspace: Workspace

beforeAll(async () => {
  cairn = await sharedCairn()
  workspace = await cairn.workspace()
})

/** The response to a request with these headers, and its identifier. */
async function read(headers: Record<string, string | string[]>) {
  const reply = await send(cairn, 'GET /journeys', { key: workspace.secret_key, headers })
  return reply.headers.get('x-request-id')
}

describe("a caller's X-Request-Id", () => {
  it.each(['a', '0', 'A-1_b.c:d', '0b0f6c1e-7c7e-4a0e-9d2f-3f7f3f0f5a55', '..', 'x'.repeat(128)])(
    'is kept as %s',
    async (id) => {
      expect(await read({ 'x-request-id': id })).toBe(id)
    },
  )

  it.each([
    '',
    'x'.repeat(129),
    'a b',
    'a,b',
    'a/b',
    'a"b',
    '<script>',
    '{"a":1}',
    'a\tb',
    'caf\xe9',
    'a;b=c',
    '%0a',
  ])('is replaced if it is %j', async (id) => {
    expect(await read({ 'x-request-id': id })).toMatch(UUID)
  })

  it('is replaced if it is a service key, which must not be logged', async () => {
    expect(await read({ 'x-request-id': workspace.publishable_key })).toMatch(UUID)
  })

  it('is replaced if it is sent twice', async () => {
    expect(await read({ 'x-request-id': ['a', 'b'] })).toMatch(UUID)
  })
})

describe('a request without one', () => {
  it('gets one of its own', async () => {
    const ids = await Promise.all(Array.from({ length: 50 }, () => read({})))
    for (const id of ids) expect(id).toMatch(UUID)
    expect(new Set(ids).size).toBe(50)
  })
})

describe('the identifier', () => {
  it('is on every kind of response, and the same in the body of a refusal and in the log', async () => {
    const { secret_key, publishable_key, journey_id } = workspace
    for (const [status, line, sent] of [
      [200, 'GET /journeys', { key: secret_key }],
      [201, 'POST /journeys', { key: secret_key, body: '{"name":"n"}' }],
      [204, 'OPTIONS /events/create', {}],
      [400, 'POST /journeys', { key: secret_key, body: '{' }],
      [401, 'GET /journeys', {}],
      [403, 'GET /journeys', { key: publishable_key }],
      [404, 'GET /nowhere', {}],
      [404, 'GET /customers/%zz', {}],
      [404, 'GET /customers/x', { key: secret_key }],
      [405, `DELETE /journeys/${journey_id}`, {}],
      [405, 'HEAD /events', {}],
      [413, 'POST /journeys', { key: secret_key, body: 'x'.repeat(100_000) }],
      [415, 'POST /journeys', { key: secret_key, body: '{}', headers: { 'content-type': 'text/plain' } }],
    ] as const) {
      const id = `id-${status}-${line.length}`
      const headers = { 'x-request-id': id, ...('headers' in sent && sent.headers) }
      const reply = await send(cairn, line, { ...sent, headers })
      expect([line, reply.status]).toEqual([line, status])
      expect(reply.headers.get('x-request-id')).toBe(id)
      const text = await reply.text()
      if (status >= 400 && text) expect(JSON.parse(text).request_id).toBe(id)
      await vi.waitFor(() => {
        expect(cairn.log.filter(({ request_id }) => request_id === id)).toMatchObject([{ status }])
      }, withPatience)
    }
  })

  it.each(['/healthz', '/readyz', '/v1/openapi.yaml', '/docs/', '/docs', '/', '/nowhere'])(
    'is on %s as well',
    async (path) => {
      const headers = { 'x-request-id': 'mine' }
      const reply = await fetch(cairn.url + path, { headers, redirect: 'manual' })
      expect(reply.headers.get('x-request-id')).toBe('mine')
    },
  )

  it('belongs to its own request if several wait on one connection', async () => {
    const { socket, answer } = await openConnection(cairn)
    const ids = Array.from({ length: 50 }, (_, index) => `pipelined-${index}`)
    const requests = ids.map((id, index) => {
      const key = index % 2 === 0 ? workspace.secret_key : 'wrong'
      return head('GET /journeys', { 'x-service-key': key, 'x-request-id': id })
    })
    socket.write(requests.join(''))
    await vi.waitFor(() => expect(answer().match(/^x-request-id: (.*)\r$/gim)).toHaveLength(50), withPatience)
    const replies = answer().split(/(?=HTTP\/1\.1 )/)
    expect(replies.map((reply) => /^x-request-id: (.*)\r$/im.exec(reply)?.[1])).toEqual(ids)
    expect(replies.map((reply) => reply.slice(9, 12))).toEqual(
      ids.map((_, index) => (index % 2 === 0 ? '200' : '401')),
    )
  })
})
