// engines: none (opens no store)

import { expect, it } from 'vitest'
import { csvOf, pastedText } from '../../admin/parts/output/table-text.ts'

/** A table of one column, with these cells. */
function tableOf(...cells: string[]) {
  return {
    columns: [{ key: 'plan', label: 'Plan, of all' }],
    rows: cells.map((cell, index) => ({ key: String(index), cells: [cell] })),
  }
}

it.each([
  ['team', 'team'],
  ['a "good" plan', '"a ""good"" plan"'],
  ['a,b', '"a,b"'],
  // The separator of spreadsheets where the comma is the decimal one.
  ['a;b', '"a;b"'],
  ['a\tb', '"a\tb"'],
  ['two\nlines', '"two\nlines"'],
  ['=1+1', "'=1+1"],
  ['-4 to +10', "'-4 to +10"],
  [' @sum', "' @sum"],
  ['＝1', "'＝1"],
  ['\tcell', '"\'\tcell"'],
  ['–', '–'],
])('a cell of a CSV file stays a text of its own: %j', (cell, written) => {
  expect(csvOf(tableOf(cell))).toBe(`"Plan, of all"\r\n${written}\r\n`)
})

it('copied text has a line per row, whatever a cell contains', () => {
  const table = tableOf('two\nlines', 'a\tb', '=1+1')
  expect(pastedText('Customers by plan.', table)).toBe(
    "Customers by plan.\n\nPlan, of all\ntwo lines\na b\n'=1+1",
  )
})
