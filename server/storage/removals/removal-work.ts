import { setTimeout as sleep } from 'node:timers/promises'
import type { Database, Transaction } from '../database.ts'
import { inTransaction } from '../in-transaction.ts'
import type { Refusals } from '../refusals/refusals.ts'
import { deleteViewsOfJourney } from '../tables/views.ts'
import { deleteDeliveriesAbout, deleteDeliveriesOfJourney } from '../tables/webhook-deliveries.ts'
import { deleteWindowsOfJourney } from '../tables/webhook-windows.ts'
import { Unavailable } from '../unavailable.ts'
import type { ErasureJournal } from './erasure-journal.ts'
import { completeErasure } from './erasures.ts'
import { completeJourneyRemoval } from './journey-removals.ts'
import type { NotedErasure } from './removal-store.ts'
import {
  deleteRemoval,
  eachByItself,
  ownNames,
  type Removal,
  type RemovedSlice,
  removals,
} from './removals.ts'
import { beginAgeing } from './retention.ts'
import { sweepWorkspace, type WorkspaceRemover } from './workspace-removals.ts'

/** Interval of checks for removals that other processes have started, or could not finish. */
const LOOK_MS = 10_000

/** Interval of checks for expired events, also while something is being removed. */
const AGEING_MS = 60_000

/** Wait before a failed step is repeated, and before one that waits for another process. */
const RETRY_MS = 1_000
const WAIT_MS = 20

/** Denominator of the share of time for removals while there are writes. */
const PART = 10

/** What an engine does of a removal. */
type EngineRemover = WorkspaceRemover & {
  /** Removes the next events of a removal, or the next enrolments. */
  slice: (removal: Removal) => Promise<RemovedSlice>
  /** Removes what only the engine has of a journey, in the transaction that deletes its removal. */
  forgetJourney: (db: Transaction, removal: Removal) => Promise<void>
  /**
   * Removes the last traces of a customer or a workspace, when nothing else is left of it.
   * @returns false if that is not possible yet
   */
  purge?: (removal: Removal) => Promise<boolean>
}

export type RemovalWorkOptions = {
  db: Database
  now: () => number
  engine: EngineRemover
  refusals: Pick<Refusals, 'removeOf' | 'removeOfJourney' | 'removeOfWorkspace'>
  journal: ErasureJournal | undefined
  /** Number of groups written so far. */
  groups: () => number
  /** Called when something could not be removed. It is retried. */
  onFailure: (error: Error) => void
}

/**
 * Processes removals slice by slice, round-robin. All its state is in the store, so it continues wherever
 * and whenever a process has ended.
 */
export class RemovalWork {
  readonly #options: RemovalWorkOptions
  readonly #closing = new AbortController()
  readonly #ended: Promise<void>
  /** Ends the pauses of a round, also those to come. */
  #waking = new AbortController()
  /** Number of written groups when writers last had their share of the time. */
  #groups = 0
  /** When expired events were last searched, by a monotonic clock. */
  #aged_ms = Number.NEGATIVE_INFINITY

  constructor(options: RemovalWorkOptions) {
    this.#options = options
    this.#ended = this.#run()
  }

  /** Wakes it up, because there is a removal. */
  begin(): void {
    this.#aged_ms = Number.NEGATIVE_INFINITY
    this.#waking.abort()
  }

  /**
   * Records a committed erasure in the journal, if there is one; on disk when it resolves. It does not fail: the removal
   * records it too before it starts, retries, and reports a failure.
   */
  async note(erasure: NotedErasure): Promise<void> {
    await this.#options.journal?.note([erasure]).catch(() => {})
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#waking.abort()
    await this.#ended
  }

