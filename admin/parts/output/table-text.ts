/** A table as it stands on the screen, with a cell per column. Keys are unique; labels may repeat. */
export type TextTable = {
  columns: readonly { key: string; label: string }[]
  rows: readonly { key: string; cells: readonly string[] }[]
}

/**
 * The beginning of a cell that a spreadsheet takes for a formula, also in full-width form and after what it ignores (OWASP, "CSV
 * Injection"); the same as in the server's exports.
 */
const formula = /^(?:[\t\r\n]|[\s\p{Cf}\p{Cc}\p{Default_Ignorable_Code_Point}]*[=+\-@＝＋－＠﹢﹣﹦﹫−])/u

/** The table as CSV (RFC 4180). A cell that looks like a formula gets an apostrophe in front. */
export function csvOf({ columns, rows }: TextTable): string {
  const lines = [columns.map(({ label }) => label), ...rows.map(({ cells }) => cells)]
  return lines.map((cells) => `${cells.map(csvCell).join()}\r\n`).join('')
}

function csvCell(text: string): string {
  const guarded = guardedCell(text)
  return /[",;\t\r\n]/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded
}

/** The table as text to paste, with tabs between cells, as spreadsheets and mail programs expect. */
export function pastedText(sentence: string, { columns, rows }: TextTable): string {
  const lines = [columns.map(({ label }) => label), ...rows.map(({ cells }) => cells)]
  const table = lines.map((cells) =>
    cells.map((cell) => guardedCell(cell.replaceAll(/\s+/g, ' '))).join('\t'),
  )
  return [sentence, '', ...table].join('\n')
}

function guardedCell(text: string): string {
  return formula.test(text) ? `'${text}` : text
}
