import { type CompiledQuery, sql } from 'kysely'
import type { components } from '../../../generated/contract.ts'
import { ascendingIds, typeIdText } from '../../domain/identifiers.ts'
import { withoutOwnTokens, withoutSecrets } from '../../domain/secret-texts.ts'
import { SENT_BYTES, sentHead } from '../../domain/sent-head.ts'
import { WriteBehind } from '../write-behind.ts'
import { pacer } from './pacer.ts'
import { keepsNone, RefusalBounds, type RefusalLimits } from './refusal-bounds.ts'
import { contentRemoval, NO_CONTENT, OTHER_BYTES } from './refusal-content.ts'
import { type LeftOut, RefusalQueue, type WaitingRefusal } from './refusal-queue.ts'
import { idsOf } from './refusal-removal.ts'
import { fieldOf } from './refusal-summary.ts'
import type { RefusalRow, RefusalTable } from './refusal-table.ts'
import { candidatesOf, closed, mayBeAboutAnybody, told } from './refused-names.ts'

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

/** What was sent: at least the first `SENT_BYTES` of it in UTF-8, and its length. */
export type Sent = { head: Uint8Array; bytes: number }

/** Finds texts that refer to erased customers of a workspace. */
export type ErasedNames = {
  /** Number of erased customers of the workspace. */
  erasures: number
  /** Returns those of the texts that do. */
  among(texts: ReadonlySet<string>): Promise<ReadonlySet<string>>
}

/** Maximum delay before waiting refusals are written together. */
const WRITE_MS = 200

/** Maximum texts of a rejected request that are looked up among erasures. What follows them is not kept. */
const MOST_CANDIDATES = 256

export type RefusalWriterOptions = {
  table: RefusalTable
  limits: RefusalLimits
  /** Undefined if no customer of the workspace was erased. */
  erasedNames: (workspaceId: string) => Promise<ErasedNames | undefined>
  /** Called when refusals could not be written. It affects nothing else. */
  onFailure: (error: Error) => void
}

export type RefusalStatistics = {
  /** Number waiting to be written. */
  waiting: number
  /** Number kept, and number left out or lost, since the process started. */
  kept: number
  leftOut: number
}

/** Writes refusals in the background, in groups, redacted and without what is about erased customers. */
export class RefusalWriter {
  readonly #options: RefusalWriterOptions
  readonly #queue = new RefusalQueue()
  readonly #bounds: RefusalBounds
  readonly #nextId = ascendingIds()
  readonly #writes = new WriteBehind(() => this.#writeAll(), WRITE_MS)
  #kept = 0
  #lost = 0
  #isClosed = false

  constructor(options: RefusalWriterOptions) {
    this.#options = options
    this.#bounds = new RefusalBounds(options.table, options.limits)
  }

  /** @param sent called only if the content is kept; null if it may only be counted */
  offer(refused: Refused, sent: (() => Sent) | null): void {
    if (this.#isClosed || keepsNone(this.#options.limits)) return
    this.#queue.offer(refused, sent !== null, (isSaved) =>
      isSaved && sent ? this.#waiting(refused, sent()) : this.#waiting(withoutContent(refused), NOTHING_SENT),
    )
    this.#writes.schedule()
  }

  /** Writes what waits now. */
  flush(): Promise<void> {
    return this.#writes.flush()
  }

  /** Writes what waits, and waits for it, but not for long. */
  catchUp(): Promise<void> {
    return this.#writes.catchUp()
  }

  statistics(): RefusalStatistics {
    return { waiting: this.#queue.rows, kept: this.#kept, leftOut: this.#queue.leftOut + this.#lost }
  }

  /** Writes what waits, and accepts no more. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#writes.flush()
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
      if (ids.length > 0)
        await this.#options.table.run([contentRemoval(this.#options.table.compiler, workspaceId, ids)])
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

const NOTHING_SENT: Sent = { head: new Uint8Array(), bytes: 0 }

/**
 * Returns what stays of a refusal that is only counted, together with others that differ in the rest. The sender may
 * have chosen its request id.
 */
function withoutContent({ errors: _, errors_omitted: __, ...refused }: Refused): Refused {
  return { ...refused, request_id: '', journey_id: null, customer_id: null, event_id: null }
}
