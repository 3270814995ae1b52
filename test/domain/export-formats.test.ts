// engines: none (opens no store)

import { describe, expect, it } from 'vitest'
import { csvLine, endField } from '../../server/domain/export-formats.ts'

/** A cell as written to the file. */
const written = (cell: string | null) => csvLine([cell]).replace(/\r\n$/, '')

describe('a cell of CSV', () => {
  it.each([
    ['an equals sign', '=1+1', "'=1+1"],
    ['a plus sign', '+49 170', "'+49 170"],
    ['a minus sign', '-1', "'-1"],
    ['an at sign', '@SUM(1)', "'@SUM(1)"],
    ['a tab', '\tx', `"'\tx"`],
    ['a carriage return', '\rx', `"'\rx"`],
    ['a line feed', '\nx', `"'\nx"`],
    ['a full-width equals sign', '＝1+1', "'＝1+1"],
    ['a full-width plus sign', '＋1', "'＋1"],
    ['a full-width minus sign', '－1', "'－1"],
    ['a full-width at sign', '＠SUM(1)', "'＠SUM(1)"],
    ['a small equals sign', '﹦1+1', "'﹦1+1"],
    ['a blank and an equals sign', ' =1+1', "' =1+1"],
    ['blanks and a full-width equals sign', '  ＝1+1', "'  ＝1+1"],
    ['a no-break space and an equals sign', '\u00a0=1+1', "'\u00a0=1+1"],
    ['an ideographic space and an equals sign', '\u3000=1+1', "'\u3000=1+1"],
    ['a zero-width space and an equals sign', '\u200b=1+1', "'\u200b=1+1"],
    ['a zero-width joiner and an at sign', '\u200d@SUM(1)', "'\u200d@SUM(1)"],
    ['a byte order mark and a plus sign', '\ufeff+1', "'\ufeff+1"],
    ['a soft hyphen and an equals sign', '\u00ad=1', "'\u00ad=1"],
    ['a mark of direction and an equals sign', '\u202e=1', "'\u202e=1"],
    ['a Hangul filler and an equals sign', '\u3164=1', "'\u3164=1"],
    ['a control character and an equals sign', '\u0001=1', "'\u0001=1"],
    ['blanks, a tab and an equals sign', ' \t=1', `"' \t=1"`],
    ['all of these', ' \u00a0\u200b\ufeff ＝1', "' \u00a0\u200b\ufeff ＝1"],
  ])('that begins with %s is not a formula', (_what, cell, expected) => {
    expect(written(cell)).toBe(expected)
  })

  it.each([
    ['a comma', 'a,=1+1', '"a,=1+1"'],
    ['a semicolon', 'a;=1+1', '"a;=1+1"'],
    ['a tab', 'a\t=1+1', '"a\t=1+1"'],
    ['a quotation mark', 'a "b"', '"a ""b"""'],
    ['a carriage return', 'a\rb', '"a\rb"'],
    ['a line feed', 'a\n=1', '"a\n=1"'],
  ])('that has %s is quoted', (_what, cell, expected) => {
    expect(written(cell)).toBe(expected)
  })

  it.each([
    ['a name', 'Ada King'],
    ['a formula character inside', 'a=1+1'],
    ['a blank before a letter', ' Ada'],
    ['an apostrophe', "'=1"],
    ['letters of another script', 'Ωmega'],
  ])('with %s is unchanged', (_what, cell) => {
    expect(written(cell)).toBe(cell)
  })

  it('is empty for null', () => {
    expect(csvLine([null, 'a', null])).toBe(',a,\r\n')
  })
})

it('has its end in a header field as ASCII without control characters', () => {
  const end = {
    end: 1,
    list: 'events',
    filter: { event_id: 'Zoë 🦉\u007f' },
    next_cursor: 'x',
    caught_up_to: null,
  } as const
  expect(endField(end)).toMatch(/^[ -~]+$/)
  expect(JSON.parse(endField(end))).toEqual(end)
})
