import type { Owner } from '../domain/fair-queue.ts'
import { Unavailable } from '../storage/unavailable.ts'

/** Each holds two slices at the most and is read in turns, so that what is bounded here is only who may have how many. */
const MOST = { ofCaller: 2, ofWorkspace: 4, inAll: 64 }

/** How many exports go out at once. */
export class ExportPlaces {
  readonly #owners = new Set<Owner>()

  /**
   * Takes a place.
   * @returns gives it back
   * @throws {Unavailable} where the caller, its workspace or all together have as many as may be
   */
  enter({ workspaceId, caller }: Owner): () => void {
    const ofWorkspace = [...this.#owners].filter((other) => other.workspaceId === workspaceId)
    const ofCaller = ofWorkspace.filter((other) => other.caller === caller)
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
