import { DAY_MS } from '../domain/durations.ts'
import { countedPlace } from '../domain/violation-places.ts'
import type { Database } from '../storage/database.ts'
import {
  addCount,
  addViolations,
  type CountedEvents,
  OTHER,
  removeViolationsBefore,
  ViolationKinds,
} from '../storage/tables/definition-violations.ts'
import { WriteBehind } from '../storage/write-behind.ts'
import type { CheckedEvent } from './event-checks.ts'

/** For how many days counts are kept, with the current one (contract: "Violations over time"). */
const KEPT_DAYS = 90

/** Maximum delay before counts are written. */
const WRITE_MS = 3_000

/** Interval in which expired counts are removed, also at the start. They are hidden before. */
const SWEEP_MS = 3_600_000

/** Maximum counts between two writes: 10 MB. Beyond half of them, violations are not counted by kind. */
const COUNTS = 20_000

type ViolationTallyOptions = {
  db: Database
  now: () => number
  /** Called when counts could not be written, or expired ones not removed. It affects nothing else. */
  onFailure: (error: Error) => void
}

/** An event that does not conform, with its outcome. */
export type NotConforming = { checked: CheckedEvent; key_id: string; rejected: boolean }

/**
 * Counts the events that do not conform to their definitions. Counting never waits and never fails: counts are written
 * in the background, and are lost if that fails or the process is killed.
 */
export class ViolationTally {
  readonly #options: ViolationTallyOptions
  readonly #writes = new WriteBehind(() => this.#writeAll(), WRITE_MS)
  readonly #sweeps: NodeJS.Timeout
  #sweeping: Promise<void>
  /** Per workspace. */
  #counted = new Map<string, { counts: Map<string, CountedEvents>; kinds: ViolationKinds }>()
  #size = 0

  constructor(options: ViolationTallyOptions) {
    this.#options = options
    this.#sweeping = this.#sweep()
    this.#sweeps = setInterval(() => {
      this.#sweeping = this.#sweep()
    }, SWEEP_MS).unref()
  }

  /** Events without a definition are not counted: `getActivity` and the rejected requests have their names. */
  count(workspaceId: string, { checked, key_id, rejected }: NotConforming): void {
    const { definition, violations } = checked
    if (!definition || this.#size >= COUNTS) return
    const { definition_id, revision, variables } = definition
    const now_ms = this.#options.now()
    const event = {
      definition_id,
      day_ms: dayOf(now_ms),
      revision,
      rejected: rejected ? 1 : 0,
      events: 1,
      first_ms: now_ms,
      last_ms: now_ms,
    } as const
    const { counts, kinds } = this.#ofWorkspace(workspaceId)
    const before = counts.size
    addCount(counts, { ...event, code: '', pointer: '', key_id: '' })
    /** Each kind once per event, however many items of an array have it. */
    const found = new Set<string>()
    for (const violation of violations) {
      const isFull = this.#size >= COUNTS / 2
      const kind = isFull
        ? { code: OTHER, pointer: '', key_id: '' }
        : { code: violation.code, pointer: countedPlace(violation, variables), key_id }
      const counted = kinds.of({ ...event, ...kind })
      const name = `${counted.code} ${counted.pointer}`
      if (!found.has(name)) addCount(counts, counted)
      found.add(name)
    }
    this.#size += counts.size - before
    this.#writes.schedule()
  }

  /** Waits until what was counted is written, but not for long. */
  async written(): Promise<void> {
    await this.#writes.catchUp()
  }

  /** Writes what was counted. To be called after the last count, before the store is closed. */
  async close(): Promise<void> {
    clearInterval(this.#sweeps)
    await this.#writes.flush()
    await this.#sweeping
  }

  #ofWorkspace(workspaceId: string) {
    const known = this.#counted.get(workspaceId)
    if (known) return known
    const made = { counts: new Map<string, CountedEvents>(), kinds: new ViolationKinds() }
    this.#counted.set(workspaceId, made)
    return made
  }

  async #writeAll() {
    while (this.#counted.size > 0) {
      const counted = this.#counted
      this.#counted = new Map()
      this.#size = 0
      for (const [workspaceId, { counts }] of counted) {
        // Not retried: a commit whose outcome is unknown would be counted twice.
        await addViolations(this.#options.db, workspaceId, [...counts.values()]).catch(
          this.#options.onFailure,
        )
      }
    }
  }

  #sweep(): Promise<void> {
    const { db, now, onFailure } = this.#options
    return removeViolationsBefore(db, firstDay(now(), KEPT_DAYS)).catch(onFailure)
  }
}

/** Returns the start of a UTC day. */
function dayOf(ms: number): number {
  return Math.floor(ms / DAY_MS) * DAY_MS
}

/** Returns the start of the first of the last `days`, of which the current one is the last. */
export function firstDay(now_ms: number, days: number): number {
  return dayOf(now_ms) - (days - 1) * DAY_MS
}
