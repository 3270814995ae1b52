/** Exit codes for scripts. */
export const ExitCode = {
  failed: 1,
  usage: 2,
  /** What was to be created already exists, or what was named does not, or is in use; nothing was changed. */
  conflict: 3,
  /** The command finished, but the server refused part of the data. */
  refused: 4,
  /** What was compared differs, and only in what concerns nobody who follows the earlier state. */
  additive: 5,
  /** What was compared differs in a breaking way. */
  breaking: 6,
  /** Interrupted by SIGINT (128 plus the signal number, as shells report it). */
  interrupted: 130,
} as const

/** Ends the command with a message for the user. */
export class CommandFailure extends Error {
  readonly exitCode: number

  constructor(message: string, exitCode: number = ExitCode.failed) {
    super(message)
    this.name = 'CommandFailure'
    this.exitCode = exitCode
  }
}
