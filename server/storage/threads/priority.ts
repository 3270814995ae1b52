import { readdir, readFile } from 'node:fs/promises'
import { getPriority, setPriority } from 'node:os'

/** Niceness added to a thread that must not slow down ingestion: beside other threads it gets a third of one's time. */
const NICENESS = 5

/** Lowers the priority of the calling thread; on Linux only, because elsewhere it is that of the whole process. */
export function lowerPriority(): void {
  if (process.platform === 'linux') lower(0)
}

/**
 * Lowers the priority of the threads in which Node hashes passwords, compresses and inflates, for the whole process; on
 * Linux only. Otherwise guesses at passwords take half of a core from ingestion.
 */
export async function lowerPoolPriority(): Promise<void> {
  if (process.platform !== 'linux') return
  const threads = '/proc/self/task'
  try {
    // Reading the folder has started all of them.
    for (const thread of await readdir(threads)) {
      // Other threads come and go.
      const name = await readFile(`${threads}/${thread}/comm`, 'utf8').catch(() => '')
      if (name.trim() === 'libuv-worker') lower(Number(thread))
    }
  } catch {
    // Without /proc, or where a sandbox forbids it, they stay as they are.
  }
}

/** @param thread number of a thread in the operating system; 0 for the calling one */
function lower(thread: number) {
  setPriority(thread, Math.min(getPriority(thread) + NICENESS, 19))
}
