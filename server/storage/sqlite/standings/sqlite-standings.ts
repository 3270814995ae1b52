import { ThreadStandings } from '../../standings/thread-standings.ts'
import { startThread } from '../../threads/thread.ts'
import { threadModule } from '../../threads/thread-module.ts'
import type { TailRing } from '../index/memtable.ts'
import type { StandingsThreadData } from './standings-thread.ts'

/** One at a time: all that are read take turns with following. */
const READERS = 1

/**
 * The standings of a store, in a file of their own that is made anew where it is lost.
 * @param options.path a file that the writer has opened before
 */
export async function openSqliteStandings(options: {
  path: string
  ring: TailRing
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
