/** What tells a file from another that gets its name, as `fs.Stats` has it. */
export type FileIdentity = { ino: number; dev: number }

/** Whether two names or descriptors are of one file; undefined is of none. */
export function isSameFile(one: FileIdentity | undefined, other: FileIdentity | undefined): boolean {
  return one !== undefined && other !== undefined && one.ino === other.ino && one.dev === other.dev
}
