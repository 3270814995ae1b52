import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { isAtRequest } from './begun-requests.ts'
import type { ListeningSockets } from './listening-sockets.ts'

/** How often a stopping server looks for connections that have become idle. */
const CHECK_MS = 20

/** So long a stopping server waits for the rest of a head. */
const HEAD_MS = 3_000

/**
 * The connections of a server. When it stops they may hold it up for as long as they like: Node closes those that are idle
 * behind a request, and of the others does not even keep to the time for a head any more.
 */
export class OpenConnections {
  readonly #server: Server
  readonly #listening: ListeningSockets
  readonly #sockets = new Set<Socket>()

  constructor(server: Server, listening: ListeningSockets) {
    this.#server = server
    this.#listening = listening
    server.on('connection', (socket) => {
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
    })
  }

  /** Lets the server take no new ones. Resolves when all that was taken is answered and the last one has ended. */
  async close(): Promise<void> {
    const closed = this.#listening.close()
    const began_ms = performance.now()
    // A connection that is kept alive becomes idle only when its last answer has gone out.
    const timer = setInterval(() => {
      this.#server.closeIdleConnections()
      const isLate = performance.now() - began_ms > HEAD_MS
      for (const socket of this.#sockets) {
        // Of a request that is on its way nothing has been done.
        if (socket.bytesRead === 0 || (isLate && !isAtRequest(socket))) socket.destroy()
      }
    }, CHECK_MS)
    await closed
    clearInterval(timer)
  }
}
