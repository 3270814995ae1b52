import { type AliasedRawBuilder, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Position } from '../../domain/cursors.ts'
import { PAGE_BYTES, type Page, type PageRows } from '../../domain/paging.ts'

/** Maximum rows scanned per page where no index answers. In memory that takes 2 ms. */
export const WALKED_ROWS = 10_000

/** Maximum size of a row besides its texts: field names, identifiers, instants, a request id. */
const ROW_BYTES = 1024

/** Maximum bytes per character in JSON, as `\u0001`. */
const ESCAPED_BYTES = 6

/** The position of a row in its list, and its maximum size in bytes of JSON. */
export type PageKey = Position & { bytes: number }

/** A query of keys in list order, extended with Kysely. */
type KeyQuery = {
  limit(rows: number): KeyQuery
  offset(rows: number): KeyQuery
  execute(): Promise<PageKey[]>
}

/**
 * The maximum size of a row in bytes of JSON, as `bytes`. SQLite takes the length of a text from the row header without
 * reading the text.
 * @param columns.json the columns with JSON
 * @param columns.text the columns with other user-defined text
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
 * Reads a page of a list in two statements: the keys of its rows, and then only those rows that fit. Rows removed in
 * between are omitted.
 * @param keys in list order, starting at the page
 * @param read reads the rows with some identifiers, in any order, each with its identifier
 * @param options.foremost keys that come before all others and are not among them
 * @param options.end where the keys end although more may follow, as `walkEnd` found it
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

/** Returns the first keys whose rows fit into a page; at least one. */
function fittingKeys(keys: PageKey[]): PageKey[] {
  let sum = 0
  const excess = keys.findIndex(({ bytes }, index) => {
    sum += bytes
    return sum > PAGE_BYTES && index > 0
  })
  return excess === -1 ? keys : keys.slice(0, excess)
}

/**
 * Returns where a page must end if its rows are scanned one by one; undefined if the list ends earlier. The page is
 * then read `upTo` it, with `unindexed` conditions.
 * @param keys without these conditions
 */
export async function walkEnd(keys: KeyQuery): Promise<Position | undefined> {
  const [end] = await keys
    .offset(WALKED_ROWS - 1)
    .limit(1)
    .execute()
  return end
}

/** Keeps an index from being used for a condition: the rows are walked in the order of the list, by its own index. */
export function unindexed(condition: RawBuilder<SqlBool>): RawBuilder<SqlBool> {
  return sql`CASE WHEN ${condition} THEN 1 END = 1`
}
