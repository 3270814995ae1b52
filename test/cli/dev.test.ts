// engines: sqlite (`cairn dev` has a SQLite file of its own)

import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { createClient } from '../../client/index.ts'
import { readable } from '../../server/cli/request-lines.ts'
import { temporaryFolder } from '../fixtures/cairn.ts'
import { spawnCairn } from '../fixtures/command.ts'
import { withPatience } from '../fixtures/patience.ts'
import { keptRefusals } from '../fixtures/refusals.ts'

/** Starts `cairn dev ARGS`, with a temporary folder of its own. */
function startDev(...args: string[]) {
  const folder = temporaryFolder()
  const environment = { PORT: '0', TMPDIR: folder, DATABASE_URL: `sqlite:${join(folder, 'other', 'c.db')}` }
  const command = spawnCairn(['dev', ...args], { environment })
  return { folder, command }
}

describe('cairn dev', () => {
  it('serves a new workspace, prints why each request was refused, and leaves nothing behind', async () => {
    const { folder, command } = startDev('--json', '--journey', 'Renewal')
    const told = await vi.waitUntil(() => /^\{.*\}\n/.exec(command.stdout())?.[0], withPatience)
    const { url, journey_id, secret_key, publishable_key, setup_link } = JSON.parse(told)
    expect(readdirSync(folder)).toHaveLength(1)
    expect(setup_link).toContain(`${url}/admin/setup#token=setup_`)

    const sender = createClient({ baseUrl: `${url}/v1`, serviceKey: publishable_key, retries: 0 })
    const names = { client_customer_id: 'user-1', customer_type: 'contact', customer_name: 'Ada' } as const
    const { data } = await sender.initializeCustomer({ body: { ...names, journey_id } })
    const event = { journey_id, customer_id: data?.customer_id ?? '', event_id: 'signed_up' }
    await sender.createEvent({ body: event })
    await sender.createEvent({ body: { ...event, customer_id: 'nobody' } })
    await sender.createEvent({ body: { ...event, event_id: '' } })
    await sender.createEvents({ body: { events: [event, { ...event, journey_id: 'none' }] } })

    // Shows what arrived, and what did not and why.
    const test = createClient({ baseUrl: `${url}/v1`, serviceKey: secret_key, retries: 0 })
    expect((await test.listEvents()).data?.data.map(({ event_id }) => event_id)).toEqual([
      'signed_up',
      'signed_up',
    ])
    expect(await keptRefusals(test, 3, { order: 'oldest' })).toMatchObject([
      { code: 'customer_not_found' },
      { code: 'invalid_request', errors: [{ pointer: '/event_id' }] },
      { code: 'journey_not_found', item: 1 },
    ])
    expect((await test.listJourneys()).data?.data).toMatchObject([{ journey_id, name: 'Renewal' }])

    command.process.kill('SIGINT')
    expect(await command.ended).toMatchObject({ code: 0, signal: null, stdout: told })
    const lines = command.stderr().split('\n')
    expect(lines.slice(0, 5)).toEqual([
      expect.stringMatching(/^\d\d:\d\d:\d\d\.\d{3} {2}200 {2}initializeCustomer {2}\d+ ms$/),
      expect.stringMatching(/ {2}201 {2}createEvent {2}\d+ ms$/),
      expect.stringMatching(/ {2}404 {2}createEvent {2}\d+ ms {2}customer_not_found: \S/),
      expect.stringMatching(/ {2}400 {2}createEvent {2}\d+ ms {2}invalid_request: \/event_id: \S/),
      expect.stringMatching(/ {2}200 {2}createEvents {2}\d+ ms {2}1 rejected, journey_not_found: \S/),
    ])
    expect(command.stderr()).not.toContain(publishable_key)
    expect(readdirSync(folder)).toEqual([])
  })

  it('shows its keys to its user, and never touches the store of DATABASE_URL', async () => {
    const { folder, command } = startDev()
    mkdirSync(join(folder, 'other'))
    await vi.waitUntil(() => command.stdout().includes('Requests:'), withPatience)
    expect(command.stdout()).toMatch(/^url +http:\/\/127\.0\.0\.1:\d+\nworkspace_id +wsp_\w{26}\n/)
    expect(command.stdout()).toMatch(/\nsecret_key +sk_\w{49}\npublishable_key +pk_\w{49}\n/)
    command.process.kill('SIGTERM')
    expect(await command.ended).toMatchObject({ code: 0, stderr: '' })
    expect(existsSync(join(folder, 'other', 'c.db'))).toBe(false)
    expect(readdirSync(folder)).toEqual(['other'])
  })
})

describe('the line of a request', () => {
  const time = Date.parse('2026-11-20T08:29:57.311Z')

  it('has the path if there is no operation, and shows that a client disconnected', () => {
    expect(readable({ time, method: 'PUT', path: '/v1/*', status: 404, code: 'not_found' })).toMatch(
      /^\d\d:\d\d:57\.311 {2}404 {2}PUT \/v1\/\* {2}0 ms {2}not_found: \S/,
    )
    expect(readable({ time, operation: 'listEvents', status: 'aborted', duration_ms: 12.6 })).toMatch(
      / {2}aborted {2}listEvents {2}13 ms$/,
    )
  })

  it('of any other log entry has its message', () => {
    expect(readable({ time, msg: 'could not write', err: { message: 'disk full' } })).toMatch(
      /57\.311 {2}could not write {2}disk full$/,
    )
  })
})
