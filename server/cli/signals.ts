import { CommandFailure, ExitCode } from './failure.ts'

/** Resolves with the next signal that tells the process to stop. */
export function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    process.once('SIGTERM', resolve)
    process.once('SIGINT', resolve)
  })
}

/** Aborts what a command does when it is told to stop; the second time it is meant. @param advice how to go on */
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
