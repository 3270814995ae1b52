import type { Reading } from '../storage.ts'

/** So many may wait for one caller: at the 50 ms that a page takes at most, as many as its deadline lets through. */
const WAITING_PER_CALLER = 100

/** So many may wait in all. */
const WAITING = 1_000

/** For whom something waits. */
type Owner = Pick<Reading, 'workspaceId' | 'caller'>

/**
 * What waits for its turn: workspaces take turns, and in a workspace its callers, so that however much one of them asks
 * for, another waits for one turn of each and no more. A workspace has one turn at a time.
 */
export class FairQueue<Item extends { reading: Owner }> {
  /** Workspaces, and in each its callers, in the order of their turns. None is empty. */
  readonly #waiting = new Map<string, Map<string, Set<Item>>>()
  /** Workspaces that have a turn now. */
  readonly #busy = new Set<string>()
  #size = 0

  get size(): number {
    return this.#size
  }

  /** @returns false where the caller, or all together, have as many waiting as may: it is not taken */
  add(item: Item): boolean {
    const { workspaceId, caller } = item.reading
    const callers = this.#waiting.get(workspaceId) ?? new Map<string, Set<Item>>()
    const own = callers.get(caller) ?? new Set()
    if (own.size >= WAITING_PER_CALLER || this.#size >= WAITING) return false
    this.#waiting.set(workspaceId, callers.set(caller, own.add(item)))
    this.#size += 1
    return true
  }

  /** Takes an item out before its turn; nothing where it has been taken. */
  delete(item: Item): void {
    const { workspaceId, caller } = item.reading
    const callers = this.#waiting.get(workspaceId)
    const own = callers?.get(caller)
    if (!callers || !own?.delete(item)) return
    this.#size -= 1
    if (own.size === 0) callers.delete(caller)
    if (callers.size === 0) this.#waiting.delete(workspaceId)
  }

  /** Gives the next its turn. */
  begin(): Item | undefined {
    for (const [workspaceId, callers] of this.#waiting) {
      const [first] = this.#busy.has(workspaceId) ? [] : callers
      if (!first) continue
      const [caller, [item]] = first
      if (!item) continue
      moveToEnd(callers, caller)
      moveToEnd(this.#waiting, workspaceId)
      this.delete(item)
      this.#busy.add(workspaceId)
      return item
    }
    return undefined
  }

  /** Ends the turn of an item. */
  end({ reading }: Item): void {
    this.#busy.delete(reading.workspaceId)
  }

  /** All that waits. */
  items(): Item[] {
    return [...this.#waiting.values()].flatMap((callers) => [...callers.values()].flatMap((own) => [...own]))
  }
}

/** A map keeps its entries in the order in which they were set. */
function moveToEnd<Value>(map: Map<string, Value>, key: string) {
  const value = map.get(key)
  if (value === undefined) return
  map.delete(key)
  map.set(key, value)
}
