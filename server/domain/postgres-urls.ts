import { isIPv6 } from 'node:net'

/** The address and login of a PostgreSQL server. It contains the password: never put it in a message or a log. */
export type Address = {
  /**
   * By the driver's names. What the URL omits comes from PGHOST, PGPORT, PGUSER, PGPASSWORD, PGDATABASE, PGAPPNAME and
   * PGOPTIONS.
   */
  login: {
    host: string | undefined
    port: number | undefined
    user: string | undefined
    password: string | undefined
    database: string | undefined
    application_name: string | undefined
    options: string | undefined
  }
  tls: Tls
  /** Whether to refuse a server that does not accept writes. */
  needsPrimary: boolean
  connectTimeout_ms: number
  /**
   * Whether to use channel binding (SCRAM-SHA-256-PLUS) if the server supports it: it proves that TLS ends at that
   * server.
   */
  bindsChannel: boolean
}

/** Libpq's parameters; certificates and key are files. Without `sslrootcert` Node's certificate authorities count. */
type Tls = Partial<Record<(typeof TLS_PARAMETERS)[number], string>>

const TLS_PARAMETERS = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'sslnegotiation'] as const

/** The parameters of libpq that Cairn supports. Any other is refused, because to ignore it would break its promise. */
const PARAMETERS = [
  'host',
  'port',
  'user',
  'password',
  'dbname',
  'application_name',
  'options',
  ...TLS_PARAMETERS,
  'channel_binding',
  'connect_timeout',
  'target_session_attrs',
] as const

type Parameters = Partial<Record<(typeof PARAMETERS)[number], string>>

const SSL_MODES = ['disable', 'require', 'verify-ca', 'verify-full']

/** A reachable server answers within this time. */
const CONNECT_TIMEOUT_S = 3

/**
 * Splits the URL as libpq does (`conninfo_uri_parse_options`); `#` is an ordinary character. A URL in which `@`, `/` or
 * `?` is ambiguous is refused: libpq would take a part of the password for a host, and messages contain hosts.
 */
const URL_PARTS =
  /^postgres(?:ql)?:\/\/(?:(?<user>[^:@/?]*)(?::(?<password>[^@/?]*))?@)?(?<netloc>[^@/?]*)(?:\/(?<database>[^@/?]*))?(?:\?(?<query>.*))?$/

/** Accepts every DNS name and more, but not a `$VARIABLE` that was not expanded. */
const HOST = /^[\p{L}\p{N}._-]+$/u

const NETLOC = /^(?:\[(?<ipv6>[0-9A-Fa-f:.]+(?:%25[^\]]+)?)\]|(?<name>[^:[\]]*))(?::(?<port>.*))?$/

const WRONG_FORM =
  'it must be postgres://USER:PASSWORD@HOST:PORT/DATABASE; write / @ ? and % in a name or a password as %2F %40 %3F %25'

/**
 * Parses a `postgres://` URL as libpq does, or refuses it: one host or unix socket, and TLS.
 *
 * `pg-connection-string`, the driver's parser, would read some URLs otherwise: `#` begins a fragment, `+` in a parameter
 * is a space, `%2F` stays in the name of a database, `dbname` and unknown parameters are ignored. Its errors do not say
 * what to change.
 * @throws {Error} whose message says what to change, and contains nothing of the URL
 */
export function readAddress(url: string): Address {
  if (/[\s\p{Cc}]/u.test(url))
    throw new Error('it contains whitespace; write a space in a name or a password as %20')
  const parts = URL_PARTS.exec(url)?.groups
  // Without a path libpq takes everything up to an `@` for credentials, including the parameters.
  const isAmbiguous =
    parts?.user === undefined && parts?.database === undefined && parts?.query?.includes('@')
  if (!parts || isAmbiguous) throw new Error(WRONG_FORM)
  const given = { ...fromAuthority(parts), ...readQuery(parts.query ?? '') }
  const { user, password, dbname, application_name, options, channel_binding: binding } = given
  const { target_session_attrs: attributes = 'any', connect_timeout: timeout } = given
  if (!['any', 'read-write', 'primary'].includes(attributes)) {
    throw new Error('target_session_attrs must be any, read-write or primary: Cairn writes')
  }
  if (timeout !== undefined && !/^[1-9][0-9]{0,2}$/.test(timeout)) {
    throw new Error('connect_timeout must be a whole number of seconds from 1 to 999')
  }
  if (binding !== undefined && !['disable', 'prefer', 'require'].includes(binding)) {
    throw new Error('channel_binding must be disable, prefer or require')
  }
  return {
    login: { ...hostOf(given), user, password, database: dbname, application_name, options },
    tls: tlsOf(given),
    needsPrimary: attributes !== 'any',
    connectTimeout_ms: 1000 * Number(timeout ?? CONNECT_TIMEOUT_S),
    bindsChannel: binding === 'require' || binding === 'prefer',
  }
}

