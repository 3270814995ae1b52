import { halfSipHash, saltKey, textWords } from './half-sip-hash.ts'

const NAME_RANGE = 2 ** 28

/**
 * Returns the function from event names to their 28-bit keys in the index; several names may share a key.
 * @param salt 16 hexadecimal digits: a sender who could choose names with the same key would slow their lookup down
 */
export function nameHashes(salt: string): (name: string) => number {
  const key = saltKey(salt)
  return (name) => halfSipHash(key, textWords(name)).low % NAME_RANGE
}
