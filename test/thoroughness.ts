import { processEnvironment } from '../server/config.ts'

/**
 * How many cases a test tries that could try any number: all of them in CI, where the environment variable `CI` is set, and
 * a part of them elsewhere, so that nobody puts off running the tests. It is the number alone that differs.
 */
export function casesToTry({ inCi, elsewhere }: { inCi: number; elsewhere: number }): number {
  return processEnvironment().CI ? inCi : elsewhere
}
