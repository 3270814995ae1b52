import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection } from './connection.ts'
import { CannotConnect, ConnectionLost, isCollision, isReadOnly } from './outages.ts'
import type { Pool } from './pool.ts'

/** So long is tried to find out what has become of a statement; then nobody can say, and nothing is acknowledged. */
const PATIENCE_MS = 10_000

/** Between two attempts to reach the server. */
const PAUSE_MS = 100

/**
 * Runs one statement that writes, in a transaction of its own, until its outcome is known. Where the connection was lost
 * under it, nobody knows whether it was committed. So it must come to the same when it is run again: it writes under the
 * same identifiers, waits for what still runs on the lost connection, and what was written before it does not write again.
 * @param run told whether an earlier run may have been committed
 * @throws {ConnectionLost} or {CannotConnect} where that cannot be found out in time; else what the statement was refused with
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
      // A collision has changed nothing; the other one goes on, and this one can then.
      const mayDoWell = error instanceof ConnectionLost || isCollision(error)
      const isElsewhere = error instanceof CannotConnect || isReadOnly(error)
      const isAgain = mayDoWell || (mayBeDone && isElsewhere)
      if (!isAgain || performance.now() > deadline_ms) throw error
      if (error instanceof ConnectionLost) mayBeDone = true
      await sleep(PAUSE_MS * Math.random())
    }
  }
}
