import type { Owner } from '../../domain/fair-queue.ts'
import { Unavailable } from '../../storage/unavailable.ts'

/**
 * Maximum concurrent exports. Each holds at most two slices in memory and reads alternate with others, so only their number is
 * bounded.
 */
const MOST = { ofCaller: 2, ofWorkspace: 4, inAll: 64 }

/** Limits the number of concurrent exports. */
export class ExportSlots {
  readonly #owners = new Set<Owner>()

  /**
   * Takes a slot.
   * @returns a function that releases it
   * @throws {Unavailable} if the caller, its workspace or the server has reached its limit
   */
  enter({ workspaceId, caller }: Owner): () => void {
    const owners = [...this.#owners]
    const ofWorkspace = owners.filter((other) => other.workspaceId === workspaceId)
    // In all workspaces: a person may have many.
    const ofCaller = owners.filter((other) => other.caller === caller)
    const isFull =
      ofCaller.length >= MOST.ofCaller ||
      ofWorkspace.length >= MOST.ofWorkspace ||
      this.#owners.size >= MOST.inAll
    if (isFull) throw new Unavailable('overloaded')
    const owner = { workspaceId, caller }
    this.#owners.add(owner)
    return () => this.#owners.delete(owner)
  }
}
