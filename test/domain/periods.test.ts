// engines: none (opens no store)

import { describe, expect, it } from 'vitest'
import { DAY_MS, duration_ms } from '../../server/domain/durations.ts'
import {
  type PeriodUnit,
  periodsBefore,
  periodsOf,
  previousPeriod,
  previousYear,
} from '../../server/domain/periods.ts'

const iso = (ms: number) => new Date(ms).toISOString().replace(':00.000Z', 'Z')

function periods(from: string, to: string, unit: PeriodUnit, zone: string, most = 400) {
  return periodsOf({ from_ms: Date.parse(from), to_ms: Date.parse(to) }, { unit, zone, most }).map(iso)
}

describe('periodsOf', () => {
  it.each([
    [
      'a day of 23 hours',
      'day',
      'Europe/Berlin',
      '2026-03-28T23:00Z',
      ['2026-03-28T23:00Z', '2026-03-29T22:00Z'],
    ],
    [
      'a day of 25 hours',
      'day',
      'Europe/Berlin',
      '2026-10-25T22:59Z',
      ['2026-10-24T22:00Z', '2026-10-25T23:00Z'],
    ],
    [
      'a day without midnight',
      'day',
      'America/Sao_Paulo',
      '2018-11-04T10:00Z',
      ['2018-11-04T03:00Z', '2018-11-05T02:00Z'],
    ],
    ['a week from Monday', 'week', 'UTC', '2026-11-22T23:59Z', ['2026-11-16T00:00Z', '2026-11-23T00:00Z']],
    ['the same on a Monday', 'week', 'UTC', '2026-11-16T00:00Z', ['2026-11-16T00:00Z', '2026-11-23T00:00Z']],
    ['a month', 'month', 'Asia/Kolkata', '2028-02-29T18:29Z', ['2028-01-31T18:30Z', '2028-02-29T18:30Z']],
  ] as const)('begins and ends %s', (_name, unit, zone, at, expected) => {
    expect(periods(at, at, unit, zone)).toEqual(expected)
  })

  it('has every period that the span touches, and none after its end', () => {
    const month = ['2026-01-31T00:00Z', '2026-03-01T00:00Z', 'month', 'UTC'] as const
    expect(periods(...month)).toEqual(['2026-01-01T00:00Z', '2026-02-01T00:00Z', '2026-03-01T00:00Z'])
    const days = periods('2026-01-31T12:00Z', '2026-03-01T00:01Z', 'day', 'UTC')
    expect([days.length, days[0], days.at(-1)]).toEqual([31, '2026-01-31T00:00Z', '2026-03-02T00:00Z'])
  })

  it('leaves out a day that the time zone skipped', () => {
    expect(periods('2011-12-30T00:00Z', '2012-01-01T00:00Z', 'day', 'Pacific/Apia')).toEqual([
      '2011-12-29T10:00Z',
      '2011-12-30T10:00Z',
      '2011-12-31T10:00Z',
      '2012-01-01T10:00Z',
    ])
    expect(periods('1993-08-21T11:59Z', '1993-08-21T12:01Z', 'day', 'Pacific/Kwajalein', 2)).toHaveLength(3)
  })

  it('has a maximum number of periods', () => {
    expect(periods('2026-01-01T00:00Z', '2026-01-04T00:00Z', 'day', 'UTC', 3)).toHaveLength(4)
    expect(() => periods('2026-01-01T00:00Z', '2026-01-04T00:01Z', 'day', 'UTC', 3)).toThrow(
      expect.objectContaining({ code: 'too_many_periods' }),
    )
  })

  it.each(['Atlantis/Main_Square', 'CET+1', '-'])('rejects the time zone %s', (zone) => {
    expect(() => periods('2026-01-01T00:00Z', '2026-01-01T00:00Z', 'day', zone)).toThrow(
      expect.objectContaining({ code: 'time_zone_unknown' }),
    )
  })
})

it('goes back whole periods to the start of a day', () => {
  const back = (count: number, unit: PeriodUnit) =>
    iso(periodsBefore(Date.parse('2026-03-31T12:00Z'), count, { unit, zone: 'Europe/Berlin' }))
  expect([back(1, 'month'), back(2, 'week'), back(30, 'day')]).toEqual([
    '2026-02-27T23:00Z',
    '2026-03-16T23:00Z',
    '2026-02-28T23:00Z',
  ])
})

it.each([
  ['P2W', 1_209_600_000],
  ['P7D', 604_800_000],
  ['PT36H', 129_600_000],
  ['P1DT2H3M4S', 93_784_000],
  ['PT90M', 5_400_000],
  ['PT0S', 0],
])('reads %s as %i milliseconds', (text, expected) => {
  expect(duration_ms(text)).toBe(expected)
})

/** The first instant of the contract. */
const FIRST_MS = Date.parse('1900-01-01T00:00Z')

describe('previousPeriod', () => {
  it('has the same length and ends where the period starts', () => {
    expect(previousPeriod({ from_ms: 100, to_ms: 130 })).toEqual({ from_ms: 70, to_ms: 100 })
  })

  it('begins no earlier than the contract accepts', () => {
    const { from_ms } = previousPeriod({ from_ms: FIRST_MS + 30, to_ms: FIRST_MS + 100 })
    expect(from_ms).toBe(FIRST_MS)
  })
})

describe('previousYear', () => {
  it('begins and ends on the same days, and on 28 February for the day that the year lacks', () => {
    const { from_ms, to_ms } = previousYear({
      from_ms: Date.parse('2028-02-29T10:00Z'),
      to_ms: Date.parse('2028-03-01T00:00Z'),
    })
    expect([iso(from_ms), iso(to_ms)]).toEqual(['2027-02-28T10:00Z', '2027-03-01T00:00Z'])
  })

  it('begins and ends no earlier than the contract accepts', () => {
    const both = previousYear({ from_ms: FIRST_MS, to_ms: FIRST_MS + DAY_MS })
    expect(both).toEqual({ from_ms: FIRST_MS, to_ms: FIRST_MS })
  })
})
