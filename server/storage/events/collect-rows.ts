/** A commit costs as much as several rows: fewer than this wait for others that are about to arrive. */
const SHARED_ROWS = 64

/** For how many iterations of the event loop they wait at most, and how long: other work may make an iteration long. */
const MOST_ITERATIONS = 3
const MOST_MS = 5

/**
 * Calls `begin` at the end of this iteration of the event loop, so that its requests are committed together; while only few
 * rows wait, at the end of one of the next iterations, as long as each brings some.
 * @param rows returns the number of rows that wait; Infinity if nothing may be waited for
 */
export function collectRows(rows: () => number, begin: () => void): void {
  const latest_ms = performance.now() + MOST_MS
  const collect = (before: number, iteration: number) => {
    setImmediate(() => {
      const now = rows()
      const mayGrow = iteration < MOST_ITERATIONS && performance.now() < latest_ms
      if (mayGrow && now > before && now < SHARED_ROWS) collect(now, iteration + 1)
      else begin()
    })
  }
  collect(0, 1)
}

/** Whether rows that arrived during a commit may wait for others: few, of which the first has just arrived. */
export function mayWait({ rows, since_ms }: { rows: number; since_ms: number }): boolean {
  return rows > 0 && rows < SHARED_ROWS && performance.now() - since_ms < MOST_MS
}
