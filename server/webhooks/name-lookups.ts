import { FairQueue } from '../domain/fair-queue.ts'

export type ResolvedAddress = { address: string; family: number }

/** Returns all addresses of a name. */
export type Resolve = (hostname: string) => Promise<ResolvedAddress[]>

/** Look-ups at a time: each takes one of the few threads that files and passwords need too. */
const AT_ONCE = 2

/** More than the requests that the webhooks of a workspace send at a time. */
const WAITING = { perCaller: 1_000, inAll: 100_000 }

type Waiting = { owner: { workspaceId: string; caller: string }; begin: () => void }

/**
 * Looks up names, two at a time, of which one per workspace: names of one workspace that resolve slowly delay only its own
 * webhooks. A look-up that has begun cannot be ended.
 */
export class NameLookups {
  readonly #resolve: Resolve
  readonly #waiting = new FairQueue<Waiting>(WAITING)
  #running = 0

  constructor(resolve: Resolve) {
    this.#resolve = resolve
  }

  /**
   * @param signal when it is aborted, a look-up that has not begun is dropped, and never settles
   * @throws {Error} if there is no such name, or too many are waiting
   */
  look(hostname: string, workspaceId: string, signal: AbortSignal): Promise<ResolvedAddress[]> {
    return new Promise((resolve, reject) => {
      const owner = { workspaceId, caller: hostname }
      const drop = () => this.#waiting.delete(waiting)
      const waiting: Waiting = {
        owner,
        begin: () => {
          signal.removeEventListener('abort', drop)
          this.#resolve(hostname)
            .then(resolve, reject)
            .finally(() => this.#end(waiting))
        },
      }
      signal.addEventListener('abort', drop)
      if (this.#waiting.add(waiting)) this.#next()
      else reject(new Error('too many names are being looked up'))
    })
  }

  #end(waiting: Waiting) {
    this.#running -= 1
    this.#waiting.end(waiting)
    this.#next()
  }

  #next() {
    if (this.#running >= AT_ONCE) return
    const next = this.#waiting.begin()
    if (!next) return
    this.#running += 1
    next.begin()
  }
}
