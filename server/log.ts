import { type Logger, pino } from 'pino'

/** So much of the log is written at once, or what there is after this time. */
const LOG_BYTES = 8_192
const LOG_FLUSH_MS = 200

/**
 * The log of this process: the standard output, on which each line is one JSON object. It takes Node's own warnings too,
 * and what the process dies of; both would otherwise be on the standard error alone, as lines of text.
 */
export function openLog(level: string): Logger {
  // Lines go out together, because a system call for each would take 20 µs of every request.
  const destination = pino.destination({
    dest: 1,
    sync: false,
    minLength: LOG_BYTES,
    periodicFlush: LOG_FLUSH_MS,
  })
  const log = pino({ level }, destination)
  // Node's own listener writes to the standard error.
  process.removeAllListeners('warning')
  process.on('warning', ({ name, message, stack }) => log.warn({ warning: name, stack }, message))
  process.on('uncaughtExceptionMonitor', (error) => log.fatal({ err: error }, 'Cairn dies of an error'))
  return log
}

/** Tells at every level, `silent` too, where the server listens: whoever has started it waits for that line. */
export function logListening(log: Logger, { url, siteUrl }: { url: string; siteUrl: string }): void {
  const always = log.child({}, { level: 'info' })
  always.info({ url }, `Cairn listens on ${url} (API reference: ${siteUrl}/docs/)`)
  always.flush()
}