/** Returns the parts before the parameters, by the names of the equivalent parameters. Empty parts are omitted. */
function fromAuthority({
  user,
  password,
  netloc = '',
  database,
}: Record<string, string | undefined>): Parameters {
  const { ipv6, name, port } = NETLOC.exec(netloc)?.groups ?? {}
  const host = ipv6 ?? name
  if (host === undefined) throw new Error('its host must be a name, or an IPv6 address in [ ]')
  return Object.fromEntries(
    Object.entries({ user, password, host, port, dbname: database }).flatMap(([name, text]) =>
      text ? [[name, decoded(text)]] : [],
    ),
  )
}

/** Parses parameters as libpq does: the last one of a name counts, and `+` is not a space. */
function readQuery(query: string): Parameters {
  const parameters: Record<string, string> = {}
  for (const pair of query.replace(/&$/, '').split('&')) {
    if (query === '') break
    const [name = '', value, ...more] = pair.split('=')
    if (!PARAMETERS.some((known) => known === name)) {
      // A name is not secret, unless it is part of a password that contains a `?`.
      if (query.includes('@')) throw new Error(WRONG_FORM)
      const shown = /^[a-z_]{1,40}$/.test(name) ? ` ${name}` : ''
      throw new Error(
        `its parameter${shown} is not supported; supported parameters: ${PARAMETERS.join(', ')}`,
      )
    }
    if (!value) throw new Error(`its parameter ${name} has no value`)
    if (more.length > 0) throw new Error(`write = in the value of ${name} as %3D`)
    parameters[name] = decoded(value)
  }
  return parameters
}

function hostOf({ host, port }: Parameters): { host: string | undefined; port: number | undefined } {
  if (`${host}${port}`.includes(','))
    throw new Error('it must name one host; a proxy or a DNS name can lead to the primary of several')
  if (host !== undefined && !host.startsWith('/') && !HOST.test(host) && !isIPv6(host))
    throw new Error('its host must be a name, an IP address or the folder of a unix socket')
  if (port !== undefined && !isPort(port)) throw new Error('its port must be a number from 1 to 65535')
  return { host, port: port === undefined ? undefined : Number(port) }
}

export function isPort(text: string): boolean {
  return /^[0-9]{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535
}

function tlsOf(given: Parameters): Tls {
  const { sslmode, sslrootcert, sslnegotiation } = given
  if (sslmode !== undefined && !SSL_MODES.includes(sslmode))
    throw new Error(`sslmode must be one of ${SSL_MODES.join(', ')}`)
  if (sslmode === 'verify-ca' && sslrootcert === undefined)
    throw new Error('sslmode=verify-ca needs sslrootcert')
  if (sslrootcert === 'system' && sslmode !== 'verify-full')
    throw new Error('sslrootcert=system needs sslmode=verify-full')
  if (sslnegotiation !== undefined && !['postgres', 'direct'].includes(sslnegotiation))
    throw new Error('sslnegotiation must be postgres or direct')
  if (sslnegotiation === 'direct' && (sslmode === undefined || sslmode === 'disable'))
    throw new Error('sslnegotiation=direct needs sslmode=require, verify-ca or verify-full')
  return Object.fromEntries(
    TLS_PARAMETERS.flatMap((name) => {
      const value = name === 'sslrootcert' && given[name] === 'system' ? undefined : given[name]
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

function decoded(text: string): string {
  if (/%00/.test(text)) throw new Error('it must not contain %00')
  try {
    return decodeURIComponent(text)
  } catch {
    throw new Error('write a % in it as %25')
  }
}
