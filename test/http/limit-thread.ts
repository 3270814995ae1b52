/** A thread that takes events of one key, as many as it can, from a rate that it shares. */
import { parentPort, workerData } from 'node:worker_threads'
import { RateLimiter } from '../../server/http/rates/rate-limit.ts'
import { SharedCounts, type SharedCountsMemory } from '../../server/http/rates/shared-counts.ts'

export type LimitThreadData = { memory: SharedCountsMemory; start: SharedArrayBuffer; attempts: number }

const { memory, start, attempts }: LimitThreadData = workerData
const limiter = new RateLimiter({ defaultRate: 10_000, now: () => 1_000, counts: new SharedCounts(memory) })
parentPort?.postMessage('ready')
Atomics.wait(new Int32Array(start), 0, 0)
let taken = 0
for (let attempt = 0; attempt < attempts; attempt += 1) {
  try {
    limiter.take({ key_id: 'key', rate_limit: null })
    taken += 1
  } catch {
    // Refused.
  }
}
parentPort?.postMessage(taken)
