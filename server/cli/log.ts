import { constants, fstatSync, openSync, write, writeSync } from 'node:fs'
import { type DestinationStream, type Logger, pino } from 'pino'

/** Lines are written together once they reach this length, or after this time. */
const LOG_CHARACTERS = 65_536
const LOG_FLUSH_MS = 200

/** Maximum length of the lines that wait while the log cannot be written; further lines are dropped. */
const WAITING_CHARACTERS = 1_000_000

/** A pipe whose reader is slow is tried again after this time, and at exit for up to a second. */
const FULL_PIPE_MS = 10
const EXIT_MS = 1_000

/**
 * Opens the log of this process: standard output, one JSON object per line. It includes Node's warnings and the error
 * that an uncaught exception ends the process with; both would otherwise go to standard error only, as plain text.
 */
export function openLog(level: string): Logger {
  const output = new GatheredLines((dropped) => {
    log.warn({ dropped }, 'the log could not be written for some time; lines were dropped')
  })
  const log = pino({ level }, output)
  // Node's own listener writes to standard error.
  process.removeAllListeners('warning')
  process.on('warning', ({ name, message, stack }) => log.warn({ warning: name, stack }, message))
  process.on('uncaughtExceptionMonitor', (error) => log.fatal({ err: error }, 'uncaught error; exiting'))
  return log
}

/**
 * Buffers lines and writes them together: one system call per line would cost 20 µs per request. A log that cannot be
 * written, for example on a full disk, does not stop the server. It is tried again, and what was dropped meanwhile is counted.
 * pino's own destination ends the process with the error, and waits for ever in `flushSync`.
 */
class GatheredLines implements DestinationStream {
  readonly #onDropped: (dropped: number) => void
  #lines: string[] = []
  #characters = 0
  #dropped = 0
  /** What could not be written yet of the bytes that are next. */
  #rest = Buffer.alloc(0)
  #isWriting = false
  readonly #descriptor = openOutput()

  /** @param onDropped called with the number of lines that were dropped, once the log can be written again */
  constructor(onDropped: (dropped: number) => void) {
    this.#onDropped = onDropped
    setInterval(() => this.flush(), LOG_FLUSH_MS).unref()
    process.prependListener('exit', () => this.flushSync())
  }

  write(line: string): void {
    if (this.#rest.length + this.#characters >= WAITING_CHARACTERS) {
      this.#dropped += 1
      return
    }
    this.#lines.push(line)
    this.#characters += line.length
    if (this.#characters >= LOG_CHARACTERS) this.flush()
  }

  /** Begins to write the buffered lines. */
  flush(): void {
    if (this.#isWriting) return
    const bytes = this.#take()
    if (bytes.length === 0) return
    this.#isWriting = true
    write(this.#descriptor, bytes, (error, written) => {
      this.#isWriting = false
      this.#rest = bytes.subarray(error ? 0 : written)
      if (error) this.#failed(error)
      else this.#wrote()
    })
  }

  /** Writes the buffered lines synchronously. pino calls it when the process is about to exit. */
  flushSync(): void {
    const deadline_ms = performance.now() + EXIT_MS
    this.#rest = this.#take()
    while (this.#rest.length > 0) {
      try {
        this.#rest = this.#rest.subarray(writeSync(this.#descriptor, this.#rest))
      } catch (error) {
        if (codeOf(error) !== 'EAGAIN' || performance.now() > deadline_ms) return
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, FULL_PIPE_MS)
      }
    }
  }

  /** Takes what is to be written next. */
  #take(): Buffer<ArrayBuffer> {
    const bytes = Buffer.concat([this.#rest, Buffer.from(this.#lines.join(''))])
    this.#rest = Buffer.alloc(0)
    this.#lines = []
    this.#characters = 0
    return bytes
  }

  #wrote() {
    if (this.#rest.length > 0 || this.#characters >= LOG_CHARACTERS) this.flush()
    else if (this.#dropped > 0) {
      const dropped = this.#dropped
      this.#dropped = 0
      this.#onDropped(dropped)
    }
  }

  #failed(error: Error) {
    // Nobody will read it any more.
    if (codeOf(error) === 'EPIPE') this.#rest = Buffer.alloc(0)
    // Otherwise the next interval tries again.
    else if (codeOf(error) === 'EAGAIN') setTimeout(() => this.flush(), FULL_PIPE_MS).unref()
  }
}

/**
 * Opens standard output again, for writing without blocking. A write that blocks, in whichever thread, keeps the process from
 * exiting. Node does not block on a pipe, but another process that shares it may change that; on a terminal it does block.
 */
function openOutput(): number {
  try {
    const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants
    const output = fstatSync(1)
    // What is written to a file would start at its beginning.
    if (!output.isFIFO() && !output.isCharacterDevice()) return 1
    return openSync('/proc/self/fd/1', O_WRONLY | O_NONBLOCK | O_NOCTTY)
  } catch {
    // Not on Linux, or a pipe of another user.
    return 1
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}

/** Logs the server's address at every level, even `silent`: supervisors and scripts wait for this line. */
export function logListening(log: Logger, { url, siteUrl }: { url: string; siteUrl: string }): void {
  const always = log.child({}, { level: 'info' })
  always.info({ url }, `Cairn listens on ${url} (API reference: ${siteUrl}/docs/)`)
  always.flush()
}
