import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { nameWords } from '../../domain/name-words.ts'

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

/**
 * Whether each word of a text is the beginning of a word of a name; nothing where the text has no word. No index is used
 * for it.
 * @param column the words of the name as `wordsText` has them
 */
export function hasWords(column: string, text: string): RawBuilder<SqlBool> {
  const words = nameWords(text).map((word) => {
    const literal = word.replace(/[\\%_]/g, '\\$&')
    return sql<SqlBool>`${sql.ref(column)} LIKE ${`% ${literal}%`} ESCAPE '\\'`
  })
  return words.length === 0 ? sql<SqlBool>`1 = 0` : sql<SqlBool>`(${sql.join(words, sql` AND `)})`
}
