// engines: sqlite, postgres

import { connect } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Schemas } from '../../client/index.ts'
import { type Cairn, startCairn, startCairnForTest, type Workspace } from '../fixtures/cairn.ts'
import { customerInJourney, initialize } from '../fixtures/customer.ts'
import { exported, pausedExport } from '../fixtures/exported.ts'
import { withPatience } from '../fixtures/patience.ts'
import { addMember, browser, newMember, signIn, signUp } from '../fixtures/people.ts'

/** A server of its own, because the tests read its log. */
let cairn: Cairn

beforeAll(async () => {
  cairn = await startCairn()
  return cairn.stop
})

/** More than a connection buffers for a reader that does not read. */
const LARGE = { events: 300, bytes: 60_000 }

async function newSender() {
  const { workspace, event } = await customerInJourney(cairn)
  const { client } = workspace
  const send = async (count: number, more: Partial<Schemas['EventCreation']> = {}) => {
    const ids: string[] = []
    for (let sent = 0; sent < count; sent += 50) {
      const events = Array.from({ length: Math.min(50, count - sent) }, () => ({ ...event, ...more }))
      const { data } = await client.createEvents({ body: { events } })
      ids.push(...(data?.results.flatMap(({ id }) => id ?? []) ?? []))
    }
    return ids
  }
  const sendLarge = () => send(LARGE.events, { custom_variables: 'x'.repeat(LARGE.bytes) })
  return { workspace, client, event, send, sendLarge }
}

function newCustomer(workspace: Workspace, customer_name: string): Promise<string> {
  return initialize(workspace, customer_name, { customer_name })
}

/** The cells of CSV lines according to RFC 4180, after a byte order mark. */
function cellsOf(text: string): string[][] {
  // Decoding removes the byte order mark.
  const lines: string[][] = [[]]
  for (const [, quoted, plain = '', end = ''] of text.matchAll(
    /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/g,
  )) {
    lines.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain)
    if (end === '\r\n') lines.push([])
  }
  return lines.slice(0, -1)
}

