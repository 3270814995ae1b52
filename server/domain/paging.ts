import { cursorPosition, cursorText, type Position } from './cursors.ts'
import type { IdPrefix } from './identifiers.ts'

/** How much of a list to read: at most `limit`, beginning behind `after`. */
export type Page = { limit: number; after?: Position }

/** What was read for a page. `next` is the position to go on behind; it is null at the end of the list alone. */
export type PageRows<Row> = { rows: Row[]; next: Position | null }

/** The contract's default of `limit`. */
const LIMIT = 50

/** What a request asks for. */
export function pageOf(query: { limit?: number; cursor?: string }, prefix: IdPrefix | 'evt'): Page {
  const { limit = LIMIT, cursor } = query
  return cursor === undefined ? { limit } : { limit, after: cursorPosition(cursor, prefix) }
}

/** The page of rows in the order of their list: of one more than it may have, because that one tells that more follow. */
export function pageRows<Row extends { position: Position }>(found: Row[], { limit }: Page): PageRows<Row> {
  const rows = found.slice(0, limit)
  const last = found.length > limit ? rows.at(-1) : undefined
  return { rows, next: last?.position ?? null }
}

/** The page as the contract has it. */
export function pageBody<Row, Item>(
  { rows, next }: PageRows<Row>,
  item: (row: Row) => Item,
): { data: Item[]; next_cursor: string | null } {
  return { data: rows.map(item), next_cursor: next && cursorText(next) }
}
