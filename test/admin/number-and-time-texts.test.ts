// engines: none (opens no store)

import { describe, expect, it } from 'vitest'
import { durationOf, durationText, lengthOf } from '../../admin/parts/instants/duration-text.ts'
import { instantText, relativeText } from '../../admin/parts/instants/instant-text.ts'
import { instantOf } from '../../admin/parts/instants/typed-instant.ts'
import { bytesText, changeText, countOf, scaleText, shareText } from '../../admin/parts/number-text.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

describe('Numbers and times', () => {
  it('are written for people, and never rounded to nothing or to all', () => {
    const shares = [null, 0, 0.0004, 0.004, 0.4583, 0.996, 0.9996, 1].map(shareText)
    expect(shares).toEqual(['–', '0%', '<0.1%', '0.4%', '46%', '99.6%', '>99.9%', '100%'])
    const changes = [
      [108, 100],
      [50, 100],
      [5, 5],
      [1001, 1000],
      [5, 0],
    ] as const
    expect(changes.map(([now, before]) => changeText(now, before))).toEqual([
      '+8%',
      '-50%',
      'no change',
      'about the same',
      undefined,
    ])
    const counts = [0, 1, 1234].map((count) => countOf(count, 'event'))
    expect(counts).toEqual(['0 events', '1 event', '1,234 events'])
    expect([0, 99_999, 100_000, 1_250_000].map(scaleText)).toEqual(['0', '99,999', '100K', '1.25M'])
    expect([0, 1_048_576, 1_234_500_000].map(bytesText)).toEqual(['0.0 MB', '1.0 MB', '1,234.5 MB'])
    const days = [51 * hour + minute, 12 * day + 5 * hour, 99 * day + 23 * hour, 120 * day + 5 * hour]
    const times = [0, 840, 5200, 12_400, 59_600, 250_000, 2 * hour, ...days]
    expect(times.map(durationText)).toEqual([
      '0ms',
      '840ms',
      '5.2s',
      '12s',
      '1m',
      '4m 10s',
      '2h',
      '2d 3h',
      '12d 5h',
      '99d 23h',
      '120d',
    ])
  })

  it('are relative in whole days, hours or minutes', () => {
    const wednesday = Date.parse('2026-11-25T10:00:00Z')
    const texts = [
      // The day after tomorrow, and the day before yesterday.
      ['2026-11-27T09:00:00Z', 'in 1 day'],
      ['2026-11-23T11:00:00Z', '1 day ago'],
      ['2026-11-27T10:00:00Z', 'in 2 days'],
      ['2026-11-26T09:59:00Z', 'in 23 hours'],
      ['2026-11-25T10:00:59Z', 'now'],
      ['2026-11-25T09:55:00Z', '5 minutes ago'],
    ] as const
    expect(texts.map(([at]) => relativeText(new Date(at), wednesday))).toEqual(texts.map(([, text]) => text))
  })

  it.each([
    ['36 h', 'PT36H'],
    ['2d 12h', 'P2DT12H'],
    ['2d 12h 30m', 'P2DT12H30M'],
    ['2 weeks', 'P14D'],
    ['90 min', 'PT90M'],
    ['P2W', 'P2W'],
    ['a while', undefined],
    ['0 h', undefined],
  ])('are parsed as people type them: %s', (text, duration) => {
    expect(durationOf(text)).toBe(duration)
    if (duration) expect(lengthOf(duration)).toBeGreaterThan(0)
  })
})

describe('A typed time', () => {
  const evening = new Date(2026, 10, 20, 21, 5)

  it.each([
    ['20 Nov 2026, 21:05', evening],
    [' 20 November 2026 21:05 ', evening],
    ['20. nov. 2026, 21:05:00', evening],
    ['2026-11-20 21:05', evening],
    ['2026-11-20T21:05', evening],
    ['20.11.2026, 21:05', evening],
    ['2026-11-20T21:05:09', new Date(2026, 10, 20, 21, 5, 9)],
    ['20 Nov 2026', new Date(2026, 10, 20)],
    ['29 Feb 2028', new Date(2028, 1, 29)],
  ])('is in the time zone of the viewer: %s', (text, instant) => {
    expect(instantOf(text)).toEqual(instant)
  })

  it('is written so that it is read as the same', () => {
    for (const instant of [evening, new Date(2026, 0, 1), new Date(2026, 11, 31, 23, 59, 59)]) {
      expect(instantOf(instantText(instant))).toEqual(instant)
    }
  })

  it('can be of today and yesterday', () => {
    const dayOf = (at: Date, days: number) => new Date(at.getFullYear(), at.getMonth(), at.getDate() + days)
    const before = new Date()
    const found = [instantOf('Today'), instantOf('yesterday 9:00')]
    // Midnight may come in between.
    const possible = [before, new Date()].map((now) => [dayOf(now, 0), new Date(dayOf(now, -1).setHours(9))])
    expect(possible).toContainEqual(found)
  })

  it.each([
    '11/12/2026',
    '29 Feb 2026',
    '31.04.2026',
    '2026-13-01',
    '20 Foo 2026',
    '20 Nov 2026, 24:00',
    '20 Nov 2026, 09:60',
    '20 Nov 2026, 09:30:60',
    '20 Nov',
    'tomorrow',
    '',
  ])('that is none, or could be two, is not taken: %j', (text) => {
    expect(instantOf(text)).toBeUndefined()
  })
})
