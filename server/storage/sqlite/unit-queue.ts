import type { Unit } from './units.ts'

type Queued = { unit: Unit; rows: number }

/**
 * Units that wait to be written: those of a workspace in the order in which they came, workspaces in turns. So one that
 * sends batch after batch does not stand before the single event of another.
 */
export class UnitQueue<Item extends Queued> {
  /** None is empty. */
  readonly #waiting = new Map<string, Item[]>()
  #rows = 0

  get rows(): number {
    return this.#rows
  }

  add(item: Item): void {
    // The others are the server's own, few and small.
    const workspaceId = 'workspace_id' in item.unit ? item.unit.workspace_id : ''
    const own = this.#waiting.get(workspaceId)
    if (own) own.push(item)
    else this.#waiting.set(workspaceId, [item])
    this.#rows += item.rows
  }

  /** Takes out what is written together: one unit of each workspace after the other while they fit, one at the least. */
  take(mostRows: number): Item[] {
    const taken: Item[] = []
    let rows = 0
    const [first] = this.#waiting.keys()
    for (let before = -1; before < taken.length; ) {
      before = taken.length
      for (const [workspaceId, own] of this.#waiting) {
        const [next] = own
        if (!next || (taken.length > 0 && rows + next.rows > mostRows)) continue
        own.shift()
        if (own.length === 0) this.#waiting.delete(workspaceId)
        taken.push(next)
        rows += next.rows
      }
    }
    this.#rows -= rows
    // Whoever had the first place has the last one next time.
    const own = first === undefined ? undefined : this.#waiting.get(first)
    if (first !== undefined && own) {
      this.#waiting.delete(first)
      this.#waiting.set(first, own)
    }
    return taken
  }

  /** Takes out all. */
  takeAll(): Item[] {
    return this.take(Number.POSITIVE_INFINITY)
  }
}
