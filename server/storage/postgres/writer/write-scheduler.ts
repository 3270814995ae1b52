import { collectRows, mayWait } from '../../events/collect-rows.ts'
import type { EventOutcome, InitializeOutcome } from '../../events/event-store.ts'
import { WriteQueue } from '../../events/write-queue.ts'
import type { CommittedGroup } from '../../storage.ts'
import { Unavailable } from '../../unavailable.ts'
import { ConnectionLost, isNodeLost, isTimeout, seenFromOutside } from '../connection/outages.ts'
import type { CustomerWriter, Initialization } from './customer-writer.ts'
import type { EventWriter, Sending } from './event-writer.ts'
import { GroupUnavailable } from './group-unavailable.ts'

/** Rows per group: enough to share one commit, few enough to commit within some ten milliseconds. */
const GROUP_ROWS = 1_000

/** What a unit of each kind asks for, and its outcome. Checks are not written anywhere. */
type UnitKinds = {
  initialize: { asked: { customer: Initialization }; outcome: InitializeOutcome }
  'check-customer': { asked: { customer: Initialization }; outcome: InitializeOutcome }
  events: { asked: Sending; outcome: EventOutcome[] }
  'check-events': { asked: Sending; outcome: EventOutcome[] }
}
type UnitKind = keyof UnitKinds
type Unit = { [Kind in UnitKind]: { kind: Kind } & UnitKinds[Kind]['asked'] }[UnitKind]
type UnitOutcome<Kind extends UnitKind = UnitKind> = UnitKinds[Kind]['outcome']

/** Customers first, because events of the same group may be about them. Each kind has its own commit. */
const KINDS = ['initialize', 'events', 'check-customer', 'check-events'] as const satisfies UnitKind[]

type Waiting = {
  unit: Unit
  workspaceId: string
  rows: number
  resolve: (outcome: UnitOutcome) => void
  reject: (error: unknown) => void
}

type WriteSchedulerOptions = {
  events: EventWriter
  customers: CustomerWriter
  /** Maximum concurrent groups, each on its own connection. */
  most: number
  /** Number of waiting transactions; they count like rows. */
  waitingTransactions: () => number
  onGroup: (group: CommittedGroup) => void
  /** Called when a group found no space on the disk. */
  onFull: () => void
}

/**
 * Group commit: units of a workspace that arrive while a group of it commits are committed together next; each is
 * answered after its commit. A group belongs to one workspace. Groups of several workspaces commit concurrently, and of
 * one if whole groups of it are waiting, but connections are left for the others.
 */
export class WriteScheduler {
  readonly #options: WriteSchedulerOptions
  readonly #waiting = new WriteQueue<Waiting>()
  /** Number of groups being committed per workspace. */
  readonly #busy = new Map<string, number>()
  #committing = 0
  #groups = 0
  /** Number of times that units were written. */
  #succeeded = 0
  #scheduled = false
  #closed: { promise: Promise<void>; resolve: () => void } | undefined

  constructor(options: WriteSchedulerOptions) {
    this.#options = options
  }

  /** Number of groups written so far. */
  get groups(): number {
    return this.#groups
  }

  get waitingRows(): number {
    return this.#waiting.rows
  }

