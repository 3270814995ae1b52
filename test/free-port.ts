import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * The ports below those that systems hand out, to who asks for any and to connections that go out: nobody else comes by
 * one of these, also while the program that has it is stopped for a while. Browsers refuse 10080, and others below.
 */
const LOWEST = 11_000
const HIGHEST = 32_767

/** A port of this machine that nobody listens on, for a program that has to be told one. */
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
