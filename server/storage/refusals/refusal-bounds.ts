import { sql } from 'kysely'
import { DAY_MS } from '../../domain/durations.ts'
import type { RefusalRow, RefusalTable } from './refusal-table.ts'

/** Limits on what is kept per workspace; if any of them is 0, nothing is. */
export type RefusalLimits = { days: number; bytes: number; rows: number }

export const DEFAULT_LIMITS: RefusalLimits = { days: 7, bytes: 50_000_000, rows: 100_000 }

export function keepsNone({ days, bytes, rows }: RefusalLimits): boolean {
  return days === 0 || bytes === 0 || rows === 0
}

/** Returns the start of the time from which refusals are kept now; it is in the future if none are. */
export function oldestKept_ms(limits: RefusalLimits, now_ms: number): number {
  return keepsNone(limits) ? now_ms + 1 : now_ms - limits.days * DAY_MS
}

/** Rows removed at a time. */
const REMOVED_AT_ONCE = 500

/** Maximum age of counts in this process: other processes write and remove too. */
const COUNTED_MS = 60_000

/** Maximum workspaces whose counts are cached. */
const COUNTED_WORKSPACES = 1_000

type Sum = { rows: number; bytes: number }

type Counted = { at_ms: number; keys: Map<string, Sum> }

/**
 * Keeps the refusals of each workspace within its limits. The oldest of the key with the most are removed first: a key
 * that floods evicts only its own.
 */
export class RefusalBounds {
  readonly #table: RefusalTable
  readonly #limits: RefusalLimits
  readonly #workspaces = new Map<string, Counted>()

  constructor(table: RefusalTable, limits: RefusalLimits) {
    this.#table = table
    this.#limits = limits
  }

  /** Removes what exceeds the limits. @param written what was added since */
  async keep(written: readonly RefusalRow[]): Promise<void> {
    for (const workspaceId of new Set(written.map(({ workspace_id }) => workspace_id))) {
      const counted = await this.#counted(
        workspaceId,
        written.filter(({ workspace_id }) => workspace_id === workspaceId),
      )
      while (await this.#removeSome(workspaceId, counted)) {}
    }
  }

  async #counted(workspaceId: string, written: readonly RefusalRow[]): Promise<Counted> {
    const known = this.#workspaces.get(workspaceId)
    if (known && known.at_ms + COUNTED_MS > performance.now()) {
      for (const { key_id, bytes } of written) add(known.keys, key_id, { rows: 1, bytes })
      return known
    }
    const query = this.#table.compiler
      .selectFrom('refusals')
      .select([
        'key_id',
        sql<number>`count(*)`.as('rows'),
        sql<number>`cast(sum(bytes) AS bigint)`.as('bytes'),
      ])
      .where('workspace_id', '=', workspaceId)
      .groupBy('key_id')
    const [found = []] = await this.#table.run([query.compile()])
    const keys = new Map(found.map(({ key_id, rows, bytes }) => [key_id, { rows, bytes }]))
    if (this.#workspaces.size >= COUNTED_WORKSPACES) this.#workspaces.clear()
    const counted = { at_ms: performance.now(), keys }
    this.#workspaces.set(workspaceId, counted)
    return counted
  }

  /** @returns whether there may be more to remove */
  async #removeSome(workspaceId: string, { keys }: Counted): Promise<boolean> {
    const sums = [...keys.values()]
    const rows = sums.reduce((sum, { rows }) => sum + rows, 0) - this.#limits.rows
    const bytes = sums.reduce((sum, { bytes }) => sum + bytes, 0) - this.#limits.bytes
    if (rows <= 0 && bytes <= 0) return false
    const by = rows > 0 ? 'rows' : 'bytes'
    const [largest] = [...keys].sort(([, a], [, b]) => b[by] - a[by])
    if (!largest) return false
    const [key_id, sum] = largest
    const each_bytes = sum.bytes / sum.rows
    const count = Math.min(REMOVED_AT_ONCE, rows > 0 ? rows : Math.ceil(bytes / each_bytes))
    const { compiler } = this.#table
    const oldest = compiler
      .selectFrom('refusals')
      .select('refusal_id')
      .where('workspace_id', '=', workspaceId)
      .where('key_id', '=', key_id)
      .orderBy('received_ms')
      .orderBy('refusal_id')
      .limit(count)
    const removal = compiler
      .deleteFrom('refusals')
      .where('workspace_id', '=', workspaceId)
      .where('refusal_id', 'in', oldest)
      .returning('bytes')
    const [removed = []] = await this.#table.run([removal.compile()])
    for (const { bytes } of removed) add(keys, key_id, { rows: -1, bytes: -bytes })
    // Another process has removed them meanwhile, so the counts here are wrong.
    if (removed.length === 0) this.#workspaces.delete(workspaceId)
    return removed.length > 0
  }
}

function add(keys: Map<string, Sum>, key_id: string, { rows, bytes }: Sum) {
  const sum = keys.get(key_id) ?? { rows: 0, bytes: 0 }
  sum.rows += rows
  sum.bytes += bytes
  if (sum.rows > 0) keys.set(key_id, sum)
  else keys.delete(key_id)
}
