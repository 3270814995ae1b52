import { cursorPosition, cursorText, type Position } from './cursors.ts'
import type { IdPrefix } from './identifiers.ts'
import { instantText } from './instants.ts'
import { JsonBytes } from './json-bytes.ts'

/** How much of a list to read: at most `limit`, beginning behind `after`. */
export type Page = { limit: number; after?: Position }

/** What was read for a page. `next` is the position to go on behind; it is null at the end of the list alone. */
export type PageRows<Row> = { rows: Row[]; next: Position | null }

/**
 * What was read for a page of a walk forward, which has no end.
 * @property next where to go on
 * @property caughtUp_ms null where more is there already; else what was acknowledged by then is in this page or before it
 */
export type ForwardRows<Row> = { rows: Row[]; next: Position; caughtUp_ms: number | null }

/** A page has so many bytes of JSON at the most, or one row: 500 of ordinary size, and no burden to whoever holds it. */
export const PAGE_BYTES = 1024 * 1024

/** The contract's default of `limit`. */
const LIMIT = 50

/** What a request asks for. */
export function pageOf(query: { limit?: number; cursor?: string }, prefix: IdPrefix | 'evt'): Page {
  const { limit = LIMIT, cursor } = query
  return cursor === undefined ? { limit } : { limit, after: cursorPosition(cursor, prefix) }
}

/** The page as the contract has it, as JSON. @param page its rows each as JSON */
export function pageText(page: PageRows<string> | ForwardRows<string>): string {
  const { rows, next } = page
  const cursor = JSON.stringify(next && cursorText(next))
  const caughtUp = 'caughtUp_ms' in page ? `,"caught_up_to":${JSON.stringify(caughtUpTo(page))}` : ''
  return `{"data":[${rows.join()}],"next_cursor":${cursor}${caughtUp}}`
}

/** The page as the contract has it. */
export function pageBody<Item>({ rows, next }: PageRows<Item>): { data: Item[]; next_cursor: string | null } {
  return { data: rows, next_cursor: next && cursorText(next) }
}

/** The page of a walk forward as the contract has it. */
export function forwardPageBody<Item>(page: ForwardRows<Item>) {
  return { data: page.rows, next_cursor: cursorText(page.next), caught_up_to: caughtUpTo(page) }
}

function caughtUpTo({ caughtUp_ms }: ForwardRows<unknown>): string | null {
  return caughtUp_ms === null ? null : instantText(caughtUp_ms)
}

/**
 * The page as the contract has it, of the rows that it has room for, one at the least, of rows that were read for it. To know
 * what they take they are made JSON, which is then the answer.
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
