import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { migrateFile } from '../../server/storage/sqlite/migrate-file.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The folder for the files of all tests, and the path of an empty store with its tables. */
    run: { folder: string; emptyStore: string }
  }
}

/** Creates the folder before a run and removes it afterwards: workers are killed when they have done their work. */
export async function setup({ provide }: TestProject): Promise<() => void> {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-test-'))
  const emptyStore = join(folder, 'empty.db')
  await migrateFile(emptyStore)
  // Some tests run a program as another user, in a folder of its own below this one.
  chmodSync(folder, 0o711)
  provide('run', { folder, emptyStore })
  return () => rmSync(folder, { recursive: true, force: true })
}
