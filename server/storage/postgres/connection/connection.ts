import { connect } from 'node:net'
import { Client, type ClientConfig, type QueryResult, types } from 'pg'
import type { Address } from '../../../domain/postgres-urls.ts'
import { CannotConnect, ConnectionLost, isRefused, type Refused } from './outages.ts'
import {
  assertUsable,
  SETTINGS_AS_JSON,
  type SessionSettings,
  settingStatements,
} from './session-settings.ts'
import { statementName } from './statement-names.ts'
import { tlsOptions } from './tls-options.ts'

/** What a statement came to. */
export type Rows<Row> = { rows: Row[]; changes: number; command: string }

/** What every connection of a kind has. */
export type ConnectionSettings = {
  /** PostgreSQL gives up a statement after so long. */
  statement_ms: number
  /**
   * Whether statements with parameters are prepared, so that PostgreSQL does not plan each anew: few in all, and such as
   * have one good plan whatever the parameters are. Behind a pooler they are not, where the next statement may meet another
   * session.
   */
  prepares?: boolean
}

/**
 * Where the server itself cannot say that it gives up, because the network fails or a proxy holds on, the connection is
 * given up after so much more.
 */
const GRACE_MS = 1_000

/** A transaction whose process has died or hangs holds its locks no longer than this. */
const IDLE_IN_TRANSACTION_MS = 10_000

/** The oldest version with all that the statements need. */
const LEAST_VERSION = 140_000

/** The plans of prepared statements are made anew after so many runs: they know how large a table was, not that it grows. */
const RUNS_OF_A_PLAN = 100

/** A statement that is not prepared in this session, or another that has its name: nothing was done. */
const WRONG_SESSION = ['26000', '42P05']

/** A statement of the transaction was refused before. */
const TRANSACTION_ABORTED = '25P02'

/** PostgreSQL's protocol, "CancelRequest". */
const CANCEL_REQUEST = 80_877_102

/** One connection to PostgreSQL, for one statement at a time. */
export class Connection {
  readonly #client: Client
  readonly #statement_ms: number
  #prepares: boolean
  #preparedRuns = 0
  /** Which of the hosts it leads to. */
  readonly host: number
  #isLost = false
  /** Whether the connection outlived the statement that was sent last. */
  #answered = Promise.withResolvers<boolean>()
  /** What the last statement was refused with; undefined where it was not. */
  #refusal: Refused | undefined

