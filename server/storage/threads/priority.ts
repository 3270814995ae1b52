import { getPriority, setPriority } from 'node:os'

/** Niceness added to a thread that must not slow down ingestion: beside other threads it gets a third of one's time. */
const NICENESS = 5

/** Lowers the priority of the calling thread; on Linux only, because elsewhere it is that of the whole process. */
export function lowerPriority(): void {
  if (process.platform === 'linux') setPriority(Math.min(getPriority() + NICENESS, 19))
}
