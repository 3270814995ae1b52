import { setTimeout as sleep } from 'node:timers/promises'
import type { Database, Transaction } from '../database.ts'
import { Unavailable } from '../unavailable.ts'
import { completeErasure } from './erasures.ts'
import { completeJourneyRemoval } from './journey-removals.ts'
import { deleteRemoval, type Removal, type RemovedSlice, removals } from './removals.ts'
import { beginAgeing } from './retention.ts'

/** What others have begun, or could not end, is looked for so often. */
const LOOK_MS = 10_000

/** What has aged is looked for so often, and when something is to be removed. */
const AGEING_MS = 60_000

/** What could not be done is tried again after so long, and what waits for somebody. */
const RETRY_MS = 1_000
const WAIT_MS = 20

/** Where others write, removing takes one part of the time in so many. */
const PART = 10

export type RemovalWorkOptions = {
  db: Database
  now: () => number
  /** Removes the next events of a removal, or the next enrolments. */
  slice: (removal: Removal) => Promise<RemovedSlice>
  /**
   * Removes what is not in the tables of the store, when no event is left; not of what has aged.
   * @returns false: it cannot be done yet
   */
  sweep: (removal: Removal) => Promise<boolean>
  /** Takes out what only the engine has of a journey, in the transaction that takes its removal away. */
  forgetJourney: (db: Transaction, removal: Removal) => Promise<void>
  /** How many groups of others have been written so far. */
  groups: () => number
  /** Called when something could not be removed. It is tried again. */
  onFailure: (error: Error) => void
}

/**
 * Removes what there is to be removed, slice by slice, each removal in turns with the others. All that it knows is in the
 * store, so it goes on wherever and whenever a process has been ended.
 */
export class RemovalWork {
  readonly #options: RemovalWorkOptions
  readonly #closing = new AbortController()
  readonly #ended: Promise<void>
  #wake = () => {}
  #isAwake = false
  /** Of others, when they were last given their part of the time. */
  #groups = 0
  /** When what has aged was looked for, by a clock that only goes forward. */
  #aged_ms = Number.NEGATIVE_INFINITY

  constructor(options: RemovalWorkOptions) {
    this.#options = options
    this.#ended = this.#run()
  }

  /** Something is to be removed. */
  begin(): void {
    this.#isAwake = true
    this.#aged_ms = Number.NEGATIVE_INFINITY
    this.#wake()
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#wake()
    await this.#ended
  }

  async #run() {
    let isFailing = false
    while (!this.#closing.signal.aborted) {
      let pause_ms = LOOK_MS
      this.#isAwake = false
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

  /** A slice of each removal. @returns after how long to go on */
  async #round(): Promise<number> {
    if (performance.now() - this.#aged_ms >= AGEING_MS) {
      this.#aged_ms = performance.now()
      await beginAgeing(this.#options.db, this.#options.now())
    }
    const due = await removals(this.#options.db)
    let pause_ms = LOOK_MS
    for (const removal of due) {
      if (this.#closing.signal.aborted) return 0
      const began_ms = performance.now()
      const { rows, isDone } = await this.#options.slice(removal)
      const isEnded = isDone && (await this.#end(removal))
      const took_ms = performance.now() - began_ms
      if (!isEnded && rows === 0) pause_ms = Math.min(pause_ms, WAIT_MS)
      else if (!isEnded) pause_ms = 0
      if (this.#options.groups() !== this.#groups) {
        await this.#pause(took_ms * (PART - 1))
        this.#groups = this.#options.groups()
      }
    }
    return pause_ms
  }

  /** Takes a removal away of which no event is left. @returns false: something else is left of it */
  async #end(removal: Removal): Promise<boolean> {
    const { sweep, db } = this.#options
    if (removal.before_ms === null && !(await sweep(removal))) return false
    await db.transaction().execute(async (db) => {
      const removed = await deleteRemoval(db, removal)
      // Another process may have ended it.
      if (removed) await this.#complete(db, removed)
    })
    return true
  }

  /** Takes the last of it away, and tells how much it was. */
  async #complete(db: Transaction, removal: Removal) {
    const { now, forgetJourney } = this.#options
    if (removal.before_ms !== null) return
    if (removal.kind === 'customer') {
      await completeErasure(db, removal, { events: removal.events, completed_ms: now() })
    } else if (removal.kind === 'journey') {
      await forgetJourney(db, removal)
      await completeJourneyRemoval(db, removal)
    }
  }

  /** Waits so long, or until something is to be removed. */
  async #pause(ms: number) {
    if (ms === 0 || this.#isAwake || this.#closing.signal.aborted) return
    const waking = new AbortController()
    this.#wake = () => waking.abort()
    await sleep(ms, undefined, { signal: waking.signal, ref: false }).catch(() => {})
    this.#wake = () => {}
  }
}
