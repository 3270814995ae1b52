import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { nameWords } from '../../domain/name-words.ts'

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
 * Whether each word of a text is a prefix of a word of a name; matches nothing if the text has no word. No index is
 * used.
 * @param column the words of the name in the form of `wordsText`
 */
export function hasWords(column: string, text: string): RawBuilder<SqlBool> {
  const words = nameWords(text).map((word) => {
    const literal = word.replace(/[\\%_]/g, '\\$&')
    return sql<SqlBool>`${sql.ref(column)} LIKE ${`% ${literal}%`} ESCAPE '\\'`
  })
  return words.length === 0 ? sql<SqlBool>`1 = 0` : sql<SqlBool>`(${sql.join(words, sql` AND `)})`
}
