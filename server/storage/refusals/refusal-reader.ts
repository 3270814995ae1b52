import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Position } from '../../domain/cursors.ts'
import type { Page, PageRows } from '../../domain/paging.ts'
import type { Reading } from '../database.ts'
import { readPage, unindexed, walkEnd } from '../lists/page-query.ts'
import { oldestKept_ms, type RefusalLimits } from './refusal-bounds.ts'
import { type RefusalSummary, readSummary } from './refusal-summary.ts'
import type { RefusalRow, RefusalTable } from './refusal-table.ts'

export type RefusalFilter = Partial<
  Pick<RefusalRow, 'code' | 'operation' | 'key_id'> & {
    journey_id: string
    customer_id: string
    event_id: string
    /** Received at this instant or later. */
    from_ms: number
    /** Received before this instant. */
    to_ms: number
  }
>

export type RefusalOrder = 'newest' | 'oldest'

type Options = { table: RefusalTable; limits: RefusalLimits; now: () => number }

/** Reads the refusals that are written. */
export class RefusalReader {
  readonly #options: Options

  constructor(options: Options) {
    this.#options = options
  }

  /**
   * Lists refusals by (`received_at`, `id`). With a filter other than time, a page ends after a maximum number of rows
   * scanned.
   */
  async list(
    workspaceId: string,
    { from_ms = 0, to_ms, ...filter }: RefusalFilter,
    { page, order }: { page: Page; order: RefusalOrder },
    reading: Reading,
  ): Promise<PageRows<RefusalRow>> {
    const rows = this.#options.table
      .lists(reading)
      .selectFrom('refusals')
      .where('workspace_id', '=', workspaceId)
    const conditions = conditionsOf(filter)
    const oldest = { ms: Math.max(from_ms, this.#oldest_ms()), id: '' }
    const span = {
      oldest,
      newest: to_ms === undefined ? undefined : { ms: to_ms, id: '' },
      after: page.after,
    }
    const direction = order === 'newest' ? 'desc' : 'asc'
    const keysUpTo = (end?: Position) =>
      rows
        .select(['received_ms as ms', 'refusal_id as id', 'bytes'])
        .where(unindexed(hasContent))
        .where(within(order, span, end))
        .orderBy('received_ms', direction)
        .orderBy('refusal_id', direction)
    const end = conditions.length > 0 ? await walkEnd(keysUpTo()) : undefined
    const keys = conditions.reduce((keys, condition) => keys.where(unindexed(condition)), keysUpTo(end))
    const read = async (ids: string[]) => {
      const found = await rows.selectAll().where('refusal_id', 'in', ids).execute()
      return found.map((row) => [row.refusal_id, row] as const)
    }
    return await readPage(keys, page, read, { end })
  }

  /**
   * Summarizes refusals by code, field and key, in a number of equal periods: over the time in the filter, otherwise as
   * far back as they are kept until now.
   */
  async summary(
    workspaceId: string,
    { from_ms = this.#oldest_ms(), to_ms = this.#options.now() + 1, ...filter }: RefusalFilter,
    periods: number,
    reading: Reading,
  ): Promise<RefusalSummary & { from_ms: number; to_ms: number }> {
    // An empty span becomes one millisecond before anything was received.
    const span = from_ms < to_ms ? { from_ms, to_ms, periods } : { from_ms: -1, to_ms: 0, periods }
    const db = this.#options.table.lists(reading)
    const kept = sql<SqlBool>`received_ms >= ${this.#oldest_ms()}`
    const summary = await readSummary(db, workspaceId, {
      conditions: [kept, ...conditionsOf(filter)],
      span,
      // What is left out is counted for all customers together.
      countsLeftOut: filter.customer_id === undefined,
    })
    return { ...summary, from_ms, to_ms }
  }

  async find(workspaceId: string, refusalId: string, reading: Reading): Promise<RefusalRow | undefined> {
    return await this.#options.table
      .lists(reading)
      .selectFrom('refusals')
      .selectAll()
      .where('workspace_id', '=', workspaceId)
      .where('refusal_id', '=', refusalId)
      .where('received_ms', '>=', this.#oldest_ms())
      .where(hasContent)
      .executeTakeFirst()
  }

  #oldest_ms(): number {
    return oldestKept_ms(this.#options.limits, this.#options.now())
  }
}

/** A refused request can be read as JSON, so it has at least one byte. A row without one only counts. */
const hasContent = sql<SqlBool>`sent_bytes > 0`

function conditionsOf(filter: Omit<RefusalFilter, 'from_ms' | 'to_ms'>): RawBuilder<SqlBool>[] {
  return Object.entries(filter).flatMap(([column, value]) =>
    value === undefined ? [] : sql<SqlBool>`${sql.ref(column)} = ${value}`,
  )
}

type Span = { oldest: Position; newest: Position | undefined; after: Position | undefined }

/**
 * The part of a span after one position and up to another. Each side is a single bound, because an index cannot use
 * two.
 */
function within(order: RefusalOrder, { oldest, newest, after }: Span, end: Position | undefined) {
  const compare = (operator: string, position: Position | undefined) =>
    position
      ? sql<SqlBool>`(received_ms, refusal_id) ${sql.raw(operator)} (${position.ms}, ${position.id})`
      : sql<SqlBool>`true`
  if (order === 'newest') {
    const start = after && (!newest || after.ms < newest.ms) ? after : newest
    return sql<SqlBool>`${compare('<', start)} AND ${compare('>=', end ?? oldest)}`
  }
  const start = after && after.ms >= oldest.ms ? after : oldest
  return sql<SqlBool>`${compare('>', start)} AND ${end ? compare('<=', end) : compare('<', newest)}`
}
