import { processEnvironment } from '../server/config.ts'

/**
 * Returns the number of cases of a test that could try any number: all of them in CI, where the environment variable
 * `CI` is set, and fewer elsewhere, so that the suite is quick. Nothing else differs.
 */
export function casesToTry({ inCi, elsewhere }: { inCi: number; elsewhere: number }): number {
  return processEnvironment().CI ? inCi : elsewhere
}
