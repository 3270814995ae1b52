/** What waits to be written, and whose it is; '' for what is the server's own, few and small. */
type Queued = { workspaceId: string; rows: number }
type Line<Item> = { items: Item[]; rows: number }

/** So many rows and transactions may wait, half of the rows of one workspace: what waits must be committed within a second or so. */
const WAITING_ROWS = 40_000

/**
 * Units that wait to be written: those of a workspace in the order in which they came, workspaces in turns. So one that
 * sends batch after batch neither stands before the single event of another nor takes its place.
 */
export class UnitQueue<Item extends Queued> {
  /** By workspace, in the order of their turns. None is empty. */
  readonly #lines = new Map<string, Line<Item>>()
  #rows = 0

  get rows(): number {
    return this.#rows
  }

  /** A unit without rows is one that waits, too. */
  get isEmpty(): boolean {
    return this.#lines.size === 0
  }

  /**
   * Whether there is room for more of a workspace: it may have as much waiting as it leaves free, alone half of it.
   * @param transactions so many wait besides; each counts as a row
   */
  hasRoom(workspaceId: string, transactions: number): boolean {
    return this.rowsOf(workspaceId) < WAITING_ROWS - this.#rows - transactions
  }

  /** How many rows of a workspace wait. */
  rowsOf(workspaceId: string): number {
    return this.#lines.get(workspaceId)?.rows ?? 0
  }

  add(item: Item): void {
    const line = this.#lines.get(item.workspaceId) ?? { items: [], rows: 0 }
    this.#lines.set(item.workspaceId, line)
    line.items.push(item)
    line.rows += item.rows
    this.#rows += item.rows
  }

  /** Takes out what is written together: one unit of each workspace after the other while they fit, one at the least. */
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
    // Whoever had the first place has the last one next time.
    if (first !== undefined) this.#moveToEnd(first)
    return taken
  }

  /**
   * Takes out what is written together of one workspace, whose turn it is: as many units as fit, one at the least.
   * @param isBusy tells of which workspaces nothing can be taken now
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

  /** Takes out all. */
  takeAll(): Item[] {
    return this.take(Number.POSITIVE_INFINITY)
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
