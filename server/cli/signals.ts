import { CommandFailure, ExitCode } from './failure.ts'

/** Resolves with the next SIGTERM or SIGINT. */
export function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    process.once('SIGTERM', resolve)
    process.once('SIGINT', resolve)
  })
}

/** Aborts a command at the first signal and exits at the second. @param advice how to resume */
export function interruptible(advice: string): AbortController {
  const stop = new AbortController()
  const interrupted = () => {
    if (stop.signal.aborted) process.exit(ExitCode.interrupted)
    stop.abort(new CommandFailure(`interrupted. ${advice}`, ExitCode.interrupted))
  }
  process.on('SIGINT', interrupted)
  process.on('SIGTERM', interrupted)
  return stop
}
