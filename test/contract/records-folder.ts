import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The folder where each test file of this run records the kinds of response that it has seen. */
    recordsFolder: string
  }
}

/** Creates the folder before a run and removes it afterwards. */
export function setup({ provide }: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-replies-'))
  provide('recordsFolder', folder)
  return () => rmSync(folder, { recursive: true })
}
