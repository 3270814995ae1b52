// engines: sqlite, postgres

import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { cursorPosition, cursorText } from '../../server/domain/cursors.ts'
import { DAY_MS } from '../../server/domain/durations.ts'
import type { RefusalLimits } from '../../server/storage/refusals/refusal-bounds.ts'
import type { RefusalFilter, RefusalOrder } from '../../server/storage/refusals/refusal-reader.ts'
import type { Refused, Sent } from '../../server/storage/refusals/refusal-writer.ts'
import { withPatience } from '../fixtures/patience.ts'
import { openStore, openStoreForTest, readingIn, type Store, storedText } from '../fixtures/store.ts'

const NOW = Date.parse('2026-11-20T12:00:00Z')
const workspace_id = 'wsp_of_a_test'

const ROOMY: RefusalLimits = { days: 7, bytes: 1e9, rows: 1e6 }

const atNow = { now: () => NOW, refusalLimits: ROOMY }

function refused(change: Partial<Refused> = {}): Refused {
  return {
    workspace_id,
    key_id: 'key_a',
    request_id: 'request-1',
    operation: 'createEvent',
    received_ms: NOW,
    item: null,
    journey_id: 'jrn_1',
    customer_id: 'cus_1',
    event_id: 'signed_up',
    code: 'customer_not_found',
    status: 404,
    ...change,
  }
}

function bytes(text: string): Sent {
  const head = new TextEncoder().encode(text)
  return { head, bytes: head.length }
}

function offer({ refusals }: Store, count: number, change: Partial<Refused> = {}) {
  for (let index = 0; index < count; index += 1) {
    refusals.offer(refused({ request_id: `request-${index}`, ...change }), () => bytes(`{"n":${index}}`))
  }
}

/** Waits until so many are written: a list waits a second for that, and a busy machine may take longer. */
async function untilKept({ statistics }: Store, count: number) {
  await expect.poll(() => statistics().refusals.kept, withPatience).toBe(count)
}

/** All pages of a list. */
async function listed(store: Store, filter: RefusalFilter = {}, order: RefusalOrder = 'newest', limit = 500) {
  const rows = []
  let cursor: string | null = null
  do {
    const page = cursor === null ? { limit } : { limit, after: cursorPosition(cursor, 'rfs') }
    const found = await store.refusals.list(workspace_id, filter, { page, order }, readingIn(workspace_id))
    rows.push(...found.rows)
    cursor = found.next && cursorText(found.next)
  } while (cursor !== null)
  return rows
}

