import { type DestinationStream, type Logger, pino } from 'pino'

/** So much of the log is written at once, or what there is after this time. */
const LOG_CHARACTERS = 65_536
const LOG_FLUSH_MS = 200

/**
 * The log of this process: the standard output, on which each line is one JSON object. It takes Node's own warnings too,
 * and what the process dies of; both would otherwise be on the standard error alone, as lines of text.
 */
export function openLog(level: string): Logger {
  const log = pino({ level }, new GatheredLines())
  // Node's own listener writes to the standard error.
  process.removeAllListeners('warning')
  process.on('warning', ({ name, message, stack }) => log.warn({ warning: name, stack }, message))
  process.on('uncaughtExceptionMonitor', (error) => log.fatal({ err: error }, 'Cairn dies of an error'))
  return log
}

/**
 * Lines that go out together, because a system call for each would take 20 µs of every request. Gathered here: pino's
 * destination puts each behind those before it and counts the bytes of all anew, 3 µs and 4 kB of memory for each line.
 */
class GatheredLines implements DestinationStream {
  readonly #destination = pino.destination({ dest: 1, sync: false })
  #lines: string[] = []
  #characters = 0

  constructor() {
    setInterval(() => this.flush(), LOG_FLUSH_MS).unref()
    // Before the destination ends with the process.
    process.prependListener('beforeExit', () => this.flush())
    process.prependListener('exit', () => this.flushSync())
  }

  write(line: string): void {
    this.#lines.push(line)
    this.#characters += line.length
    if (this.#characters >= LOG_CHARACTERS) this.flush()
  }

  /** Writes what there is. */
  flush(): void {
    if (this.#lines.length === 0) return
    this.#destination.write(this.#lines.join(''))
    this.#lines = []
    this.#characters = 0
  }

  /** Has written what there is. pino asks for it where the process is about to die. */
  flushSync(): void {
    this.flush()
    this.#destination.flushSync()
  }
}

/** Tells at every level, `silent` too, where the server listens: whoever has started it waits for that line. */
export function logListening(log: Logger, { url, siteUrl }: { url: string; siteUrl: string }): void {
  const always = log.child({}, { level: 'info' })
  always.info({ url }, `Cairn listens on ${url} (API reference: ${siteUrl}/docs/)`)
  always.flush()
}
