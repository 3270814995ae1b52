import { type RawBuilder, type SqlBool, sql } from 'kysely'

/** Sorts after every text that starts with the prefix. */
const LAST_CHARACTER = '\u{10ffff}'

/**
 * A prefix search as a range, for which an index is used. SQLite compares text by bytes; on PostgreSQL the searched
 * columns need the collation "C".
 */
export function startsWith(column: string, prefix: string): RawBuilder<SqlBool> {
  const { ref } = sql
  return sql`(${ref(column)} >= ${prefix} AND ${ref(column)} < ${prefix + LAST_CHARACTER})`
}

/**
 * Whether each word is a prefix of a word of a name; matches nothing if there is no word. No index is used.
 * @param column the words of the name in the form of `wordsText`
 * @param words from `nameWords`
 */
export function hasWords(column: string, words: readonly string[]): RawBuilder<SqlBool> {
  const conditions = words.map((word) => {
    const literal = word.replace(/[\\%_]/g, '\\$&')
    return sql<SqlBool>`${sql.ref(column)} LIKE ${`% ${literal}%`} ESCAPE '\\'`
  })
  return words.length === 0 ? sql<SqlBool>`1 = 0` : sql<SqlBool>`(${sql.join(conditions, sql` AND `)})`
}
