import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { CommandFailure } from './failure.ts'

/** A line of the file, without its line end. Numbers start at 1; blank lines count but are not returned. */
export type Line = {
  number: number
  /** Undefined if the line is longer than `LINE_BYTES`. */
  bytes: Buffer | undefined
}

/** Maximum line length: an event may have 64 KiB, which leaves room for white space and escapes. */
export const LINE_BYTES = 1024 * 1024

const NEWLINE = 0x0a

/**
 * Reads lines of NDJSON, plain or gzipped, several at a time. Accepts a byte order mark, CRLF, blank lines and a last
 * line without a line end.
 * @param onRead called with the number of bytes read, before inflating
 * @throws {Error} if the input cannot be read
 * @throws {CommandFailure} if it is gzipped and cut off or damaged
 */
export async function* readLines(input: Readable, onRead: (bytes: number) => void): AsyncGenerator<Line[]> {
  const splitter = new Splitter()
  try {
    for await (const chunk of await inflated(counted(input, onRead))) yield splitter.push(chunk)
  } catch (error) {
    throw gzipFailure(error, splitter.ended) ?? error
  }
  yield splitter.end()
}

/** @param lines that were complete before */
function gzipFailure(error: unknown, lines: number): CommandFailure | undefined {
  if (!(error instanceof Error && 'code' in error && /^Z_/.test(String(error.code)))) return undefined
  const fault = error.code === 'Z_BUF_ERROR' ? 'cut off' : 'damaged'
  const advice = 'Import the whole file: events that are already stored are not stored twice.'
  return new CommandFailure(`the gzipped input is ${fault} after line ${lines} (${error.message}). ${advice}`)
}

async function* counted(input: Readable, onRead: (bytes: number) => void): AsyncGenerator<Buffer> {
  for await (const chunk of input) {
    onRead(chunk.length)
    yield chunk
  }
}

/** Detects gzip by the first two bytes, because standard input has no name. */
async function inflated(input: AsyncGenerator<Buffer>): Promise<AsyncIterable<Buffer>> {
  let head = Buffer.alloc(0)
  while (head.length < 2) {
    const { value, done } = await input.next()
    if (done) break
    head = Buffer.concat([head, value])
  }
  const whole = Readable.from(prepended(head, input), { objectMode: false })
  if (head[0] !== 0x1f || head[1] !== 0x8b) return whole
  const gunzip = createGunzip()
  // Its errors surface in the iteration over the last stream.
  pipeline(whole, gunzip, () => {})
  return gunzip
}

async function* prepended(head: Buffer, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  if (head.length > 0) yield head
  yield* rest
}

class Splitter {
  #number = 0
  /** The start of a line whose end is in a later chunk. */
  #pending: Buffer[] = []
  #pendingBytes = 0

  /** The number of lines whose end was read. */
  get ended(): number {
    return this.#number
  }

  push(chunk: Buffer): Line[] {
    const lines: Line[] = []
    let from = 0
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
      this.#keep(chunk.subarray(from, at))
      lines.push(...this.end())
      from = at + 1
    }
    this.#keep(chunk.subarray(from))
    return lines
  }

  /** Ends the line; returns nothing if it is blank. */
  end(): Line[] {
    this.#number += 1
    const number = this.#number
    const isTooLong = this.#pendingBytes > LINE_BYTES
    const [only = Buffer.alloc(0)] = this.#pending
    const bytes = this.#pending.length > 1 ? Buffer.concat(this.#pending) : only
    this.#pending = []
    this.#pendingBytes = 0
    if (isTooLong) return [{ number, bytes: undefined }]
    const content = number === 1 && bytes.indexOf('\ufeff') === 0 ? bytes.subarray(3) : bytes
    return isBlank(content) ? [] : [{ number, bytes: content }]
  }

  #keep(part: Buffer) {
    this.#pendingBytes += part.length
    // Bytes above the limit are counted but not kept.
    if (part.length > 0 && this.#pendingBytes <= LINE_BYTES) this.#pending.push(part)
  }
}

/** Only space, tab and carriage return, which JSON treats as white space. */
function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d)
}
