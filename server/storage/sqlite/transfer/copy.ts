import { once } from 'node:events'
import { startThread } from '../../threads/thread.ts'
import { threadModule } from '../../threads/thread-module.ts'
import type { CopiedStore } from './copy-thread.ts'

/**
 * Copies the state of a store at one moment, while others write to it, and checks the copy. The store is only read.
 * The write-ahead log cannot be emptied meanwhile: it grows by what is written, up to the server's limit.
 * @param options.copy a file that is empty; it is not synced
 * @throws {Error} where either file fails, the disk is full, or the copy is damaged
 */
export async function copyStore(options: { path: string; copy: string }): Promise<CopiedStore> {
  const thread = startThread(threadModule('copy-thread', import.meta.url), { workerData: options })
  const [copied] = await once(thread, 'message')
  return copied
}
