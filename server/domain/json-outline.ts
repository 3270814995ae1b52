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

/** Of a longer text so many bytes are looked through at a time: one or two milliseconds. */
const SLICE_BYTES = 512 * 1024

/** How far a text has been looked through, and what was found. */
class Walk {
  at = 0
  level = 0
  stringAt = 0
  readonly seen = new Int32Array(2 ** (BITS - 5))
  readonly layoutAt = new Int32Array(LEVELS)
  outline: Outline = { strings: 0, hasEscapes: false, levels: 0, containers: 0, layouts: 0 }
}

/** Of those that are looked through at once. */
const walk = new Walk()
const { outline: NOTHING } = walk

/**
 * Looks through a JSON text once, byte by byte, and keeps nothing of it: 2 ns a byte, twice that where it has nothing but
 * brackets. Of what is no JSON it tells something, too.
 */
export function outlineOf(bytes: Uint8Array): Outline {
  Object.assign(walk, { at: 0, level: 0, stringAt: 0, outline: NOTHING })
  if (bytes.length > SHORT_BYTES) walk.seen.fill(0)
  lookThrough(bytes, walk, bytes.length)
  return walk.outline
}

/**
 * The same, slice by slice where the text is long.
 * @param pause is awaited between two slices; other texts may be looked through meanwhile
 */
export async function outlineInSlices(bytes: Uint8Array, pause: () => Promise<void>): Promise<Outline> {
  if (bytes.length <= SLICE_BYTES) return outlineOf(bytes)
  const walk = new Walk()
  for (let end = SLICE_BYTES; walk.at < bytes.length; end += SLICE_BYTES) {
    if (walk.at > 0) await pause()
    lookThrough(bytes, walk, Math.min(end, bytes.length))
  }
  return walk.outline
}

/** Goes on to `end`, and from there to the end of a string that has begun before. */
function lookThrough(bytes: Uint8Array, walk: Walk, end: number): void {
  const countsLayouts = bytes.length > SHORT_BYTES
  const { seen, layoutAt } = walk
  // Variables of its own: to change those of the walk takes longer.
  let { at, level, stringAt } = walk
  let { strings, hasEscapes, levels, containers, layouts } = walk.outline
  for (; at < end; at += 1) {
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
  Object.assign(walk, { at, level, stringAt })
  walk.outline = { strings, hasEscapes, levels, containers, layouts }
}

/** FNV-1a over the bytes of a name, mixed so that every bit of the result depends on all of them. */
function hash(bytes: Uint8Array, from: number, to: number, before: number): number {
  let hash = before ^ 0x811c9dc5
  for (let at = from; at < to; at += 1) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  return hash ^ (hash >>> 13)
}
