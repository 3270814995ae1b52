import type { Unit } from './units.ts'

type Queued = { unit: Unit; rows: number }
type Line<Item> = { items: Item[]; rows: number }

/**
 * Units that wait to be written: those of a workspace in the order in which they came, workspaces in turns. So one that
 * sends batch after batch neither stands before the single event of another nor takes its place.
 */
export class UnitQueue<Item extends Queued> {
  readonly #mostRows: number
  /** By workspace, in the order of their turns. None is empty. */
  readonly #lines = new Map<string, Line<Item>>()
  #rows = 0

  /** @param mostRows about so many rows may wait */
  constructor(mostRows: number) {
    this.#mostRows = mostRows
  }

  get rows(): number {
    return this.#rows
  }

  /** Whether there is room for more of a workspace: it may have as much waiting as it leaves free, alone half of it. */
  hasRoom(workspaceId: string): boolean {
    return (this.#lines.get(workspaceId)?.rows ?? 0) < this.#mostRows - this.#rows
  }

  add(item: Item): void {
    const workspaceId = workspaceOf(item.unit)
    const line = this.#lines.get(workspaceId) ?? { items: [], rows: 0 }
    this.#lines.set(workspaceId, line)
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
        line.items.shift()
        line.rows -= next.rows
        if (line.items.length === 0) this.#lines.delete(workspaceId)
        taken.push(next)
        rows += next.rows
      }
    }
    this.#rows -= rows
    // Whoever had the first place has the last one next time.
    const line = first === undefined ? undefined : this.#lines.get(first)
    if (first !== undefined && line) {
      this.#lines.delete(first)
      this.#lines.set(first, line)
    }
    return taken
  }

  /** Takes out all. */
  takeAll(): Item[] {
    return this.take(Number.POSITIVE_INFINITY)
  }
}

/** Whose a unit is; '' for what is the server's own, few and small. */
export function workspaceOf(unit: Unit): string {
  return 'workspace_id' in unit ? unit.workspace_id : ''
}
