import { ThreadStandings } from '../../standings/thread-standings.ts'
import { startThread } from '../../threads/thread.ts'
import { threadModule } from '../../threads/thread-module.ts'
import type { MemtableRing } from '../index/memtable.ts'
import type { StandingsThreadData } from './standings-thread.ts'

/** One at a time: reports alternate with the follower. */
const READERS = 1

/**
 * The standings of a store, in a separate file that is rebuilt if it is lost.
 * @param options.path a file that the writer has already opened
 */
export async function openSqliteStandings(options: {
  path: string
  ring: MemtableRing
  now: () => number
  onFailure: (error: Error) => void
}): Promise<ThreadStandings> {
  const { path, ring, now, onFailure } = options
  const start = () => {
    const workerData: StandingsThreadData = { path, ring: ring.buffer, now_ms: now() }
    return startThread(threadModule('standings-thread', import.meta.url), { workerData })
  }
  const standings = new ThreadStandings({ start, readers: READERS, now, onFailure })
  await standings.opened
  return standings
}
