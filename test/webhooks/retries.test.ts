// engines: none (opens no store)

import { expect, it } from 'vitest'
import { isGivenUp, outcomeOf, retryWait } from '../../server/webhooks/retries.ts'

const now_ms = Date.parse('2026-11-20T08:00:00Z')
const hour_ms = 3_600_000

const answer = (status: number, retryAfter?: string) =>
  outcomeOf({ status, ms: 12, response: '', retryAfter }, now_ms)

it('plans nine retries and then one a day', () => {
  const waits = Array.from({ length: 12 }, (_, index) => retryWait(index + 1, undefined, 0.5) / 1000)
  expect(waits).toEqual([
    5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400, 86_400, 86_400, 86_400,
  ])
})

it('spreads a wait by a tenth to either side', () => {
  expect([retryWait(2, undefined, 0), retryWait(2, undefined, 1)]).toEqual([270_000, 330_000])
})

it('never retries before the time that the receiver asks for', () => {
  expect(retryWait(1, 60_000, 0)).toBe(60_000)
  expect(retryWait(1, 60_000, 1)).toBe(66_000)
  // Asking for less does not shorten the planned wait.
  expect(retryWait(3, 1_000, 0.5)).toBe(1_800_000)
})

it.each([200, 201, 202, 204, 299])('takes only 2xx as received: %i', (status) => {
  expect(answer(status)).toEqual({ kind: 'success' })
  expect(answer(status, '60')).toEqual({ kind: 'success' })
})

it.each([
  [101, 'status'],
  [300, 'redirect'],
  [301, 'redirect'],
  [304, 'redirect'],
  [307, 'redirect'],
  [400, 'status'],
  [404, 'status'],
  [500, 'status'],
  [501, 'status'],
])('takes %i as a failure', (status, error) => {
  expect(answer(status)).toEqual({ kind: 'failure', error })
})

it('takes 410 as gone, whatever it asks for', () => {
  expect(answer(410)).toEqual({ kind: 'gone', error: 'status' })
  expect(answer(410, '60')).toEqual({ kind: 'gone', error: 'status' })
})

it.each([429, 502, 503, 504])('slows down after %i', (status) => {
  expect(answer(status)).toEqual({ kind: 'slow_down', error: 'status', retryAfter_ms: undefined })
})

it.each([
  ['0', 0],
  ['120', 120_000],
  [' 120 ', 120_000],
  ['86400', 24 * hour_ms],
  ['86401', 24 * hour_ms],
  ['9'.repeat(400), 24 * hour_ms],
  ['Fri, 20 Nov 2026 08:01:30 GMT', 90_000],
  ['Fri, 20 Nov 2026 07:00:00 GMT', 0],
  ['Fri, 20 Nov 2027 08:00:00 GMT', 24 * hour_ms],
])('slows down by Retry-After: %s', (value, retryAfter_ms) => {
  expect(answer(500, value)).toEqual({ kind: 'slow_down', error: 'status', retryAfter_ms })
  expect(answer(307, value)).toEqual({ kind: 'slow_down', error: 'redirect', retryAfter_ms })
})

it.each(['', '-5', '1.5', '1e3', 'soon', '2026-11-20T08:01:30Z', 'Fri, 99 Nov 2026 08:01:30 GMT'])(
  'ignores an invalid Retry-After: %j',
  (value) => {
    expect(answer(500, value)).toEqual({ kind: 'failure', error: 'status' })
    expect(answer(429, value)).toEqual({ kind: 'slow_down', error: 'status', retryAfter_ms: undefined })
  },
)

it('takes a network error as a failure of its class', () => {
  expect(outcomeOf({ error: 'connection_refused', ms: 3 }, now_ms)).toEqual({
    kind: 'failure',
    error: 'connection_refused',
  })
})

it.each([
  { attempts: 9, lastSuccess_ms: now_ms + 1, givenUp: false },
  { attempts: 10, lastSuccess_ms: null, givenUp: false },
  { attempts: 10, lastSuccess_ms: now_ms, givenUp: false },
  { attempts: 10, lastSuccess_ms: now_ms + 1, givenUp: true },
  { attempts: 11, lastSuccess_ms: now_ms + 1, givenUp: true },
])(
  'gives a message up after its last retry, if the endpoint received another meanwhile: %o',
  ({ attempts, lastSuccess_ms, givenUp }) => {
    expect(isGivenUp({ attempts, created_ms: now_ms }, lastSuccess_ms)).toBe(givenUp)
  },
)
