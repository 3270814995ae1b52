import { closeSync, statfsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { createPrivateFile, syncFile } from '../storage/private-file.ts'
import { removeCopy } from '../storage/sqlite/store-files.ts'
import { copyStore } from '../storage/sqlite/transfer/copy.ts'
import type { CopiedStore } from '../storage/sqlite/transfer/copy-thread.ts'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Copies a store to a file that only the owner may read, verifies it, and passes it on to be renamed. Removes what is
 * left of it afterwards, or when a signal ends the process.
 * @param options.copy path of the copy, which no other process uses
 * @param options.model see `createPrivateFile`
 * @throws {Error} that says how much space is missing, if its disk is full
 */
export async function withStoreCopy<Result>(
  { path, copy, model }: { path: string; copy: string; model: string | undefined },
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
    closeSync(createPrivateFile(copy, model))
    const copied = await copyStore({ path, copy })
    syncFile(copy)
    return await use(copied)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'SQLITE_FULL')) throw error
    // SQLite names no disk. Measured again without the copy, as the operator finds it.
    removeCopy(copy)
    const folder = dirname(resolve(copy))
    const { bavail, bsize } = statfsSync(folder)
    throw new Error(
      `the disk of ${folder} is full: the copy needs about ${statSync(path).size} bytes, and ${bavail * bsize} are ` +
        'free. Make room, or use another disk.',
      { cause: error },
    )
  } finally {
    removeCopy(copy)
    for (const signal of SIGNALS) process.off(signal, interrupted)
  }
}
