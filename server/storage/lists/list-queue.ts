import { FairQueue } from '../../domain/fair-queue.ts'
import type { Reading } from '../database.ts'
import type { ListReads } from '../storage.ts'
import { Unavailable } from '../unavailable.ts'

/** Maximum waiting per caller, as many as finish before the deadline at 50 ms per page, and in total. */
const WAITING = { perCaller: 100, inAll: 1_000 }

/** Deadline of a list read: after that the caller has lost patience, and others are waiting. */
const LIST_DEADLINE_MS = 5_000

/** Sums up the reads of two queues. */
export function sumOfReads(one: ListReads, other: ListReads): ListReads {
  return {
    waiting: one.waiting + other.waiting,
    answered: one.answered + other.answered,
    refused: one.refused + other.refused,
    overdue: one.overdue + other.overdue,
    abandoned: one.abandoned + other.abandoned,
  }
}

/** How a list read can end. */
type ListEnd = keyof Omit<ListReads, 'waiting'>

type Waiting = {
  owner: Reading
  begin: () => Promise<void>
  reject: (error: Error) => void
}

/** Fair queue of list reads, by workspace and, within each, by caller; aborted reads are skipped. */
export class ListQueue {
  readonly #waiting = new FairQueue<Waiting>(WAITING)
  readonly #ended: Record<ListEnd, number> = { answered: 0, refused: 0, overdue: 0, abandoned: 0 }
  /** Number of reads that can still start. */
  #free: number
  #closed: Unavailable | undefined

  /** @param readers number of concurrent reads, each of another workspace */
  constructor(readers: number) {
    this.#free = readers
  }

  statistics(): ListReads {
    return { waiting: this.#waiting.size, ...this.#ended }
  }

  /**
   * Queues a list read. Its workspace's next read starts only when this one has ended, even if nobody waits for it any
   * more.
   * @param read gets a signal that is aborted when nobody waits for it any more
   * @throws {Unavailable} `overloaded` if too much is waiting, or it is not finished by its deadline
   * @throws the reason of the caller's signal if that is aborted
   */
  take<Read>(owner: Reading, read: (signal: AbortSignal) => Promise<Read>): Promise<Read> {
    return new Promise((resolve, reject) => {
      if (this.#closed) throw this.#closed
      const { signal } = owner
      const unwanted = new AbortController()
      let isOver = false
      const end = (how: ListEnd, settle: () => void) => {
        if (isOver) return
        isOver = true
        clearTimeout(deadline)
        signal.removeEventListener('abort', abandon)
        this.#waiting.delete(waiting)
        this.#ended[how] += 1
        settle()
        if (how !== 'answered') unwanted.abort()
      }
      const refuse = (how: ListEnd) => end(how, () => reject(new Unavailable('overloaded')))
      const abandon = () => end('abandoned', () => reject(signal.reason))
      const deadline = setTimeout(() => refuse('overdue'), LIST_DEADLINE_MS)
      const fail = (error: Error) => end('answered', () => reject(error))
      const waiting: Waiting = {
        owner,
        begin: () => read(unwanted.signal).then((found) => end('answered', () => resolve(found)), fail),
        reject: fail,
      }
      signal.addEventListener('abort', abandon)
      if (signal.aborted) abandon()
      else if (this.#waiting.add(waiting)) this.#next()
      else refuse('refused')
    })
  }

  /** Refuses waiting and new reads. Reads in progress continue. */
  close(error: Unavailable): void {
    this.#closed ??= error
    for (const { reject } of this.#waiting.items()) reject(error)
  }

  #next() {
    const next = this.#free > 0 ? this.#waiting.begin() : undefined
    if (!next) return
    this.#free -= 1
    void next.begin().finally(() => {
      this.#free += 1
      this.#waiting.end(next)
      this.#next()
    })
  }
}
