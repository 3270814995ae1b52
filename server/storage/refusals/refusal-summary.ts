import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { components } from '../../../generated/contract.ts'
import type { RefusalRow, RefusalTables } from './refusal-table.ts'

type Fault = components['schemas']['Fault']

/** More groups than these are only counted: whoever makes up a new field each time does not make the answer larger. */
export const GROUPS = 100

/** A field is told up to so many characters, however long the names in a pointer are. */
const FIELD_LENGTH = 255

/** A span in parts of equal length. */
export type SummarySpan = { from_ms: number; to_ms: number; periods: number }

/** Refusals of one code, one field and one key. */
export type RefusalGroup = Pick<RefusalRow, 'code' | 'key_id' | 'field'> & {
  /** With those that were left out. */
  count: number
  left_out: number
  first_ms: number
  last_ms: number
  /** The last of those that are kept. */
  example_id: string
  /** What its first fault says; null where it has none. */
  detail: string | null
  /** How many in each period. */
  counts: number[]
}

export type RefusalSummary = {
  count: number
  left_out: number
  /** How many in each period, those of groups that are omitted too. */
  counts: number[]
  /** The largest first. */
  groups: RefusalGroup[]
  groups_omitted: number
}

/**
 * The field that a refusal is about, by its first fault: its JSON Pointer, without the place in a batch, so that an event has
 * the same alone and in a batch; or `?` and the name of a parameter. '' where it is about no field.
 */
export function fieldOf(operation: string, [fault]: readonly Fault[]): string {
  const { pointer, parameter } = fault ?? {}
  const place = operation === 'createEvents' ? /^\/events\/\d+(?=\/)/ : /^$/
  const field = parameter === undefined ? (pointer ?? '').replace(place, '') : `?${parameter}`
  // No engine keeps a NUL; cut, it does not end in half a character or half an escape.
  return field.slice(0, FIELD_LENGTH).replaceAll('\0', '\ufffd').toWellFormed().replace(/~$/, '')
}

/**
 * Adds up the refusals of a span. Its rows are read twice, without what was sent: on SQLite 100,000 of them take the thread of
 * refusals, which gives way to all others, 0.8 s, and 2 s where each has a field of its own.
 * @param db reads in turns with other lists
 * @param conditions what else they must be
 */
export async function readSummary(
  db: Kysely<RefusalTables>,
  workspaceId: string,
  conditions: readonly RawBuilder<SqlBool>[],
  { from_ms, to_ms, periods }: SummarySpan,
): Promise<RefusalSummary> {
  const all = [
    sql<SqlBool>`workspace_id = ${workspaceId}`,
    sql<SqlBool>`received_ms >= ${sql.lit(from_ms)}`,
    sql<SqlBool>`received_ms < ${sql.lit(to_ms)}`,
    ...conditions,
  ]
  const found = sql`refusals WHERE ${sql.join(all, sql` AND `)}`
  const largest = await sql<Omit<RefusalGroup, 'detail' | 'counts'> & { groups: number }>`
    WITH grouped AS (
      SELECT code, key_id, field, cast(sum(1 + left_out) AS bigint) AS count, cast(sum(left_out) AS bigint) AS left_out,
        min(received_ms) AS first_ms, max(received_ms) AS last_ms, max(refusal_id) AS example_id
      FROM ${found} GROUP BY code, key_id, field
    )
    SELECT *, count(*) OVER () AS groups FROM grouped
    ORDER BY count DESC, last_ms DESC, code, key_id, field LIMIT ${sql.lit(GROUPS)}`.execute(db)
  const groups = largest.rows.map(({ groups: _, ...group }) => ({
    ...group,
    detail: null as string | null,
    counts: Array<number>(periods).fill(0),
  }))
  const summary = {
    count: 0,
    left_out: 0,
    counts: Array<number>(periods).fill(0),
    groups,
    groups_omitted: (largest.rows[0]?.groups ?? 0) - groups.length,
  }
  if (groups.length === 0) return { ...summary, groups_omitted: 0 }

  const names = groups.map(
    ({ code, key_id, field }, number) => sql`(${sql.lit(number)}, ${code}, ${key_id}, ${field})`,
  )
  const period = sql`(received_ms - ${sql.lit(from_ms)}) * ${sql.lit(periods)} / ${sql.lit(to_ms - from_ms)}`
  const { rows } = await sql<{ number: number | null; period: number; count: number; left_out: number }>`
    WITH named (number, code, key_id, field) AS (VALUES ${sql.join(names)}),
      dated AS (SELECT code, key_id, field, left_out, ${period} AS period FROM ${found})
    SELECT number, period, cast(sum(1 + left_out) AS bigint) AS count, cast(sum(left_out) AS bigint) AS left_out
    FROM dated LEFT JOIN named USING (code, key_id, field) GROUP BY number, period`.execute(db)
  for (const { number, period, count, left_out } of rows) {
    summary.count += count
    summary.left_out += left_out
    summary.counts[period] = (summary.counts[period] ?? 0) + count
    const group = number === null ? undefined : groups[number]
    if (group) group.counts[period] = count
  }
  await addDetails(db, workspaceId, groups)
  return summary
}

async function addDetails(db: Kysely<RefusalTables>, workspaceId: string, groups: RefusalGroup[]) {
  const ids = groups.map(({ example_id }) => example_id)
  const examples = await db
    .selectFrom('refusals')
    .select(['refusal_id', 'faults'])
    .where('workspace_id', '=', workspaceId)
    .where('refusal_id', 'in', ids)
    .execute()
  const faults = new Map(examples.map(({ refusal_id, faults }) => [refusal_id, faults]))
  for (const group of groups) {
    const { errors }: { errors: Fault[] } = JSON.parse(faults.get(group.example_id) ?? '{"errors":[]}')
    group.detail = errors[0]?.detail ?? null
  }
}
