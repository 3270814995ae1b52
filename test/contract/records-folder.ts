import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Where each test file of this run leaves the kinds of reply that it has seen. */
    recordsFolder: string
  }
}

/** Makes the folder before a run and removes it afterwards. */
export function setup({ provide }: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-replies-'))
  provide('recordsFolder', folder)
  return () => rmSync(folder, { recursive: true })
}
