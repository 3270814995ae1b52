import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * A range below the ports that systems assign automatically, so that no one else takes one of these, even while its
 * program is stopped for a while. Browsers refuse 10080 and several lower ones.
 */
const LOWEST = 11_000
const HIGHEST = 32_767

/** Returns a port that is free, for a program that must be given one. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST + 1))
    if (await isFree(port)) return port
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false
    throw error
  }
  server.close()
  await once(server, 'close')
  return true
}
