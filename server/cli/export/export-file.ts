import {
  closeSync,
  constants,
  createReadStream,
  createWriteStream,
  existsSync,
  fsyncSync,
  ftruncateSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { errorText } from '../../storage/file-errors.ts'
import { createPrivateFile, openPrivateFile, syncFile, writePrivateFile } from '../../storage/private-file.ts'
import { CommandFailure, ExitCode } from '../failure.ts'
import { readLines } from '../lines.ts'
import { assertReadable } from '../named-files.ts'
import { countText } from '../table.ts'

/** The last line of a complete file. A file without it is incomplete. */
export type End = {
  /** Number of lines before it. */
  end: number
  /** The list and filters of the file. */
  list: string
  filter: Record<string, string>
  /** Where the next file starts. */
  next_cursor: string
  /** Everything acknowledged by then is in this file or an earlier one; null if there was more. */
  caught_up_to: string | null
}

/** The part of the file that is kept: its lines and bytes, and the cursor after them. */
export type ExportPosition = { lines: number; bytes: number; cursor: string | undefined }

/** Minimum interval between saves of the position. */
const NOTE_MS = 1_000

/**
 * A file being written. Until it is complete it has a temporary name, with its position saved in a file next to it;
 * then it gets its final name.
 */
export class ExportFile {
  readonly #path: string
  readonly #what: string
  readonly #descriptor: number
  #reached: ExportPosition
  #noted_ms = performance.now()
  #added = 0
  #added_bytes = 0
  #isWhole = false

  /**
   * Starts a file, or resumes an earlier one. The caller holds its lock.
   * @param what the list, and where it starts
   * @throws {CommandFailure} if the file exists, or another export into it was started
   */
  constructor(path: string, what: object) {
    this.#path = path
    this.#what = JSON.stringify(what)
    if (existsSync(path)) {
      const advice = 'Choose another file; with --since it starts where that one ends.'
      throw new CommandFailure(`${path} already exists. ${advice}`, ExitCode.conflict)
    }
    const noted = this.#noted()
    this.#reached = noted ?? { lines: 0, bytes: 0, cursor: undefined }
    if (noted) this.#descriptor = openPrivateFile(this.#part, constants.O_RDWR)
    else {
      // Of a part that somebody has removed.
      rmSync(this.#notePath, { force: true })
      this.#descriptor = createPrivateFile(this.#part)
    }
    // What was written after the last saved position will be fetched again.
    ftruncateSync(this.#descriptor, this.#reached.bytes)
  }

  get reached(): ExportPosition {
    return this.#reached
  }

  /**
   * Adds lines; only `keep` makes them part of the file.
   * @param bytes complete lines
   * @throws {CommandFailure} if they cannot be written
   */
  add(bytes: Uint8Array): void {
    for (let written = 0; written < bytes.length; ) {
      const at = this.#reached.bytes + this.#added_bytes
      const wrote = this.#written(() => {
        return writeSync(this.#descriptor, bytes, written, bytes.length - written, at)
      })
      written += wrote
      this.#added_bytes += wrote
    }
    this.#added += linesIn(bytes)
  }

  /** Number of lines added since the last `keep`. */
  get added(): number {
    return this.#added
  }

  /** Keeps the lines that were added. @param cursor where the list continues after them */
  keep(cursor: string): void {
    const { lines, bytes } = this.#reached
    this.#reached = { lines: lines + this.#added, bytes: bytes + this.#added_bytes, cursor }
    this.#added = 0
    this.#added_bytes = 0
    if (performance.now() - this.#noted_ms > NOTE_MS) this.note()
  }

  /** Discards the lines added since the last `keep`. */
  forget(): void {
    this.#added = 0
    this.#added_bytes = 0
  }

  /**
   * Flushes what was kept to disk and saves the position; does nothing once the file is complete.
   * @throws {CommandFailure} if they cannot be written
   */
  note(): void {
    if (this.#isWhole) return
    this.#written(() => {
      fsyncSync(this.#descriptor)
      writePrivateFile(this.#notePath, JSON.stringify({ what: this.#what, reached: this.#reached }))
    })
    this.#noted_ms = performance.now()
  }

  /** Leaves what an export that failed has to resume from, if there is anything. @throws {CommandFailure} as `note` */
  leave(): void {
    if (this.#reached.cursor !== undefined || this.#isWhole) this.note()
    else rmSync(this.#part, { force: true })
  }

  /** An error of this disk must not be taken for one of the connection. */
  #written<Result>(write: () => Result): Result {
    try {
      return write()
    } catch (error) {
      throw new CommandFailure(
        `cannot write ${this.#part}: ${errorText(error)}. Make room, and run the same command again to resume.`,
      )
    }
  }

  /** Adds the last line and gives the file its final name. */
  finish(end: End): void {
    this.add(Buffer.from(`${JSON.stringify(end)}\n`))
    // Discarded lines may follow.
    ftruncateSync(this.#descriptor, this.#reached.bytes + this.#added_bytes)
    fsyncSync(this.#descriptor)
    this.#isWhole = true
    closeSync(this.#descriptor)
    renameSync(this.#part, this.#path)
    syncFile(dirname(this.#path))
    rmSync(this.#notePath, { force: true })
  }

  get #part(): string {
    return `${this.#path}.part`
  }

  get #notePath(): string {
    return `${this.#path}.part.json`
  }

  /** Returns the saved position; undefined if there is nothing to resume. */
  #noted(): ExportPosition | undefined {
    if (!existsSync(this.#notePath) || !existsSync(this.#part)) return undefined
    const { what, reached }: { what: string; reached: ExportPosition } = JSON.parse(
      readFileSync(this.#notePath, 'utf8'),
    )
    // Shorter: the note is of another part.
    if (statSync(this.#part).size < reached.bytes) return undefined
    if (what === this.#what) return reached
    const advice = `Choose another file, or remove ${this.#part} and ${this.#notePath}.`
    throw new CommandFailure(
      `a different export into ${this.#path} is unfinished. ${advice}`,
      ExitCode.conflict,
    )
  }
}

/**
 * Returns the last line of a file, after counting all lines.
 * @throws {CommandFailure} if the file does not exist, is a folder or is incomplete
 */
export async function endOf(path: string): Promise<End> {
  assertReadable(path)
  let lines = 0
  let tail = Buffer.alloc(0)
  // Split at the newline byte only: a text may contain other characters that some readers take for a line end.
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    lines += linesIn(chunk)
    tail = Buffer.concat([tail, chunk]).subarray(-END_BYTES)
  }
  const end =
    tail.at(-1) === LINE_END ? parsedEnd(tail.toString().trimEnd().split('\n').at(-1) ?? '') : undefined
  if (!end) throw new CommandFailure(`${path} is incomplete: its last line is not an end marker`)
  if (end.end !== lines - 1) {
    throw new CommandFailure(
      `${path} is incomplete: it has ${countText(lines - 1, 'line')} instead of ${end.end}`,
    )
  }
  return end
}

/** Returns the customer_id in the first line; undefined if there is none. */
export async function firstCustomerOf(path: string): Promise<string | undefined> {
  for await (const { item } of itemsOf(path)) return item.customer_id
}

/** A line of a list. All of them name a customer, except the last. */
type Item = { customer_id?: string; journey_id?: string }

async function* itemsOf(path: string, signal?: AbortSignal): AsyncGenerator<{ bytes: Buffer; item: Item }> {
  for await (const lines of readLines(createReadStream(path), () => {})) {
    signal?.throwIfAborted()
    for (const { bytes = Buffer.alloc(0) } of lines) yield { bytes, item: JSON.parse(String(bytes)) }
  }
}

/**
 * Removes lines from a complete file.
 * @returns how many
 */
export async function removeLines(
  path: string,
  isRemoved: (item: Item) => boolean,
  signal: AbortSignal,
): Promise<number> {
  let removed = 0
  for await (const { item } of itemsOf(path, signal)) if (isRemoved(item)) removed += 1
  // Mostly none; then the file stays as it is.
  if (removed === 0) return 0
  const partial = `${path}.partial`
  async function* keptLines() {
    for await (const { bytes, item } of itemsOf(path, signal)) {
      if (isRemoved(item)) continue
      const end = parsedEnd(String(bytes))
      yield end ? JSON.stringify({ ...end, end: end.end - removed }) : bytes
      yield '\n'
    }
  }
  try {
    await pipeline(keptLines, createWriteStream(partial, { fd: createPrivateFile(partial), flush: true }))
    renameSync(partial, path)
  } catch (error) {
    rmSync(partial, { force: true })
    throw error
  }
  syncFile(dirname(path))
  return removed
}

export const LINE_END = 0x0a

function linesIn(bytes: Uint8Array): number {
  let lines = 0
  for (let at = bytes.indexOf(LINE_END); at >= 0; at = bytes.indexOf(LINE_END, at + 1)) lines += 1
  return lines
}

/** Maximum length of the last line; filters have a few hundred characters. */
const END_BYTES = 64 * 1024

/** Parses a last line; undefined for any other line. */
export function parsedEnd(line: string): End | undefined {
  try {
    const end: unknown = JSON.parse(line)
    return typeof end === 'object' && end !== null && 'end' in end && 'next_cursor' in end
      ? (end as End)
      : undefined
  } catch {
    return undefined
  }
}
