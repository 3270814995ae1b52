// engines: sqlite, postgres

import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createWorkspace } from '../../server/cli/init.ts'
import { newId } from '../../server/domain/identifiers.ts'
import {
  type ActivityCounts,
  type ActivityRequest,
  GROUPS,
  NAMED_SERIES,
  PERIOD_MS,
  PERIODS,
} from '../../server/storage/activity/activity.ts'
import { addedCounts, packCounts, totalOf, unpackCounts } from '../../server/storage/activity/event-counts.ts'
import type { EventOutcome } from '../../server/storage/events/event-store.ts'
import {
  type Activity,
  countedActivity,
  idOf,
  initialize,
  newEvent,
  newSubject,
  openStoreForTest,
  readingIn,
  type Store,
  type Subject,
} from '../fixtures/store.ts'

const MINUTE = PERIOD_MS.minute
const HOUR = PERIOD_MS.hour
const DAY = PERIOD_MS.day

const KEY = newId('key')
const OTHER_KEY = newId('key')

/** Long enough ago for the clocks of the tests to start from there. */
const START = Date.UTC(2026, 5, 1)

const none: ActivityCounts = { created: 0, duplicate: 0, rejected: 0 }

/** A store whose clock the test controls. */
async function openClocked() {
  const clock = { ms: START }
  const store = await openStoreForTest({ now: () => clock.ms })
  return { store, clock, subject: await newSubject(store) }
}

function read(store: Store, { workspace_id }: Subject, request: Partial<ActivityRequest> = {}) {
  const all: ActivityRequest = { by: 'day', from_ms: START, to_ms: START + 100 * DAY }
  return countedActivity(store.activity(workspace_id, { ...all, ...request }, readingIn(workspace_id)))
}

/** Events sent, as recorded by the test. */
type Sent = {
  at_ms: number
  journey: string | null
  event: string
  key: string
  status: EventOutcome['status']
}

function countsOf(sent: readonly Sent[]): ActivityCounts {
  const counts = { ...none }
  for (const { status } of sent) counts[status] += 1
  return counts
}

/** The answer computed from the recorded events. */
function modelOf(sent: readonly Sent[], request: ActivityRequest): Omit<Activity, 'kept_from_ms'> {
  const { by, from_ms, to_ms, journey_id, event_id, key_id, group_by } = request
  const startOf = ({ at_ms }: Sent) => Math.floor(at_ms / PERIOD_MS[by]) * PERIOD_MS[by]
  const asked = sent.filter(
    (one) =>
      startOf(one) >= Math.floor(from_ms / PERIOD_MS[by]) * PERIOD_MS[by] &&
      startOf(one) < to_ms &&
      (journey_id === undefined || one.journey === journey_id) &&
      (event_id === undefined || one.event === event_id) &&
      (key_id === undefined || one.key === key_id),
  )
  const starts = [...new Set(asked.map(startOf))].sort((a, b) => a - b)
  const names = group_by ? [...new Set(asked.map((one) => one[group_by]))] : []
  return {
    total: countsOf(asked),
    periods: starts.map((start_ms) => ({
      start_ms,
      ...countsOf(asked.filter((one) => startOf(one) === start_ms)),
    })),
    groups: names.map((group) => {
      const own = asked.filter((one) => group_by && one[group_by] === group)
      const last_ms = Math.max(...own.map(({ at_ms }) => Math.floor(at_ms / MINUTE) * MINUTE))
      return { group, ...countsOf(own), last_ms }
    }),
    groups_omitted: 0,
  }
}

const byName = (activity: Pick<Activity, 'groups'>) =>
  activity.groups.toSorted((a, b) => ((a.group ?? '') < (b.group ?? '') ? -1 : 1))