  async #run() {
    let isFailing = false
    while (!this.#closing.signal.aborted) {
      let pause_ms = LOOK_MS
      this.#waking = new AbortController()
      try {
        pause_ms = await this.#round()
        isFailing = false
      } catch (error) {
        pause_ms = RETRY_MS
        const isExpected = error instanceof Unavailable && error.reason !== 'storage_unavailable'
        if (!isFailing && !isExpected && !this.#closing.signal.aborted) {
          this.#options.onFailure(error instanceof Error ? error : new Error(String(error)))
          isFailing = true
        }
      }
      await this.#pause(pause_ms)
    }
  }

  /** Processes a slice of each removal. One that fails does not hold back the others. @returns after how long to continue */
  async #round(): Promise<number> {
    let pause_ms = LOOK_MS
    const steps = [
      async () => this.#age(),
      async () => {
        await eachByItself(await removals(this.#options.db), async (removal) => {
          if (!this.#closing.signal.aborted) pause_ms = Math.min(pause_ms, await this.#slice(removal))
        })
      },
    ]
    await eachByItself(steps, (step) => step())
    return pause_ms
  }

  /** Starts to remove expired events, once a minute. */
  async #age() {
    if (performance.now() - this.#aged_ms < AGEING_MS) return
    this.#aged_ms = performance.now()
    await beginAgeing(this.#options.db, this.#options.now())
  }

  /** @returns after how long to continue */
  async #slice(removal: Removal): Promise<number> {
    const began_ms = performance.now()
    await this.#options.journal?.noteRemoval(this.#options.db, removal)
    const { rows, isDone } = await this.#options.engine.slice(removal)
    const isEnded = isDone && (await this.#end(removal))
    const took_ms = performance.now() - began_ms
    if (this.#options.groups() !== this.#groups) {
      await this.#pause(took_ms * (PART - 1))
      this.#groups = this.#options.groups()
    }
    if (isEnded) return LOOK_MS
    return rows === 0 ? WAIT_MS : 0
  }

  /** Deletes a removal without events left. @returns false if something else is left */
  async #end(removal: Removal): Promise<boolean> {
    if (removal.before_ms === null && !(await this.#sweep(removal))) return false
    await inTransaction(this.#options.db, async (db) => {
      const removed = await deleteRemoval(db, removal)
      // Another process may have finished it.
      if (removed) await this.#complete(db, removed)
    })
    return true
  }

  /** Removes what is not in the tables of the store, once no event is left. @returns false if something is left */
  async #sweep(removal: Removal): Promise<boolean> {
    const { db, now, engine, refusals } = this.#options
    const { kind, workspace_id, subject_id } = removal
    if (kind === 'journey') {
      for (const deleteSome of [deleteDeliveriesOfJourney, deleteWindowsOfJourney, deleteViewsOfJourney]) {
        if (!(await inTransaction(db, (db) => deleteSome(db, workspace_id, subject_id)))) return false
      }
      return await refusals.removeOfJourney(workspace_id, subject_id)
    }
    if (kind === 'workspace') {
      if (!(await sweepWorkspace(db, engine, removal, now()))) return false
      if (!(await refusals.removeOfWorkspace(workspace_id))) return false
    } else {
      if (!(await inTransaction(db, (db) => deleteDeliveriesAbout(db, workspace_id, subject_id))))
        return false
      const customer = ownNames(removal)
      if (customer && !(await refusals.removeOf(workspace_id, customer))) return false
    }
    return (await engine.purge?.(removal)) ?? true
  }

  /** Removes the last part, and records how much was removed. */
  async #complete(db: Transaction, removal: Removal) {
    const { now, engine } = this.#options
    if (removal.before_ms !== null) return
    if (removal.kind === 'customer') {
      await completeErasure(db, removal, { events: removal.events, completed_ms: now() })
    } else if (removal.kind === 'journey') {
      await engine.forgetJourney(db, removal)
      await completeJourneyRemoval(db, removal)
    }
  }

  /** Waits this long, or until there is a removal. */
  async #pause(ms: number) {
    if (ms > 0) await sleep(ms, undefined, { signal: this.#waking.signal, ref: false }).catch(() => {})
  }
}
