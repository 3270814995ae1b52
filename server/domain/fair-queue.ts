/** The owner of a queued item: a caller, for example a key, in its workspace. */
export type Owner = { workspaceId: string; caller: string }

/**
 * A fair queue: it serves workspaces round-robin, and the callers within a workspace likewise (after Nagle's "On Packet
 * Switches with Infinite Storage", RFC 970). However much one asks for, another waits for at most one item of each. Per
 * workspace only some items are in progress, by default one.
 */
export class FairQueue<Item extends { owner: Owner }> {
  readonly #limits: { perCaller: number; inAll: number; inProgress?: number }
  /** Workspaces, and the callers in each, in round-robin order. None of them is empty. */
  readonly #waiting = new Map<string, Map<string, Set<Item>>>()
  /** How many items are in progress, by workspace. */
  readonly #inProgress = new Map<string, number>()
  #size = 0

  /** @param limits maximum items waiting per caller, and in total, and items in progress per workspace */
  constructor(limits: { perCaller: number; inAll: number; inProgress?: number }) {
    this.#limits = limits
  }

  get size(): number {
    return this.#size
  }

  /** @returns false if the caller or the queue has reached its limit; the item is not added */
  add(item: Item): boolean {
    const { workspaceId, caller } = item.owner
    const callers = this.#waiting.get(workspaceId) ?? new Map<string, Set<Item>>()
    const own = callers.get(caller) ?? new Set()
    if (own.size >= this.#limits.perCaller || this.#size >= this.#limits.inAll) return false
    this.#waiting.set(workspaceId, callers.set(caller, own.add(item)))
    this.#size += 1
    return true
  }

  /**
   * Adds an item; if there is no place, in that of another, if its workspace then still has fewer waiting than that one's.
   * @returns the item that is left without a place: the other one, or this one if it cannot be added; otherwise undefined
   */
  push(item: Item): Item | undefined {
    if (this.add(item)) return undefined
    const crowdedOut = this.#crowdOut(item.owner)
    if (!crowdedOut) return item
    this.add(item)
    return crowdedOut
  }

  /** Removes a waiting item; does nothing if it is no longer waiting. */
  delete(item: Item): void {
    const { workspaceId, caller } = item.owner
    const callers = this.#waiting.get(workspaceId)
    const own = callers?.get(caller)
    if (!callers || !own?.delete(item)) return
    this.#size -= 1
    if (own.size === 0) callers.delete(caller)
    if (callers.size === 0) this.#waiting.delete(workspaceId)
  }

  /** Removes and returns the next item, which is then in progress; undefined if none may start. */
  begin(): Item | undefined {
    for (const [workspaceId, callers] of this.#waiting) {
      const inProgress = this.#inProgress.get(workspaceId) ?? 0
      const [first] = inProgress < (this.#limits.inProgress ?? 1) ? callers : []
      if (!first) continue
      const [caller, [item]] = first
      if (!item) continue
      moveToEnd(callers, caller)
      moveToEnd(this.#waiting, workspaceId)
      this.delete(item)
      this.#inProgress.set(workspaceId, inProgress + 1)
      return item
    }
    return undefined
  }

  /** Removes and returns the next item like `begin`, but does not count it as in progress. */
  take(): Item | undefined {
    const item = this.begin()
    if (item) this.end(item)
    return item
  }

  /** Marks an item as finished, so that another one of its workspace may start. */
  end({ owner: { workspaceId } }: Item): void {
    const left = (this.#inProgress.get(workspaceId) ?? 0) - 1
    if (left > 0) this.#inProgress.set(workspaceId, left)
    else this.#inProgress.delete(workspaceId)
  }

  /** Returns all waiting items. */
  items(): Item[] {
    return [...this.#waiting.values()].flatMap((callers) => [...callers.values()].flatMap((own) => [...own]))
  }

  /**
   * Makes space for one more item of an owner whose caller has not reached its limit, if its workspace would then still have
   * fewer waiting than another.
   * @returns the removed item, the last one of the caller with the most waiting; undefined if there is none
   */
  #crowdOut({ workspaceId, caller }: Owner): Item | undefined {
    if ((this.#waiting.get(workspaceId)?.get(caller)?.size ?? 0) >= this.#limits.perCaller) return undefined
    const sizeOf = (callers: Map<string, Set<Item>>) =>
      [...callers.values()].reduce((sum, own) => sum + own.size, 0)
    const [most] = [...this.#waiting.values()].sort((a, b) => sizeOf(b) - sizeOf(a))
    const own = this.#waiting.get(workspaceId)
    if (!most || sizeOf(most) <= (own ? sizeOf(own) : 0) + 1) return undefined
    const [items] = [...most.values()].sort((a, b) => b.size - a.size)
    const last = [...(items ?? [])].at(-1)
    if (last) this.delete(last)
    return last
  }
}

/** Moves an entry to the end: a map keeps insertion order. */
function moveToEnd<Value>(map: Map<string, Value>, key: string) {
  const value = map.get(key)
  if (value === undefined) return
  map.delete(key)
  map.set(key, value)
}
