import { parentPort } from 'node:worker_threads'
import type { Failure } from '../unavailable.ts'
import type { StandingsQuery } from './standings-query.ts'
import { StrictOrderTooLarge } from './strict-order.ts'
import type { StandingsReply, StandingsRequest } from './thread-standings.ts'
import { BreakdownTooLarge } from './variable-labels.ts'

/** What an engine's thread does. @typeParam Other engine-specific queries */
type Answering<Other> = {
  /**
   * @param signal aborted when nobody waits for the answer any more
   * @param now_ms when the query was sent, by the clock of the main thread
   */
  answer(query: StandingsQuery | Other, signal: AbortSignal, now_ms: number): Promise<unknown>
  failureOf(error: unknown): Failure
  close(): void
}

/** Sends a message to `ThreadStandings`. */
export function say(reply: StandingsReply): void {
  parentPort?.postMessage(reply)
}

/** Answers the requests of `ThreadStandings`, in the thread. */
export function answerRequests<Other = never>({ answer, failureOf, close }: Answering<Other>): void {
  const current = new Map<number, AbortController>()
  parentPort?.on('message', async (request: StandingsRequest<Other>) => {
    if (request.kind === 'close') return close()
    if (request.kind === 'cancel') return current.get(request.number)?.abort()
    const { number, query, now_ms } = request
    const cancelling = new AbortController()
    current.set(number, cancelling)
    try {
      say({ kind: 'answer', number, answer: await answer(query, cancelling.signal, now_ms) })
    } catch (error) {
      if (error instanceof BreakdownTooLarge) say({ kind: 'tooLarge', number, what: 'breakdown' })
      else if (error instanceof StrictOrderTooLarge) say({ kind: 'tooLarge', number, what: 'strictOrder' })
      else say({ kind: 'refused', number, failure: failureOf(error) })
    } finally {
      current.delete(number)
    }
  })
}
