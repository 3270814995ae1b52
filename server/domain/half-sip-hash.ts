/** A hash of 64 bits, as two numbers of 32. */
export type Hash64 = { low: number; high: number }

/**
 * HalfSipHash-2-4 with 64 bits of output (Aumasson and Bernstein, "SipHash: a fast short-input PRF"). Without the key
 * nobody can choose words that collide. Used instead of SHA-256, because a call into the crypto library takes 1.4 µs.
 * @param key 64 bits
 * @param words the message, in words of 32 bits
 */
export function halfSipHash({ low, high }: Hash64, words: ArrayLike<number>): Hash64 {
  const count = words.length
  let v0 = low | 0
  let v1 = high ^ 0xee
  let v2 = low ^ 0x6c796765
  let v3 = high ^ 0x74656462
  let first = 0
  // Two rounds per word and two for the length, then four rounds per half of the hash.
  for (let step = 0; step < 2 * count + 10; step += 1) {
    const index = step >>> 1
    const word = index < count ? (words[index] as number) : index === count ? count << 26 : 0
    if (step % 2 === 0) {
      v3 ^= word
      if (index === count + 1) v2 ^= 0xee
      if (index === count + 3) {
        first = v1 ^ v3
        v1 ^= 0xdd
      }
    }
    v0 = (v0 + v1) | 0
    v1 = (v1 << 5) | (v1 >>> 27)
    v1 ^= v0
    v0 = (v0 << 16) | (v0 >>> 16)
    v2 = (v2 + v3) | 0
    v3 = (v3 << 8) | (v3 >>> 24)
    v3 ^= v2
    v0 = (v0 + v3) | 0
    v3 = (v3 << 7) | (v3 >>> 25)
    v3 ^= v0
    v2 = (v2 + v1) | 0
    v1 = (v1 << 13) | (v1 >>> 19)
    v1 ^= v2
    v2 = (v2 << 16) | (v2 >>> 16)
    if (step % 2 === 1) v0 ^= word
  }
  return { low: first >>> 0, high: (v1 ^ v3) >>> 0 }
}

/** Returns the key of a store's salt of 16 hexadecimal digits. */
export function saltKey(salt: string): Hash64 {
  return { low: Number.parseInt(salt.slice(0, 8), 16), high: Number.parseInt(salt.slice(8), 16) }
}

/** Encodes a text as words: two UTF-16 code units each, after the length, because the last word may be half full. */
export function textWords(text: string): number[] {
  const words = [text.length]
  for (let at = 0; at < text.length; at += 2) {
    words.push(text.charCodeAt(at) | (at + 1 < text.length ? text.charCodeAt(at + 1) << 16 : 0))
  }
  return words
}
