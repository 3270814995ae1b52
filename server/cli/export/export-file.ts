import {
  closeSync,
  constants,
  createReadStream,
  existsSync,
  fsyncSync,
  ftruncateSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { createPrivateFile, openPrivateFile, syncFile, writePrivateFile } from '../../storage/private-file.ts'
import { countText } from '../count-text.ts'
import { CommandFailure, ExitCode } from '../failure.ts'

/** The last line of a file that is whole. A file without it was cut short. */
export type End = {
  /** How many lines are before it. */
  end: number
  /** What the file has: of which list, with which filters. */
  list: string
  filter: Record<string, string>
  /** Where the next file begins. */
  next_cursor: string
  /** What was acknowledged by then is in the file, or was before it; null where more was there. */
  caught_up_to: string | null
}

/** How far a file has come: so many lines, in so many bytes, are on disk. */
export type Reached = { lines: number; bytes: number; cursor: string | undefined }

/** Between two notes of how far it is. */
const NOTE_MS = 1_000

/**
 * A file that is being written: under a name of its own, with a note beside it of how far it is, and under its name when it
 * is whole.
 */
export class ExportFile {
  readonly #path: string
  readonly #what: string
  readonly #descriptor: number
  #reached: Reached
  #noted_ms = performance.now()
  #added = 0
  #added_bytes = 0
  #isWhole = false

  /**
   * Begins a file, or goes on with what was begun.
   * @param what of which list, and where it begins
   * @throws {CommandFailure} where it exists, or something else was begun
   */
  constructor(path: string, what: object) {
    this.#path = path
    this.#what = JSON.stringify(what)
    if (existsSync(path)) {
      const advice = 'Name another file; with --since it begins where that one ends.'
      throw new CommandFailure(`${path} exists already. ${advice}`, ExitCode.conflict)
    }
    this.#reached = this.#noted() ?? { lines: 0, bytes: 0, cursor: undefined }
    this.#descriptor =
      this.#reached.bytes > 0 ? openPrivateFile(this.#part, constants.O_RDWR) : createPrivateFile(this.#part)
    // What was written behind the last note will come again.
    ftruncateSync(this.#descriptor, this.#reached.bytes)
  }

  get reached(): Reached {
    return this.#reached
  }

  /** Adds lines, which are only kept with `keep`. @param bytes whole lines */
  add(bytes: Uint8Array): void {
    for (let written = 0; written < bytes.length; ) {
      const at = this.#reached.bytes + this.#added_bytes
      const wrote = writeSync(this.#descriptor, bytes, written, bytes.length - written, at)
      written += wrote
      this.#added_bytes += wrote
    }
    this.#added += linesIn(bytes)
  }

  /** How many lines were added and are not kept yet. */
  get added(): number {
    return this.#added
  }

  /** Keeps what was added. @param cursor where the list goes on behind it */
  keep(cursor: string): void {
    const { lines, bytes } = this.#reached
    this.#reached = { lines: lines + this.#added, bytes: bytes + this.#added_bytes, cursor }
    this.#added = 0
    this.#added_bytes = 0
    if (performance.now() - this.#noted_ms > NOTE_MS) this.note()
  }

  /** Forgets what was added since. */
  forget(): void {
    this.#added = 0
    this.#added_bytes = 0
  }

  /** Puts on disk what was kept, and how far that is; nothing once it is whole. */
  note(): void {
    if (this.#isWhole) return
    fsyncSync(this.#descriptor)
    writePrivateFile(this.#notePath, JSON.stringify({ what: this.#what, reached: this.#reached }))
    this.#noted_ms = performance.now()
  }

  /** Adds the last line, and gives the file its name. */
  finish(end: End): void {
    this.add(Buffer.from(`${JSON.stringify(end)}\n`))
    // What was added and forgotten may lie behind.
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

  /** How far it was when it was noted last; undefined where there is nothing to go on with. */
  #noted(): Reached | undefined {
    if (!existsSync(this.#notePath) || !existsSync(this.#part)) return undefined
    const { what, reached }: { what: string; reached: Reached } = JSON.parse(
      readFileSync(this.#notePath, 'utf8'),
    )
    if (what === this.#what) return reached
    const advice = `Name another file, or remove ${this.#part} and ${this.#notePath}.`
    throw new CommandFailure(`another export into ${this.#path} was begun. ${advice}`, ExitCode.conflict)
  }
}

/**
 * The last line of a file, once all lines are counted.
 * @throws {CommandFailure} where the file is not whole
 */
export async function endOf(path: string): Promise<End> {
  if (!existsSync(path)) throw new CommandFailure(`there is no file ${path}`, ExitCode.conflict)
  let lines = 0
  let tail = Buffer.alloc(0)
  // By the byte that ends lines: a text may have other characters that end a line for who reads it.
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    lines += linesIn(chunk)
    tail = Buffer.concat([tail, chunk]).subarray(-END_BYTES)
  }
  const end =
    tail.at(-1) === LINE_END ? parsedEnd(tail.toString().trimEnd().split('\n').at(-1) ?? '') : undefined
  if (!end) throw new CommandFailure(`${path} was cut short: its last line does not say that it is the end`)
  if (end.end !== lines - 1) {
    throw new CommandFailure(
      `${path} is not whole: it has ${countText(lines - 1, 'line')}, and says ${end.end}`,
    )
  }
  return end
}

export const LINE_END = 0x0a

function linesIn(bytes: Uint8Array): number {
  let lines = 0
  for (let at = bytes.indexOf(LINE_END); at >= 0; at = bytes.indexOf(LINE_END, at + 1)) lines += 1
  return lines
}

/** The last line has so much at the most: filters have a few hundred characters. */
const END_BYTES = 64 * 1024

/** What a last line says; undefined for another line. */
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
