/** The thread that follows the store into its standings and reads them for reports. It runs at low priority. */
import { setImmediate } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { answerRequests, say } from '../../standings/thread-requests.ts'
import { lowerPriority } from '../../threads/priority.ts'
import type { Failure } from '../../unavailable.ts'
import { isDamage } from '../connection.ts'
import { MemtableRing } from '../index/memtable.ts'
import { failureOf } from '../statement.ts'
import { NoRoom, StandingsFollower } from './standings-follower.ts'

export type StandingsThreadData = { path: string; ring: SharedArrayBuffer; now_ms: number }

/**
 * Polling interval for changes of the store. Changes that accumulate meanwhile are processed in one batch, which is
 * cheaper.
 */
const LOOK_MS = 250

/** Delay before a retry after a disk error or a held lock. */
const RETRY_MS = 1_000

/**
 * After this many failures of another kind without a success the file is deleted and rebuilt, with a longer delay each time.
 */
const FAILURES = 3
const GREATEST_RETRY_MS = 60_000

/** How long a report waits, at most, for everything that was stored before the request. */
const CATCH_UP_MS = 200

const data: StandingsThreadData = workerData
lowerPriority()

/** How far the clock of the callers is ahead of this thread's. */
let ahead_ms = data.now_ms - Date.now()
const follower = new StandingsFollower(data.path, new MemtableRing(data.ring), () => Date.now() + ahead_ms)
let isClosing = false
let wake = () => {}
/** Consecutive failures, and those among them that are no outage. */
let failures = 0
let faults = 0
/** When the latest check that found everything processed began, by `performance.now()`. */
let caughtUpAt_ms = Number.NEGATIVE_INFINITY
let onCaughtUp = () => {}

/** Waits for a time, or until a request arrives. */
function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    wake = () => {
      clearTimeout(timer)
      resolve()
    }
  })
}

/** Does what is due. @returns the delay before the next step */
async function step(): Promise<number> {
  const began_ms = performance.now()
  const { isAll, events } = await follower.follow()
  if (!isAll) return 0
  caughtUpAt_ms = began_ms
  onCaughtUp()
  // Rebuild between two checks, as long as no request arrives, but always something: a check may last that long. While
  // much is being stored, for half of the time.
  for (let at_ms = performance.now(); await follower.rebuild(); at_ms = performance.now()) {
    if (isClosing || wanted_ms > began_ms || at_ms > began_ms + LOOK_MS) break
    if (events > 0) await pause(performance.now() - at_ms)
    else await setImmediate()
  }
  return Math.max(0, began_ms + LOOK_MS - performance.now())
}

/** Time of the last request. */
let wanted_ms = Number.NEGATIVE_INFINITY

async function run() {
  while (!isClosing) {
    let pause_ms: number
    try {
      pause_ms = await step()
      failures = 0
      faults = 0
    } catch (error) {
      pause_ms = recover(error)
    }
    if (pause_ms > 0 && !isClosing && !(failures === 0 && wanted_ms > caughtUpAt_ms)) await pause(pause_ms)
    else await setImmediate()
  }
  follower.close()
  parentPort?.close()
}

/** @returns the delay before the retry */
function recover(error: unknown): number {
  const failure: Failure =
    error instanceof NoRoom ? { message: error.message, outage: 'storage_full' } : failureOf(error)
  if (failures === 0) say({ kind: 'failed', failure })
  failures += 1
  // Nothing was begun, and reports are answered from what is derived so far.
  if (error instanceof NoRoom) return RETRY_MS
  const isOutage = failure.outage !== undefined && !isDamage(error)
  if (!isOutage) faults += 1
  try {
    follower.recover({ isDamaged: isDamage(error) || (!isOutage && faults % FAILURES === 0) })
  } catch {
    // Recreating the file failed too; the next step meets the same error.
  }
  return isOutage ? RETRY_MS : Math.min(RETRY_MS * 2 ** (faults - 1), GREATEST_RETRY_MS)
}

/** Waits until everything stored by now is processed, up to a limit. */
async function catchUp() {
  wanted_ms = performance.now()
  const since_ms = wanted_ms
  if (failures > 0) return
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, CATCH_UP_MS)
    onCaughtUp = () => {
      if (caughtUpAt_ms < since_ms) return
      clearTimeout(timer)
      resolve()
    }
    wake()
  })
  onCaughtUp = () => {}
}

answerRequests({
  async answer(query, signal, now_ms) {
    ahead_ms = now_ms - Date.now()
    // What is read ahead need not be the latest.
    if (query.kind !== 'readAhead') await catchUp()
    return await follower.answer(query, signal)
  },
  failureOf,
  close() {
    isClosing = true
    wake()
  },
})

try {
  follower.open()
} catch (error) {
  recover(error)
}
say({ kind: 'opened' })
void run()
