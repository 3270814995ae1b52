import { connect } from 'node:net'
import { Client, type ClientConfig, type QueryResult, types } from 'pg'
import { parse, toClientConfig } from 'pg-connection-string'
import type { Address } from '../../../domain/postgres-urls.ts'
import { CannotConnect, ConnectionLost, isReadOnly, isRefused, type Refused } from './outages.ts'
import { SETTINGS_AS_JSON, type SessionSettings, settingStatements, unsuitable } from './session-settings.ts'
import { statementName } from './statement-names.ts'

/** The result of a statement. */
export type Rows<Row> = { rows: Row[]; changes: number; command: string }

/** Settings shared by the connections of one purpose. */
export type ConnectionSettings = {
  /** Statement timeout of PostgreSQL. */
  statement_ms: number
  /** Whether to prepare all statements with parameters, see `runPrepared`. */
  prepares?: boolean
}

/**
 * Additional time after which a connection is abandoned if the server cannot report its timeout, because the network
 * fails or a proxy blocks.
 */
const GRACE_MS = 1_000

/** Limit for the locks of a transaction whose process has died or hangs. */
const IDLE_IN_TRANSACTION_MS = 10_000

/** The oldest version with everything that the statements need. */
const LEAST_VERSION = 140_000

/**
 * Number of runs after which a prepared statement is planned again: its plan is based on the table's size at the time.
 */
const RUNS_OF_A_PLAN = 100

/** The statement is not prepared in this session, or its name belongs to another: nothing was done. */
const WRONG_SESSION = ['26000', '42P05']

/** An earlier statement of the transaction was refused. */
const TRANSACTION_ABORTED = '25P02'

/** PostgreSQL's protocol, "CancelRequest". */
const CANCEL_REQUEST = 80_877_102

/** The address shared by all pools of a process, behind which a proxy or DNS may put one server or another. */
export class Servers {
  readonly address: Address
  /** Incremented when a server refuses writes, because the address may lead to another one by now. */
  generation = 0

  constructor(address: Address) {
    this.address = address
  }
}

/** One connection to PostgreSQL, for one statement at a time. */
export class Connection {
  readonly #servers: Servers
  readonly #generation: number
  readonly #client: Client
  readonly #statement_ms: number
  readonly #preparesAll: boolean
  /** Not behind a pooler, where the next statement may be in another session. */
  #canPrepare = true
  #preparedRuns = 0
  #hasPooler = false
  #isLost = false
  /** Whether the connection survived the last statement. */
  #answered = Promise.withResolvers<boolean>()
  /** The error of the last statement; undefined if it succeeded. */
  #refusal: Refused | undefined

  private constructor(servers: Servers, settings: ConnectionSettings) {
    this.#servers = servers
    this.#generation = servers.generation
    this.#client = new Client(clientConfig(servers.address, settings))
    this.#statement_ms = settings.statement_ms
    this.#preparesAll = settings.prepares ?? false
    // The server is ready for the next statement.
    this.#client.on('drain', () => this.#answered.resolve(true))
    // The next user gets the error; an event without a listener would end the process.
    const lost = () => {
      this.#isLost = true
      this.#answered.resolve(false)
    }
    this.#client.on('error', lost)
    this.#client.on('end', lost)
  }

  /** @throws {CannotConnect} whose message contains host and reason, but no password */
  static async open(servers: Servers, settings: ConnectionSettings): Promise<Connection> {
    const connection = new Connection(servers, settings)
    try {
      await connection.#client.connect()
      await connection.#check()
      return connection
    } catch (error) {
      connection.close()
      const { host, port } = connection.#client
      const name = host.startsWith('/') ? host : `${host}:${port}`
      throw new CannotConnect(`${name}: ${reasonOf(error)}`, error)
    }
  }

  /** Whether the connection can be used again. */
  get isUsable(): boolean {
    return !this.#isLost && this.#generation === this.#servers.generation
  }

  /**
   * Runs one statement, or several if there are no parameters.
   * @throws {ConnectionLost} if it is unknown whether it was done; otherwise PostgreSQL's error
   */
  async run<Row>(sql: string, parameters?: readonly unknown[]): Promise<Rows<Row>> {
    return await this.#run(sql, parameters, this.#preparesAll)
  }

