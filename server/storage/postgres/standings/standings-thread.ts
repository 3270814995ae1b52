/**
 * The thread that applies arrivals to the standings and reads them for reports; it also reads event counts. It runs
 * with a lower priority.
 */
import { setImmediate as nextRound, setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { readAddress } from '../../../domain/postgres-urls.ts'
import type { ActivityRequest } from '../../activity/activity.ts'
import { StandingsAnswers } from '../../standings/standings-answers.ts'
import type { StandingsQuery } from '../../standings/standings-query.ts'
import { answerRequests, say } from '../../standings/thread-requests.ts'
import { lowerPriority } from '../../threads/priority.ts'
import { type Failure, Unavailable } from '../../unavailable.ts'
import { Servers } from '../connection/connection.ts'
import { seenFromOutside } from '../connection/outages.ts'
import { Pool, readOn } from '../connection/pool.ts'
import { parsedUuid } from '../connection/uuids.ts'
import { readActivity } from '../reader/activity-reader.ts'
import { type Due, type Followed, StandingsFollower } from './standings-follower.ts'
import { StandingsSnapshots } from './standings-snapshots.ts'

export type StandingsThreadData = {
  url: string
  /** Maximum concurrent reports. */
  readers: number
  /** Maximum connections for applying arrivals, and how many of them may be used by slices that take long. */
  followers: number
  slow: number
}

/** Additional queries for the thread, because they keep a processor busy for long. */
export type ActivityQuery = { kind: 'activity'; workspaceId: string; request: ActivityRequest }

/** Polling interval for arrivals. What has arrived meanwhile is applied together, which is cheaper. */
const LOOK_MS = 300

/** Wait before a failed run is repeated. */
const RETRY_MS = 1_000

/** How long the other workspaces wait for a slice; then theirs are applied beside it. */
const SLICE_MS = 100

/** Pause between two slices of recomputing, as long as a slice. */
const REBUILD_PAUSE_MS = 50

/** Maximum time that a report waits for earlier arrivals. */
const CATCH_UP_MS = 200

/** Polling interval while another process applies the arrivals. */
const BUSY_MS = 20

const POOLS = {
  following: { mostWaiting: 10, statement_ms: 60_000 },
  reading: { mostWaiting: 10, statement_ms: 6_000 },
} as const

const data: StandingsThreadData = workerData
lowerPriority()

const servers = new Servers(readAddress(data.url))
const following = new Pool({ servers, most: data.followers, ...POOLS.following })
const reading = new Pool({ servers, most: data.readers, ...POOLS.reading })
const follower = new StandingsFollower(following)
const snapshots = new StandingsSnapshots(reading)
const answers = new StandingsAnswers()
const closing = new AbortController()
/** Slices that take long, by workspace. */
const slow = new Map<string, Promise<void>>()
/** Whether one of them has left more to do. */
let isMore = false
let isFailing = false

async function follow() {
  while (!closing.signal.aborted) {
    let pause_ms = LOOK_MS
    try {
      pause_ms = await followAll()
      if (slow.size === 0) isFailing = false
    } catch (error) {
      pause_ms = RETRY_MS
      fail(error)
    }
    say({ kind: 'connections', connections: following.openConnections + reading.openConnections })
    if (isMore) pause_ms = 0
    isMore = false
    await Promise.race([pause(pause_ms), ...slow.values()])
  }
}

async function pause(ms: number) {
  if (ms > 0) await sleep(ms, undefined, { signal: closing.signal }).catch(() => {})
  else await nextRound()
}

/** Does the pending work, one slice per workspace. @returns after how long to continue */
async function followAll(): Promise<number> {
  let pause_ms = LOOK_MS
  let failure: { error: unknown } | undefined
  for (const due of await follower.due()) {
    if (closing.signal.aborted) break
    if (slow.has(due.workspace)) continue
    try {
      pause_ms = Math.min(pause_ms, await unlessSlow(due.workspace, followOne(due)))
    } catch (error) {
      // Continue with the other workspaces.
      failure = { error }
    }
  }
  if (failure) throw failure.error
  return pause_ms
}

/** Does the pending work of a workspace: one slice. @returns after how long to continue */
async function followOne({ workspace, isArrived, isEdited, isToRebuild }: Due): Promise<number> {
  let pause_ms = LOOK_MS
  if (isEdited && (await follower.adoptEdits(workspace)) === 'more') pause_ms = 0
  if (isArrived && (await follower.follow(workspace)) === 'more') pause_ms = 0
  if (isToRebuild && (await follower.rebuild(workspace)) === 'more') {
    pause_ms = Math.min(pause_ms, REBUILD_PAUSE_MS)
  }
  return pause_ms
}

/**
 * Waits for the slice of a workspace, but unless too many are slow, not for long: its locks or its customers' many events
 * must not stop the others.
 */
async function unlessSlow(workspace: string, slice: Promise<number>): Promise<number> {
  if (slow.size >= data.slow) return await slice
  const waiting = new AbortController()
  const pause_ms = await Promise.race([
    slice,
    sleep(SLICE_MS, undefined, { signal: waiting.signal }).catch(() => undefined),
  ])
  waiting.abort()
  if (pause_ms !== undefined) return pause_ms
  const failed = (error: unknown) => {
    fail(error)
    return pause(RETRY_MS)
  }
  const ended = async (pause_ms: number) => {
    isMore ||= pause_ms === 0
    if (pause_ms === REBUILD_PAUSE_MS) await pause(pause_ms)
  }
  const done = slice.then(ended, failed).finally(() => slow.delete(workspace))
  slow.set(workspace, done)
  return LOOK_MS
}

function fail(error: unknown) {
  if (!isFailing && !closing.signal.aborted) say({ kind: 'failed', failure: failureOf(error) })
  isFailing = true
}

/** Waits for earlier arrivals, but not for long: a slice may take seconds, and continues beside the report. */
async function catchUp(query: StandingsQuery, signal: AbortSignal) {
  await Promise.race([takeIn(query, signal), sleep(CATCH_UP_MS, undefined, { ref: false })])
}

/** Lets earlier arrivals be applied, and edited steps be adopted. */
async function takeIn(query: StandingsQuery, signal: AbortSignal) {
  const workspace = parsedUuid(query.workspaceId)
  if (workspace === undefined) return
  const journey = 'journeyId' in query ? parsedUuid(query.journeyId) : undefined
  const until_ms = performance.now() + CATCH_UP_MS
  try {
    let isCaughtUp = false
    while (performance.now() < until_ms && !signal.aborted) {
      const { isArrived, isEdited } = await snapshots.due(workspace, journey)
      const isBehind: boolean = isArrived && !isCaughtUp
      if (!isBehind && !isEdited) return
      const followed: Followed = isBehind
        ? await follower.follow(workspace)
        : await follower.adopt(workspace, journey === undefined ? [] : [journey])
      // What arrives meanwhile is later than the request.
      if (isBehind) isCaughtUp = followed === 'all'
      if (followed === 'busy') await sleep(BUSY_MS)
    }
  } catch (error) {
    // What is there can be read all the same; if not, that error is reported.
    fail(error)
  }
}

async function standings(query: StandingsQuery, signal: AbortSignal): Promise<unknown> {
  // What is read ahead need not be the latest.
  if (query.kind !== 'readAhead') await catchUp(query, signal)
  const { workspaceId } = query
  return await snapshots.read(workspaceId, signal, (source) => answers.answer(source, query, signal))
}

async function activity({ workspaceId, request }: ActivityQuery, now_ms: number, signal: AbortSignal) {
  const counted = await readOn(reading, signal, (connection) =>
    readActivity(connection, workspaceId, request, now_ms),
  )
  return new TextEncoder().encode(JSON.stringify(counted))
}

function failureOf(error: unknown): Failure {
  const seen = seenFromOutside(error)
  return {
    message: error instanceof Error ? (error.stack ?? error.message) : String(error),
    outage: seen instanceof Unavailable ? seen.reason : undefined,
  }
}

const followed = follow()
answerRequests<ActivityQuery>({
  answer: (query, signal, now_ms) =>
    query.kind === 'activity' ? activity(query, now_ms, signal) : standings(query, signal),
  failureOf,
  async close() {
    closing.abort()
    await followed
    await Promise.all(slow.values())
    await Promise.all([following.close(), reading.close()])
    parentPort?.close()
  },
})
