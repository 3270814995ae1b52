/** Where a PostgreSQL server may be, and what it must be. */
export type Address = {
  /** One for each host, in the order in which they are tried. They hold the password: never in a message or a log. */
  hosts: readonly { connectionString: string; name: string }[]
  /** Whether a host that cannot be written to is passed over. */
  needsPrimary: boolean
  connectTimeout_ms: number
  /** Whether the password is only shown to whom TLS has brought us to (SCRAM-SHA-256-PLUS), where the server can. */
  bindsChannel: boolean
}

/** libpq's parameters that Cairn obeys; another one would be a promise that is not kept. */
const PARAMETERS = new Set([
  'host',
  'port',
  'user',
  'password',
  'dbname',
  'application_name',
  'options',
  'sslmode',
  'sslrootcert',
  'sslcert',
  'sslkey',
  'sslnegotiation',
  'channel_binding',
  'connect_timeout',
  'target_session_attrs',
])

const SSL_MODES = ['disable', 'require', 'verify-ca', 'verify-full']

/** A server that is there answers in this time; the next host is tried then. */
const CONNECT_TIMEOUT_S = 3

const URL_PARTS =
  /^postgres(?:ql)?:\/\/(?<credentials>[^@/?]*@)?(?<hosts>[^@/?]*)(?<database>\/[^/?]*)?(?:\?(?<query>.*))?$/

/**
 * Reads a `postgres://` URL as libpq does: several hosts, unix sockets, TLS. What it does not say comes from the PG…
 * variables of the environment.
 * @throws {Error} whose message says what must be changed, and nothing of what the URL has
 */
export function readAddress(url: string): Address {
  const parts = URL_PARTS.exec(url)?.groups
  if (!parts)
    throw new Error(`it must be ${FORM}; write / @ ? and % in a name or a password as %2F %40 %3F %25`)
  const query = new URLSearchParams(parts.query)
  for (const name of query.keys()) {
    if (!PARAMETERS.has(name))
      throw new Error(`it has a parameter that is not supported; there are ${known()}`)
  }
  const take = (name: string) => {
    const value = query.get(name)
    query.delete(name)
    return value
  }
  const attributes = take('target_session_attrs')
  if (attributes !== null && !['any', 'read-write', 'primary'].includes(attributes)) {
    throw new Error('target_session_attrs must be any, read-write or primary: Cairn writes')
  }
  const timeout = take('connect_timeout')
  if (timeout !== null && !/^[1-9][0-9]{0,2}$/.test(timeout)) {
    throw new Error('connect_timeout must be a whole number of seconds from 1 to 999')
  }
  const binding = take('channel_binding')
  checkTls(query)
  const database = take('dbname') ?? decoded(parts.database?.slice(1) ?? '')
  const hosts = hostsOf(parts.hosts ?? '', take('host'), take('port'))
  return {
    hosts: hosts.map(({ host, port }) => {
      const parameters = new URLSearchParams(query)
      parameters.set('host', host)
      if (port !== '') parameters.set('port', port)
      // Else the driver takes `require` for `verify-full`, and warns.
      if (query.has('sslmode')) parameters.set('uselibpqcompat', 'true')
      const path = encodeURIComponent(database)
      // The name of the host is in the parameters: a socket's folder has no other place.
      const connectionString = `postgres://${parts.credentials ?? ''}localhost/${path}?${parameters}`
      return { connectionString, name: host.startsWith('/') ? host : `${host}:${port || '5432'}` }
    }),
    needsPrimary: (attributes ?? (hosts.length > 1 ? 'primary' : 'any')) !== 'any',
    connectTimeout_ms: 1000 * Number(timeout ?? CONNECT_TIMEOUT_S),
    bindsChannel: binding === 'require' || binding === 'prefer',
  }
}

const FORM = 'postgres://USER:PASSWORD@HOST:PORT/DATABASE'

function known(): string {
  return [...PARAMETERS].join(', ')
}

function checkTls(query: URLSearchParams) {
  const mode = query.get('sslmode')
  if (mode !== null && !SSL_MODES.includes(mode))
    throw new Error(`sslmode must be one of ${SSL_MODES.join(', ')}`)
  if (mode === 'verify-ca' && !query.has('sslrootcert'))
    throw new Error('sslmode=verify-ca needs sslrootcert')
  // The authorities that Node trusts.
  if (query.get('sslrootcert') === 'system') query.delete('sslrootcert')
}

/** The hosts with their ports, as they stand before the path, or in the parameters. */
function hostsOf(authority: string, hosts: string | null, ports: string | null) {
  const listed = (hosts ?? authority).split(',')
  const given = ports?.split(',') ?? []
  return listed.map((text, index) => {
    const [, bracketed, plain = '', own = ''] =
      /^(?:\[([0-9a-fA-F:.]+)\]|([^:]*|\/.*|[0-9a-fA-F:]*::[0-9a-fA-F:]*))(?::([0-9]+))?$/.exec(
        decoded(text),
      ) ?? []
    const host = bracketed ?? (plain || 'localhost')
    return { host, port: own || given[index] || given.at(-1) || '' }
  })
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new Error('a % in it must be written as %25')
  }
}
