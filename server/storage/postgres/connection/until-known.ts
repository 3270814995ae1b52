import { setTimeout as sleep } from 'node:timers/promises'
import { Unavailable } from '../../unavailable.ts'
import type { Connection } from './connection.ts'
import { CannotConnect, ConnectionLost, isCollision, isReadOnly } from './outages.ts'
import type { Pool } from './pool.ts'

/** Maximum time to find out the outcome of a statement; after that it stays unknown and nothing is acknowledged. */
const PATIENCE_MS = 10_000

/** Pause between two attempts to reach the server. */
const PAUSE_MS = 100

/**
 * Runs one write statement in a transaction of its own, until its outcome is known. If the connection is lost during
 * it, it is unknown whether it was committed, so the statement must be idempotent: it writes under the same
 * identifiers, waits for what still runs on the lost connection, and does not write again what was written before.
 * @param run gets whether an earlier run may have been committed
 * @throws {ConnectionLost} or {CannotConnect} if the outcome cannot be found out, in time or because a repeated statement was
 *   refused; otherwise the statement's error
 */
export async function untilKnown<Result>(
  pool: Pool,
  run: (connection: Connection, mayBeDone: boolean) => Promise<Result>,
): Promise<Result> {
  const deadline_ms = performance.now() + PATIENCE_MS
  let mayBeDone = false
  for (;;) {
    try {
      return await pool.use((connection) => run(connection, mayBeDone))
    } catch (error) {
      // A conflict has changed nothing; once the other transaction has ended, this one can succeed.
      const mayDoWell = error instanceof ConnectionLost || isCollision(error)
      const isElsewhere = error instanceof CannotConnect || isReadOnly(error)
      const isAgain = mayDoWell || (mayBeDone && isElsewhere)
      if (!isAgain || performance.now() > deadline_ms) {
        // The refusal is about the repetition: a caller that tries again would store a second time what was committed before.
        throw mayBeDone && !(error instanceof Unavailable) && !isElsewhere ? new ConnectionLost(error) : error
      }
      if (error instanceof ConnectionLost) mayBeDone = true
      await sleep(PAUSE_MS * Math.random())
    }
  }
}
