import { type RawBuilder, type SqlBool, sql } from 'kysely'

/** Sorts behind every text that begins with what stands before it. */
const LAST_CHARACTER = '\u{10ffff}'

/**
 * What begins with a text, as a range that an index finds. SQLite compares text by its bytes; on PostgreSQL the columns
 * that are searched so need the collation "C".
 */
export function startsWith(column: string, prefix: string): RawBuilder<SqlBool> {
  const { ref } = sql
  return sql`(${ref(column)} >= ${prefix} AND ${ref(column)} < ${prefix + LAST_CHARACTER})`
}
