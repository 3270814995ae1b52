import { cursorPosition, cursorText, type Position } from './cursors.ts'
import type { IdPrefix } from './identifiers.ts'

/** How much of a list to read: at most `limit`, beginning behind `after`. */
export type Page = { limit: number; after?: Position }

/** The contract's default of `limit`. */
const LIMIT = 50

/** What to read for a page: one row more than is shown tells whether another page follows. */
export function pageOf(query: { limit?: number; cursor?: string }, prefix: IdPrefix | 'evt'): Page {
  const limit = (query.limit ?? LIMIT) + 1
  return query.cursor === undefined ? { limit } : { limit, after: cursorPosition(query.cursor, prefix) }
}

/** The page as the contract has it, of rows that were read for it. */
export function pageBody<Row extends { position: Position }, Item>(
  rows: Row[],
  { limit }: Page,
  item: (row: Row) => Item,
): { data: Item[]; next_cursor: string | null } {
  const shown = rows.slice(0, limit - 1)
  const last = rows.length === limit ? shown.at(-1) : undefined
  return { data: shown.map(item), next_cursor: last ? cursorText(last.position) : null }
}
