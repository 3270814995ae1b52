import type { FairQueue, Owner } from '../../domain/fair-queue.ts'
import { Unavailable } from '../../storage/unavailable.ts'

/** What waits for its turn in a queue. */
export type Waiting = { owner: Owner; begin: () => void; refuse: (error: Unavailable) => void }

/**
 * Waits in a queue until `begin` is called.
 * @param deadline_ms how long it may wait; by default as long as it takes
 * @throws {Unavailable} `overloaded` if it has no place, loses it to another owner or waits for too long; otherwise what
 *   `refuse` was called with
 */
export function turnIn(queue: FairQueue<Waiting>, owner: Owner, deadline_ms?: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const waiting: Waiting = {
      owner,
      begin: () => {
        clearTimeout(deadline)
        resolve()
      },
      refuse: (error) => {
        clearTimeout(deadline)
        queue.delete(waiting)
        reject(error)
      },
    }
    const onDeadline = () => waiting.refuse(new Unavailable('overloaded'))
    const deadline = deadline_ms === undefined ? undefined : setTimeout(onDeadline, deadline_ms)
    queue.push(waiting)?.refuse(new Unavailable('overloaded'))
  })
}
