/**
 * Varints (LEB128): whole numbers from 0 to 2^53 - 1. Each byte holds seven bits, the lowest first; its eighth bit is set if
 * more bytes follow. A zero byte only ever encodes the number 0.
 */

/** Maximum bytes per number. */
export const NUMBER_BYTES = 8

export class ByteWriter {
  readonly #bytes: Buffer
  length = 0

  /** @param size maximum bytes written between two calls of `take` */
  constructor(size: number) {
    this.#bytes = Buffer.allocUnsafeSlow(size)
  }

  number(value: number): void {
    let rest = value
    // Bitwise operators work on 32 bits only.
    while (rest > 0x7fffffff) {
      this.#bytes[this.length++] = (rest % 128) | 128
      rest = Math.floor(rest / 128)
    }
    while (rest > 127) {
      this.#bytes[this.length++] = (rest & 127) | 128
      rest >>>= 7
    }
    this.#bytes[this.length++] = rest
  }

  /** Writes a number between -2^52 and 2^52 (zigzag encoding). */
  signed(value: number): void {
    this.number(value < 0 ? -2 * value - 1 : 2 * value)
  }

  /** Returns a copy of what was written, and resets the writer. */
  take(): Buffer {
    const bytes = Buffer.from(this.#bytes.subarray(0, this.length))
    this.length = 0
    return bytes
  }
}

export class ByteReader {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** Number of bytes read. */
  get position(): number {
    return this.#at
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length
  }

  number(): number {
    let byte = this.#bytes[this.#at++] as number
    if (byte < 128) return byte
    let value = byte & 127
    let shift = 7
    while (shift < 28) {
      byte = this.#bytes[this.#at++] as number
      value |= (byte & 127) << shift
      if (byte < 128) return value
      shift += 7
    }
    let factor = 2 ** 28
    do {
      byte = this.#bytes[this.#at++] as number
      value += (byte & 127) * factor
      factor *= 128
    } while (byte > 127)
    return value
  }

  signed(): number {
    const value = this.number()
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2
  }

  /** Moves past the next number 0. */
  skipPastZero(): void {
    this.#at = this.#bytes.indexOf(0, this.#at) + 1
  }
}
