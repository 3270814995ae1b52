import type { Address } from '../../../domain/postgres-urls.ts'
import { Unavailable } from '../../unavailable.ts'
import { Connection, type ConnectionSettings, type Rows } from './connection.ts'
import { ConnectionLost, isCrowded, isReadOnly } from './outages.ts'

/** Whoever has waited so long for a connection is refused: all of them are taken by what takes too long. */
const WAIT_MS = 5_000

/** What all pools of a process know of the servers. */
export class Servers {
  readonly address: Address
  /** The host that was good last, where the next connection is tried first. */
  first = 0
  /** Raised when a host that was thought to be the primary takes no writes: connections from before lead astray. */
  generation = 0

  constructor(address: Address) {
    this.address = address
  }

  /** Lets every connection be made again, beginning behind the host that has turned out to be a standby. */
  distrust({ host }: Connection): void {
    this.generation += 1
    this.first = (host + 1) % this.address.hosts.length
  }
}

export type PoolOptions = ConnectionSettings & {
  servers: Servers
  /** So many connections at the most. */
  most: number
  /** So many may wait for one. */
  mostWaiting: number
}

type Waiting = { give: (connection: Connection) => void; refuse: (error: Error) => void }

/** Connections for one kind of work, made as they are needed and kept. */
export class Pool {
  readonly #options: PoolOptions
  readonly #idle: Connection[] = []
  /** In the order in which they came. */
  readonly #waiting = new Set<Waiting>()
  readonly #generations = new WeakMap<Connection, number>()
  /** With those that are being made. */
  #open = 0
  #closed: { promise: Promise<void>; resolve: () => void } | undefined

  constructor(options: PoolOptions) {
    this.#options = options
  }

  get openConnections(): number {
    return this.#open
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /** @throws {Unavailable} where nothing more may wait */
  assertAvailable(): void {
    if (this.#closed) throw new Unavailable('shutting_down')
    if (this.#waiting.size >= this.#options.mostWaiting) throw new Unavailable('overloaded')
  }

  /**
   * Gives a connection to one user, who must `release` it.
   * @throws {CannotConnect} where there is none to be had; {Unavailable} where too many wait, or for too long
   */
  async acquire(): Promise<Connection> {
    if (this.#closed) throw new Unavailable('shutting_down')
    const idle = this.#takeIdle()
    if (idle) return idle
    if (this.#open < this.#options.most) {
      try {
        return await this.#connect()
      } catch (error) {
        if (!this.#hasOthers(error)) throw error
        const idle = this.#takeIdle()
        if (idle) return idle
      }
    }
    this.assertAvailable()
    return await new Promise((resolve, reject) => {
      const timer = setTimeout(() => waiting.refuse(new Unavailable('overloaded')), WAIT_MS)
      const over = () => {
        clearTimeout(timer)
        this.#waiting.delete(waiting)
      }
      const waiting: Waiting = {
        give: (connection) => {
          over()
          resolve(connection)
        },
        refuse: (error) => {
          over()
          reject(error)
        },
      }
      this.#waiting.add(waiting)
    })
  }

  /** Takes a connection back, whatever has become of it. */
  release(connection: Connection): void {
    const [next] = this.#waiting
    if (!this.#isGood(connection) || (this.#closed && !next)) this.#drop(connection)
    else if (next) next.give(connection)
    else this.#idle.push(connection)
  }

  /** Runs statements on a connection of their own. */
  async use<Result>(work: (connection: Connection) => Promise<Result>): Promise<Result> {
    const connection = await this.acquire()
    try {
      return await work(connection)
    } catch (error) {
      if (isReadOnly(error)) this.#options.servers.distrust(connection)
      throw error
    } finally {
      this.release(connection)
    }
  }

  /** Reads. Where the connection was lost, because the server was started again meanwhile, once more on another one. */
  async read<Row>(sql: string, parameters: readonly unknown[]): Promise<Row[]> {
    const read = async (connection: Connection) => (await connection.run<Row>(sql, parameters)).rows
    try {
      return await this.use(read)
    } catch (error) {
      if (!(error instanceof ConnectionLost)) throw error
      return await this.use(read)
    }
  }

  /** Refuses whoever comes; ends the connections when those who wait have had theirs. */
  async close(): Promise<void> {
    this.#closed ??= Promise.withResolvers<void>()
    for (const idle of this.#idle.splice(0)) this.#drop(idle)
    if (this.#open === 0) this.#closed.resolve()
    await this.#closed.promise
  }

  #takeIdle(): Connection | undefined {
    for (let idle = this.#idle.pop(); idle; idle = this.#idle.pop()) {
      if (this.#isGood(idle)) return idle
      this.#drop(idle)
    }
    return undefined
  }

  /** Whether a connection that could not be made need not be waited for, because this has others that will be free. */
  #hasOthers(error: unknown): boolean {
    return isCrowded(error) && this.#open > 0
  }

  #isGood(connection: Connection): boolean {
    const { servers } = this.#options
    return connection.isUsable && this.#generations.get(connection) === servers.generation
  }

  #drop(connection: Connection) {
    connection.close()
    this.#left()
  }

  #left() {
    this.#open -= 1
    const [next] = this.#waiting
    if (next) this.#connectFor(next)
    else if (this.#open === 0) this.#closed?.resolve()
  }

  async #connect(): Promise<Connection> {
    const { servers } = this.#options
    const { generation } = servers
    this.#open += 1
    try {
      const connection = await Connection.open(servers.address, this.#options, servers.first)
      servers.first = connection.host
      this.#generations.set(connection, generation)
      return connection
    } catch (error) {
      this.#open -= 1
      // They would find the same, each after a while of its own.
      if (!this.#hasOthers(error)) for (const { refuse } of this.#waiting) refuse(error as Error)
      if (this.#open === 0) this.#closed?.resolve()
      throw error
    }
  }

  #connectFor(waiting: Waiting) {
    this.#connect().then(
      (connection) => {
        if (this.#waiting.has(waiting)) waiting.give(connection)
        else this.release(connection)
      },
      (error) => {
        if (!this.#hasOthers(error)) waiting.refuse(error)
      },
    )
  }
}

/** One statement on any connection of a pool. */
export async function runOn<Row>(
  pool: Pool,
  sql: string,
  parameters: readonly unknown[] = [],
): Promise<Rows<Row>> {
  return await pool.use((connection) => connection.run<Row>(sql, parameters))
}

/**
 * Several statements that read, on a connection of their own. What runs when the signal says so is cancelled.
 * @throws {ConnectionLost} or what PostgreSQL refuses it with, also where it was cancelled
 */
export async function readOn<Result>(
  pool: Pool,
  signal: AbortSignal,
  read: (connection: Connection) => Promise<Result>,
): Promise<Result> {
  const cancellable = async (connection: Connection) => {
    const cancel = () => connection.cancel()
    signal.addEventListener('abort', cancel, { once: true })
    try {
      return await read(connection)
    } finally {
      signal.removeEventListener('abort', cancel)
    }
  }
  try {
    return await pool.use(cancellable)
  } catch (error) {
    // The server was started again since the connection was last used.
    if (!(error instanceof ConnectionLost) || signal.aborted) throw error
    return await pool.use(cancellable)
  }
}