  /**
   * @param workspaceId of the unit; '' for none
   * @throws {Unavailable} if a unit would be refused
   */
  assertAvailable(workspaceId = ''): void {
    if (this.#closed) throw new Unavailable('shutting_down')
    const transactions = this.#options.waitingTransactions()
    if (!this.#waiting.hasRoom(workspaceId, transactions)) throw new Unavailable('overloaded')
  }

  /** Resolves when the unit is on disk. */
  submit<Kind extends UnitKind>(
    workspaceId: string,
    unit: Unit & { kind: Kind },
  ): Promise<UnitOutcome<Kind>> {
    return new Promise((resolve, reject) => {
      this.assertAvailable(workspaceId)
      const rows = 'events' in unit ? unit.events.length : 1
      this.#waiting.add({ unit, workspaceId, rows, resolve, reject })
      this.#schedule()
    })
  }

  /** Refuses new work and finishes accepted work. */
  async close(): Promise<void> {
    this.#closed ??= Promise.withResolvers<void>()
    this.#next()
    await this.#closed.promise
  }

  #schedule() {
    if (this.#scheduled) return
    this.#scheduled = true
    collectRows(
      () => this.#waiting.rows,
      () => {
        this.#scheduled = false
        this.#next()
      },
    )
  }

  #next() {
    while (this.#committing < this.#options.most) {
      const group = this.#waiting.takeOfOne(GROUP_ROWS, (workspaceId) => this.#mustWait(workspaceId))
      const [first] = group
      if (!first) break
      this.#committing += 1
      this.#busy.set(first.workspaceId, (this.#busy.get(first.workspaceId) ?? 0) + 1)
      void this.#commit(first.workspaceId, group)
    }
    if (this.#committing === 0) this.#closed?.resolve()
  }

  /** Single events collect into large groups while one commits; a batch is a group by itself and need not wait. */
  #mustWait(workspaceId: string): boolean {
    const groups = this.#busy.get(workspaceId) ?? 0
    if (groups === 0) return false
    return groups >= this.#options.most - 1 || this.#waiting.rowsOf(workspaceId) < GROUP_ROWS
  }

  async #commit(workspaceId: string, group: readonly Waiting[]) {
    const began_ms = performance.now()
    let failed = false
    for (const kind of KINDS) {
      const ofKind = group.filter(({ unit }) => unit.kind === kind)
      if (!(await this.#writeEach(workspaceId, ofKind))) failed = true
    }
    const rows = group.reduce((sum, waiting) => sum + waiting.rows, 0)
    this.#groups += 1
    this.#options.onGroup({ rows, commit_ms: performance.now() - began_ms, failed })
    this.#committing -= 1
    const groups = (this.#busy.get(workspaceId) ?? 0) - 1
    if (groups > 0) this.#busy.set(workspaceId, groups)
    else this.#busy.delete(workspaceId)
    // What arrived during the commit has waited long enough, unless a few rows may get company.
    if (mayWait(this.#waiting)) this.#schedule()
    else this.#next()
  }

  /** Writes all units together; if one fails, each by itself. @returns whether all were written */
  async #writeEach(workspaceId: string, group: readonly Waiting[]): Promise<boolean> {
    if (group.length === 0) return true
    const before = this.#succeeded
    try {
      const outcomes = await this.#write(workspaceId, group)
      if (!group[0]?.unit.kind.startsWith('check-')) this.#succeeded += 1
      for (const [index, { resolve }] of group.entries()) resolve(outcomes[index] as UnitOutcome)
      return true
    } catch (error) {
      const seen = seenFromOutside(error)
      if (group.length > 1 && !(seen instanceof Unavailable)) {
        for (const waiting of group) await this.#writeEach(workspaceId, [waiting])
        return false
      }
      for (const { reject } of group) reject(seen)
      if (seen instanceof Unavailable && seen.reason === 'storage_full') this.#options.onFull()
      if (!(seen instanceof Unavailable) || seen instanceof GroupUnavailable) return false
      // What waits after a failure of the storage would fail too, each after a delay. A lost node concerns this workspace
      // alone, and so does a statement that took too long while others were committed.
      const cause = error instanceof ConnectionLost ? error.cause : error
      const isOwn = isNodeLost(cause) || (isTimeout(cause) && this.#succeeded > before)
      const doomed = isOwn ? this.#waiting.takeAllOf(workspaceId) : this.#waiting.takeAll()
      for (const { reject } of doomed) reject(seen)
      return false
    }
  }

  /** @param group of one kind */
  async #write(workspaceId: string, group: readonly Waiting[]): Promise<UnitOutcome[]> {
    const { customers, events } = this.#options
    const isChecked = group.some(({ unit }) => unit.kind.startsWith('check-'))
    const calls = group.flatMap(({ unit }) => ('customer' in unit ? unit.customer : []))
    if (calls.length > 0) return await customers[isChecked ? 'check' : 'initialize'](workspaceId, calls)
    const sent = group.flatMap(({ unit }) => ('events' in unit ? unit : []))
    const outcomes = await events[isChecked ? 'check' : 'insert'](workspaceId, sent)
    let end = 0
    return group.map(({ rows }) => {
      end += rows
      return outcomes.slice(end - rows, end)
    })
  }
}