  /**
   * The same, but prepares the statement, so that PostgreSQL does not plan it each time: for few statements in all, each with
   * a plan that is good for all parameters.
   */
  async runPrepared<Row>(sql: string, parameters: readonly unknown[]): Promise<Rows<Row>> {
    return await this.#run(sql, parameters, true)
  }

  async #run<Row>(
    sql: string,
    parameters: readonly unknown[] | undefined,
    prepares: boolean,
  ): Promise<Rows<Row>> {
    if (this.#isLost) throw new ConnectionLost('it had already ended')
    const patience = setTimeout(() => this.close(), this.#statement_ms + GRACE_MS)
    try {
      const result = parameters
        ? await this.#runWith(sql, [...parameters], prepares)
        : await this.#query(() => this.#client.query(sql))
      this.#refusal = undefined
      return { rows: (result.rows ?? []) as Row[], changes: result.rowCount ?? 0, command: result.command }
    } catch (error) {
      // All connections are replaced.
      if (isReadOnly(error)) this.#servers.generation += 1
      if (isRefused(error)) throw this.#firstCause(error)
      this.close()
      throw error
    } finally {
      clearTimeout(patience)
    }
  }

  /**
   * Begins a transaction. Behind a pooler it gets the time limits that the connection has otherwise: if this process dies or
   * hangs unnoticed, its locks must not stay.
   * @param options.mode of the transaction, in SQL
   * @param options.first the first statements, in SQL
   */
  async begin({ mode = '', first = '' }: { mode?: string; first?: string } = {}): Promise<void> {
    await this.run(`BEGIN ${mode}; ${this.#hasPooler ? this.#limits() : ''} ${first}`)
  }

  #limits(): string {
    return `SET LOCAL idle_in_transaction_session_timeout = ${IDLE_IN_TRANSACTION_MS};
      SET LOCAL statement_timeout = ${this.#statement_ms};`
  }

  /** After a refused statement, all further ones in the transaction are refused too; only the first error says why. */
  #firstCause(error: Refused): Refused {
    if (error.code !== TRANSACTION_ABORTED || !this.#refusal) this.#refusal = withoutRows(error)
    return this.#refusal
  }

  async #runWith(text: string, values: unknown[], prepares: boolean) {
    if (!prepares || !this.#canPrepare) return await this.#query(() => this.#client.query(text, values))
    this.#preparedRuns += 1
    if (this.#preparedRuns % RUNS_OF_A_PLAN === 0)
      await this.#query(() => this.#client.query('DISCARD PLANS'))
    try {
      return await this.#query(() => this.#client.query({ name: statementName(text), text, values }))
    } catch (error) {
      if (!isRefused(error) || !WRONG_SESSION.includes(error.code)) throw error
      // A pooler that is not recognizable as one.
      this.#canPrepare = false
      return await this.#query(() => this.#client.query(text, values))
    }
  }

  /**
   * Sends one message with a query. Whether an error concerns only the statement (ERROR) or ends the connection (FATAL)
   * is decided by what follows, ready for query or the end, because the driver has the severity only in the server's
   * language. After FATAL the outcome is unknown: it may come after the commit, while waiting for a standby.
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
   * Asks the server to cancel the running statement. The connection is not used again: the request may arrive late and
   * would cancel the next statement.
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
    // If the request does not arrive, the statement runs into the server's timeout.
    socket.on('error', () => {})
    socket.end(request)
  }

  /** Closes the connection; a running statement is lost. */
  close(): void {
    this.#isLost = true
    this.#answered.resolve(false)
    // During a statement the driver closes the socket.
    this.#client.end().catch(() => {})
  }

  async #check() {
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
    if (!server) throw new Error('it does not respond')
    // A pooler reports its own process as the one to cancel.
    this.#hasPooler = server.process !== backendOf(this.#client).processID
    if (this.#hasPooler) this.#canPrepare = false
    if (server.version < LEAST_VERSION) throw new Error('it is older than PostgreSQL 14')
    if (server.encoding !== 'UTF8')
      throw new Error(`the database has the encoding ${server.encoding}, not UTF8`)
    if (this.#servers.address.needsPrimary && server.standby) throw new Error('it is a standby')
    // Behind a pooler the next statement may be in another session.
    if (this.#hasPooler) {
      const fault = unsuitable(server.settings, server.role)
      if (!fault) return
      throw new Error(
        `connections of the pooler have unsuitable settings: ${fault.found}. Run \`${fault.cure}\` and let the pooler reconnect`,
      )
    }
    for (const statement of settingStatements(server.settings)) await this.run(statement)
  }
}

/** Returns the process identifier of the server, as reported to the driver. */
function backendOf(client: Client): Partial<Record<'processID' | 'secretKey', number>> {
  return client as Partial<Record<'processID' | 'secretKey', number>>
}

function clientConfig(address: Address, { statement_ms }: ConnectionSettings): ClientConfig {
  const { login, tls, connectTimeout_ms, bindsChannel } = address
  return {
    // The client adds what the environment says to the address.
    ...given({ ...login, sslnegotiation: tls.sslnegotiation, ssl: tlsOptions(tls) }),
    fallback_application_name: 'cairn',
    connectionTimeoutMillis: connectTimeout_ms,
    statement_timeout: statement_ms,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    keepAlive: true,
    enableChannelBinding: bindsChannel,
    // For this connection only: other code in the process may want other types.
    types: { getTypeParser },
  }
}

/**
 * Returns what Node must verify of the server, so that `sslmode` means the same as in libpq. The files are read for each
 * connection, because certificates are renewed.
 * @returns false for no TLS; undefined if PGSSLMODE decides
 * @throws {CannotConnect} if a file cannot be read
 */
function tlsOptions(tls: Address['tls']): ClientConfig['ssl'] {
  try {
    const parsed = parse(`postgres://?${new URLSearchParams(tls)}`, { useLibpqCompat: true })
    return toClientConfig(parsed).ssl
  } catch (error) {
    throw new CannotConnect(`a file for TLS cannot be read: ${reasonOf(error)}`, error)
  }
}

/** Removes undefined fields, which the driver then takes from the environment. */
function given(config: Record<string, unknown>): ClientConfig {
  return Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined))
}

