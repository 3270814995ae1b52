import { readFileSync } from 'node:fs'
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { ListeningSockets } from './listening-sockets.ts'
import { begunOn, isAtRequest } from './requests-by-socket.ts'

/** Interval in which a stopping server looks for idle connections. */
const CHECK_MS = 20

/** Time that a stopping server waits for the rest of a request head. */
const HEAD_MS = 3_000

/** Times for which a stopping server lets a client take nothing of a complete response, and take any of it. */
const STALLED_MS = 2_000
const TAKING_MS = 7_000

/** Descriptors for all but clients. An idle server on SQLite has about 75; each webhook that is sent to takes up to four. */
const OTHER_DESCRIPTORS = 256

/** Connections accepted even where hardly any descriptors may be opened. */
const FEWEST = 16

/** How often the log may say that connections are refused. */
const SAID_MS = 60_000

type OpenConnectionsOptions = {
  /** Maximum number of connections. */
  limit?: number
  /** Called with the number of open ones when a connection is closed at once, at most once a minute. */
  onFull?: (open: number) => void
}

/**
 * The open connections of a server. They could delay its shutdown indefinitely: Node closes only those that are idle
 * after a request. Their number is limited: clients that only connect would take the last descriptor of the process, and
 * then no file of the interface could be read and no webhook called, for those who are connected either.
 */
export class OpenConnections {
  readonly #server: Server
  readonly #listening: ListeningSockets
  readonly #sockets = new Set<Socket>()

  constructor(server: Server, listening: ListeningSockets, options: OpenConnectionsOptions = {}) {
    const { limit = Number.POSITIVE_INFINITY, onFull } = options
    this.#server = server
    this.#listening = listening
    let said_ms = Number.NEGATIVE_INFINITY
    server.on('connection', (socket) => {
      if (this.#sockets.size >= limit) {
        socket.destroy()
        if (performance.now() - said_ms < SAID_MS) return
        said_ms = performance.now()
        onFull?.(this.#sockets.size)
        return
      }
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
    })
  }

  /**
   * Stops accepting connections. Resolves when all requests in flight are answered and the last connection has ended.
   */
  async close(): Promise<void> {
    const closed = this.#listening.close()
    const began_ms = performance.now()
    const unread = new Unread()
    // A kept-alive connection becomes idle only after its last response.
    const timer = setInterval(() => {
      this.#closeIdle()
      const waited_ms = performance.now() - began_ms
      const isLate = waited_ms > HEAD_MS
      for (const socket of this.#sockets) {
        // A request whose head is incomplete has had no effect.
        if (socket.bytesRead === 0 || (isLate && !isAtRequest(socket))) socket.destroy()
        // Its operation is over.
        const isTaking = isAtRequest(socket) && begunOn(socket)?.writableEnded === true
        if (isTaking && (waited_ms > TAKING_MS || unread.isStalled(socket))) socket.destroy()
      }
    }, CHECK_MS)
    await closed
    clearInterval(timer)
  }

  #closeIdle() {
    // Node takes a connection for idle as soon as its response is complete, while the client is still taking it.
    const busy = [...this.#sockets].filter(isAtRequest)
    for (const socket of busy) socket.destroy = () => socket
    this.#server.closeIdleConnections()
    for (const socket of busy) Reflect.deleteProperty(socket, 'destroy')
  }
}

/** Returns how many connections leave enough descriptors for the rest of the process, where the system tells (Linux). */
export function connectionLimit(): number {
  let limits = ''
  try {
    limits = readFileSync('/proc/self/limits', 'latin1')
  } catch {
    // Not Linux.
  }
  const [, open_files] = /^Max open files +(\d+)/m.exec(limits) ?? []
  if (open_files === undefined) return Number.POSITIVE_INFINITY
  return Math.max(Number(open_files) - OTHER_DESCRIPTORS, FEWEST)
}

/** What clients have not taken yet of their responses. */
class Unread {
  readonly #seen = new Map<Socket, { bytes: number; looks: number }>()

  /**
   * Whether a client has taken nothing for a while. To be called every `CHECK_MS`: it counts the calls, so that time in
   * which this process got no processor is not taken for the client's.
   */
  isStalled(socket: Socket): boolean {
    const bytes = unreadBytes(socket)
    const seen = this.#seen.get(socket)
    const looks = seen?.bytes === bytes ? seen.looks + 1 : 0
    this.#seen.set(socket, { bytes, looks })
    return looks * CHECK_MS > STALLED_MS
  }
}

/** Returns the bytes that the kernel has not taken. `writableLength` counts a write until all of it is taken. */
function unreadBytes(socket: Socket & { _handle?: { writeQueueSize?: number } | null }): number {
  return socket._handle?.writeQueueSize ?? socket.writableLength
}
