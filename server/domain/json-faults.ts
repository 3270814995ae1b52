import { areEnough, type Fault } from '../problems.ts'
import { pointerTo } from './pointers.ts'

/** Maximum nesting of a field's value: deeper than real data, shallow enough for every reader. */
export const NESTING = 32

const QUOTE = 0x22
const COMMA = 0x2c
const MINUS = 0x2d
const ZERO = 0x30
const NINE = 0x39
const COLON = 0x3a
const BACKSLASH = 0x5c
const ARRAY = 0x5b
const ARRAY_END = 0x5d
const LETTER_U = 0x75
const OBJECT = 0x7b
const OBJECT_END = 0x7d
/** The end of the text; not a character code. */
const END = -1

const WORDS = ['true', 'false', 'null']
const ESCAPE = /^(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/
const SURROGATE = /^u[dD][89a-fA-F]/
type Escapes = 'none' | 'surrogates' | 'others'

/** A number with fewer digits and a shorter exponent (with its e and sign) fits into a double. */
const LONG_EXPONENT = 4
const LONG_NUMBER = 200

/**
 * Returns why a text is not I-JSON: its first syntax error, and what JSON.parse accepts. At most one fault more than a
 * response lists; the rest of the text is then skipped.
 *
 * It walks the text and not the value, because the value keeps only one of a duplicate name. It tracks the path and
 * builds a pointer only for a fault; at most 20 ns per byte.
 * @param levels maximum nesting of objects and arrays
 */
export function jsonFaults(text: string, levels: number): Fault[] {
  const walk = new Walk(text, levels)
  try {
    walk.document()
  } catch (error) {
    if (!(error instanceof EndOfWalk)) throw error
  }
  return walk.faults
}

/** Stops the walk: nothing more can or need be reported. */
class EndOfWalk extends Error {}

class Walk {
  readonly faults: Fault[] = []
  readonly #text: string
  readonly #levels: number
  #at = 0
  /** The names and indexes that lead to the current value. */
  readonly #steps: (string | number)[] = []

  constructor(text: string, levels: number) {
    this.#text = text
    this.#levels = levels
  }

  document(): void {
    this.#value()
    if (this.#next() !== END) this.#syntax('EndOfFileExpected')
  }

  #value() {
    const code = this.#next()
    if (code === QUOTE) this.#string()
    else if (code !== OBJECT && code !== ARRAY) this.#word()
    else if (this.#steps.length < this.#levels) code === OBJECT ? this.#object() : this.#array()
    else this.#skip()
  }

  #array() {
    this.#at += 1
    if (this.#next() === ARRAY_END) {
      this.#at += 1
      return
    }
    const depth = this.#steps.length
    for (let index = 0; ; index += 1) {
      this.#steps[depth] = index
      this.#value()
      if (this.#goesOn(ARRAY_END)) continue
      this.#steps.length = depth
      return
    }
  }

  #object() {
    this.#at += 1
    if (this.#next() === OBJECT_END) {
      this.#at += 1
      return
    }
    const depth = this.#steps.length
    let first: string | undefined
    let names: Set<string> | undefined
    do {
      if (this.#next() !== QUOTE) this.#syntax('PropertyNameExpected')
      // Added to the path while it is read, because a fault in the name itself points to it.
      const name = this.#name(depth)
      if (name === first || names?.has(name)) this.#fault('must appear only once')
      // In a text full of objects most have one name, so no set is allocated for the first.
      if (first === undefined) first = name
      else names = (names ?? new Set()).add(name)
      if (this.#next() !== COLON) this.#syntax('ColonExpected')
      this.#at += 1
      this.#value()
    } while (this.#goesOn(OBJECT_END))
    this.#steps.length = depth
  }

  /** Moves past a comma or the end. Returns whether an item follows. */
  #goesOn(end: number): boolean {
    const code = this.#next()
    if (code !== COMMA && code !== end) {
      this.#syntax('CommaExpected')
    }
    this.#at += 1
    return code === COMMA
  }

  #name(depth: number): string {
    const from = this.#at
    const escapes = this.#pass()
    const quoted = this.#text.slice(from, this.#at)
    const name: string = escapes === 'none' ? quoted.slice(1, -1) : JSON.parse(quoted)
    this.#steps[depth] = name
    if (escapes === 'surrogates' && !name.isWellFormed()) this.#fault('must not contain a lone surrogate')
    return name
  }

  #string() {
    const from = this.#at
    if (this.#pass() !== 'surrogates') return
    const value: string = JSON.parse(this.#text.slice(from, this.#at))
    if (!value.isWellFormed()) this.#fault('must not contain a lone surrogate')
  }

  /** Moves past a string. @returns its escapes, which decide whether it must be decoded */
  #pass(): Escapes {
    const text = this.#text
    let escapes: Escapes = 'none'
    let at = this.#at + 1
    for (let code = text.charCodeAt(at); code !== QUOTE; code = text.charCodeAt(at)) {
      // Also true after the end of the text, where the code is NaN.
      if (!(code >= 0x20)) this.#syntax('UnexpectedEndOfString')
      at += 1
      if (code !== BACKSLASH) continue
      const escaped = text.charCodeAt(at) === LETTER_U ? text.slice(at, at + 5) : text.charAt(at)
      if (!ESCAPE.test(escaped)) this.#syntax('InvalidEscapeCharacter')
      if (SURROGATE.test(escaped)) escapes = 'surrogates'
      else if (escapes === 'none') escapes = 'others'
      at += 1
    }
    this.#at = at + 1
    return escapes
  }

  /** Moves past a number or one of the three words. */
  #word() {
    const from = this.#at
    const code = this.#text.charCodeAt(from)
    if (code === MINUS || isDigit(code)) return this.#number()
    const word = WORDS.find((word) => this.#text.startsWith(word, from))
    if (!word) this.#syntax('ValueExpected')
    this.#at += word.length
  }

  #number() {
    const text = this.#text
    const from = this.#at
    let at = from
    if (text.charCodeAt(at) === MINUS) at += 1
    // After a leading 0 no digit may follow.
    const whole = text.charCodeAt(at) === ZERO ? at + 1 : behindDigits(text, at)
    let end = whole
    if (text.charAt(end) === '.') end = behindDigits(text, end + 1)
    const digits = end
    let isWrong = whole === at || (digits > whole && digits === whole + 1)
    if (text.charAt(end) === 'e' || text.charAt(end) === 'E') {
      const sign = text.charAt(end + 1)
      const exponent = end + (sign === '+' || sign === '-' ? 2 : 1)
      end = behindDigits(text, exponent)
      isWrong ||= end === exponent
    }
    if (isWrong) this.#syntax('ValueExpected')
    this.#at = end
    const mayBeInfinite = end - digits >= LONG_EXPONENT || digits - from >= LONG_NUMBER
    if (mayBeInfinite && !Number.isFinite(Number(text.slice(from, end)))) {
      this.#fault('must be within the range of a double-precision number')
    }
  }

  /** Moves past an object or array that is nested too deeply, whatever it contains. */
  #skip() {
    this.#fault(`must not nest more than ${NESTING} levels`)
    const text = this.#text
    let open = 0
    do {
      const code = text.charCodeAt(this.#at)
      if (Number.isNaN(code)) return
      if (code === OBJECT || code === ARRAY) open += 1
      else if (code === OBJECT_END || code === ARRAY_END) open -= 1
      if (code === QUOTE) this.#pass()
      else this.#at += 1
    } while (open > 0)
  }

  /** Moves to the next character that is not white space. @returns its code, `END` at the end */
  #next(): number {
    const text = this.#text
    let at = this.#at
    let code = text.charCodeAt(at)
    while (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) {
      at += 1
      code = text.charCodeAt(at)
    }
    this.#at = at
    return Number.isNaN(code) ? END : code
  }

  #fault(detail: string) {
    const pointer = this.#steps.reduce(pointerTo, '')
    this.faults.push({ detail, pointer })
    if (areEnough(this.faults)) throw new EndOfWalk()
  }

  #syntax(fault: string): never {
    const before = this.#text.slice(0, this.#at)
    let lines = 1
    for (let at = 0; at < before.length; at += 1) if (before.charCodeAt(at) === 0x0a) lines += 1
    const column = before.length - before.lastIndexOf('\n')
    const detail = `is not JSON: ${fault} at line ${lines}, column ${column}`
    this.faults.push({ detail, pointer: '' })
    throw new EndOfWalk()
  }
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE
}

function behindDigits(text: string, from: number): number {
  let at = from
  while (isDigit(text.charCodeAt(at))) at += 1
  return at
}
