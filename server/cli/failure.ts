/** What a script can tell from the exit. */
export const ExitCode = {
  failed: 1,
  usage: 2,
  /** What was to be made exists already, or what was named does not exist; nothing was changed. */
  conflict: 3,
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
