import type { Server } from 'node:http'
import { type AddressInfo, createServer, type Server as Listener } from 'node:net'
import type { Config } from '../config.ts'

/**
 * So many sockets listen, and the system deals new connections out to them: in a turn of its loop Node takes one connection
 * from each. While others keep a server busy a turn takes 10 ms and more, and from one socket it took some eighty a second:
 * behind callers who connect and leave at once, others waited for two seconds. Many more let such callers have more of the
 * loop than they are worth.
 */
const SOCKETS = process.platform === 'linux' ? 4 : 1

/** Connections that wait to be taken, at all of them together as many as Node has for one. */
const BACKLOG = 512

export type Where = Pick<Config, 'host' | 'port'>

/** The sockets on which a server listens. */
export class ListeningSockets {
  readonly #server: Server
  readonly #others: readonly Listener[]

  constructor(server: Server) {
    this.#server = server
    // As Node's own server takes them.
    const options = { allowHalfOpen: true, noDelay: true }
    const take = (socket: unknown) => server.emit('connection', socket)
    this.#others = Array.from({ length: SOCKETS - 1 }, () => createServer(options, take))
  }

  /**
   * @returns the port
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

  /** Takes no new connections. Resolves when all that were taken have ended. */
  async close(): Promise<void> {
    const servers = [this.#server, ...this.#others]
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  }
}

/**
 * On a port that is shared another program could listen too, and nobody would notice.
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

function cannotListen({ host, port }: Where, error: NodeJS.ErrnoException): Error {
  const reason = error.code === 'EADDRINUSE' ? 'the port is in use; set PORT to another' : error.message
  return new Error(`Cannot listen on ${host}:${port}: ${reason}`)
}
