import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { median } from './median.ts'
import { runLoad, startPeer } from './processes.ts'
import type { Settings } from './settings.ts'
import { CONNECTIONS, initializeCustomers } from './windows.ts'

/** The speed of the machine, for comparing runs on different machines. */
export type Machine = {
  /** Requests per second that the load reaches against `bare`, which stores nothing. */
  bare_requests_per_s: number
  /** Median time of appending 4 KiB to a file and syncing it. */
  fsync_ms: number
}

const WRITES = 200

export async function measureMachine(folder: string, settings: Settings): Promise<Machine> {
  const bare = await startPeer('bare', folder)
  await initializeCustomers(bare)
  const { seconds, warmUpSeconds } = settings
  const window = { kind: 'single', connections: CONNECTIONS, messageIds: 'mixed' } as const
  const { requestsPerSecond } = await runLoad(bare, { ...window, seconds, warmUpSeconds })
  await bare.end()
  return { bare_requests_per_s: requestsPerSecond, fsync_ms: fsync_ms(join(folder, 'fsync')) }
}

function fsync_ms(path: string): number {
  const file = openSync(path, 'w')
  const page = Buffer.alloc(4096, 1)
  const times = Array.from({ length: WRITES }, () => {
    const begun = performance.now()
    writeSync(file, page)
    fsyncSync(file)
    return performance.now() - begun
  })
  closeSync(file)
  rmSync(path)
  return median(times)
}
