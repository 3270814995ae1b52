import type { Address } from '../../../domain/postgres-urls.ts'
import { Unavailable } from '../../unavailable.ts'
import { Connection, type ConnectionSettings, type Rows } from './connection.ts'
import { ConnectionLost, isCrowded, isReadOnly } from './outages.ts'

/** Maximum wait for a connection; then all of them are occupied by slow statements. */
const WAIT_MS = 5_000

/** State shared by all pools of a process. */
export class Servers {
  readonly address: Address
  /** The last working host, with which the next connection starts. */
  first = 0
  /** Incremented when the supposed primary refuses writes: earlier connections go to the wrong host. */
  generation = 0

  constructor(address: Address) {
    this.address = address
  }

  /** Fails over: replaces every connection, starting after the host that turned out to be a standby. */
  failOver({ host }: Connection): void {
    this.generation += 1
    this.first = (host + 1) % this.address.hosts.length
  }
}

export type PoolOptions = ConnectionSettings & {
  servers: Servers
  /** Maximum connections. */
  most: number
  /** Maximum waiting for one. */
  mostWaiting: number
}

type Waiting = { give: (connection: Connection) => void; refuse: (error: Error) => void }

/** A pool of connections for one purpose, opened on demand. */
export class Pool {
  readonly #options: PoolOptions
  readonly #idle: Connection[] = []
  /** In order of arrival. */
  readonly #waiting = new Set<Waiting>()
  readonly #generations = new WeakMap<Connection, number>()
  /** Including those being opened. */
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

  /** @throws {Unavailable} if no more may wait */
  assertAvailable(): void {
    if (this.#closed) throw new Unavailable('shutting_down')
    if (this.#waiting.size >= this.#options.mostWaiting) throw new Unavailable('overloaded')
  }

  /**
   * Returns a connection, which the caller must `release`.
   * @throws {CannotConnect} if none can be opened; {Unavailable} if too many are waiting, or for too long
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

  /** Takes a connection back, in whatever state. */
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
      if (isReadOnly(error)) this.#options.servers.failOver(connection)
      throw error
    } finally {
      this.release(connection)
    }
  }

  /** Reads. Retries once on another connection if the first was lost, for example because the server was restarted. */
  async read<Row>(sql: string, parameters: readonly unknown[]): Promise<Row[]> {
    const read = async (connection: Connection) => (await connection.run<Row>(sql, parameters)).rows
    try {
      return await this.use(read)
    } catch (error) {
      if (!(error instanceof ConnectionLost)) throw error
      return await this.use(read)
    }
  }

  /** Refuses new callers, and closes the connections after those waiting have been served. */
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

  /** Whether a failed connection need not be waited for, because the pool has others that will become free. */
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
      // They would get the same error, each after a delay.
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

/** Runs one statement on any connection of a pool. */
export async function runOn<Row>(
  pool: Pool,
  sql: string,
  parameters: readonly unknown[] = [],
): Promise<Rows<Row>> {
  return await pool.use((connection) => connection.run<Row>(sql, parameters))
}

/**
 * Runs several read statements on a connection of their own. A running one is cancelled when the signal is aborted.
 * @throws {ConnectionLost} or PostgreSQL's error, also if it was cancelled
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
    // The server was restarted since the connection was last used.
    if (!(error instanceof ConnectionLost) || signal.aborted) throw error
    return await pool.use(cancellable)
  }
}
