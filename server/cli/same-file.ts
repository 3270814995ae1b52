import type { Stats } from 'node:fs'

/** Whether two names or descriptors are of one file; undefined is of none. */
export function isSameFile(one: Stats | undefined, other: Stats | undefined): boolean {
  return one !== undefined && other !== undefined && one.ino === other.ino && one.dev === other.dev
}
