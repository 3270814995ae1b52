import { type AliasedRawBuilder, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Position } from '../../domain/cursors.ts'
import { PAGE_BYTES, type Page, type PageRows } from '../../domain/paging.ts'

/** Where no index answers, a page ends after so many rows that were looked at. In memory that takes 2 ms. */
export const WALKED_ROWS = 10_000

/** What a row has besides its texts at the most: the names of its fields, identifiers, instants, a request id. */
const ROW_BYTES = 1024

/** A character takes so many bytes in JSON at the most, as `\u0001`. */
const ESCAPED_BYTES = 6

/** Where a row stands in its list, and how many bytes of JSON it has at the most. */
export type PageKey = Position & { bytes: number }

/** A query of keys in the order of their list, built upon with Kysely. */
type KeyQuery = {
  limit(rows: number): KeyQuery
  offset(rows: number): KeyQuery
  execute(): Promise<PageKey[]>
}

/**
 * How many bytes of JSON a row has at the most, as `bytes`. SQLite takes the length of a text from the head of its row and
 * does not read the text.
 * @param columns.json the columns that hold JSON
 * @param columns.text the columns that hold other text that somebody chose
 */
export function bytes({
  json = [],
  text,
}: {
  json?: string[]
  text: string[]
}): AliasedRawBuilder<number, 'bytes'> {
  const length = (column: string) => sql`coalesce(octet_length(${sql.ref(column)}), 0)`
  const escaped = sql`${sql.lit(ESCAPED_BYTES)} * (${sql.join(text.map(length), sql` + `)})`
  return sql<number>`${sql.join([sql.lit(ROW_BYTES), escaped, ...json.map(length)], sql` + `)}`.as('bytes')
}

/**
 * Reads a page of a list in two statements: the keys of its rows, and then only those rows that fit. What is removed
 * between the two is left out.
 * @param keys in the order of the list, beginning where the page does
 * @param read reads the rows of some identifiers, in whatever order, each with its identifier
 * @param options.foremost keys that come before all others and are not among them
 * @param options.end where the keys end though more may follow, as `walkEnd` found it
 */
export async function readPage<Row>(
  keys: KeyQuery,
  { limit }: Page,
  read: (ids: string[]) => Promise<(readonly [id: string, row: Row])[]>,
  { foremost = [], end }: { foremost?: PageKey[]; end?: Position | undefined } = {},
): Promise<PageRows<Row>> {
  const found = [...foremost, ...(await keys.limit(limit + 1).execute())]
  const fitting = fittingKeys(found.slice(0, limit))
  const last = fitting.at(-1)
  const next = last && fitting.length < found.length ? last : (end ?? null)
  if (!last) return { rows: [], next }
  const rows = new Map(await read(fitting.map(({ id }) => id)))
  return { rows: fitting.flatMap(({ id }) => rows.get(id) ?? []), next }
}

/** The first keys whose rows are no longer than a page; one at the least. */
function fittingKeys(keys: PageKey[]): PageKey[] {
  let sum = 0
  const excess = keys.findIndex(({ bytes }, index) => {
    sum += bytes
    return sum > PAGE_BYTES && index > 0
  })
  return excess === -1 ? keys : keys.slice(0, excess)
}

/**
 * Where a page ends at the latest if its rows have to be looked at one by one; undefined where the list ends before. The
 * page is then read `upTo` it and has `unindexed` conditions.
 * @param keys without these conditions
 */
export async function walkEnd(keys: KeyQuery): Promise<Position | undefined> {
  const [end] = await keys
    .offset(WALKED_ROWS - 1)
    .limit(1)
    .execute()
  return end
}

/** A condition that no index is used for: the rows are walked in the order of the list, which has one of its own. */
export function unindexed(condition: RawBuilder<SqlBool>): RawBuilder<SqlBool> {
  return sql`CASE WHEN ${condition} THEN 1 END = 1`
}
