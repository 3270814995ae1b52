import { randomInt } from 'node:crypto'
import type { TestProject } from 'vitest/node'
import { processEnvironment } from '../../server/config.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The seed of all generated cases of a run. */
    seed: number
  }
}

/** Chooses the seed of a run and prints it; `CAIRN_TEST_SEED` sets that of an earlier run. */
export function setup({ provide }: TestProject): void {
  const given = processEnvironment().CAIRN_TEST_SEED
  const seed = given === undefined ? randomInt(2 ** 31) : Number(given)
  if (!Number.isInteger(seed)) throw new Error('CAIRN_TEST_SEED is not an integer')
  process.stdout.write(`generated cases: CAIRN_TEST_SEED=${seed}\n`)
  provide('seed', seed)
}
