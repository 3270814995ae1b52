import { once } from 'node:events'
import { startThread } from '../../threads/thread.ts'
import { threadModule } from '../../threads/thread-module.ts'
import type { CopiedStore } from './copy-thread.ts'

/**
 * Copies a snapshot of a store while others write to it, and verifies the copy. The store is only read.
 * Meanwhile the write-ahead log cannot be truncated: it grows by what is written, up to the server's limit.
 * @param options.copy an empty file; it is not synced
 * @throws {Error} if either file fails, the disk is full, or the copy is damaged
 */
export async function copyStore(options: { path: string; copy: string }): Promise<CopiedStore> {
  const thread = startThread(threadModule('copy-thread', import.meta.url), { workerData: options })
  const [copied] = await once(thread, 'message')
  return copied
}