  private constructor(client: Client, { statement_ms, prepares = false }: ConnectionSettings, host: number) {
    this.#client = client
    this.#statement_ms = statement_ms
    this.#prepares = prepares
    this.host = host
    // The server is ready for the next statement.
    client.on('drain', () => this.#answered.resolve(true))
    // Whoever uses it next is told; an event without a listener would end the process.
    const lost = () => {
      this.#isLost = true
      this.#answered.resolve(false)
    }
    client.on('error', lost)
    client.on('end', lost)
  }

  /**
   * Connects to the first host that will do, beginning with one of them.
   * @throws {CannotConnect} whose message names hosts and reasons, and no password
   */
  static async open(address: Address, settings: ConnectionSettings, first: number): Promise<Connection> {
    const failures: string[] = []
    let cause: unknown
    for (let tried = 0; tried < address.hosts.length; tried += 1) {
      const index = (first + tried) % address.hosts.length
      // It knows what the environment adds to the address.
      const client = new Client(clientConfig(address, index, settings))
      try {
        return await openWith(client, index)
      } catch (error) {
        cause = error
        failures.push(`${nameOf(client)}: ${reasonOf(error)}`)
      }
    }
    throw new CannotConnect(failures.join('; '), cause)

    async function openWith(client: Client, index: number) {
      const connection = new Connection(client, settings, index)
      try {
        await client.connect()
        await connection.#check(address)
        return connection
      } catch (error) {
        connection.close()
        throw error
      }
    }
  }

  /** Whether it may be used again. */
  get isUsable(): boolean {
    return !this.#isLost
  }

  /**
   * Runs one statement; without parameters it may be several.
   * @throws {ConnectionLost} where nobody knows whether it was done; else what PostgreSQL refused it with
   */
  async run<Row>(sql: string, parameters?: readonly unknown[]): Promise<Rows<Row>> {
    if (this.#isLost) throw new ConnectionLost('it had ended before')
    const patience = setTimeout(() => this.close(), this.#statement_ms + GRACE_MS)
    try {
      const result = parameters
        ? await this.#runWith(sql, [...parameters])
        : await this.#query(() => this.#client.query(sql))
      this.#refusal = undefined
      return { rows: (result.rows ?? []) as Row[], changes: result.rowCount ?? 0, command: result.command }
    } catch (error) {
      if (isRefused(error)) throw this.#firstCause(error)
      this.close()
      throw error
    } finally {
      clearTimeout(patience)
    }
  }

  /** In a transaction all that comes after a refused statement is refused too, and only the first one says why. */
  #firstCause(error: Refused): Refused {
    if (error.code !== TRANSACTION_ABORTED || !this.#refusal) this.#refusal = withoutRows(error)
    return this.#refusal
  }

  async #runWith(text: string, values: unknown[]) {
    if (!this.#prepares) return await this.#query(() => this.#client.query(text, values))
    this.#preparedRuns += 1
    if (this.#preparedRuns % RUNS_OF_A_PLAN === 0)
      await this.#query(() => this.#client.query('DISCARD PLANS'))
    try {
      return await this.#query(() => this.#client.query({ name: statementName(text), text, values }))
    } catch (error) {
      if (!isRefused(error) || !WRONG_SESSION.includes(error.code)) throw error
      // A pooler in between, of a kind that does not show itself.
      this.#prepares = false
      return await this.#query(() => this.#client.query(text, values))
    }
  }

  /**
   * Sends one message with a query. Whether an error was the statement's alone (ERROR) or ends the connection (FATAL) is told
   * by what follows it, ready for the next query or the end: the driver has the severity only in the server's language. After
   * FATAL nobody knows: it may come after the statement was committed, while a standby was waited for.
   */
  async #query(send: () => Promise<QueryResult>): Promise<QueryResult> {
    const answered = Promise.withResolvers<boolean>()
    this.#answered = answered
    try {
      return await send()
    } catch (error) {
      if (isRefused(error) && (await answered.promise)) throw error
      throw new ConnectionLost(error)
    }
  }

  /**
   * Asks the server to cancel the statement that runs. The connection is not used again: the request may reach the server
   * late, and would cancel what runs then.
   */
  cancel(): void {
    this.#isLost = true
    const { host, port } = this.#client
    const { processID = 0, secretKey = 0 } = backendOf(this.#client)
    const request = Buffer.alloc(16)
    request.writeInt32BE(16, 0)
    request.writeInt32BE(CANCEL_REQUEST, 4)
    request.writeInt32BE(processID, 8)
    request.writeInt32BE(secretKey, 12)
    const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host)
    // Where it does not get through, the server gives the statement up in its own time.
    socket.on('error', () => {})
    socket.end(request)
  }

  /** Ends it; a statement that runs is lost. */
  close(): void {
    this.#isLost = true
    this.#answered.resolve(false)
    // While a statement runs the driver cuts the connection off.
    this.#client.end().catch(() => {})
  }

  async #check({ needsPrimary }: Address) {
    const { rows } = await this.run<{
      version: number
      encoding: string
      standby: boolean
      process: number
      role: string
      settings: SessionSettings
    }>(
      `SELECT current_setting('server_version_num')::int AS version, pg_is_in_recovery() AS standby,
        current_setting('server_encoding') AS encoding, pg_backend_pid() AS process,
        quote_ident(current_user) AS role, ${SETTINGS_AS_JSON} AS settings`,
    )
    const [server] = rows
    if (!server) throw new Error('it does not answer')
    // A pooler says of itself who is to be cancelled.
    const hasPooler = server.process !== backendOf(this.#client).processID
    if (hasPooler) this.#prepares = false
    if (server.version < LEAST_VERSION) throw new Error('it is older than PostgreSQL 14')
    if (server.encoding !== 'UTF8')
      throw new Error(`the database has the encoding ${server.encoding}, not UTF8`)
    if (needsPrimary && server.standby) throw new Error('it is a standby')
    // Behind a pooler the next statement may meet another session.
    if (hasPooler) assertUsable(server.settings, server.role)
    else for (const statement of settingStatements(server.settings)) await this.run(statement)
  }
}

/** What the driver was told of the server's process. */
function backendOf(client: Client): Partial<Record<'processID' | 'secretKey', number>> {
  return client as Partial<Record<'processID' | 'secretKey', number>>
}

function nameOf({ host, port }: Client): string {
  return host.startsWith('/') ? host : `${host}:${port}`
}

/** @throws {CannotConnect} where a file that the address names cannot be read */
function clientConfig(address: Address, index: number, { statement_ms }: ConnectionSettings): ClientConfig {
  const { hosts, login, tls, connectTimeout_ms, bindsChannel } = address
  const { sslnegotiation } = tls
  return {
    ...given({ ...hosts[index], ...login, sslnegotiation, ssl: tlsOptions(tls) }),
    fallback_application_name: 'cairn',
    connectionTimeoutMillis: connectTimeout_ms,
    statement_timeout: statement_ms,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    keepAlive: true,
    enableChannelBinding: bindsChannel,
    // Of this connection alone: others of the process may want something else.
    types: { getTypeParser },
  }
}

/** Without what is undefined: the driver takes that from the environment. */
function given(config: Record<string, unknown>): ClientConfig {
  return Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined))
}

/** The error without what PostgreSQL says of the rows at fault: it ends up in the log, which has nothing that was sent. */
function withoutRows(error: Refused): Refused {
  return Object.assign(error, { detail: undefined, where: undefined, internalQuery: undefined })
}

/** Numbers as numbers: counts and milliseconds are far below 2^53. */
const getTypeParser: typeof types.getTypeParser = (oid: number, format?: 'text' | 'binary') =>
  oid === types.builtins.INT8 || oid === types.builtins.NUMERIC
    ? Number
    : types.getTypeParser(oid, format as 'text')

function reasonOf(error: unknown): string {
  if (error instanceof ConnectionLost && error.cause instanceof Error) return error.cause.message
  // What Node gives where a name leads to several addresses and none answers.
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join(', ')
  if (error instanceof Error && UNKNOWN_AUTHORITY.includes((error as NodeJS.ErrnoException).code ?? ''))
    return "its certificate is of an authority that is not known here; sslrootcert names the authority's file"
  return error instanceof Error ? error.message : String(error)
}

/** What Node says of a certificate whose authority it does not know; its message has advice on Node itself. */
const UNKNOWN_AUTHORITY = [
  // Of one that has the name of a known one.
  'CERT_SIGNATURE_FAILURE',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]
