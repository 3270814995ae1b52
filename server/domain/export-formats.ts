import type { components } from '../../generated/contract.ts'

/** How an export is written (contract: "Exports"). */
export type ExportFormat = 'ndjson' | 'csv'

type Event = components['schemas']['Event']
type Customer = components['schemas']['Customer']

/** The fields of each list, in the order of their columns. */
export const COLUMNS = {
  events: [
    'id',
    'journey_id',
    'customer_id',
    'customer_name',
    'client_customer_id',
    'event_id',
    'custom_variables',
    'occurred_at',
    'received_at',
    'message_id',
    'key_id',
  ] satisfies (keyof Event)[],
  customers: [
    'customer_id',
    'client_customer_id',
    'customer_type',
    'customer_name',
    'created_at',
    'updated_at',
  ] satisfies (keyof Customer)[],
}

/** What an export begins with: of CSV, a mark by which spreadsheets know UTF-8, and the names of the columns. */
export function headText(format: ExportFormat, list: keyof typeof COLUMNS): string {
  return format === 'csv' ? `\ufeff${csvLine(COLUMNS[list])}` : ''
}

/** What an export ends with: of NDJSON its last line, of CSV nothing, since a spreadsheet would take it for a row. */
export function endText(format: ExportFormat, end: components['schemas']['ExportEnd']): string {
  return format === 'csv' ? '' : `${JSON.stringify(end)}\n`
}

/** The same as the value of a header field, which has ASCII alone. */
export function endField(end: components['schemas']['ExportEnd']): string {
  return JSON.stringify(end).replace(/[\u007f-\uffff]/g, (unit) => {
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}

/** A line of CSV (RFC 4180). @param cells null is empty */
export function csvLine(cells: readonly (string | null)[]): string {
  return `${cells.map(cellText).join()}\r\n`
}

/**
 * What a spreadsheet takes for a formula by its beginning, in full width too (OWASP, "CSV Injection"), also behind what it
 * may trim or does not show: white space (with NBSP and a byte order mark), zero-width and other format characters. A tab
 * or a line break begins a cell of its own where a file is read with another separator.
 */
const FORMULA = /^(?:[\t\r\n]|[\s\p{Cf}\p{Cc}\p{Default_Ignorable_Code_Point}]*[=+\-@＝＋－＠﹢﹣﹦﹫−])/u

/** With what some spreadsheets take for a separator: there an unquoted text would end at it, and a formula could follow. */
const QUOTED = /[",;\t\r\n]/

function cellText(cell: string | null): string {
  if (cell === null) return ''
  const text = FORMULA.test(cell) ? `'${cell}` : cell
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
