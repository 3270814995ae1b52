import { type Kysely, sql, type Transaction } from 'kysely'
import type { DB } from '../../../generated/tables.ts'
import type { Database } from '../database.ts'
import { inTransaction } from '../in-transaction.ts'
import { deleteSome, inSlices } from './some-rows.ts'

/** Events that did not conform to a definition on one UTC day. */
export type CountedEvents = {
  definition_id: string
  /** The start of the day. */
  day_ms: number
  revision: number
  /** Whether they were rejected; otherwise they were stored. */
  rejected: 0 | 1
  events: number
  first_ms: number
  last_ms: number
  /** The kind of violation; all empty for the events themselves. */
  code: string
  pointer: string
  key_id: string
}

/** The code of all violations beyond `KINDS`. They have no pointer and no key. */
export const OTHER = 'other'

/** Maximum kinds of violations that are counted separately per definition and day. */
const KINDS = 200

/** Maximum definitions per transaction. */
const DEFINITIONS_AT_ONCE = 20

/** Adds to the counts of one workspace. Counts of a definition that was removed meanwhile are dropped. */
export async function addViolations(
  db: Database,
  workspaceId: string,
  counted: readonly CountedEvents[],
): Promise<void> {
  const ids = [...new Set(counted.map(({ definition_id }) => definition_id))]
  for (let start = 0; start < ids.length; start += DEFINITIONS_AT_ONCE) {
    const some = new Set(ids.slice(start, start + DEFINITIONS_AT_ONCE))
    const rows = counted.filter(({ definition_id }) => some.has(definition_id))
    await inTransaction(db, async (db) => await addSome(db, workspaceId, [...some], rows))
  }
}

async function addSome(
  db: Transaction<DB>,
  workspace_id: string,
  ids: readonly string[],
  rows: readonly CountedEvents[],
) {
  const existing = await db
    .selectFrom('event_definitions')
    .select('definition_id')
    .where('workspace_id', '=', workspace_id)
    .where('definition_id', 'in', ids)
    .execute()
  const kept = new Set(existing.map(({ definition_id }) => definition_id))
  const days = [...new Set(rows.map(({ day_ms }) => day_ms))]
  const stored = await db
    .selectFrom('definition_violations')
    .select(['definition_id', 'code', 'day_ms', 'revision', 'pointer', 'key_id', 'rejected'])
    .where('workspace_id', '=', workspace_id)
    .where('definition_id', 'in', ids)
    .where('code', 'not in', ['', OTHER])
    .where('day_ms', 'in', days)
    .execute()
  const kinds = new ViolationKinds(stored)
  const added = new Map<string, CountedEvents>()
  for (const row of rows) {
    if (kept.has(row.definition_id)) addCount(added, kinds.of(row))
  }
  const values = [...added.values()].map((row) => ({ workspace_id, ...row }))
  for (const some of inSlices(values)) {
    await db
      .insertInto('definition_violations')
      .values(some)
      .onConflict((conflict) =>
        conflict
          .columns([
            'workspace_id',
            'definition_id',
            'code',
            'day_ms',
            'revision',
            'pointer',
            'key_id',
            'rejected',
          ])
          .doUpdateSet({
            events: sql`definition_violations.events + excluded.events`,
            first_ms: sql`CASE WHEN excluded.first_ms < definition_violations.first_ms
              THEN excluded.first_ms ELSE definition_violations.first_ms END`,
            last_ms: sql`CASE WHEN excluded.last_ms > definition_violations.last_ms
              THEN excluded.last_ms ELSE definition_violations.last_ms END`,
          }),
      )
      .execute()
  }
}

type Kind = Omit<CountedEvents, 'rejected' | 'events' | 'first_ms' | 'last_ms'> & { rejected: number }

/** The kinds of violations per definition and day that are counted separately: the first `KINDS`. */
export class ViolationKinds {
  readonly #kinds = new Map<string, Set<string>>()

  constructor(known: Iterable<Kind> = []) {
    for (const kind of known) this.#ofDay(kind).add(kindName(kind))
  }

