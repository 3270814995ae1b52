/** The measures of a JSON text that determine the cost of reading it. Strings are not inspected. */
export type Outline = {
  /** Including names. */
  strings: number
  hasEscapes: boolean
  escapedNames: number
  /** Maximum nesting of objects and arrays. */
  levels: number
  /** Number of objects and arrays. */
  containers: number
  /**
   * Number of distinct names by what precedes them in their object: objects of one shape count once, however many there
   * are. Nearly exact, by a bitmap of hashes (linear counting): a few percent may be missed. Not counted in a short
   * text.
   */
  layouts: number
}

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** Minimum length of a text in which layouts are counted. */
const SHORT_BYTES = 4_096

/** Deeper levels share the layout slots of shallower ones. */
const LEVELS = 64

/** Size of the bitmap of layouts seen: 2^20 bits, by the layout's hash. */
const BITS = 20

/** Maximum bytes per slice of a long text: one or two milliseconds. */
const SLICE_BYTES = 512 * 1024

/** The state of a scan. */
class Walk {
  at = 0
  level = 0
  stringAt = 0
  escapeAt = -1
  readonly seen = new Int32Array(2 ** (BITS - 5))
  readonly layoutAt = new Int32Array(LEVELS)
  outline: Outline = { strings: 0, hasEscapes: false, escapedNames: 0, levels: 0, containers: 0, layouts: 0 }
}

/** Shared by scans that run without a pause. */
const walk = new Walk()
const { outline: NOTHING } = walk

/**
 * Scans a JSON text once, byte by byte, without allocating: 2 ns per byte, twice that for brackets only. For invalid
 * JSON the measures are approximate.
 */
export function outlineOf(bytes: Uint8Array): Outline {
  Object.assign(walk, { at: 0, level: 0, stringAt: 0, escapeAt: -1, outline: NOTHING })
  if (bytes.length > SHORT_BYTES) walk.seen.fill(0)
  lookThrough(bytes, walk, bytes.length)
  return walk.outline
}

/**
 * The same, in slices if the text is long.
 * @param pause awaited between two slices; other texts may be scanned meanwhile
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

/** Scans to `end`, and further to the end of a string that started before it. */
function lookThrough(bytes: Uint8Array, walk: Walk, end: number): void {
  const countsLayouts = bytes.length > SHORT_BYTES
  const { seen, layoutAt } = walk
  // Local variables, because changing those of the walk takes longer.
  let { at, level, stringAt, escapeAt } = walk
  let { strings, escapedNames, levels, containers, layouts } = walk.outline
  for (; at < end; at += 1) {
    const byte = bytes[at]
    if (byte === QUOTE) {
      strings += 1
      stringAt = at
      for (at += 1; at < bytes.length && bytes[at] !== QUOTE; at += 1) {
        if (bytes[at] !== BACKSLASH) continue
        escapeAt = at
        at += 1
      }
    } else if (byte === 0x7b || byte === 0x5b) {
      containers += 1
      level += 1
      if (level > levels) levels = level
      layoutAt[level % LEVELS] = 0
    } else if (byte === 0x7d || byte === 0x5d) {
      if (level > 0) level -= 1
    } else if (byte === 0x3a) {
      if (escapeAt > stringAt) escapedNames += 1
      if (!countsLayouts) continue
      const layout = hash(bytes, stringAt, at, layoutAt[level % LEVELS] ?? 0)
      layoutAt[level % LEVELS] = layout
      const slot = layout >>> (37 - BITS)
      const bits = seen[slot] ?? 0
      const bit = 1 << (layout & 31)
      if ((bits & bit) === 0) layouts += 1
      seen[slot] = bits | bit
    }
  }
  Object.assign(walk, { at, level, stringAt, escapeAt })
  const hasEscapes = escapeAt >= 0
  walk.outline = { strings, hasEscapes, escapedNames, levels, containers, layouts }
}

/** FNV-1a over the bytes of a name, then mixed, so that every bit of the result depends on all bytes. */
function hash(bytes: Uint8Array, from: number, to: number, before: number): number {
  let hash = before ^ 0x811c9dc5
  for (let at = from; at < to; at += 1) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  return hash ^ (hash >>> 13)
}
