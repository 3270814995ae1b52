/** What a JSON text is made of, as far as it decides what it costs to read. Strings are not looked into. */
export type Outline = {
  /** Names included. */
  strings: number
  hasEscapes: boolean
  /** Of objects and arrays in each other. */
  levels: number
  /** Objects and arrays. */
  containers: number
  /**
   * Names by what stands before them in their object: objects of one kind count once, however many there are. Nearly
   * exact: a few in a hundred may be missed. Not counted in a short text, which has few.
   */
  layouts: number
}

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** In a shorter text layouts are not counted. */
const SHORT_BYTES = 4_096

/** Levels beyond this share one place for the layout of their object. */
const LEVELS = 64

/** A bit for each layout that was seen: 2^20 of them, by the layout's hash. */
const BITS = 20
const seen = new Int32Array(2 ** (BITS - 5))
const layoutAt = new Int32Array(LEVELS)

/**
 * Looks through a JSON text once, byte by byte, and keeps nothing of it: 2 ns a byte. Of what is no JSON it tells
 * something, too.
 */
export function outlineOf(bytes: Uint8Array): Outline {
  const countsLayouts = bytes.length > SHORT_BYTES
  if (countsLayouts) seen.fill(0)
  let strings = 0
  let hasEscapes = false
  let level = 0
  let levels = 0
  let containers = 0
  let layouts = 0
  let stringAt = 0
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at]
    if (byte === QUOTE) {
      strings += 1
      stringAt = at
      for (at += 1; at < bytes.length && bytes[at] !== QUOTE; at += 1) {
        if (bytes[at] !== BACKSLASH) continue
        hasEscapes = true
        at += 1
      }
    } else if (byte === 0x7b || byte === 0x5b) {
      containers += 1
      level += 1
      if (level > levels) levels = level
      layoutAt[level % LEVELS] = 0
    } else if (byte === 0x7d || byte === 0x5d) {
      if (level > 0) level -= 1
    } else if (byte === 0x3a && countsLayouts) {
      const layout = hash(bytes, stringAt, at, layoutAt[level % LEVELS] ?? 0)
      layoutAt[level % LEVELS] = layout
      const slot = layout >>> (37 - BITS)
      const bits = seen[slot] ?? 0
      const bit = 1 << (layout & 31)
      if ((bits & bit) === 0) layouts += 1
      seen[slot] = bits | bit
    }
  }
  return { strings, hasEscapes, levels, containers, layouts }
}

/** FNV-1a over the bytes of a name, mixed so that every bit of the result depends on all of them. */
function hash(bytes: Uint8Array, from: number, to: number, before: number): number {
  let hash = before ^ 0x811c9dc5
  for (let at = from; at < to; at += 1) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  return hash ^ (hash >>> 13)
}
