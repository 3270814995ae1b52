// engines: sqlite (what only SQLite has)

import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../fixtures/cairn.ts'
import { startChildServer } from '../../fixtures/child-server.ts'

/** Loaded before the server: on the signal SIGUSR2 ends its thread with that number. */
function threadKiller(index: number): string {
  const source = `
    import threads from 'node:worker_threads'
    import { syncBuiltinESMExports } from 'node:module'
    const started = []
    threads.Worker = class extends threads.Worker {
      constructor(...options) { super(...options); started.push(this) }
    }
    syncBuiltinESMExports()
    process.on('SIGUSR2', () => started[${index}].terminate())`
  return `data:text/javascript,${encodeURIComponent(source)}`
}

describe('a server', () => {
  it.each([
    ['the writing thread', 0],
    ['a reading thread', 1],
  ])('that has lost %s ends with a message, and can be started again', async (thread, index) => {
    const databaseUrl = `sqlite:${join(temporaryFolder(), 'cairn.db')}`
    const server = await startChildServer({
      databaseUrl,
      environment: { NODE_OPTIONS: `--import ${threadKiller(index)}` },
    })
    const ended = await server.end('SIGUSR2')
    expect(ended.code).toBe(1)
    // After the setup link of the first start.
    expect(ended.stderr.trimEnd().split('\n').at(-1)).toBe(`cairn: ${thread} has ended`)
    await startChildServer({ databaseUrl })
  })
})