describe('refusals', () => {
  it('are kept with all their fields, even after the store is reopened', async () => {
    const store = await openStore(atNow)
    const errors = [{ pointer: '/a"b\u0000', detail: 'is wrong' }]
    const odd = refused({
      errors,
      errors_omitted: 3,
      item: 7,
      journey_id: null,
      code: 'invalid_request',
      status: 400,
    })
    store.refusals.offer(odd, () => bytes('{"ä":"\\u0000"}'))
    await store.close()
    const again = await openStoreForTest({ ...atNow, databaseUrl: store.databaseUrl })
    const [row, ...others] = await listed(again)
    const { errors: _, errors_omitted: __, ...same } = odd
    expect(row).toMatchObject({ ...same, sent: '{"ä":"\\u0000"}', sent_bytes: 15, left_out: 0, replay: null })
    expect(JSON.parse(row?.faults ?? '')).toEqual({ errors, errors_omitted: 3 })
    expect(others).toEqual([])
    expect(await again.refusals.find(workspace_id, row?.refusal_id ?? '', readingIn(workspace_id))).toEqual(
      row,
    )
    expect(await again.refusals.find('wsp_other', row?.refusal_id ?? '', readingIn('wsp_other'))).toBe(
      undefined,
    )
  })

  it('contain 16 KiB of what was sent, and its size', async () => {
    const store = await openStoreForTest(atNow)
    store.refusals.offer(refused(), () => bytes(`${'x'.repeat(16_383)}ä`))
    store.refusals.offer(refused(), () => bytes('x'.repeat(16_384)))
    await untilKept(store, 2)
    const [whole, cut] = await listed(store)
    expect([whole?.sent.length, whole?.sent_bytes]).toEqual([16_384, 16_384])
    expect([cut?.sent, cut?.sent_bytes]).toEqual(['x'.repeat(16_383), 16_385])
  })

  it('are listed in both orders, page by page, by every filter and by time', async () => {
    const store = await openStoreForTest(atNow)
    for (let index = 0; index < 30; index += 1) {
      const of = <Value>(values: Value[]) => values[index % values.length] as Value
      offer(store, 1, {
        received_ms: NOW - Math.floor(index / 4) * 1000,
        request_id: `r-${index}`,
        code: of(['journey_not_found', 'journey_archived']),
        operation: of(['createEvent', 'createEvents', 'initializeCustomer']),
        key_id: of(['key_a', 'key_b', 'key_a', 'key_a']),
        journey_id: of(['jrn_1', null]),
        customer_id: of([null, 'cus_2']),
        event_id: of(['a', 'b', 'c', 'd', 'e']),
      })
    }
    await untilKept(store, 30)
    const all = await listed(store)
    expect(all).toHaveLength(30)
    const oldest = await listed(store, {}, 'oldest', 7)
    expect(oldest).toEqual(all.toReversed())
    expect(await listed(store, {}, 'newest', 7)).toEqual(all)
    const filters: RefusalFilter[] = [
      { code: 'journey_archived' },
      { operation: 'createEvents' },
      { key_id: 'key_b', event_id: 'b' },
      { journey_id: 'jrn_1', customer_id: 'cus_2' },
      { from_ms: NOW - 5000, to_ms: NOW - 2000 },
      { from_ms: NOW - 4000, code: 'journey_archived' },
    ]
    for (const { from_ms = 0, to_ms = NOW + 1, ...fields } of filters) {
      const expected = all.filter(
        (row) =>
          row.received_ms >= from_ms &&
          row.received_ms < to_ms &&
          Object.entries(fields).every(([name, value]) => row[name as keyof typeof row] === value),
      )
      const filter = { from_ms, to_ms, ...fields }
      expect(await listed(store, filter, 'newest', 3)).toEqual(expected)
      expect(await listed(store, filter, 'oldest', 3)).toEqual(expected.toReversed())
    }
  })

  it('keep a thousand of a burst, and count the rest with those that are kept', async () => {
    const store = await openStoreForTest(atNow)
    offer(store, 1_500)
    offer(store, 10, { code: 'journey_archived' })
    const settled = () => store.statistics().refusals.kept + store.statistics().refusals.leftOut
    await expect.poll(settled, withPatience).toBe(1_510)
    const rows = await listed(store)
    const flooded = rows.filter(({ code }) => code === 'customer_not_found')
    // A few more on a slow machine.
    expect(flooded.length).toBeGreaterThanOrEqual(1_000)
    expect(flooded.length).toBeLessThan(1_400)
    expect(flooded.length + flooded.reduce((sum, { left_out }) => sum + left_out, 0)).toBe(1_500)
    expect(rows.length - flooded.length).toBe(10)
    expect(store.statistics().refusals).toEqual({
      waiting: 0,
      kept: rows.length,
      leftOut: 1_510 - rows.length,
    })
  })

  it('are counted at the time of the clock after it was set back', async () => {
    const store = await openStoreForTest(atNow)
    offer(store, 1_500, { received_ms: NOW + DAY_MS })
    offer(store, 500)
    await expect
      .poll(async () => {
        const span = { from_ms: NOW - 1, to_ms: NOW + 1 }
        return (await store.refusals.summary(workspace_id, span, 1, readingIn(workspace_id))).count
      }, withPatience)
      .toBe(500)
  })

  it('are counted by field after a burst, and without content if there are too many fields', async () => {
    const store = await openStoreForTest(atNow)
    const wrong = (pointer: string, change: Partial<Refused> = {}) => {
      const errors = [{ pointer, detail: 'is wrong' }]
      return { code: 'invalid_request', status: 400, errors, ...change } as const
    }
    offer(store, 1_700, wrong('/customer_type', { operation: 'initializeCustomer' }))
    offer(store, 12, wrong('/event_id'))
    offer(store, 12, wrong('/occurred_at', { journey_id: 'jrn_2' }))
    offer(store, 12, wrong('/customer_type', { operation: 'initializeCustomer' }))
    const summed = (filter: RefusalFilter = {}) =>
      store.refusals.summary(workspace_id, filter, 1, readingIn(workspace_id))
    // A reader waits for writes in progress, but only briefly.
    await expect.poll(async () => (await summed()).count).toBe(1_736)
    const ofFields = await summed()
    expect(ofFields.groups.map(({ field, count }) => [field, count])).toEqual([
      ['/customer_type', 1_712],
      ['/event_id', 12],
      ['/occurred_at', 12],
    ])
    expect(ofFields.kinds).toEqual({ events: 0, requests: 24, customers: 1_712 })
    expect((await summed({ journey_id: 'jrn_2' })).count).toBe(12)

    for (let index = 0; index < 500; index += 1) offer(store, 1, wrong(`/made_up_${index}`))
    await expect.poll(async () => (await summed()).count).toBe(2_236)
    const summary = await summed()
    const [unsaved, ...more] = summary.unsaved
    expect(more).toEqual([])
    expect(unsaved).toMatchObject({ code: 'invalid_request', key_id: 'key_a', first_ms: NOW, last_ms: NOW })
    const rows = await listed(store)
    const named = rows.reduce((sum, { left_out }) => sum + 1 + left_out, 0)
    expect(named + (unsaved?.count ?? 0)).toBe(2_236)
    expect(rows.filter(({ field }) => field.startsWith('/made_up_')).length).toBeLessThan(500)
    expect(rows.every(({ sent_bytes }) => sent_bytes > 0)).toBe(true)
    expect(unsaved?.kinds).toEqual({ events: 0, requests: unsaved?.count, customers: 0 })
  })

  it('are summed in at most 100 groups, however many fields somebody invents, and the sums miss none', async () => {
    const store = await openStoreForTest(atNow)
    const code = 'invalid_request'
    const names = [...Array.from({ length: 149 }, (_, index) => `/f${index}`), `/${'~1'.repeat(200)}\u0000`]
    for (const pointer of [...names, '/f7'])
      offer(store, 1, { code, errors: [{ pointer, detail: 'is new' }] })
    await untilKept(store, 151)
    const summary = await store.refusals.summary(workspace_id, { code }, 2, readingIn(workspace_id))
    expect(summary).toMatchObject({ count: 151, groups_omitted: 50, counts: [0, 151] })
    expect(summary.groups).toHaveLength(100)
    expect(summary.groups[0]).toMatchObject({ field: '/f7', count: 2, counts: [0, 2], detail: 'is new' })
  })

  it('are removed first of the key that has the most, oldest first', async () => {
    const store = await openStoreForTest({ ...atNow, refusalLimits: { ...ROOMY, rows: 100 } })
    offer(store, 20, { key_id: 'key_quiet' })
    offer(store, 300, { key_id: 'key_loud' })
    // A list waits a second for writes in progress; a busy machine may take longer.
    await expect.poll(async () => (await listed(store)).length, withPatience).toBe(100)
    const rows = await listed(store, {}, 'oldest')
    expect(rows.filter(({ key_id }) => key_id === 'key_quiet')).toHaveLength(20)
    expect(rows.at(-1)?.request_id).toBe('request-299')
    expect(rows[20]?.request_id).toBe('request-220')
  })

  it('take no more bytes than the limit', async () => {
    const limit = 100_000
    const store = await openStoreForTest({ ...atNow, refusalLimits: { ...ROOMY, bytes: limit } })
    for (let index = 0; index < 40; index += 1) {
      store.refusals.offer(refused({ request_id: `r-${index}` }), () => bytes('x'.repeat(10_000)))
    }
    await expect.poll(async () => (await listed(store))[0]?.request_id, withPatience).toBe('r-39')
    const rows = await listed(store)
    const sum = rows.reduce((sum, { bytes }) => sum + bytes, 0)
    expect(sum).toBeLessThanOrEqual(limit)
    expect(sum).toBeGreaterThan(limit / 2)
  })

  it('are deleted after their retention, and none are kept if a limit is 0', async () => {
    let now_ms = NOW
    const store = await openStoreForTest({ now: () => now_ms, refusalLimits: ROOMY })
    offer(store, 1)
    await untilKept(store, 1)
    const [row] = await listed(store)
    now_ms = NOW + 7 * DAY_MS
    expect(await listed(store)).toHaveLength(1)
    now_ms += 1
    expect(await listed(store)).toEqual([])
    const found = await store.refusals.find(workspace_id, row?.refusal_id ?? '', readingIn(workspace_id))
    expect(found).toBe(undefined)
    const none = await openStoreForTest({ ...atNow, refusalLimits: { ...ROOMY, rows: 0 } })
    offer(none, 1)
    expect(await listed(none)).toEqual([])
  })

  it.each([
    ['their retention has ended', ROOMY, NOW + 7 * DAY_MS + 1],
    ['none are kept for any day', { ...ROOMY, days: 0 }, NOW],
    ['none are kept in any byte', { ...ROOMY, bytes: 0 }, NOW],
    ['none are kept in any row', { ...ROOMY, rows: 0 }, NOW],
  ])(
    'are gone from the disk if %s when a server starts, even if nothing is refused',
    async (_, limits, now_ms) => {
      const store = await openStore(atNow)
      const sent = () => bytes('{"email":"jane@example.com"}')
      // More than are removed at a time.
      for (const other of [workspace_id, 'wsp_other']) {
        for (let index = 0; index < 700; index += 1) {
          store.refusals.offer(refused({ workspace_id: other, request_id: `request-${index}` }), sent)
        }
      }
      await store.close()
      expect(await storedText(store.databaseUrl)).toContain('jane@example.com')
      const options = { now: () => now_ms, refusalLimits: limits, databaseUrl: store.databaseUrl }
      const again = await openStoreForTest(options)
      expect(await listed(again)).toEqual([])
      await expect.poll(() => storedText(store.databaseUrl), withPatience).not.toContain('jane@example.com')
    },
  )

  it('are gone from the disk when their retention ends while a server runs, within an hour', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    let now_ms = NOW
    const store = await openStoreForTest({ now: () => now_ms, refusalLimits: ROOMY })
    store.refusals.offer(refused(), () => bytes('{"email":"jane@example.com"}'))
    await untilKept(store, 1)
    expect(await storedText(store.databaseUrl)).toContain('jane@example.com')
    now_ms += 7 * DAY_MS + 1
    vi.advanceTimersByTime(3_600_000)
    await expect.poll(() => storedText(store.databaseUrl), withPatience).not.toContain('jane@example.com')
  })

  it('are not listed once their retention has ended, also after a cursor before its end', async () => {
    let now_ms = NOW
    const store = await openStoreForTest({ now: () => now_ms, refusalLimits: ROOMY })
    for (const second of [0, 1, 2]) offer(store, 1, { received_ms: NOW + second * 1_000 })
    await untilKept(store, 3)
    const [first] = await listed(store, {}, 'oldest')
    now_ms = NOW + 7 * DAY_MS + 2_000
    const after = { ms: NOW, id: first?.refusal_id ?? '' }
    const page = { limit: 10, after }
    const wanted = { page, order: 'oldest' } as const
    const { rows } = await store.refusals.list(workspace_id, {}, wanted, readingIn(workspace_id))
    expect(rows.map(({ received_ms }) => received_ms)).toEqual([NOW + 2_000])
  })

  it('stay until then', async () => {
    const store = await openStore(atNow)
    offer(store, 3)
    await store.close()
    const now = () => NOW + 7 * DAY_MS
    const again = await openStore({ ...atNow, now, databaseUrl: store.databaseUrl })
    // Ends after what it has begun to remove.
    await again.close()
    const last = await openStoreForTest({ ...atNow, databaseUrl: store.databaseUrl })
    expect(await listed(last)).toHaveLength(3)
  })
})
