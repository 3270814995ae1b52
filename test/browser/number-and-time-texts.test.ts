// engines: none (opens no store)

import { describe, expect, it } from 'vitest'
import { durationOf, durationText, lengthOf } from '../../admin/parts/instants/duration-text.ts'
import { relativeText } from '../../admin/parts/instants/instant-text.ts'
import { changeText, shareText } from '../../admin/parts/number-text.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

describe('Numbers and times', () => {
  it('are written for people, and never rounded to nothing or to all', () => {
    const shares = [null, 0, 0.0004, 0.004, 0.4583, 0.996, 0.9996, 1].map(shareText)
    expect(shares).toEqual(['–', '0%', '<0.1%', '0.4%', '46%', '99.6%', '>99.9%', '100%'])
    expect([changeText(108, 100), changeText(50, 100), changeText(5, 5), changeText(5, 0)]).toEqual([
      '+8%',
      '-50%',
      'no change',
      undefined,
    ])
    const times = [0, 840, 5200, 12_400, 59_600, 250_000, 2 * hour, 51 * hour + minute, 120 * day + 5 * hour]
    expect(times.map(durationText)).toEqual([
      '0ms',
      '840ms',
      '5.2s',
      '12s',
      '1m',
      '4m 10s',
      '2h',
      '2d 3h',
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
