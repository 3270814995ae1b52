import type { Server } from 'node:http'
import { type AddressInfo, createServer, Server as Listener } from 'node:net'
import type { Config } from '../config.ts'
import { InUse } from '../in-use.ts'

/**
 * Number of listening sockets, among which the kernel distributes new connections (SO_REUSEPORT). Per iteration of its
 * event loop Node accepts one connection from each. On a busy server an iteration takes 10 ms and more, so one socket
 * accepted about eighty connections per second: behind clients that connect and disconnect at once, others waited for
 * two seconds. With many more sockets such clients would take too much of the event loop.
 */
const SOCKETS = process.platform === 'linux' ? 4 : 1

/** Total backlog of all sockets; the same as Node's default for one. */
const BACKLOG = 512

export type Where = Pick<Config, 'host' | 'port'>

/** The listening sockets of a server. */
export class ListeningSockets {
  readonly #server: Server
  readonly #others: readonly Listener[]

  constructor(server: Server) {
    this.#server = server
    // The same as for Node's own HTTP server.
    const options = { allowHalfOpen: true, noDelay: true }
    const take = (socket: unknown) => server.emit('connection', socket)
    this.#others = Array.from({ length: SOCKETS - 1 }, () => createServer(options, take))
  }

  /**
   * @returns the port
   * @throws {InUse} if the port is in use
   * @throws {Error} with a message for the operator
   */
  async listen({ host, port }: Where): Promise<number> {
    if (SOCKETS > 1) await assertFree({ host, port })
    const options = { host, reusePort: SOCKETS > 1, backlog: BACKLOG / SOCKETS }
    await listening(this.#server, { ...options, port })
    const { port: listened } = this.#server.address() as AddressInfo
    for (const other of this.#others) await listening(other, { ...options, port: listened })
    return listened
  }

  /** Stops accepting connections. Resolves when all accepted ones have ended. */
  async close(): Promise<void> {
    const servers = [this.#server, ...this.#others]
    // Not as the HTTP server closes itself: it would disconnect clients that are still taking their responses.
    const close = Listener.prototype.close
    await Promise.all(servers.map((server) => new Promise((resolve) => close.call(server, resolve))))
    // Ends the timer with which it looks for requests that take too long; it is closed already.
    this.#server.close(() => {})
  }
}

/**
 * Checks that the port is free: with SO_REUSEPORT another process could listen on it too, unnoticed.
 * @throws {InUse} if the port is in use
 * @throws {Error} with a message for the operator
 */
async function assertFree(where: Where): Promise<void> {
  const probe = createServer()
  await listening(probe, where)
  await new Promise((resolve) => probe.close(resolve))
}

type Listening = Where & { reusePort?: boolean; backlog?: number }

async function listening(server: Listener, where: Listening): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const fail = (error: Error) => reject(cannotListen(where, error))
    server.once('error', fail)
    server.listen(where, () => {
      server.off('error', fail)
      resolve()
    })
  })
}

const NOT_FOUND = 'the name has no address; set HOST to an address of this machine, or to 0.0.0.0 for all'

/** By the code of the error. */
const REASONS: Record<string, string> = {
  EADDRINUSE: 'the port is in use; set PORT to another',
  EACCES: 'the port is reserved for privileged users; set PORT to 1024 or higher',
  EADDRNOTAVAIL: 'this machine does not have the address; set HOST to one that it has, or to 0.0.0.0 for all',
  ENOTFOUND: NOT_FOUND,
  EAI_AGAIN: NOT_FOUND,
}

function cannotListen({ host, port }: Where, error: NodeJS.ErrnoException): Error {
  const message = `Cannot listen on ${host}:${port}: ${REASONS[error.code ?? ''] ?? error.message}`
  return error.code === 'EADDRINUSE' ? new InUse(message) : new Error(message)
}
