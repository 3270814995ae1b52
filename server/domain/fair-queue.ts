/** For whom something waits: a caller, a key for example, in its workspace. */
export type Owner = { workspaceId: string; caller: string }

/**
 * What waits for its turn: workspaces take turns, and in a workspace its callers, so that however much one of them asks
 * for, another waits for one turn of each and no more. A workspace has one turn at a time.
 */
export class FairQueue<Item extends { owner: Owner }> {
  readonly #limits: { perCaller: number; inAll: number }
  /** Workspaces, and in each its callers, in the order of their turns. None is empty. */
  readonly #waiting = new Map<string, Map<string, Set<Item>>>()
  /** Workspaces that have a turn now. */
  readonly #busy = new Set<string>()
  #size = 0

  /** @param limits so many may wait for one caller, and so many in all */
  constructor(limits: { perCaller: number; inAll: number }) {
    this.#limits = limits
  }

  get size(): number {
    return this.#size
  }

  /** @returns false where the caller, or all together, have as many waiting as may: it is not taken */
  add(item: Item): boolean {
    const { workspaceId, caller } = item.owner
    const callers = this.#waiting.get(workspaceId) ?? new Map<string, Set<Item>>()
    const own = callers.get(caller) ?? new Set()
    if (own.size >= this.#limits.perCaller || this.#size >= this.#limits.inAll) return false
    this.#waiting.set(workspaceId, callers.set(caller, own.add(item)))
    this.#size += 1
    return true
  }

  /** Takes an item out before its turn; nothing where it has been taken. */
  delete(item: Item): void {
    const { workspaceId, caller } = item.owner
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
  end({ owner }: Item): void {
    this.#busy.delete(owner.workspaceId)
  }

  /**
   * Makes room for one more of an owner, where its workspace would then still have fewer waiting than another one has.
   * @returns the item that came last of those who have most waiting, taken out; undefined where there is no such
   */
  crowdOut({ workspaceId }: Owner): Item | undefined {
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
