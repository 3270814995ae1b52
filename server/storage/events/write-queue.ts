/** A queued unit and its workspace; '' for the server's own work, which is little. */
type Queued = { workspaceId: string; rows: number }
type Line<Item> = { items: Item[]; rows: number }

/**
 * Maximum rows and transactions waiting, half of them per workspace: what waits must be committed within about a
 * second.
 */
const WAITING_ROWS = 40_000

/**
 * Write queue with fair scheduling: units of one workspace in order of arrival, workspaces round-robin. A workspace that
 * sends batch after batch neither delays the single event of another nor uses up its share of the queue.
 */
export class WriteQueue<Item extends Queued> {
  /** Per workspace, in round-robin order. None is empty. */
  readonly #lines = new Map<string, Line<Item>>()
  #rows = 0
  #since_ms = 0

  /** When it was last empty, by `performance.now()`. */
  get since_ms(): number {
    return this.#since_ms
  }

  get rows(): number {
    return this.#rows
  }

  /** A unit without rows counts too. */
  get isEmpty(): boolean {
    return this.#lines.size === 0
  }

  /**
   * Whether the queue accepts more from a workspace: it may have as much waiting as it leaves free, at most a half.
   * @param transactions number of waiting transactions; each counts as a row
   */
  hasRoom(workspaceId: string, transactions: number): boolean {
    return this.rowsOf(workspaceId) < WAITING_ROWS - this.#rows - transactions
  }

  /** Number of waiting rows of a workspace. */
  rowsOf(workspaceId: string): number {
    return this.#lines.get(workspaceId)?.rows ?? 0
  }

  add(item: Item): void {
    if (this.isEmpty) this.#since_ms = performance.now()
    const line = this.#lines.get(item.workspaceId) ?? { items: [], rows: 0 }
    this.#lines.set(item.workspaceId, line)
    line.items.push(item)
    line.rows += item.rows
    this.#rows += item.rows
  }

  /** Takes the units of the next group commit: one per workspace, round-robin, while they fit, and at least one. */
  take(mostRows: number): Item[] {
    const taken: Item[] = []
    let rows = 0
    const [first] = this.#lines.keys()
    for (let before = -1; before < taken.length; ) {
      before = taken.length
      for (const [workspaceId, line] of this.#lines) {
        const [next] = line.items
        if (!next || (taken.length > 0 && rows + next.rows > mostRows)) continue
        taken.push(this.#takeFirst(workspaceId, line, next))
        rows += next.rows
      }
    }
    // The workspace that was first goes last the next time.
    if (first !== undefined) this.#moveToEnd(first)
    return taken
  }

  /**
   * Takes the units of the next group of a single workspace, the next one in order: as many as fit, at least one.
   * @param isBusy whether nothing can be taken from a workspace now
   */
  takeOfOne(mostRows: number, isBusy: (workspaceId: string) => boolean): Item[] {
    for (const [workspaceId, line] of this.#lines) {
      if (isBusy(workspaceId)) continue
      const taken: Item[] = []
      let rows = 0
      for (let next = line.items[0]; next; next = line.items[0]) {
        if (taken.length > 0 && rows + next.rows > mostRows) break
        taken.push(this.#takeFirst(workspaceId, line, next))
        rows += next.rows
      }
      this.#moveToEnd(workspaceId)
      return taken
    }
    return []
  }

  /** Takes all units. */
  takeAll(): Item[] {
    return this.take(Number.POSITIVE_INFINITY)
  }

  /** Takes all units of a workspace. */
  takeAllOf(workspaceId: string): Item[] {
    return this.takeOfOne(Number.POSITIVE_INFINITY, (other) => other !== workspaceId)
  }

  #takeFirst(workspaceId: string, line: Line<Item>, first: Item): Item {
    line.items.shift()
    line.rows -= first.rows
    this.#rows -= first.rows
    if (line.items.length === 0) this.#lines.delete(workspaceId)
    return first
  }

  #moveToEnd(workspaceId: string) {
    const line = this.#lines.get(workspaceId)
    if (!line) return
    this.#lines.delete(workspaceId)
    this.#lines.set(workspaceId, line)
  }
}
