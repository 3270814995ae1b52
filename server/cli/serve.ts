import type { Command } from 'commander'
import type { Config } from '../config.ts'
import { startServer } from '../main.ts'

/** What was taken is finished within this time, or given up. */
const STOP_MS = 10_000

export function defineServe(command: Command, config: () => Config): void {
  command.action(() => serve(config()))
}

async function serve(config: Config) {
  const server = await startServer({ config })
  const listens = `Cairn listens on ${server.url} (API reference: ${server.url}/docs/)\n`
  // The log goes to the standard output, and is kept and read by others; first, so that whoever has the line has it.
  if (server.setupLink !== undefined) {
    process.stderr.write(
      `To begin, open this link within an hour; it works once:\n\n  ${server.setupLink}\n\n`,
    )
  }
  process.stdout.write(listens)
  const end = Promise.race([signal(), server.died])
  await end.catch(() => {})
  process.once('SIGTERM', () => process.exit(1))
  process.once('SIGINT', () => process.exit(1))
  setTimeout(() => {
    process.stderr.write(`cairn: gave up on requests that did not end within ${STOP_MS / 1000} s\n`)
    process.exit(1)
  }, STOP_MS).unref()
  await server.stop()
  // Throws what the server died of.
  await end
}

function signal(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGTERM', () => resolve())
    process.once('SIGINT', () => resolve())
  })
}
