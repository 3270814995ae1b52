import { readFileSync } from 'node:fs'
import { afterAll, beforeAll } from 'vitest'

declare module 'vitest' {
  interface TaskMeta {
    /** Processor time of the file's process and the programs that it has run, in milliseconds. */
    processor_ms?: number
  }
}

let before_ms = 0

beforeAll(() => {
  before_ms = processor_ms()
})

// biome-ignore lint/correctness/noEmptyPattern: vitest wants a pattern, and nothing of the context is needed
afterAll(({}, suite) => {
  suite.meta.processor_ms = processor_ms() - before_ms
})

/**
 * Fields 14 to 17 of Linux's /proc/self/stat count in hundredths of a second; elsewhere only the process itself is
 * counted.
 */
function processor_ms(): number {
  if (process.platform !== 'linux') {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1000
  }
  // The second field is a name in parentheses, which may contain spaces.
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? []
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * 10, 0)
}
