import { JsonBytes } from '../../../domain/json-bytes.ts'
import type { ReadActivity } from '../../activity/activity.ts'
import { ThreadStandings } from '../../standings/thread-standings.ts'
import { startThread } from '../../threads/thread.ts'
import { threadModule } from '../../threads/thread-module.ts'
import type { ActivityQuery, StandingsThreadData } from './standings-thread.ts'

/** Maximum concurrent reports. */
const READERS = 2

/** One connection follows, another one lets reports catch up beside it, and one is for a slice that takes long. */
const FOLLOWERS = 3
const SLOW = 1

/** The most connections of the thread. */
export const STANDINGS_CONNECTIONS = READERS + FOLLOWERS

/**
 * The standings of a database, updated and read by a thread of each serving process, which sums up event counts too.
 */
export class PostgresStandings extends ThreadStandings<ActivityQuery> {
  constructor(options: { url: string; now: () => number; onFailure: (error: Error) => void }) {
    const { url, now, onFailure } = options
    const workerData: StandingsThreadData = { url, readers: READERS, followers: FOLLOWERS, slow: SLOW }
    const start = () => startThread(threadModule('standings-thread', import.meta.url), { workerData })
    super({ start, readers: READERS, now, onFailure })
  }

  readonly activity: ReadActivity = async (workspaceId, request, reading) =>
    new JsonBytes((await this.ask({ kind: 'activity', workspaceId, request }, reading)) as Uint8Array)
}
