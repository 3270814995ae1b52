import { type DestinationStream, type Logger, pino } from 'pino'

/** Lines are written together once they reach this length, or after this time. */
const LOG_CHARACTERS = 65_536
const LOG_FLUSH_MS = 200

/**
 * Opens the log of this process: standard output, one JSON object per line. It includes Node's warnings and the error
 * that an uncaught exception ends the process with; both would otherwise go to standard error only, as plain text.
 */
export function openLog(level: string): Logger {
  const log = pino({ level }, new GatheredLines())
  // Node's own listener writes to standard error.
  process.removeAllListeners('warning')
  process.on('warning', ({ name, message, stack }) => log.warn({ warning: name, stack }, message))
  process.on('uncaughtExceptionMonitor', (error) => log.fatal({ err: error }, 'uncaught error; exiting'))
  return log
}

/**
 * Buffers lines and writes them together: one system call per line would cost 20 µs per request. The buffer is here
 * because pino's own destination concatenates each line to the previous ones and counts all bytes again, 3 µs and 4 kB
 * per line.
 */
class GatheredLines implements DestinationStream {
  readonly #destination = pino.destination({ dest: 1, sync: false })
  #lines: string[] = []
  #characters = 0

  constructor() {
    setInterval(() => this.flush(), LOG_FLUSH_MS).unref()
    // Prepended, so that it runs before the destination's own listener.
    process.prependListener('beforeExit', () => this.flush())
    process.prependListener('exit', () => this.flushSync())
  }

  write(line: string): void {
    this.#lines.push(line)
    this.#characters += line.length
    if (this.#characters >= LOG_CHARACTERS) this.flush()
  }

  /** Passes the buffered lines to the destination. */
  flush(): void {
    if (this.#lines.length === 0) return
    this.#destination.write(this.#lines.join(''))
    this.#lines = []
    this.#characters = 0
  }

  /** Writes the buffered lines synchronously. pino calls it when the process is about to exit. */
  flushSync(): void {
    this.flush()
    this.#destination.flushSync()
  }
}

/** Logs the server's address at every level, even `silent`: supervisors and scripts wait for this line. */
export function logListening(log: Logger, { url, siteUrl }: { url: string; siteUrl: string }): void {
  const always = log.child({}, { level: 'info' })
  always.info({ url }, `Cairn listens on ${url} (API reference: ${siteUrl}/docs/)`)
  always.flush()
}
