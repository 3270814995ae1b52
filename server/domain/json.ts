import { isUtf8 } from 'node:buffer'
import { type Fault, Problem } from '../problems.ts'
import { jsonFaults, NESTING } from './json-faults.ts'
import { type Outline, outlineInSlices, outlineOf } from './json-outline.ts'
import { type JsonValue, parseJsonText } from './json-text.ts'

/**
 * Maximum nesting of a body, including the levels around a field's value, maximum number of objects and arrays, and
 * maximum number of distinct names by what precedes them in their object. Real bodies have a tenth of that. Without a
 * bound, four million bytes of `[]` take ten times as long to read as a batch of that size, and distinct names take the
 * memory of twenty such batches.
 */
const BOUNDS = {
  single: { levels: NESTING + 1, containers: 10_000, layouts: 5_000 },
  /** Around a field of an item are the body, its array and the item. */
  batch: { levels: NESTING + 3, containers: 100_000, layouts: 40_000 },
}

/** Maximum number of names with an escape, each of which is decoded by itself. Only a batch has room for as many. */
const ESCAPED_NAMES = 100_000

/** Whether a body is a single item or a batch. */
export type BodyKind = keyof typeof BOUNDS

/**
 * Parses a body as I-JSON (RFC 7493). What two readers could understand differently is refused, because it would change
 * silently: duplicate names, numbers outside the range of a double, lone surrogates, invalid UTF-8, too deep nesting.
 * So is a body that would take much longer to read than others of its size. Linear in the number of bytes, whatever
 * they are.
 *
 * @param bytes the body, inflated
 * @throws {Problem} `invalid_json` with the position of every fault, up to one more than a response lists
 */
export function parseJson(bytes: Buffer, kind: BodyKind = 'single'): JsonValue {
  assertEncoding(bytes)
  return read(bytes, kind, outlineOf(bytes))
}

/**
 * The same for a body that may be long: four million bytes of brackets take 20 ms to refuse, and as long to distinguish
 * from a valid one.
 * @param pause awaited between two slices of one or two milliseconds
 */
export async function parseJsonInPieces(
  bytes: Buffer,
  kind: BodyKind,
  pause: () => Promise<void>,
): Promise<JsonValue> {
  assertEncoding(bytes)
  return read(bytes, kind, await outlineInSlices(bytes, pause))
}

/**
 * What editors and shells on Windows prepend to a text, or encode it in. A byte order mark is invisible, so "not JSON
 * at column 1" would send people looking in the wrong place. UTF-16 without one has a NUL in its first two bytes.
 */
const BYTE_ORDER_MARKS = [
  { bytes: Buffer.of(0xef, 0xbb, 0xbf), name: '(BOM, U+FEFF)' },
  { bytes: Buffer.of(0xff, 0xfe, 0, 0), name: '(BOM) of UTF-32' },
  { bytes: Buffer.of(0, 0, 0xfe, 0xff), name: '(BOM) of UTF-32' },
  { bytes: Buffer.of(0xff, 0xfe), name: '(BOM) of UTF-16' },
  { bytes: Buffer.of(0xfe, 0xff), name: '(BOM) of UTF-16' },
]

function assertEncoding(bytes: Buffer) {
  // JSON never starts with such a byte, so nearly every body skips the search.
  const [first = 0x20, second = 0x20] = bytes
  if (first === 0 || first >= 0x80) {
    const mark = BYTE_ORDER_MARKS.find((mark) => bytes.subarray(0, mark.bytes.length).equals(mark.bytes))
    if (mark) {
      const detail = `begins with a byte order mark ${mark.name}: must be UTF-8 without one`
      throw invalid([{ detail, pointer: '' }])
    }
  }
  if (first === 0 || second === 0)
    throw invalid([{ detail: 'looks like UTF-16: must be UTF-8', pointer: '' }])
  if (!isUtf8(bytes)) throw invalid([{ detail: 'must be UTF-8', pointer: '' }])
}

function read(bytes: Buffer, kind: BodyKind, outline: Outline): JsonValue {
  const { levels, containers, layouts } = BOUNDS[kind]
  if (outline.containers > containers) throw invalid([tooMany('objects and arrays', containers)])
  if (outline.layouts > layouts) throw invalid([tooMany('different names', layouts)])
  if (outline.escapedNames > ESCAPED_NAMES) throw invalid([tooMany('names with an escape', ESCAPED_NAMES)])
  const text = bytes.toString('utf8')
  // Nearly every body is valid, and tracking the position would take longer than everything else.
  const value = outline.levels > levels ? undefined : readValue(text, outline)
  if (value === undefined) throw invalid(jsonFaults(text, levels))
  return value
}

function invalid(faults: Fault[]): Problem {
  return new Problem('invalid_json', { faults })
}

function tooMany(what: string, most: number): Fault {
  return { detail: `must not contain more than ${most} ${what}`, pointer: '' }
}

/** Returns the value of the text, or undefined if it has a fault. */
function readValue(text: string, { strings, hasEscapes, escapedNames }: Outline): JsonValue | undefined {
  let value: JsonValue
  try {
    value = escapedNames > 0 ? parseJsonText(text) : JSON.parse(text)
  } catch {
    return undefined
  }
  // More strings in the text than in the value mean a duplicate name.
  return stringsIn(value, hasEscapes) === strings ? value : undefined
}

/**
 * Returns the number of strings in a value, names included; NaN if it has a fault that JSON.parse accepts.
 * @param hasEscapes whether the text has any: without one, valid UTF-8 cannot contain a lone surrogate
 */
function stringsIn(value: JsonValue, hasEscapes: boolean): number {
  if (typeof value === 'string') return hasEscapes && !value.isWellFormed() ? Number.NaN : 1
  if (typeof value === 'number') return Number.isFinite(value) ? 0 : Number.NaN
  if (typeof value !== 'object' || value === null) return 0
  if (Array.isArray(value)) return sumOfStrings(value, hasEscapes)
  // By values, because looking each of them up by name takes twice as long.
  const values = Object.values(value)
  const count = values.length + sumOfStrings(values, hasEscapes)
  return hasEscapes && !Object.keys(value).every((name) => name.isWellFormed()) ? Number.NaN : count
}

function sumOfStrings(values: JsonValue[], hasEscapes: boolean): number {
  let count = 0
  for (const value of values) {
    count += stringsIn(value, hasEscapes)
    // One fault is enough: four million bytes of them take 20 ms.
    if (Number.isNaN(count)) break
  }
  return count
}
