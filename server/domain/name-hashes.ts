import { halfSipHash, saltKey, textWords } from './half-sip-hash.ts'

const NAME_RANGE = 2 ** 28

/**
 * Makes the numbers of 28 bits under which the names of events are looked up; others may have the same.
 * @param salt 16 hexadecimal digits. Whoever could choose names of one number would slow their look-up down.
 */
export function nameHashes(salt: string): (name: string) => number {
  const key = saltKey(salt)
  return (name) => halfSipHash(key, textWords(name)).low % NAME_RANGE
}