describe('exportEvents', () => {
  it('contains every event as it is listed, once, in order of arrival, and marks the end', async () => {
    const { client, event, send } = await newSender()
    const custom_variables = { note: 'two\u2028lines\n', deep: [{ __proto__: 1 }], large: 1e300 }
    await client.createEvent({
      body: { ...event, custom_variables, occurred_at: '2026-01-01T00:00:00.5+02:00' },
    })
    await client.createEvent({ body: { ...event, custom_variables: 'a "text"', message_id: 'é' } })
    const ids = await send(1200)
    const { items, end } = await exported(client.exportEvents())
    expect(items.slice(2).map(({ id }) => id)).toEqual(ids)
    const { data } = await client.listEvents({ query: { order: 'oldest', limit: 500 } })
    expect(items.slice(0, 500)).toEqual(data?.data)
    expect(end).toMatchObject({ end: 1202, list: 'events', filter: {} })

    const later = await send(3)
    const { next_cursor: cursor } = end
    const next = await exported(client.exportEvents({ query: { cursor } }))
    expect(next.items.map(({ id }) => id)).toEqual(later)
    const nothing = await exported(client.exportEvents({ query: { cursor: next.end.next_cursor } }))
    expect(nothing).toMatchObject({ items: [], end: { end: 0, next_cursor: next.end.next_cursor } })
  })

  it('applies its filters, and names them', async () => {
    const { client, workspace, event, send } = await newSender()
    await send(40)
    const [rare = ''] = await send(1, { event_id: 'rare' })
    await send(40)
    const query = { event_id: 'rare', journey_id: event.journey_id, customer_id: event.customer_id }
    const { items, end } = await exported(client.exportEvents({ query }))
    expect([items.map(({ id }) => id), end.filter]).toEqual([[rare], query])
    const received_to = items[0]?.received_at ?? ''
    const before = await exported(client.exportEvents({ query: { received_to } }))
    const from = await exported(client.exportEvents({ query: { received_from: received_to } }))
    expect(before.items.length + from.items.length).toBe(81)
    const { items: none } = await exported(
      workspace.client.exportEvents({ query: { journey_id: 'jrn_none' } }),
    )
    expect(none).toEqual([])
  })

  it('ends at its limit and continues after it, in parts of any size', async () => {
    const { client, send } = await newSender()
    const ids = await send(101)
    const found: string[] = []
    let cursor: string | undefined
    for (const limit of [1, 50, 49, 1, 7]) {
      const query = { limit, ...(cursor !== undefined && { cursor }) }
      const { items, end } = await exported(client.exportEvents({ query }))
      expect(items).toHaveLength(Math.min(limit, ids.length - found.length))
      found.push(...items.map(({ id }) => id))
      cursor = end.next_cursor
      expect(end.caught_up_to === null).toBe(found.length < 101)
    }
    expect(found).toEqual(ids)
  })

  it('contains everything acknowledged before it started, and stays complete while more arrives', async () => {
    const { client, send } = await newSender()
    const sent = await send(200)
    let cursor: string | undefined
    const found: string[] = []
    const sending = { isOver: false }
    const meanwhile = (async () => {
      for (let batch = 0; batch < 20; batch += 1) sent.push(...(await send(50)))
      sending.isOver = true
    })()
    for (let isLast = false; !isLast; ) {
      isLast = sending.isOver
      const before = sent.slice()
      const { items, end } = await exported(
        client.exportEvents({ query: cursor === undefined ? {} : { cursor } }),
      )
      found.push(...items.map(({ id }) => id))
      cursor = end.next_cursor
      expect(before.filter((id) => !found.includes(id))).toEqual([])
    }
    await meanwhile
    expect(found).toEqual(sent)
  })

  it('as CSV has a cell of JSON, and no formula', async () => {
    const { workspace, client, event } = await newSender()
    const custom_variables = { note: 'a "text",\nwith lines', sum: '=1+1' }
    const occurred_at = '2026-01-01T00:00:00.000Z'
    const body = { ...event, event_id: '=HYPERLINK("x")', custom_variables, occurred_at, message_id: '-1,2' }
    await client.createEvent({ body })
    await newCustomer(workspace, '+49 "170"')
    const { data } = await client.exportEvents({ query: { format: 'csv' } })
    const [head = [], line = [], ...rest] = cellsOf(await new Response(data).text())
    expect(head).toEqual(Object.keys((await exported(client.exportEvents())).items[0] ?? {}))
    const cells = Object.fromEntries(head.map((name, index) => [name, line[index] ?? '']))
    expect({ ...cells, custom_variables: JSON.parse(cells.custom_variables ?? '') }).toMatchObject({
      ...event,
      event_id: '\'=HYPERLINK("x")',
      custom_variables,
      occurred_at,
      message_id: "'-1,2",
    })
    expect(rest).toEqual([])

    const customers = await client.exportCustomers({ query: { format: 'csv', search: '+49' } })
    const [names, found, ...others] = cellsOf(await new Response(customers.data).text())
    expect([names?.[3], found?.slice(1, 4)]).toEqual([
      'customer_name',
      [`'+49 "170"`, 'contact', `'+49 "170"`],
    ])
    expect(others).toEqual([])
  })

  it.each([
    ['events', ''],
    ['customers', 'search=zo%C3%AB&'],
  ])('as CSV, which has only rows, names its charset and marks the end after %s', async (list, filter) => {
    const { workspace, send } = await newSender()
    await send(3)
    await newCustomer(workspace, 'Zoë "1"')
    const headers = { 'x-service-key': workspace.secret_key }
    const whole = async (query: string, more: Record<string, string> = {}) => {
      const answer = await pausedExport(cairn, `/${list}/export?${filter}${query}`, { ...headers, ...more })
      const bytes = await buffer(answer)
      const { 'export-end': end } = answer.trailers
      return { answer, bytes, end: end === undefined ? undefined : JSON.parse(end) }
    }
    const { bytes: lines } = await whole('')
    const last = JSON.parse(String(lines).trimEnd().split('\n').at(-1) ?? '')
    const plain = await whole('format=csv')
    expect(plain.answer.headers).toMatchObject({
      'content-type': 'text/csv; charset=utf-8',
      trailer: 'Export-End',
      'transfer-encoding': 'chunked',
    })
    expect(plain.end).toMatchObject({ ...last, caught_up_to: expect.any(String) })
    expect(cellsOf(String(plain.bytes))).toHaveLength(1 + last.end)
    const compressed = await whole('format=csv', { 'accept-encoding': 'gzip' })
    expect(compressed.end).toMatchObject({ ...last, caught_up_to: expect.any(String) })
    expect(gunzipSync(compressed.bytes).equals(plain.bytes)).toBe(true)
    const next = await whole(`format=csv&cursor=${plain.end.next_cursor}`)
    expect([cellsOf(String(next.bytes)).length, next.end]).toMatchObject([1, { end: 0 }])
  })

  it('has no trailer over HTTP/1.0, nor as NDJSON, which has an end line', async () => {
    const { workspace, send } = await newSender()
    await send(1)
    const { port, hostname } = new URL(cairn.url)
    const socket = connect(Number(port), hostname)
    socket.write(
      `GET /v1/events/export?format=csv HTTP/1.0\r\nHost: ${hostname}:${port}\r\nx-service-key: ${workspace.secret_key}\r\n\r\n`,
    )
    const [head = '', body = ''] = String(await buffer(socket)).split('\r\n\r\n')
    expect(head).toMatch(/^HTTP\/1\.1 200 /)
    expect(head).not.toMatch(/^trailer:/im)
    expect(cellsOf(body)).toHaveLength(2)
    const answer = await pausedExport(cairn, '/events/export', { 'x-service-key': workspace.secret_key })
    await buffer(answer)
    expect([answer.headers.trailer, answer.trailers]).toEqual([undefined, {}])
  })

  it('is compressed as one stream for clients that accept gzip, of any length', async () => {
    const { workspace, client, sendLarge, send } = await newSender()
    for (const fill of [async () => {}, () => send(3), sendLarge]) {
      await fill()
      const { items } = await exported(client.exportEvents())
      const headers = { 'x-service-key': workspace.secret_key, 'accept-encoding': 'gzip' }
      const answer = await pausedExport(cairn, '/events/export', headers)
      expect(answer.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' })
      const bytes = await buffer(answer)
      const lines = gunzipSync(bytes).toString().trimEnd().split('\n')
      expect(lines.slice(0, -1).map((line) => JSON.parse(line))).toEqual(items)
    }
  })

  it('is for owners, admins and secret keys, and is in the audit log, when continued once an hour', async () => {
    const { workspace, client } = await newSender()
    const { end } = await exported(client.exportEvents({ query: { event_id: 'a' } }))
    const { next_cursor: cursor } = end
    for (const _ of [1, 2]) await exported(client.exportEvents({ query: { event_id: 'a', cursor } }))
    // Another filter is another export, whatever its cursor.
    for (const _ of [1, 2]) await exported(client.exportEvents({ query: { cursor: '0'.repeat(38) } }))
    const admin = await signIn(cairn, await newMember(cairn, workspace, 'admin'))
    const log = await cairn.fetch('/audit-log?area=exports', { headers: admin })
    const entries: Schemas['AuditEntry'][] = (await log.json()).data
    expect(entries.map(({ action, actor, after }) => [action, actor.kind, after])).toEqual([
      ['events_exported', 'service_key', { filter: {} }],
      ['events_exported', 'service_key', { filter: { event_id: 'a' } }],
    ])
    expect((await cairn.fetch('/events/export', { headers: admin })).status).toBe(200)
    const viewer = await signIn(cairn, await newMember(cairn, workspace, 'viewer'))
    expect((await cairn.fetch('/events/export', { headers: viewer })).status).toBe(403)
  })
})

describe('exportCustomers', () => {
  it('contains every customer as it is listed, once, in order of arrival, and continues after them', async () => {
    const { workspace, client } = await newSender()
    for (const name of ['Zoë', '"Ada", \n', 'Lovelace']) await newCustomer(workspace, name)
    const { items, end } = await exported<Schemas['Customer']>(client.exportCustomers())
    const { data } = await client.listCustomers({ query: { order: 'oldest' } })
    expect(items).toEqual(data?.data)
    expect(end).toMatchObject({ end: 4, list: 'customers', filter: {} })
    const query = { search: 'zoe', customer_type: 'contact' } as const
    const found = await exported<Schemas['Customer']>(client.exportCustomers({ query }))
    expect([found.items.map(({ customer_name }) => customer_name), found.end.filter]).toEqual([
      ['Zoë'],
      query,
    ])

    const later = await newCustomer(workspace, 'Grace')
    const { next_cursor: cursor } = end
    const next = await exported<Schemas['Customer']>(client.exportCustomers({ query: { cursor } }))
    expect(next.items.map(({ customer_id }) => customer_id)).toEqual([later])
    const parts: string[] = []
    for (let at: string | undefined, isLast = false; !isLast; ) {
      const query = { limit: 2, ...(at !== undefined && { cursor: at }) }
      const { items, end } = await exported<Schemas['Customer']>(client.exportCustomers({ query }))
      parts.push(...items.map(({ customer_id }) => customer_id))
      at = end.next_cursor
      isLast = end.caught_up_to !== null
    }
    expect(parts).toEqual([...items.map(({ customer_id }) => customer_id), later])
  })

  it('is in the audit log with its filter, but without names of customers', async () => {
    const { workspace, client } = await newSender()
    const query = {
      customer_type: 'contact',
      search: 'Ada Lovelace',
      client_customer_id: 'user-8412',
    } as const
    await exported(client.exportCustomers({ query }))
    const admin = await signIn(cairn, await newMember(cairn, workspace, 'admin'))
    const log = await cairn.fetch('/audit-log?area=exports', { headers: admin })
    const [entry]: Schemas['AuditEntry'][] = (await log.json()).data
    expect(entry).toMatchObject({
      action: 'customers_exported',
      actor: { kind: 'service_key' },
      after: { filter: { customer_type: 'contact', search: true, client_customer_id: true } },
    })
  })
})

describe('exportCustomer', () => {
  it('contains everything about one customer and nothing about another, as JSON with a line per event', async () => {
    const { workspace, client, event, send, sendLarge } = await newSender()
    const other = await newCustomer(workspace, 'Grace')
    await client.createEvent({ body: { ...event, customer_id: other } })
    await client.createEvent({ body: { ...event, custom_variables: { note: '"},\n' } } })
    await send(2)
    const occurred_at = '2999-01-01T00:00:00Z'
    await client.createEvent({ body: { ...event, occurred_at } })
    const { customer_id } = event
    const path = { customer_id }
    const export_ = async () => {
      const { data } = await client.exportCustomer({ path })
      const text = await new Response(data).text()
      const all: Schemas['CustomerExport'] = JSON.parse(text)
      return { text, all }
    }
    const { text, all } = await export_()
    const listed = await client.exportEvents({ query: path })
    const { items } = await exported(Promise.resolve(listed))
    expect(all).toMatchObject({
      customer: (await client.getCustomer({ path })).data,
      journeys: [{ journey_id: event.journey_id }],
      refusals: [{ customer_id, code: 'occurred_at_in_future' }],
      audit_entries: expect.arrayContaining([
        expect.objectContaining({ action: 'customer_exported', by: 'service_key' }),
      ]),
    })
    expect([all.events, items.length]).toEqual([items, 3])
    expect(text.split('\n').filter((line) => line.includes('"evt_'))).toHaveLength(3)
    expect(text).not.toContain(other)
    await sendLarge()
    expect((await export_()).all.events).toHaveLength(3 + LARGE.events)
  })

  it('contains every journey of a customer who is in more than two pages of them', async () => {
    const { client, event } = await newSender()
    const { customer_id } = event
    const journeys = [event.journey_id]
    while (journeys.length < 101) {
      const { data } = await client.createJourney({ body: { name: `Journey ${journeys.length}` } })
      journeys.push(data?.journey_id ?? '')
    }
    for (const journey_id of journeys)
      expect(await initialize({ client, journey_id }, 'user-1')).toBe(customer_id)
    const { data } = await client.exportCustomer({ path: { customer_id } })
    const all: Schemas['CustomerExport'] = JSON.parse(await new Response(data).text())
    expect(all.journeys.map(({ journey_id }) => journey_id).sort()).toEqual(journeys.sort())
  })
})

describe('an export that nobody reads', () => {
  /** An export that waits for its reader, is read in small pieces, and is then disconnected. */
  async function paused({ secret_key }: Workspace, path: string) {
    const answer = await pausedExport(cairn, path, { 'x-service-key': secret_key })
    onTestFinished(() => void answer.destroy())
    let failure: Error | undefined
    answer.once('error', (error) => {
      failure = error
    })
    const read = async () => {
      let text = ''
      await vi.waitUntil(() => {
        text += answer.read() ?? ''
        return failure ?? answer.readableEnded
      }, withPatience)
      expect(failure?.message).toBe('aborted')
      return text
    }
    return { read }
  }

  it('takes one of two slots per caller and four per workspace', async () => {
    const { workspace, sendLarge } = await newSender()
    await sendLarge()
    const callers = [
      { 'x-service-key': workspace.secret_key },
      await signIn(cairn, await newMember(cairn, workspace, 'admin')),
      await signIn(cairn, await newMember(cairn, workspace, 'owner')),
    ] as const
    const open = [callers[0], callers[0], callers[1], callers[1]]
    const answers = await Promise.all(open.map((headers) => pausedExport(cairn, '/events/export', headers)))
    onTestFinished(() => answers.forEach((answer) => void answer.destroy()))
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200])
    for (const headers of [callers[0], callers[2]]) {
      const refused = await cairn.fetch('/events/export', { headers })
      expect([refused.status, (await refused.json()).code]).toEqual([503, 'overloaded'])
    }
    // Refused because all slots are taken, which is not an error of the server.
    const line = await vi.waitUntil(() => cairn.log.find(({ status }) => status === 503), withPatience)
    expect(line).toMatchObject({ code: 'overloaded' })
    expect(cairn.log.filter(({ msg }) => msg === 'request failed')).toEqual([])
    answers[0]?.destroy()
    const isFree = async () => (await cairn.fetch('/events/export', { headers: callers[2] })).ok
    await vi.waitUntil(isFree, withPatience)
  })

  it('takes one of two slots of a person, in whichever workspaces', async () => {
    const senders = [await newSender(), await newSender(), await newSender()] as const
    const person = await newMember(cairn, senders[0].workspace, 'admin')
    for (const { workspace } of senders.slice(1)) await addMember(cairn, workspace, person, 'admin')
    const cookie = await signIn(cairn, person)
    const headersOf = ({ workspace }: (typeof senders)[number]) => ({
      ...cookie,
      'x-workspace-id': workspace.workspace_id,
    })
    for (const sender of senders.slice(0, 2)) {
      await sender.sendLarge()
      const answer = await pausedExport(cairn, '/events/export', headersOf(sender))
      onTestFinished(() => void answer.destroy())
      expect(answer.statusCode).toBe(200)
    }
    const third = await cairn.fetch('/events/export', { headers: headersOf(senders[2]) })
    expect([third.status, (await third.json()).code]).toEqual([503, 'overloaded'])
    const headers = { 'x-service-key': senders[2].workspace.secret_key }
    expect((await cairn.fetch('/events/export', { headers })).status).toBe(200)
  })

  it('is disconnected when its key is revoked, and does not look complete', async () => {
    const { workspace, sendLarge } = await newSender()
    await sendLarge()
    const answer = await paused(workspace, '/events/export')
    const { client } = browser(cairn, await signIn(cairn, await newMember(cairn, workspace, 'owner')))
    const { data } = await client().listServiceKeys()
    const { key_id = '' } = data?.data.find(({ kind }) => kind === 'secret') ?? {}
    expect((await client().revokeServiceKey({ path: { key_id } })).response.status).toBe(200)
    expect(await answer.read()).not.toContain('"end":')
  })

  it('is disconnected when its workspace is removed', async () => {
    const { workspace, sendLarge } = await newSender()
    await sendLarge()
    const answer = await paused(workspace, '/events/export')
    const owner = await signUp(cairn, workspace, 'owner')
    const client = owner.client(workspace.workspace_id)
    const { data } = await client.archiveWorkspace()
    const removed = await client.removeWorkspace({ body: { name: data?.name ?? '' } })
    expect(removed.data?.events).toBe(LARGE.events)
    expect(await answer.read()).not.toContain('"end":')
  })

  it('is incomplete if the customer is erased in the meantime, and shows it in the same way', async () => {
    const { workspace, client, event, sendLarge } = await newSender()
    await sendLarge()
    const { customer_id } = event
    const answer = await paused(workspace, `/customers/${customer_id}/export`)
    expect((await client.eraseCustomer({ path: { customer_id } })).data?.customer_id).toBe(customer_id)
    const text = await answer.read()
    expect(() => JSON.parse(text)).toThrow(SyntaxError)
  })
})

it('is complete also if the clock of the server is ahead of that of the database', async () => {
  const cairn = await startCairnForTest({ now: () => Date.now() + 20_000 })
  const { workspace, event } = await customerInJourney(cairn)
  await workspace.client.createEvent({ body: event })
  const headers = { 'x-service-key': workspace.secret_key }
  for (const path of ['/events/export', '/customers/export', `/customers/${event.customer_id}/export`]) {
    const reply = await cairn.fetch(path, { headers })
    expect([path, reply.status]).toEqual([path, 200])
    expect(await reply.text()).toContain(event.customer_id)
  }
})
