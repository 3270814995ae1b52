import { setFlagsFromString } from 'node:v8'
import { Worker, type WorkerOptions } from 'node:worker_threads'

/**
 * Room for what has just been made on the heap of a thread, on each side of it. What a group or a page makes is gone with
 * it; `npm start` gives the main thread more, where each request under way keeps what it has made.
 */
const YOUNG_MB = 8

/** Starts a thread of the store. */
export function startThread(module: URL, options: WorkerOptions): Worker {
  // A flag, because what `npm start` says by one goes before the resourceLimits of a thread. The heap of the main thread
  // has been laid out by then.
  setFlagsFromString(`--max-semi-space-size=${YOUNG_MB}`)
  return new Worker(module, options)
}
