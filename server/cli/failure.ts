/** What a script can tell from the exit. */
export const ExitCode = {
  failed: 1,
  usage: 2,
  /** What was to be made exists already, or what was named does not exist; nothing was changed. */
  conflict: 3,
  /** The command came to its end, but the server refused part of what it was to take. */
  refused: 4,
  /** Interrupted by SIGINT (128 and the signal's number, as shells have it). */
  interrupted: 130,
} as const

/** Ends the command with a message for its user. */
export class CommandFailure extends Error {
  readonly exitCode: number

  constructor(message: string, exitCode: number = ExitCode.failed) {
    super(message)
    this.name = 'CommandFailure'
    this.exitCode = exitCode
  }
}
