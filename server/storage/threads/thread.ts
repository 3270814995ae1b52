import { setFlagsFromString } from 'node:v8'
import { Worker, type WorkerOptions } from 'node:worker_threads'

/**
 * Size of the young generation in a thread's heap, per semi-space. Objects of a group or a page die young;
 * `npm start` gives the main thread more, because each request in progress keeps what it has allocated.
 */
const YOUNG_MB = 8

/** Starts a thread of the store. */
export function startThread(module: URL, options: WorkerOptions): Worker {
  // Set as a flag, because flags given by `npm start` override the resourceLimits of a thread. The heap of the main
  // thread is already laid out by then.
  setFlagsFromString(`--max-semi-space-size=${YOUNG_MB}`)
  return new Worker(module, options)
}
