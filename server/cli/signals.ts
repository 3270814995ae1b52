import { CommandFailure, ExitCode } from './failure.ts'

/** Resolves with the first signal that asks the process to stop; SIGHUP means that its terminal was closed. */
export function firstSignal(): Promise<NodeJS.Signals> {
  return nextOf(['SIGTERM', 'SIGINT', 'SIGHUP'])
}

/**
 * Resolves with the next signal of a person or supervisor who does not want to wait. Not SIGHUP: when a terminal is
 * closed, the shell sends one and the kernel another.
 */
export function secondSignal(): Promise<NodeJS.Signals> {
  return nextOf(['SIGTERM', 'SIGINT'])
}

/**
 * Keeps SIGUSR1 and SIGUSR2, with which other programs reopen their logs or reload, from doing what Node does: SIGUSR1 would
 * open the debugger on a port of this machine, where every local user can then run code in this process, and SIGUSR2 would
 * end it. A listener does this however the server was started; `--disable-sigusr1` would have to be in every start command.
 */
export function ignoreUserSignals(onSignal: (signal: NodeJS.Signals) => void): void {
  process.on('SIGUSR1', onSignal)
  process.on('SIGUSR2', onSignal)
}

/** Their listeners stay, so that later ones of these signals do not end the process by themselves. */
function nextOf(signals: readonly NodeJS.Signals[]): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of signals) process.on(signal, resolve)
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
