import { CommandFailure, ExitCode } from './failure.ts'

/** Resolves with the next SIGTERM or SIGINT. */
export function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    process.once('SIGTERM', resolve)
    process.once('SIGINT', resolve)
  })
}

/**
 * Runs work that the first SIGTERM or SIGINT aborts; a second one ends the process at once.
 * @param advice how to resume
 */
export async function interruptible<Result>(
  advice: string,
  work: (stop: AbortController) => Promise<Result>,
): Promise<Result> {
  const stop = new AbortController()
  const interrupted = () => {
    if (stop.signal.aborted) process.exit(ExitCode.interrupted)
    stop.abort(new CommandFailure(`interrupted. ${advice}`, ExitCode.interrupted))
  }
  process.on('SIGINT', interrupted)
  process.on('SIGTERM', interrupted)
  try {
    return await work(stop)
  } catch (error) {
    // An aborted wait rejects only with the fact that it was aborted.
    throw stop.signal.aborted ? stop.signal.reason : error
  } finally {
    process.off('SIGINT', interrupted)
    process.off('SIGTERM', interrupted)
  }
}
