import { closeSync } from 'node:fs'
import { createPrivateFile, syncFile } from '../storage/private-file.ts'
import { removeCopy } from '../storage/sqlite/store-files.ts'
import { copyStore } from '../storage/sqlite/transfer/copy.ts'
import type { CopiedStore } from '../storage/sqlite/transfer/copy-thread.ts'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Copies a store to a file that only the owner may read, verifies it, and passes it on to be renamed. Removes what is
 * left of it afterwards, or when a signal ends the process.
 * @param copy path of the copy, which no other process uses
 */
export async function withStoreCopy<Result>(
  path: string,
  copy: string,
  use: (copied: CopiedStore) => Promise<Result> | Result,
): Promise<Result> {
  const interrupted = (signal: NodeJS.Signals) => {
    removeCopy(copy)
    // Ends by the signal itself: process.exit would wait for the thread that copies.
    for (const each of SIGNALS) process.off(each, interrupted)
    process.kill(process.pid, signal)
  }
  for (const signal of SIGNALS) process.on(signal, interrupted)
  try {
    // Created here and not by SQLite, so that it is never readable by others.
    closeSync(createPrivateFile(copy))
    const copied = await copyStore({ path, copy })
    syncFile(copy)
    return await use(copied)
  } finally {
    removeCopy(copy)
    for (const signal of SIGNALS) process.off(signal, interrupted)
  }
}
