// engines: none (opens no store)

import { describe, expect, it } from 'vitest'
import {
  code,
  duration,
  type FilterReader,
  instant,
  oneOf,
  stepNumber,
  text,
} from '../../admin/parts/filters/filter-readers.ts'
import { reportListReaders, reportReaders } from '../../admin/reports/report-readers.ts'

const { last, touch, breakdown } = reportReaders(3)
const longest = '😀'.repeat(255)
const variable = 'v'.repeat(100)

/** By reader: what it takes as it is, and what it does not take. */
const readers: Record<string, [reader: FilterReader, taken: string[], refused: string[]]> = {
  text: [text, ['signed_up', longest], [`${longest}😀`, 'a\0b']],
  'one of some words': [oneOf(['1h', '7d']), ['1h', '7d'], ['1H', '24h', '1h7d']],
  instant: [
    instant,
    ['1900-01-01T00:00:00.000Z', '2026-11-20T09:30:00.123Z', '9999-12-31T23:59:59.999Z'],
    [
      '1899-12-31T23:59:59Z',
      '1900-01-01T00:00:00+00:01',
      '2026-02-30T00:00:00Z',
      '2026-11-20',
      '2026-11-20T09:30',
      'yesterday',
    ],
  ],
  duration: [duration, ['P7D', 'PT36H', 'P2W'], ['P0D', 'PT0S', 'P', 'PT', '7d', 'P1Y', '-P7D']],
  code: [code, ['customer_not_found'], ['Customer', 'a b', 'a'.repeat(65)]],
  'step number': [stepNumber(12), ['1', '12'], ['0', '13', '01', '1.5', '-1']],
  'step number without steps': [stepNumber(0), [], ['1']],
  'number of days': [last, ['1', '30', '400'], ['0', '401', '07', '1e2']],
  touch: [touch, ['first', 'last', '1', '99', '100'], ['0', '101', 'First']],
  breakdown: [
    breakdown,
    ['customer_type', 'variable:plan', `variable:${variable}`],
    ['plan', 'variable:', `variable:${variable}v`],
  ],
  variable: [
    reportListReaders.variables,
    ['plan:team', 'plan:', `${variable}:${variable}`, 'at:09:30'],
    ['plan', ':team', `${variable}v:1`, `plan:${variable}v`],
  ],
}

describe.each(Object.entries(readers))(
  'The filter in an address: %s',
  (_name, [{ read }, taken, refused]) => {
    it('takes what the API takes, and nothing else', () => {
      expect(taken.map(read)).toEqual(taken)
      expect(refused.map(read)).toEqual(refused.map(() => undefined))
    })
  },
)

describe('An instant in an address', () => {
  it.each([
    ['2026-11-20T09:30:00+02:00', '2026-11-20T07:30:00.000Z'],
    // As an unencoded plus is read.
    ['2026-11-20T09:30:00 02:00', '2026-11-20T07:30:00.000Z'],
    ['2026-11-20T09:30:00.1-05:30', '2026-11-20T15:00:00.100Z'],
  ])('is converted to UTC: %s', (written, utc) => {
    expect(instant.read(written)).toBe(utc)
  })
})