  /** Returns what an event is counted as. */
  of<Counted extends Kind>(counted: Counted): Counted {
    if (counted.code === '' || counted.code === OTHER) return counted
    const [kinds, name] = [this.#ofDay(counted), kindName(counted)]
    if (kinds.has(name)) return counted
    if (kinds.size >= KINDS) return { ...counted, code: OTHER, pointer: '', key_id: '' }
    kinds.add(name)
    return counted
  }

  #ofDay({ definition_id, day_ms }: Kind): Set<string> {
    const name = `${definition_id} ${day_ms}`
    const kinds = this.#kinds.get(name) ?? new Set()
    this.#kinds.set(name, kinds)
    return kinds
  }
}

function kindName({ code, revision, pointer, key_id, rejected }: Kind): string {
  return `${code} ${revision} ${key_id} ${rejected} ${pointer}`
}

/** Adds a count to those with the same kind. */
export function addCount(counts: Map<string, CountedEvents>, counted: CountedEvents): void {
  const name = `${counted.definition_id} ${counted.day_ms} ${kindName(counted)}`
  const before = counts.get(name)
  if (!before) {
    counts.set(name, { ...counted })
    return
  }
  before.events += counted.events
  before.first_ms = Math.min(before.first_ms, counted.first_ms)
  before.last_ms = Math.max(before.last_ms, counted.last_ms)
}

/** Maximum kinds that are read. */
const READ_KINDS = 200

/** The days that are read: those that start in a span of time. Later ones are from before the clock was set back. */
type Days = { from_ms: number; now_ms: number }

/** Returns the events per day, and the most frequent kinds of violations. */
export async function readViolations(
  db: Kysely<DB>,
  workspaceId: string,
  definitionId: string,
  { from_ms, now_ms }: Days,
) {
  const counted = db
    .selectFrom('definition_violations')
    .where('workspace_id', '=', workspaceId)
    .where('definition_id', '=', definitionId)
    .where('day_ms', '>=', from_ms)
    .where('day_ms', '<=', now_ms)
  const days = await counted
    .where('code', '=', '')
    .select(['day_ms', 'rejected', SUM])
    .groupBy(['day_ms', 'rejected'])
    .execute()
  const kinds = await counted
    .where('code', '<>', '')
    .select(['code', 'pointer', 'revision', 'key_id', 'rejected', SUM])
    .select(({ fn }) => [fn.min('first_ms').as('first_ms'), fn.max('last_ms').as('last_ms')])
    .groupBy(['code', 'pointer', 'revision', 'key_id', 'rejected'])
    .orderBy('events', 'desc')
    .orderBy('last_ms', 'desc')
    .limit(READ_KINDS)
    .execute()
  return { days: days.map(counts), kinds: kinds.map(counts) }
}

/** Returns how many events of some days did not conform to each of some definitions. */
export async function countNotConforming(
  db: Kysely<DB>,
  workspaceId: string,
  definitionIds: readonly string[],
  { from_ms, now_ms }: Days,
): Promise<Map<string, number>> {
  if (definitionIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('definition_violations')
    .select(['definition_id', SUM])
    .where('workspace_id', '=', workspaceId)
    .where('definition_id', 'in', definitionIds)
    .where('code', '=', '')
    .where('day_ms', '>=', from_ms)
    .where('day_ms', '<=', now_ms)
    .groupBy('definition_id')
    .execute()
  return new Map(rows.map((row) => [row.definition_id, Number(row.events)]))
}

const SUM = sql<number>`sum(events)`.as('events')

/** The sum of integers is no integer in PostgreSQL. */
function counts<Row extends { events: number }>(row: Row): Row {
  return { ...row, events: Number(row.events) }
}

/** Deletes the counts of days before a time, some per transaction. */
export async function removeViolationsBefore(db: Database, before_ms: number): Promise<void> {
  const workspaces = await db
    .selectFrom('definition_violations')
    .select('workspace_id')
    .distinct()
    .where('day_ms', '<', before_ms)
    .execute()
  for (const { workspace_id } of workspaces) {
    const remove = (db: Transaction<DB>) =>
      deleteSome(db, 'definition_violations', workspace_id, sql`day_ms < ${before_ms}`)
    while (!(await inTransaction(db, remove)));
  }
}
