// engines: sqlite, postgres

import { beforeAll, describe, expect, it, vi } from 'vitest'
import { type Cairn, startCairn, type Workspace } from '../fixtures/cairn.ts'
import { customerInJourney } from '../fixtures/customer.ts'
import { withPatience } from '../fixtures/patience.ts'
import { head, openConnection, refusal, send } from '../fixtures/requests.ts'
import { createKey } from '../fixtures/service-keys.ts'

const TOO_LARGE = '{'.repeat(64 * 1024 + 1)
const ORIGIN = 'https://app.example.com'

let cairn: Cairn
let workspace: Workspace
/** Keys by their defect; `spent` has used up its rate, `foreign` allows another origin. */
let keys: Record<'none' | 'wrong' | 'publishable' | 'secret' | 'spent' | 'spentReader' | 'foreign', string>

beforeAll(async () => {
  cairn = await startCairn({ now: () => 0 })
  workspace = await cairn.workspace()
  const limited = { rate_limit: 1 }
  const spent = await createKey(cairn, workspace, 'secret', limited)
  const spentReader = await createKey(cairn, workspace, 'publishable', limited)
  const foreign = await createKey(cairn, workspace, 'publishable', {
    ...limited,
    allowed_origins: ['https://other.example.com'],
  })
  for (const { key } of [spent, spentReader, foreign]) {
    for (const _ of Array(2)) await send(cairn, 'POST /events/create', { key, body: '{}' })
  }
  keys = {
    none: '',
    wrong: `sk_${'x'.repeat(49)}`,
    publishable: workspace.publishable_key,
    secret: workspace.secret_key,
    spent: spent.key,
    spentReader: spentReader.key,
    foreign: foreign.key,
  }
  return cairn.stop
})

const text = { 'content-type': 'text/plain' }
const origin = { origin: ORIGIN }

/** By status and code: what fails first, the request, its key, and more headers and the body. */
const refused: Record<string, [string, string, keyof typeof keys, Record<string, string>, string][]> = {
  '404 not_found': [
    ['an unknown path before a missing key', 'POST /nowhere', 'none', text, '{'],
    ['an unknown path before a wrong key', 'GET /nowhere', 'wrong', {}, ''],
  ],
  '405 method_not_allowed': [
    ['a wrong method before a wrong key', 'PUT /events', 'wrong', text, TOO_LARGE],
    ['a wrong method before the rate', 'DELETE /events', 'spent', {}, ''],
  ],
  '401 unauthorized': [
    ['a missing key before broken JSON', 'POST /events/create', 'none', {}, '{'],
    ['a wrong key before broken JSON', 'POST /events/create', 'wrong', {}, '{'],
    ['a wrong key before the media type', 'POST /events/create', 'wrong', text, '{'],
    ['a wrong key before the size', 'POST /events/create', 'wrong', {}, TOO_LARGE],
    ['a wrong key before an unknown customer', 'GET /customers/x', 'wrong', {}, ''],
    ['a wrong key before a bad parameter', 'GET /events?limit=0', 'wrong', {}, ''],
  ],
  '403 secret_key_required': [
    ['the kind of key before the rate', 'GET /events', 'spentReader', {}, ''],
    ['the kind of key before a parameter', 'GET /events?x', 'publishable', {}, ''],
    ['the kind of key before the body', 'POST /journeys', 'publishable', text, '{'],
    ['the kind of key before the origin', 'GET /events', 'foreign', origin, ''],
  ],
  '403 origin_not_allowed': [['the origin before the rate', 'POST /events/create', 'foreign', origin, '{']],
  '429 rate_limited': [
    ['the rate before the media type', 'POST /events/create', 'spent', text, '{'],
    ['the rate before the size', 'POST /events/create', 'spent', {}, TOO_LARGE],
    ['the rate before broken JSON', 'POST /events/create', 'spent', {}, '{'],
    ['the rate before a bad parameter', 'GET /events?limit=0', 'spent', {}, ''],
    ['the rate before an unknown journey', 'GET /journeys/x', 'spent', {}, ''],
  ],
  '415 unsupported_media_type': [
    ['the media type before the size', 'POST /events/create', 'secret', text, TOO_LARGE],
    [
      'the content encoding before the size',
      'POST /events/create',
      'secret',
      { 'content-encoding': 'br' },
      TOO_LARGE,
    ],
    ['the media type before an empty body', 'POST /journeys', 'secret', text, ''],
    ['the media type before the path', 'PATCH /journeys/%00', 'secret', text, ''],
  ],
  '413 body_too_large': [
    ['the size before broken JSON', 'POST /events/create', 'secret', {}, TOO_LARGE],
    ['the size before a bad parameter', 'POST /journeys?x', 'secret', {}, TOO_LARGE],
  ],
  '400 invalid_request': [
    ['the shape before an unknown journey', 'PATCH /journeys/x', 'secret', {}, '{}'],
    ['the parameter before an unknown customer', 'GET /customers/x?y', 'secret', {}, ''],
  ],
  '400 invalid_json': [
    ['broken JSON before the shape', 'POST /events/create', 'secret', {}, '{"a":1,"a":1}'],
  ],
}

