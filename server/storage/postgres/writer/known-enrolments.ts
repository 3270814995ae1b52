/** Maximum pairs that are remembered: some 20 MiB. */
const MOST = 100_000

/** What an enrolment was seen in, an object per workspace and state of its erasures. */
type Seen = { state: string }

/**
 * Pairs of journey and customer that are enrolled, so that a writer need not look up the same ones for every group.
 *
 * An enrolment ends with the erasure of its customer or the removal of its journey. Writers always look up journeys.
 * Erasures raise a counter of the workspace, in their own transaction: a pair that was seen with one state of the counter
 * is still enrolled when a later statement reads the same state. The state also changes with the server, because a standby
 * that was promoted may lack what its primary had.
 */
export class KnownEnrolments {
  readonly #workspaces = new Map<string, Seen>()
  /** In two generations, of which the older one is dropped when the younger one is full. */
  #young = new Map<string, Seen>()
  #old = new Map<string, Seen>()

  /** Returns the state in which a workspace was last seen. */
  stateOf(workspace_id: string): string | undefined {
    return this.#workspaces.get(workspace_id)?.state
  }

  /** Whether a pair was enrolled in that state. */
  has(workspace_id: string, pair: string): boolean {
    const workspace = this.#workspaces.get(workspace_id)
    if (!workspace) return false
    if (this.#young.get(pair) === workspace) return true
    if (this.#old.get(pair) !== workspace) return false
    this.#add(pair, workspace)
    return true
  }

  /** Remembers pairs that were enrolled in a state. */
  add(workspace_id: string, state: string, pairs: Iterable<string>): void {
    let workspace = this.#workspaces.get(workspace_id)
    if (workspace?.state !== state) {
      workspace = { state }
      this.#workspaces.set(workspace_id, workspace)
    }
    for (const pair of pairs) this.#add(pair, workspace)
  }

  #add(pair: string, workspace: Seen) {
    if (this.#young.size >= MOST / 2) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(pair, workspace)
  }
}
