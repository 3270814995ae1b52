import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { isAtRequest } from './begun-requests.ts'

/**
 * The connections of a server that stops may hold it up for as long as they like: Node closes those that are idle behind a
 * request, and of the others does not even keep to the time for a head any more.
 */
export class OpenConnections {
  readonly #sockets = new Set<Socket>()

  constructor(server: Server) {
    server.on('connection', (socket) => {
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
    })
  }

  /** Ends those on which nothing has come. */
  endUnused(): void {
    for (const socket of this.#sockets) if (socket.bytesRead === 0) socket.destroy()
  }

  /** Ends those on which no request was taken that is not answered: of one that is on its way nothing has been done. */
  endUntaken(): void {
    for (const socket of this.#sockets) if (!isAtRequest(socket)) socket.destroy()
  }
}
