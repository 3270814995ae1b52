import type { components } from '../../generated/contract.ts'

/** The format of an export (contract: "Exports"). */
export type ExportFormat = 'ndjson' | 'csv'

type Event = components['schemas']['Event']
type Customer = components['schemas']['Customer']

/** The fields of each list, in column order. */
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

/**
 * Returns the start of an export: for CSV, a byte order mark, by which spreadsheets recognize UTF-8, and the column
 * names.
 */
export function headText(format: ExportFormat, list: keyof typeof COLUMNS): string {
  return format === 'csv' ? `\ufeff${csvLine(COLUMNS[list])}` : ''
}

/**
 * Returns the end of an export: for NDJSON its last line; for CSV nothing, because a spreadsheet would show it as a
 * row.
 */
export function endText(format: ExportFormat, end: components['schemas']['ExportEnd']): string {
  return format === 'csv' ? '' : `${JSON.stringify(end)}\n`
}

/** Returns the end as a header field value, which must be ASCII. */
export function endField(end: components['schemas']['ExportEnd']): string {
  return JSON.stringify(end).replace(/[\u007f-\uffff]/g, (unit) => {
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}

/** Formats a line of CSV (RFC 4180). @param cells null is empty */
export function csvLine(cells: readonly (string | null)[]): string {
  return `${cells.map(cellText).join()}\r\n`
}

/**
 * The beginning of a cell that a spreadsheet takes for a formula, also in full-width form (OWASP, "CSV Injection"),
 * also after characters that it may trim or hide: white space (including NBSP and a byte order mark), zero-width and
 * other format characters. A tab or a line break starts a new cell if the file is read with another separator.
 */
const FORMULA = /^(?:[\t\r\n]|[\s\p{Cf}\p{Cc}\p{Default_Ignorable_Code_Point}]*[=+\-@＝＋－＠﹢﹣﹦﹫−])/u

/**
 * Includes what some spreadsheets take for a separator: an unquoted text would end there, and a formula could follow.
 */
const QUOTED = /[",;\t\r\n]/

function cellText(cell: string | null): string {
  if (cell === null) return ''
  const text = FORMULA.test(cell) ? `'${cell}` : cell
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
