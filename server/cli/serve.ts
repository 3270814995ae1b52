import { setFlagsFromString } from 'node:v8'
import type { Command } from 'commander'
import type { Config } from '../config.ts'
import { isAdministrationBuilt } from '../http/administration-site.ts'
import { startServer } from '../main.ts'
import { lowerPoolPriority } from '../storage/threads/priority.ts'
import type { CommandIo } from './command-io.ts'
import { logListening, openLog } from './log.ts'
import { firstSignal, ignoreUserSignals, secondSignal } from './signals.ts'
import { assertFolder } from './store.ts'
import { unknownVariables } from './unknown-variables.ts'

/** Maximum time for finishing the requests in flight at shutdown. */
const STOP_MS = 10_000

export function defineServe(command: Command, config: () => Config, io: CommandIo): void {
  command.action(() => serve(config(), io))
}

async function serve(config: Config, io: CommandIo) {
  keepYoungObjectsYoung()
  assertFolder(config.databaseUrl)
  const log = openLog(config.logLevel)
  ignoreUserSignals((signal) => log.warn({ signal }, 'received a signal that Cairn ignores'))
  for (const warning of unknownVariables(io.env)) log.warn(warning)
  await lowerPoolPriority()
  const stopped = Promise.withResolvers<NodeJS.Signals>()
  // Not earlier: until then a signal ends the process at once, however long the start takes.
  const server = await startServer({
    config,
    log,
    beforeListening: () => firstSignal().then(stopped.resolve),
  })
  // Not to standard output: that is the log, which others keep and read. Before the log line, so that readers of that
  // line already have the link.
  if (server.setupLink !== undefined) {
    io.stderr.write(
      `To get started, open this link within an hour; it works once:\n\n  ${server.setupLink}\n\n`,
    )
  }
  if (!isAdministrationBuilt()) {
    io.stderr.write(
      'The administration interface is not built. Stop the server, run npm run build, and start it again.\n',
    )
  }
  // For a person at a terminal; the log has the same as JSON.
  if (io.stderr.isTTY) io.stderr.write(`Cairn is running at ${server.siteUrl}. Press Ctrl+C to stop.\n\n`)
  logListening(log, server)
  const end = Promise.race([stopped.promise, server.died])
  await end.then(
    (signal) => log.info({ signal }, 'shutting down: accepting no new work, finishing requests in flight'),
    (error) => log.fatal({ err: error }, 'shutting down after a fatal error'),
  )
  secondSignal().then((signal) => {
    log.warn({ signal }, 'second signal; exiting immediately')
    process.exit(1)
  })
  setTimeout(() => {
    const text = `shutdown timed out: some requests did not finish within ${STOP_MS / 1000} s`
    log.error(text)
    io.stderr.write(`cairn: ${text}\n`)
    process.exit(1)
  }, STOP_MS).unref()
  await server.stop()
  log.info('shutdown complete')
  // Rejects with the error that the server failed with.
  await end
}

/**
 * Lets V8 allocate nothing in the old generation at once. It does so with what is made at a place whose objects often
 * outlive a collection of young ones, as those of a request under load do. Until the old generation is collected, each
 * keeps alive what it refers to, and all that follows is copied: a second listener per response cost 40 µs per event.
 */
function keepYoungObjectsYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring')
}
