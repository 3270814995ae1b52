import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Position } from '../../domain/cursors.ts'

/**
 * The rows after a position in a list sorted by an instant and an identifier, newest first (keyset pagination); all
 * rows if there is no position.
 * @param ms the column of the instant
 * @param id the column of the identifier
 */
export function behind(after: Position | undefined, ms: string, id: string): RawBuilder<SqlBool> {
  if (!after) return sql`true`
  return sql`(${sql.ref(ms)}, ${sql.ref(id)}) < (${after.ms}, ${after.id})`
}

/** The rows up to and including a position in the same list; all rows if there is no position. */
export function upTo(end: Position | undefined, ms: string, id: string): RawBuilder<SqlBool> {
  if (!end) return sql`true`
  return sql`(${sql.ref(ms)}, ${sql.ref(id)}) >= (${end.ms}, ${end.id})`
}
