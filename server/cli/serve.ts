import type { Command } from 'commander'
import type { Config } from '../config.ts'
import { isAdministrationBuilt } from '../http/administration-site.ts'
import { logListening, openLog } from '../log.ts'
import { startServer } from '../main.ts'
import type { CommandIo } from './command-io.ts'
import { nextSignal } from './signals.ts'
import { assertFolder } from './store.ts'

/** What was taken is finished within this time, or given up. */
const STOP_MS = 10_000

export function defineServe(command: Command, config: () => Config, io: CommandIo): void {
  command.action(() => serve(config(), io))
}

async function serve(config: Config, io: CommandIo) {
  assertFolder(config.databaseUrl)
  const log = openLog(config.logLevel)
  const server = await startServer({ config, log })
  // The standard output is the log, which is kept and read by others. First, so that whoever has its line has the link.
  if (server.setupLink !== undefined) {
    io.stderr.write(`To begin, open this link within an hour; it works once:\n\n  ${server.setupLink}\n\n`)
  }
  if (!isAdministrationBuilt()) {
    io.stderr.write('The administration interface is not built: stop, npm run build, and start again.\n')
  }
  // For who sits before it; the log has the line in its own form.
  if (io.stderr.isTTY) io.stderr.write(`Cairn serves ${server.siteUrl}; Ctrl+C stops it.\n\n`)
  logListening(log, server)
  const end = Promise.race([nextSignal(), server.died])
  await end.then(
    (signal) => log.info({ signal }, 'Cairn stops: no new work is taken, what was taken is finished'),
    (error) => log.fatal({ err: error }, 'Cairn stops: it can no longer work'),
  )
  nextSignal().then((signal) => {
    log.warn({ signal }, 'Cairn ends at once: it was told to stop a second time')
    process.exit(1)
  })
  setTimeout(() => {
    const text = `gave up on requests that did not end within ${STOP_MS / 1000} s`
    log.error(`Cairn ${text}`)
    io.stderr.write(`cairn: ${text}\n`)
    process.exit(1)
  }, STOP_MS).unref()
  await server.stop()
  log.info('Cairn has stopped')
  // Throws what the server died of.
  await end
}