describe('counts of events', () => {
  it('are exact by minute, hour and day, journey, name and key, for every outcome and order of events', async () => {
    const { store, clock, subject } = await openClocked()
    const { workspace_id } = subject
    const other = await createWorkspace(store.databaseUrl, { workspace: randomUUID(), journey: 'B' })
    const journeys = [subject.journey_id, 'jrn_unknown', other.journey_id] as const
    const event = fc.record({
      journey: fc.constantFrom(0, 0, 0, 1, 2),
      customer: fc.constantFrom(subject.customer_id, subject.customer_id, 'cus_unknown'),
      name: fc.constantFrom('a', 'b', 'signed_up'),
      message: fc.option(fc.integer({ min: 1, max: 5 }), { nil: null }),
      variables: fc.constantFrom(null, '{"a":1}'),
      size: fc.constantFrom('usual', 'usual', 'usual', 'too large'),
    })
    const sending = fc.record({
      key: fc.constantFrom(KEY, OTHER_KEY),
      later_ms: fc.constantFrom(0, 0, 1, 59_999, MINUTE, 10 * MINUTE, HOUR, DAY),
      events: fc.array(event, { minLength: 1, maxLength: 8 }),
    })
    const sent: Sent[] = []
    let runs = 0
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(sending, { maxLength: 4 }), { maxLength: 6 }), async (waves) => {
        runs += 1
        for (const wave of waves) {
          for (const { later_ms } of wave) clock.ms += later_ms
          const at_ms = clock.ms
          // Concurrently, so that a wave may become one group.
          const answers = wave.map(async ({ key, events }) => {
            const rows = events.map(({ journey, customer, name, message, variables, size }) => ({
              ...newEvent(subject, {
                journey_id: journeys[journey],
                customer_id: customer,
                event_id: name,
                message_id: message === null ? null : `${runs} ${message}`,
                custom_variables: variables,
              }),
              ...(size === 'too large' && ({ isTooLarge: true } as const)),
            }))
            const outcomes = await store.events.insertEvents(workspace_id, rows, key)
            for (const [index, { journey_id, event_id }] of rows.entries()) {
              const status = outcomes[index]?.status ?? 'rejected'
              const journey = journey_id === subject.journey_id ? journey_id : null
              sent.push({ at_ms, journey, event: event_id, key, status })
            }
          })
          await Promise.all(answers)
        }
        const from_ms = Math.max(START, clock.ms - 7 * DAY)
        for (const by of ['minute', 'hour', 'day'] as const) {
          const span = {
            by,
            from_ms: Math.max(from_ms, clock.ms - 1_400 * PERIOD_MS[by]),
            to_ms: clock.ms + 1,
          }
          for (const narrowed of [{}, { journey_id: journeys[0] }, { event_id: 'a', key_id: KEY }]) {
            const request = { ...span, ...narrowed }
            expect(await read(store, subject, request)).toMatchObject(modelOf(sent, request))
          }
          for (const group_by of ['journey', 'event', 'key'] as const) {
            const request = { ...span, group_by }
            const found = await read(store, subject, request)
            expect(byName(found)).toEqual(byName(modelOf(sent, request)))
          }
        }
      }),
      { numRuns: 20 },
    )
    expect(countsOf(sent)).toEqual({
      created: expect.any(Number),
      duplicate: expect.any(Number),
      rejected: expect.any(Number),
    })
    for (const count of Object.values(countsOf(sent))) expect(count).toBeGreaterThan(0)
  })

  it('cover only their own workspace', async () => {
    const { store, subject } = await openClocked()
    const other = await newSubject(store)
    await store.events.insertEvents(subject.workspace_id, [newEvent(subject)], KEY)
    expect((await read(store, other)).total).toEqual(none)
    expect((await read(store, subject)).total).toEqual({ ...none, created: 1 })
  })

  it('count a message with different content as rejected, even if that is noticed late', async () => {
    const { store, subject } = await openClocked()
    const send = (...variables: (string | null)[]) =>
      store.events.insertEvents(
        subject.workspace_id,
        variables.map((custom_variables) => newEvent(subject, { message_id: 'one', custom_variables })),
        KEY,
      )
    expect((await send(null)).map(({ status }) => status)).toEqual(['created'])
    const statuses = (await send('{"a":1}', null, '{"a":1}')).map(({ status }) => status)
    expect(statuses).toEqual(['rejected', 'duplicate', 'rejected'])
    const { total, groups } = await read(store, subject, { group_by: 'key' })
    expect(total).toEqual({ created: 1, duplicate: 1, rejected: 2 })
    expect(groups).toEqual([{ group: KEY, created: 1, duplicate: 1, rejected: 2, last_ms: START }])
  })

  it('are the same after the store is reopened', async () => {
    const { store, clock, subject } = await openClocked()
    await store.events.insertEvents(subject.workspace_id, [newEvent(subject), newEvent(subject)], KEY)
    const before = await read(store, subject, { by: 'minute', to_ms: START + HOUR, group_by: 'event' })
    await store.close()
    const again = await openStoreForTest({ databaseUrl: store.databaseUrl, now: () => clock.ms })
    expect(await read(again, subject, { by: 'minute', to_ms: START + HOUR, group_by: 'event' })).toEqual(
      before,
    )
    await again.events.insertEvents(subject.workspace_id, [newEvent(subject)], KEY)
    expect((await read(again, subject)).total).toEqual({ ...none, created: 3 })
  })

  it('lose nothing if the clock steps back', async () => {
    const { store, clock, subject } = await openClocked()
    for (const ms of [2 * HOUR, MINUTE, 2 * HOUR, 0]) {
      clock.ms = START + ms
      await store.events.insertEvents(subject.workspace_id, [newEvent(subject)], KEY)
    }
    const { periods } = await read(store, subject, { by: 'minute', to_ms: START + DAY })
    expect(periods).toEqual([
      { start_ms: START, ...none, created: 1 },
      { start_ms: START + MINUTE, ...none, created: 1 },
      { start_ms: START + 2 * HOUR, ...none, created: 2 },
    ])
  })

  it('distinguish names up to a limit, and journeys and keys beyond it', async () => {
    const { store, clock, subject } = await openClocked()
    const send = (names: number, prefix: string) =>
      store.events.insertEvents(
        subject.workspace_id,
        Array.from({ length: names }, (_, index) => newEvent(subject, { event_id: `${prefix}${index}` })),
        KEY,
      )
    await send(NAMED_SERIES, 'known ')
    await send(1, 'known ')
    await send(30, 'beyond ')
    clock.ms += MINUTE
    await send(1, 'beyond ')
    const { groups, groups_omitted } = await read(store, subject, { group_by: 'event' })
    expect(groups[0]).toMatchObject({ group: null, created: 31, last_ms: START + MINUTE })
    expect(groups[1]).toMatchObject({ group: 'known 0', created: 2 })
    expect([groups.length, groups_omitted]).toEqual([GROUPS, NAMED_SERIES + 1 - GROUPS])
    const { total } = await read(store, subject, { journey_id: subject.journey_id, key_id: KEY })
    expect(total.created).toBe(NAMED_SERIES + 32)
    // In the next block of thirty days names appear in another order.
    clock.ms += 60 * DAY
    await send(1, 'beyond ')
    const later = await read(store, subject, { from_ms: clock.ms, group_by: 'event' })
    expect(later.groups).toMatchObject([{ group: 'beyond 0', created: 1 }])
  })

  it('report since when they are kept', async () => {
    const { store, clock, subject } = await openClocked()
    clock.ms = Date.now() + 1_000 * DAY + 1
    const kept = async (by: ActivityRequest['by']) => {
      const { kept_from_ms } = await read(store, subject, { by, from_ms: clock.ms, to_ms: clock.ms + 1 })
      return kept_from_ms
    }
    expect(await kept('minute')).toBe(Math.floor(clock.ms / MINUTE) * MINUTE - 8 * DAY)
    expect(await kept('hour')).toBe(Math.floor(clock.ms / HOUR) * HOUR - 400 * DAY)
    // Since the store was created.
    const made_ms = await kept('day')
    expect(made_ms).toBeLessThanOrEqual(Date.now())
    expect(made_ms).toBeGreaterThan(Date.now() - 2 * DAY)
    // Not since the period began: in a copy, what arrived earlier in that period is not counted.
    clock.ms = Date.now()
    for (const by of ['minute', 'hour', 'day'] as const) expect(await kept(by)).toBe(made_ms)
  })

  it('are kept by the minute for eight days, and by the day after that', async () => {
    const { store, clock, subject } = await openClocked()
    const send = () => store.events.insertEvents(subject.workspace_id, [newEvent(subject)], KEY)
    await send()
    clock.ms += 2 * DAY
    await send()
    clock.ms += 7 * DAY
    await send()
    clock.ms += MINUTE
    await send()
    const minute = async (from_ms: number) => {
      return (await read(store, subject, { by: 'minute', from_ms, to_ms: from_ms + MINUTE })).total.created
    }
    await expect.poll(() => minute(START)).toBe(0)
    expect(await minute(START + 2 * DAY)).toBe(1)
    expect((await read(store, subject)).total.created).toBe(4)
  })

  it('are returned for a limited number of periods', async () => {
    const { store, subject } = await openClocked()
    const span = (periods: number) => read(store, subject, { by: 'minute', to_ms: START + periods * MINUTE })
    await expect(span(PERIODS)).resolves.toMatchObject({ total: none })
    await expect(span(PERIODS + 1)).rejects.toThrow()
  })

  it('cover each workspace separately, and events sent without a key', async () => {
    const { store, subject } = await openClocked()
    const second = await newSubject(store)
    const customer_id = idOf(await initialize(store, second, 'user-2'))
    await Promise.all([
      store.events.insertEvents(subject.workspace_id, [newEvent(subject)]),
      store.events.insertEvents(second.workspace_id, [newEvent({ ...second, customer_id })], OTHER_KEY),
    ])
    const [own, others] = await Promise.all(
      [subject, second].map((of) => read(store, of, { group_by: 'key' })),
    )
    expect(own?.groups).toMatchObject([{ group: null, created: 1 }])
    expect(others?.groups).toMatchObject([{ group: OTHER_KEY, created: 1 }])
  })
})

describe('the counts of a period', () => {
  it('stay readable when more is taken back of a series than was counted', () => {
    const other = { number: 2, created: 300, duplicate: 1, rejected: 0 }
    const before = packCounts([{ number: 1, created: 1, duplicate: 0, rejected: 0 }, other])
    const after = addedCounts(before, [
      { number: 1, created: -2, duplicate: 0, rejected: 1 },
      { number: 3, created: 0, duplicate: -1, rejected: 1 },
    ])
    expect(unpackCounts(after)).toEqual([
      { number: 1, created: 0, duplicate: 0, rejected: 1 },
      other,
      { number: 3, created: 0, duplicate: 0, rejected: 1 },
    ])
    expect(totalOf(after)).toEqual({ created: 300, duplicate: 1, rejected: 2 })
  })
})
