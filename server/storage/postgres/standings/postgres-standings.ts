import { startThread } from '../../start-thread.ts'
import { threadModule } from '../../thread-module.ts'
import { ThreadStandings } from '../../thread-standings.ts'
import type { StandingsThreadData } from './standings-thread.ts'

/** How many reports are read at a time. */
const READERS = 2

/** The standings of a database, followed and read by a thread of each serving process. */
export function postgresStandings(options: {
  url: string
  now: () => number
  onFailure: (error: Error) => void
}): ThreadStandings {
  const { url, now, onFailure } = options
  const workerData: StandingsThreadData = { url, readers: READERS }
  const start = () => startThread(threadModule('standings-thread', import.meta.url), { workerData })
  return new ThreadStandings({ start, readers: READERS, now, onFailure })
}
