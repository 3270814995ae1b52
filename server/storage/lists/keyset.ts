import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Position } from '../../domain/cursors.ts'

/**
 * What lies behind a position in a list that is sorted by an instant and an identifier, newest first; everything where
 * there is no position.
 * @param ms the column of the instant
 * @param id the column of the identifier
 */
export function behind(after: Position | undefined, ms: string, id: string): RawBuilder<SqlBool> {
  if (!after) return sql`true`
  return sql`(${sql.ref(ms)}, ${sql.ref(id)}) < (${after.ms}, ${after.id})`
}

/** What lies at a position or before it in the same list; everything where there is no position. */
export function upTo(end: Position | undefined, ms: string, id: string): RawBuilder<SqlBool> {
  if (!end) return sql`true`
  return sql`(${sql.ref(ms)}, ${sql.ref(id)}) >= (${end.ms}, ${end.id})`
}
