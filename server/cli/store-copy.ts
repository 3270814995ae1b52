import { randomUUID } from 'node:crypto'
import { closeSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createPrivateFile, syncFile } from '../storage/private-file.ts'
import { COMPANIONS } from '../storage/sqlite/store-files.ts'
import { copyStore } from '../storage/sqlite/transfer/copy.ts'
import type { CopiedStore } from '../storage/sqlite/transfer/copy-thread.ts'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Copies a store to a file that only the owner may read, verifies it, and passes it on to be renamed. Removes what is
 * left of it afterwards, or when a signal ends the process.
 * @param folder of the copy
 */
export async function withStoreCopy<Result>(
  path: string,
  folder: string,
  use: (copy: string, copied: CopiedStore) => Promise<Result> | Result,
): Promise<Result> {
  const copy = join(folder, `.cairn-copy-${randomUUID()}.partial`)
  const remove = () => {
    for (const suffix of ['', ...COMPANIONS]) rmSync(copy + suffix, { force: true })
  }
  const interrupted = (signal: NodeJS.Signals) => {
    remove()
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
    return await use(copy, copied)
  } finally {
    remove()
    for (const signal of SIGNALS) process.off(signal, interrupted)
  }
}