const rows = Object.entries(refused).flatMap(([refusal, rows]) =>
  rows.map((row) => [...row, refusal] as const),
)

describe('the first check that fails answers', () => {
  it.each(rows)('%s', async (_name, line, key, headers, body, expected) => {
    const hasBody = body !== '' || 'content-type' in headers
    const reply = await send(cairn, line, {
      ...(keys[key] !== '' && { key: keys[key] }),
      ...(hasBody && { body }),
      headers,
    })
    const { status, code } = await refusal(reply)
    expect(`${status} ${code}`).toBe(expected)
  })

  it('the shape of an event before its unknown journey', async () => {
    const body = JSON.stringify({ journey_id: 'jrn_unknown', customer_id: 'cus_unknown', event_id: '' })
    const reply = await send(cairn, 'POST /events/create', { key: keys.secret, body })
    expect(await refusal(reply)).toMatchObject({ status: 400, errors: [{ pointer: '/event_id' }] })
  })

  it('nothing if nothing fails', async () => {
    const { workspace, event } = await customerInJourney(cairn)
    const reply = await send(cairn, 'POST /events/create', {
      key: workspace.publishable_key,
      headers: origin,
      body: JSON.stringify(event),
    })
    expect(reply.status).toBe(201)
  })
})

describe('a server that stops', () => {
  it('says so after the key and the rate, and before it reads the body', async () => {
    const cairn = await startCairn({ now: () => 0 })
    const workspace = await cairn.workspace()
    const spent = await createKey(cairn, workspace, 'secret', { rate_limit: 1 })
    for (const _ of Array(2)) await send(cairn, 'GET /events', { key: spent.key })
    const cases = [
      { key: 'wrong', line: 'POST /events/create', headers: text, status: 401 },
      { key: workspace.publishable_key, line: 'GET /events', headers: {}, status: 403 },
      { key: spent.key, line: 'POST /events/create', headers: text, status: 429 },
      { key: workspace.secret_key, line: 'POST /events/create', headers: text, status: 503 },
      { key: workspace.secret_key, line: 'GET /events?limit=0', headers: {}, status: 503 },
    ]
    const waiting = await Promise.all(
      cases.map(async ({ key, line, headers, status }) => {
        const connection = await openConnection(cairn)
        // A request that the server has begun to read keeps its connection open.
        const begun = head(line, { 'x-service-key': key, connection: 'close', ...headers }).slice(0, -2)
        connection.socket.write(head('GET /nowhere') + begun)
        await vi.waitFor(() => expect(connection.answer()).toContain('not_found'), withPatience)
        return { ...connection, status }
      }),
    )
    const stopped = cairn.stop()
    for (const { socket, answer, closed, status } of waiting) {
      socket.write('\r\n')
      await closed
      const [, second] = answer().split(/(?=HTTP\/1\.1)/)
      expect(second).toContain(`HTTP/1.1 ${status}`)
      if (status === 503) expect(second).toMatch(/^retry-after: [1-9]\d*\r$.*"code":"shutting_down"/ims)
    }
    await stopped
  })
})
