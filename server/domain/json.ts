import { isUtf8 } from 'node:buffer'
import { createScanner, type ParseError, parse, printParseErrorCode } from 'jsonc-parser'
import { type Fault, Problem } from '../problems.ts'

export type JsonValue = string | number | boolean | null | JsonValue[] | { [name: string]: JsonValue }

/** A field's value may nest this deep: deeper than data is, shallow enough for every reader. */
const NESTING = 32

/** A pointer is cut where it would be longer (contract: `Fault.pointer`). */
const POINTER_LENGTH = 2000

/**
 * Reads a body as I-JSON (RFC 7493). What two readers could understand differently is refused, because it would change
 * in silence: names given twice, numbers beyond a double, lone surrogates, invalid UTF-8, too deep nesting.
 *
 * @param bytes the body, inflated
 * @param envelope how many levels lie around a field's value: 1 for an object, 3 for the items of a batch
 * @throws {Problem} `invalid_json` with every fault's place
 */
export function parseJson(bytes: Buffer, envelope = 1): JsonValue {
  if (!isUtf8(bytes)) throw invalid([{ detail: 'must be UTF-8', pointer: '' }])
  const text = bytes.toString('utf8')
  let value: JsonValue
  try {
    value = JSON.parse(text)
  } catch {
    throw invalid([syntaxFault(text)])
  }
  const depth = NESTING + envelope
  // Nearly every body is good, and to keep track of the place would take longer than all else.
  const escapes = bytes.includes(0x5c)
  const strings = countOfGood(value, depth, escapes)
  if (strings !== -1 && strings === countStrings(bytes, escapes)) return value
  const seen = new Walk(depth)
  seen.value(value, '', 0)
  throw invalid(seen.faults.length > 0 ? seen.faults : repeatedNames(text))
}

/** The JSON Pointer (RFC 6901) of `name` in the value at `parent`. */
export function pointerTo(parent: string, name: string): string {
  return cut(`${parent}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`)
}

/** The pointer where it is not too long; else its beginning, without half a character or half an escape at the end. */
function cut(pointer: string): string {
  if (pointer.length <= POINTER_LENGTH) return pointer
  return pointer.slice(0, POINTER_LENGTH).toWellFormed().replace(/~$/, '')
}

function invalid(faults: Fault[]): Problem {
  return new Problem('invalid_json', { faults })
}

/**
 * How many strings, names included, a value holds; -1 where it has a fault that JSON.parse lets through.
 * @param escapes whether the text has any: without one, being valid UTF-8, it cannot hold a lone surrogate
 */
function countOfGood(value: JsonValue, depth: number, escapes: boolean): number {
  if (typeof value === 'string') return escapes && !value.isWellFormed() ? -1 : 1
  if (typeof value === 'number') return Number.isFinite(value) ? 0 : -1
  if (typeof value !== 'object' || value === null) return 0
  if (depth === 0) return -1
  let count = 0
  if (Array.isArray(value)) {
    for (const item of value) {
      const inner = countOfGood(item, depth - 1, escapes)
      if (inner === -1) return -1
      count += inner
    }
    return count
  }
  for (const name of Object.keys(value)) {
    const inner = countOfGood(value[name] as JsonValue, depth - 1, escapes)
    if (inner === -1 || (escapes && !name.isWellFormed())) return -1
    count += 1 + inner
  }
  return count
}

/** One pass over a parsed value for the places of the faults that JSON.parse lets through. */
class Walk {
  readonly faults: Fault[] = []
  readonly #depth: number

  constructor(depth: number) {
    this.#depth = depth
  }

  value(value: JsonValue, pointer: string, depth: number): void {
    if (typeof value === 'string') this.#string(value, pointer)
    else if (typeof value === 'number') this.#number(value, pointer)
    else if (typeof value === 'object' && value !== null) this.#container(value, pointer, depth + 1)
  }

  #string(value: string, pointer: string) {
    if (!value.isWellFormed()) this.faults.push({ detail: 'must not contain a lone surrogate', pointer })
  }

  #number(value: number, pointer: string) {
    if (!Number.isFinite(value))
      this.faults.push({ detail: 'must be a number that a double can hold', pointer })
  }

  #container(value: JsonValue[] | { [name: string]: JsonValue }, pointer: string, depth: number) {
    if (depth > this.#depth) {
      this.faults.push({ detail: `must not nest more than ${NESTING} levels`, pointer })
    } else if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) this.value(item, cut(`${pointer}/${index}`), depth)
    } else {
      for (const name of Object.keys(value)) {
        const place = pointerTo(pointer, name)
        this.#string(name, place.toWellFormed())
        this.value(value[name] as JsonValue, place.toWellFormed(), depth)
      }
    }
  }
}

/** How many strings, names included, a JSON text holds. More than its value holds means a name given twice. */
function countStrings(bytes: Buffer, escapes: boolean): number {
  let quotes = 0
  for (let at = 0; at < bytes.length; at += 1) {
    if (bytes[at] === 0x22) quotes += 1
    else if (escapes && bytes[at] === 0x5c) at += 1
  }
  return quotes / 2
}

/** By tokens, in a loop: what a repeated name hides may nest thousands deep, too deep for a parser that recurs. */
function repeatedNames(text: string): Fault[] {
  const faults: Fault[] = []
  const open: { pointer: string; step: string | number; names: Set<string> }[] = []
  const scanner = createScanner(text, true)
  let string = ''
  for (scanner.scan(); scanner.getTokenLength() > 0; scanner.scan()) {
    const token = text.charAt(scanner.getTokenOffset())
    const inner = open.at(-1)
    if (token === '{' || token === '[') {
      const pointer = inner ? pointerTo(inner.pointer, String(inner.step)) : ''
      open.push({ pointer, step: 0, names: new Set() })
    } else if (token === '}' || token === ']') {
      open.pop()
    } else if (token === '"') {
      string = scanner.getTokenValue()
    } else if (inner && token === ',' && typeof inner.step === 'number') {
      inner.step += 1
    } else if (inner && token === ':') {
      inner.step = string
      const pointer = pointerTo(inner.pointer, string).toWellFormed()
      if (inner.names.has(string)) faults.push({ detail: 'must be given once', pointer })
      inner.names.add(string)
    }
  }
  return faults
}

function syntaxFault(text: string): Fault {
  const errors: ParseError[] = []
  try {
    parse(text, errors, { disallowComments: true })
  } catch {
    // The parser recurs: brackets that nest thousands deep are more than its stack holds.
  }
  const [first] = errors
  if (!first) return { detail: 'is not JSON', pointer: '' }
  const before = text.slice(0, first.offset).split('\n')
  const column = (before.at(-1)?.length ?? 0) + 1
  const error = printParseErrorCode(first.error)
  return { detail: `is not JSON: ${error} at line ${before.length}, column ${column}`, pointer: '' }
}
