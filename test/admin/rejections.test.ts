// engines: none (opens no store)

import { describe, expect, it } from 'vitest'
import { isUnusual, worstOf } from '../../admin/overview/unusual-rejections.ts'

const none = { events: 0, requests: 0, customers: 0 }

describe('Rejections', () => {
  it.each([
    // Somebody tries out the first events.
    [{ events: 1 }, { received: 1, rejected: 1 }, { received: 0, rejected: 0 }, true],
    [{ requests: 1 }, { received: 0, rejected: 0 }, { received: 0, rejected: 0 }, true],
    [{}, { received: 0, rejected: 0 }, { received: 3, rejected: 3 }, false],
    // At least ten, and a twentieth.
    [{ events: 9 }, { received: 100, rejected: 9 }, { received: 1000, rejected: 0 }, false],
    [{ events: 10 }, { received: 200, rejected: 10 }, { received: 1000, rejected: 0 }, true],
    [{ events: 10 }, { received: 201, rejected: 10 }, { received: 1000, rejected: 0 }, false],
    [{ requests: 10 }, { received: 190, rejected: 0 }, { received: 1000, rejected: 0 }, true],
    [{ requests: 10 }, { received: 191, rejected: 0 }, { received: 1000, rejected: 0 }, false],
    // More than twice the share of the day before.
    [{ events: 10 }, { received: 200, rejected: 10 }, { received: 1000, rejected: 24 }, true],
    [{ events: 10 }, { received: 200, rejected: 10 }, { received: 1000, rejected: 26 }, false],
    [{ events: 10 }, { received: 200, rejected: 10 }, { received: 0, rejected: 0 }, true],
    // Registrations are compared with events, because accepted ones are not counted.
    [{ customers: 9 }, { received: 100, rejected: 0 }, { received: 1000, rejected: 500 }, false],
    [{ customers: 10 }, { received: 190, rejected: 0 }, { received: 1000, rejected: 500 }, true],
    [{ customers: 10 }, { received: 191, rejected: 0 }, { received: 1000, rejected: 500 }, false],
  ])('of %j among %j after %j alert people: %s', (rejections, lately, before, isAlert) => {
    expect(isUnusual({ ...none, ...rejections }, lately, before)).toBe(isAlert)
  })

  it('have as their most frequent error that of a group, or of contents that were not saved', () => {
    const at = '2026-11-20T09:30:00.000Z'
    const mistake = { key_id: 'key_01jd3zc4s7e9qv6x0m2n5b8wtr', first_at: at, last_at: at, kinds: none }
    const unsaved = { ...mistake, code: 'unauthorized' as const, count: 3 }
    const groupOf = (count: number) => ({
      ...mistake,
      code: 'invalid_request' as const,
      field: '/event_id',
      detail: null,
      counts: [count],
      count,
      left_out: 0,
      example_id: 'rfs_01jd3zc4s7e9qv6x0m2n5b8wtr',
    })
    const worst = (counts: number[], others = [unsaved]) =>
      worstOf({ groups: counts.map(groupOf), unsaved: others })
    expect(worst([2, 1])).toMatchObject({ code: 'unauthorized', field: null, count: 3 })
    expect(worst([4, 1])).toMatchObject({ code: 'invalid_request', field: '/event_id', count: 4 })
    expect(worst([], [])).toBeUndefined()
  })
})
