import type { Readable, Writable } from 'node:stream'

/** A stream that a command writes to. */
export type Output = Writable & { isTTY?: boolean; columns?: number }

/** The environment and the standard streams of a command. `process` is one. */
export type CommandIo = {
  env: NodeJS.ProcessEnv
  stdin: Readable & { isTTY?: boolean; fd?: number }
  stdout: Output
  stderr: Output
}

/** How many characters fit into a line: 80 where the output is no terminal, or does not say. */
export function widthOf({ columns = 80 }: Output): number {
  return columns
}
