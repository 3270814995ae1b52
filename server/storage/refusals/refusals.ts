import { setImmediate as nextRound } from 'node:timers/promises'
import { type CompiledQuery, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { components } from '../../../generated/contract.ts'
import type { Position } from '../../domain/cursors.ts'
import { ascendingIds, typeIdText } from '../../domain/identifiers.ts'
import type { Page, PageRows } from '../../domain/paging.ts'
import { withoutOwnTokens, withoutSecrets } from '../../domain/secret-texts.ts'
import { SENT_BYTES, sentHead } from '../../domain/sent-head.ts'
import type { Reading } from '../database.ts'
import { readPage, unindexed, walkEnd } from '../lists/page-query.ts'
import { WriteBehind } from '../write-behind.ts'
import { keepsNone, oldestKept_ms, RefusalBounds, type RefusalLimits } from './refusal-bounds.ts'
import { idsOf, RefusalExpiry, removeRefusalsOf } from './refusal-expiry.ts'
import { type LeftOut, RefusalQueue, type WaitingRefusal } from './refusal-queue.ts'
import { fieldOf, type RefusalSummary, readSummary } from './refusal-summary.ts'
import type { RefusalRow, RefusalTable } from './refusal-table.ts'
import { candidatesOf, closed, isAbout, mayBeAboutAnybody, type Names, told } from './refused-names.ts'

type Problem = components['schemas']['Problem']

/** What was refused, and why. */
export type Refused = Pick<
  RefusalRow,
  | 'workspace_id'
  | 'key_id'
  | 'request_id'
  | 'operation'
  | 'received_ms'
  | 'item'
  | 'journey_id'
  | 'customer_id'
  | 'event_id'
> &
  Pick<Problem, 'code' | 'status' | 'errors' | 'errors_omitted'>

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

/** What was sent: at least the first `SENT_BYTES` of it in UTF-8, and its length. */
export type Sent = { head: Uint8Array; bytes: number }

/** Maximum delay before waiting refusals are written together. */
const WRITE_MS = 200

/** Maximum rows read at a time in a search for what is about a customer or a journey. */
const SEARCHED_AT_ONCE = 100

/**
 * Maximum characters redacted or searched between two yields to other work of the main thread: 1 ms, or 8 ms for the
 * worst texts (only quotes).
 */
const SLICE_CHARACTERS = 16 * 1024

/** Maximum texts of a rejected request that are looked up among erasures. What follows them is not kept. */
const MOST_CANDIDATES = 256

/** Size of a refusal besides its texts: identifiers, field names, the outcome of a replay. */
const OTHER_BYTES = 1_024

export type RefusalsOptions = {
  table: RefusalTable
  limits: RefusalLimits
  now: () => number
  /** Undefined if no customer of the workspace was erased. */
  erasedNames: (workspaceId: string) => Promise<ErasedNames | undefined>
  /** Called when refusals could not be written. It affects nothing else. */
  onFailure: (error: Error) => void
}

/** What requests use of refusals. */
export type RefusalStore = Pick<Refusals, 'offer' | 'list' | 'summary' | 'find' | 'noteReplays'>

export type RefusalStatistics = {
  /** Number waiting to be written. */
  waiting: number
  /** Number kept, and number left out or lost, since the process started. */
  kept: number
  leftOut: number
}

/**
 * The refusals of all workspaces. Offering one never waits and never fails: it is written in the background, in groups,
 * or left out if there are too many, in which case it is counted on those that are kept.
 */
export class Refusals {
  readonly #options: RefusalsOptions
  readonly #queue = new RefusalQueue()
  readonly #bounds: RefusalBounds
  readonly #expiry: RefusalExpiry
  readonly #nextId = ascendingIds()
  readonly #writes = new WriteBehind(() => this.#writeAll(), WRITE_MS)
  #kept = 0
  #lost = 0
  #isClosed = false

  constructor(options: RefusalsOptions) {
    this.#options = options
    this.#bounds = new RefusalBounds(options.table, options.limits)
    this.#expiry = new RefusalExpiry(options)
  }

  /** @param sent called only if the content is kept; null if it may only be counted */
  offer(refused: Refused, sent: (() => Sent) | null): void {
    if (this.#isClosed || keepsNone(this.#options.limits)) return
    this.#queue.offer(refused, sent !== null, (isSaved) =>
      isSaved && sent ? this.#waiting(refused, sent()) : this.#waiting(withoutContent(refused), NOTHING_SENT),
    )
    this.#writes.schedule()
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
    await this.#writes.catchUp()
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
    await this.#writes.catchUp()
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
    await this.#writes.catchUp()
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

  /** Records the outcomes of replays. @param replays each as JSON */
  async noteReplays(
    workspaceId: string,
    replayed_ms: number,
    replays: readonly { refusal_id: string; replay: string }[],
  ): Promise<void> {
    const { compiler, run } = this.#options.table
    const statements = replays.map(({ refusal_id, replay }) =>
      compiler
        .updateTable('refusals')
        .set({ replayed_ms, replay })
        .where('workspace_id', '=', workspaceId)
        .where('refusal_id', '=', refusal_id)
        .compile(),
    )
    // The events are stored, whether or not it can be recorded here.
    await run(statements).catch(this.#options.onFailure)
  }

  /** Removes everything about a customer. @returns false if it is still in a log; try again */
  removeOf(
    workspaceId: string,
    { customer_id, client_customer_id }: { customer_id: string; client_customer_id: string },
  ): Promise<boolean> {
    return this.#removeAbout(workspaceId, { id: customer_id, own: client_customer_id }, 'customer_id')
  }

  /** Removes everything about a journey. @returns false if it is still in a log; try again */
  removeOfJourney(workspaceId: string, journeyId: string): Promise<boolean> {
    return this.#removeAbout(workspaceId, { id: journeyId }, 'journey_id')
  }

  async #removeAbout(workspaceId: string, names: Names, subject: 'customer_id' | 'journey_id') {
    await this.#writes.flush()
    const { compiler, run, truncateLog } = this.#options.table
    for (let after = ''; ; ) {
      const page = compiler
        .selectFrom('refusals')
        .select([
          'refusal_id',
          'request_id',
          'customer_id',
          'journey_id',
          'event_id',
          'field',
          'faults',
          'sent',
          'sent_bytes',
          'left_out',
        ])
        .where('workspace_id', '=', workspaceId)
        .where('refusal_id', '>', after)
        .orderBy('refusal_id')
        .limit(SEARCHED_AT_ONCE)
      const [rows = []] = await run([page.compile()])
      const found: (typeof rows)[number][] = []
      const pause = pacer()
      for (const row of rows) {
        if (isAbout(row, names, subject)) found.push(row)
        await pause(row.sent.length)
      }
      // A row that counts others, which are about somebody else, keeps counting them.
      const [counting, others] = [
        found.filter((row) => row.left_out > 0),
        found.filter((row) => row.left_out === 0),
      ]
      const removal = compiler
        .deleteFrom('refusals')
        .where('workspace_id', '=', workspaceId)
        .where('refusal_id', 'in', idsOf(others))
      if (others.length > 0) await run([removal.compile()])
      if (counting.length > 0) await run([this.#contentRemoval(workspaceId, idsOf(counting))])
      if (rows.length < SEARCHED_AT_ONCE) return await truncateLog()
      after = rows.at(-1)?.refusal_id ?? ''
    }
  }

  /** Removes the contents of rows but keeps their counts. */
  #contentRemoval(workspaceId: string, ids: string[]): CompiledQuery {
    return this.#options.table.compiler
      .updateTable('refusals')
      .set(NO_CONTENT)
      .where('workspace_id', '=', workspaceId)
      .where('refusal_id', 'in', ids)
      .compile()
  }

  /** Removes everything of a workspace. @returns false if it is still in a log; try again */
  async removeOfWorkspace(workspaceId: string): Promise<boolean> {
    await this.#writes.flush()
    await removeRefusalsOf(this.#options.table, workspaceId)
    return await this.#options.table.truncateLog()
  }

  statistics(): RefusalStatistics {
    return { waiting: this.#queue.rows, kept: this.#kept, leftOut: this.#queue.leftOut + this.#lost }
  }

  /** Writes what waits, and accepts no more. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#writes.flush()
    await this.#expiry.close()
    await this.#options.table.close()
  }

  #oldest_ms(): number {
    return oldestKept_ms(this.#options.limits, this.#options.now())
  }

  #waiting({ errors = [], errors_omitted = 0, ...refused }: Refused, sent: Sent): WaitingRefusal {
    const row = {
      ...refused,
      refusal_id: typeIdText('rfs', this.#nextId(refused.received_ms)),
      journey_id: nameOf(refused.journey_id),
      customer_id: nameOf(refused.customer_id),
      event_id: nameOf(refused.event_id),
      field: withoutOwnTokens(fieldOf(refused.operation, errors)),
      left_out: 0,
      faults: withoutOwnTokens(JSON.stringify({ errors, errors_omitted })),
      // A copy, because the memory of the body that it is part of ends with the request.
      head: new Uint8Array(sent.head.subarray(0, SENT_BYTES)),
      sent_bytes: sent.bytes,
      replayed_ms: null,
      replay: null,
    }
    return { ...row, held_bytes: OTHER_BYTES + Buffer.byteLength(row.faults) + row.head.length }
  }

  /** Writes everything that waits, one group after the other. */
  async #writeAll() {
    while (!this.#queue.isEmpty) {
      const group = this.#queue.take()
      try {
        const erasures = new Map<string, number>()
        const rows = await this.#notErased(await rowsOf(group.rows), erasures)
        await this.#writeGroup(rows, group.leftOut)
        await this.#removeErasedMeanwhile(rows, erasures)
        this.#kept += rows.length
        await this.#bounds.keep(rows)
      } catch (error) {
        // Not retried: later refusals need the memory.
        this.#lost += group.rows.length
        this.#options.onFailure(error instanceof Error ? error : new Error(String(error)))
      }
    }
  }

  /**
   * Removes what is about erased customers. Ingestion answers 410 for an erased customer and keeps nothing; what it
   * refuses as malformed before it has looked up the customer is checked here.
   * @param erasures filled with the number of erasures per workspace at that time
   */
  async #notErased(group: readonly RefusalRow[], erasures: Map<string, number>): Promise<RefusalRow[]> {
    const kept: RefusalRow[] = []
    const pause = pacer()
    for (const [workspaceId, rows] of Map.groupBy(group, ({ workspace_id }) => workspace_id)) {
      const erased = await this.#options.erasedNames(workspaceId)
      erasures.set(workspaceId, erased?.erasures ?? 0)
      if (!erased) {
        kept.push(...rows)
        continue
      }
      const looked: { row: RefusalRow; texts: Set<string>; end: number }[] = []
      for (const row of rows) {
        const { texts, end } = candidatesOf(row.sent, MOST_CANDIDATES)
        for (const name of told(row)) texts.add(name)
        looked.push({ row, texts, end })
        await pause(row.sent.length)
      }
      const names = await erased.among(new Set(looked.flatMap(({ texts }) => [...texts])))
      for (const { row, texts, end } of looked) {
        const rest = closed({ ...row, sent: row.sent.slice(0, end) })
        const isNamed = names.size > 0 && [...texts].some((text) => names.has(text))
        const isNobody = !isNamed && !mayBeAboutAnybody(rest, 'customer_id')
        // Its row stays, because similar ones are counted on it.
        kept.push(isNobody ? rest : { ...row, ...NO_CONTENT })
        await pause(row.sent.length)
      }
    }
    return kept
  }

  /**
   * Checks again if customers were erased since a group was checked: another server, which does not know what waits
   * here, may have searched the table before it was written.
   */
  async #removeErasedMeanwhile(group: readonly RefusalRow[], before: ReadonlyMap<string, number>) {
    for (const [workspaceId, rows] of Map.groupBy(group, ({ workspace_id }) => workspace_id)) {
      const erased = await this.#options.erasedNames(workspaceId)
      if ((erased?.erasures ?? 0) === before.get(workspaceId)) continue
      const kept = await this.#notErased(rows, new Map())
      // In the given order, because they belong to one workspace.
      const ids = idsOf(kept.filter(({ sent }, index) => sent !== rows[index]?.sent))
      if (ids.length > 0) await this.#options.table.run([this.#contentRemoval(workspaceId, ids)])
    }
  }

  async #writeGroup(rows: readonly RefusalRow[], leftOut: readonly LeftOut[]) {
    const { compiler, run } = this.#options.table
    const statements: CompiledQuery[] = []
    if (rows.length > 0) statements.push(compiler.insertInto('refusals').values(rows).compile())
    for (const { workspace_id, refusal_id, count } of leftOut) {
      const update = compiler
        .updateTable('refusals')
        .set({ left_out: sql`left_out + ${count}` })
        .where('workspace_id', '=', workspace_id)
        .where('refusal_id', '=', refusal_id)
      statements.push(update.compile())
    }
    await run(statements)
  }
}

/** Finds texts that refer to erased customers of a workspace. */
export type ErasedNames = {
  /** Number of erased customers of the workspace. */
  erasures: number
  /** Returns those of the texts that do. */
  among(texts: ReadonlySet<string>): Promise<ReadonlySet<string>>
}

/** Returns a redacted name within the contract's length: the replacement may be longer than the secret. */
function nameOf(name: string | null): string | null {
  return name === null ? null : withoutSecrets(name).slice(0, NAME_LENGTH).toWellFormed()
}

const NAME_LENGTH = 255

/** Redacts what was sent. Nothing is written before that, so nothing unredacted can be read. */
async function rowsOf(waiting: readonly WaitingRefusal[]): Promise<RefusalRow[]> {
  const rows: RefusalRow[] = []
  const pause = pacer()
  for (const { head, held_bytes: _, ...refused } of waiting) {
    const slices = sentHead(head, refused.sent_bytes)
    let slice = slices.next()
    for (; !slice.done; slice = slices.next()) await pause(slice.value)
    const sent = slice.value
    // With quotes escaped as in a list; the text itself takes no more.
    const bytes = OTHER_BYTES + Buffer.byteLength(refused.faults) + Buffer.byteLength(JSON.stringify(sent))
    rows.push({ ...refused, sent, bytes })
    await pause(sent.length)
  }
  return rows
}

/** Returns a function that yields to other work of the main thread after a number of characters. */
function pacer(): (characters: number) => Promise<void> {
  let worked = 0
  return async (characters) => {
    worked += characters
    if (worked < SLICE_CHARACTERS) return
    worked = 0
    await nextRound()
  }
}

/** A refused request can be read as JSON, so it has at least one byte. A row without one only counts. */
const hasContent = sql<SqlBool>`sent_bytes > 0`

const NOTHING_SENT: Sent = { head: new Uint8Array(), bytes: 0 }

const NO_FAULTS = JSON.stringify({ errors: [], errors_omitted: 0 })

/** Turns a row into one that only counts. */
const NO_CONTENT = {
  request_id: '',
  journey_id: null,
  customer_id: null,
  event_id: null,
  field: '',
  faults: NO_FAULTS,
  sent: '',
  sent_bytes: 0,
  bytes: OTHER_BYTES + NO_FAULTS.length,
}

/**
 * Returns what stays of a refusal that is only counted, together with others that differ in the rest. The sender may
 * have chosen its request id.
 */
function withoutContent({ errors: _, errors_omitted: __, ...refused }: Refused): Refused {
  return { ...refused, request_id: '', journey_id: null, customer_id: null, event_id: null }
}

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
