import { cursorPosition, cursorText, type Position } from './cursors.ts'
import type { IdPrefix } from './identifiers.ts'
import { instantOrNull } from './instants.ts'
import { JsonBytes } from './json-bytes.ts'

/** The part of a list to read: at most `limit` items after the position `after` (keyset pagination). */
export type Page = { limit: number; after?: Position }

/** The rows of a page. `next` is the position to continue after; null only at the end of the list. */
export type PageRows<Row> = { rows: Row[]; next: Position | null }

/**
 * The rows of a page of a forward walk, which has no end.
 * @property next where to continue
 * @property caughtUp_ms a watermark: everything acknowledged by then is in this page or an earlier one; null if there
 *   is more already
 */
export type ForwardRows<Row> = { rows: Row[]; next: Position; caughtUp_ms: number | null }

/**
 * Maximum bytes of JSON per page, unless it has a single row: enough for 500 rows of ordinary size, and light to hold.
 */
export const PAGE_BYTES = 1024 * 1024

/** The contract's default of `limit`. */
const LIMIT = 50

/** Returns the page that a request asks for. */
export function pageOf(query: { limit?: number; cursor?: string }, prefix: IdPrefix | 'evt'): Page {
  const { limit = LIMIT, cursor } = query
  return cursor === undefined ? { limit } : { limit, after: cursorPosition(cursor, prefix) }
}

/** Serializes a page. @param page its rows already as JSON */
export function pageText(page: PageRows<string> | ForwardRows<string>): string {
  const { rows, next } = page
  const cursor = JSON.stringify(next && cursorText(next))
  const caughtUp =
    'caughtUp_ms' in page ? `,"caught_up_to":${JSON.stringify(instantOrNull(page.caughtUp_ms))}` : ''
  return `{"data":[${rows.join()}],"next_cursor":${cursor}${caughtUp}}`
}

/** Returns a page in the form of the contract. */
export function pageBody<Item>({ rows, next }: PageRows<Item>): { data: Item[]; next_cursor: string | null } {
  return { data: rows, next_cursor: next && cursorText(next) }
}

/** Returns a page of a forward walk in the form of the contract. */
export function forwardPageBody<Item>(page: ForwardRows<Item>) {
  return {
    data: page.rows,
    next_cursor: cursorText(page.next),
    caught_up_to: instantOrNull(page.caughtUp_ms),
  }
}

/**
 * Serializes as many of the rows as the page has space for, at least one. Measuring their size needs their JSON, so the
 * JSON is the result.
 * @param rows each with its position
 */
export function fittingPage<Item>({
  rows,
  next,
}: PageRows<{ row: Item; position: Position }>): JsonBytes<ReturnType<typeof pageBody<Item>>> {
  const texts = rows.map(({ row }) => JSON.stringify(row))
  let bytes = 0
  const excess = texts.findIndex((text, index) => {
    bytes += Buffer.byteLength(text)
    return bytes > PAGE_BYTES && index > 0
  })
  const page =
    excess === -1
      ? { rows: texts, next }
      : { rows: texts.slice(0, excess), next: rows[excess - 1]?.position ?? next }
  return new JsonBytes(new TextEncoder().encode(pageText(page)))
}