/** Removes what PostgreSQL says of the rows: the error ends up in the log, which must not contain what was sent. */
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
  // Node's error if a name has several addresses and none answers.
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join(', ')
  if (error instanceof Error && UNKNOWN_AUTHORITY.includes((error as NodeJS.ErrnoException).code ?? ''))
    return "its certificate is from an unknown authority; set sslrootcert to the authority's file"
  if (error instanceof Error && PASSWORD_MISSING.test(error.message))
    return 'the server asks for a password; set it in DATABASE_URL, PGPASSWORD or ~/.pgpass'
  const [, parameter] = (error instanceof Error && UNSUPPORTED_PARAMETER.exec(error.message)) || []
  if (parameter !== undefined) return poolerAdvice(parameter)
  return error instanceof Error ? error.message : String(error)
}

/** What the driver says if it has no password, or an empty one. */
const PASSWORD_MISSING = /client password must be a/

/** What PgBouncer says of a parameter that it does not pass on, alone or within `options`. */
const UNSUPPORTED_PARAMETER = /^unsupported startup parameter(?: in options)?: (\w+)/

/** What to change if a pooler does not accept a parameter of the connection. */
function poolerAdvice(parameter: string): string {
  const found = `the pooler does not accept ${parameter}`
  return TIMEOUTS.includes(parameter)
    ? `${found}; in its settings, set ignore_startup_parameters = ${TIMEOUTS.join(',')}`
    : `${found} when connecting; take \`options\` out of DATABASE_URL and PGOPTIONS, and set what you need with ALTER ROLE ... SET (for example search_path)`
}

/** Sent with each connection; a pooler may ignore them (see `begin`). */
const TIMEOUTS = ['statement_timeout', 'idle_in_transaction_session_timeout']

/** Node's codes for a certificate of an unknown authority; the message has advice about Node itself. */
const UNKNOWN_AUTHORITY = [
  // For one with the name of a known authority.
  'CERT_SIGNATURE_FAILURE',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]
