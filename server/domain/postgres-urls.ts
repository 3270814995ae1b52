import { isIPv6 } from 'node:net'

/** The address and login of a PostgreSQL server. It contains the password: never put it in a message or a log. */
export type Address = {
  /** In the order in which they are tried. What the URL omits comes from PGHOST and PGPORT. */
  hosts: readonly { host: string | undefined; port: number | undefined }[]
  /** What the URL omits comes from PGUSER, PGPASSWORD, PGDATABASE, PGAPPNAME and PGOPTIONS. */
  login: {
    user: string | undefined
    password: string | undefined
    database: string | undefined
    application_name: string | undefined
    options: string | undefined
  }
  tls: Tls
  /** Whether to skip a host that does not accept writes. */
  needsPrimary: boolean
  connectTimeout_ms: number
  /**
   * Whether to use channel binding (SCRAM-SHA-256-PLUS) if the server supports it: it proves that TLS ends at that
   * server.
   */
  bindsChannel: boolean
}

/** Named after libpq's parameters; certificates and key are files. */
export type Tls = {
  sslmode: SslMode | undefined
  /** Undefined: the certificate authorities that Node trusts. */
  sslrootcert: string | undefined
  sslcert: string | undefined
  sslkey: string | undefined
  sslnegotiation: 'postgres' | 'direct' | undefined
}

/** The parameters of libpq that Cairn supports. Any other is refused, because to ignore it would break its promise. */
const PARAMETERS = [
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
] as const

type Parameters = Partial<Record<(typeof PARAMETERS)[number], string>>

const SSL_MODES = ['disable', 'require', 'verify-ca', 'verify-full'] as const

type SslMode = (typeof SSL_MODES)[number]

/** A reachable server answers within this time; after it the next host is tried. */
const CONNECT_TIMEOUT_S = 3

/**
 * Splits the URL as libpq does (`conninfo_uri_parse_options`); `#` is an ordinary character. A URL in which `@`, `/` or
 * `?` is ambiguous is refused: libpq would take a part of the password for a host, and messages contain hosts.
 */
const URL_PARTS =
  /^postgres(?:ql)?:\/\/(?:(?<user>[^:@/?]*)(?::(?<password>[^@/?]*))?@)?(?<hosts>[^@/?]*)(?:\/(?<database>[^@/?]*))?(?:\?(?<query>.*))?$/

/** Accepts every DNS name and more, but not a `$VARIABLE` that was not expanded. */
const HOST = /^[\p{L}\p{N}._-]+$/u

const NETLOC = /^(?:\[(?<ipv6>[0-9A-Fa-f:.]+(?:%25[^\]]+)?)\]|(?<name>[^:[\]]*))(?::(?<port>.*))?$/

const WRONG_FORM =
  'it must be postgres://USER:PASSWORD@HOST:PORT/DATABASE; write / @ ? and % in a name or a password as %2F %40 %3F %25'

/**
 * Parses a `postgres://` URL as libpq does, or refuses it: several hosts, unix sockets, TLS.
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
  const { target_session_attrs: attributes, connect_timeout: timeout, channel_binding: binding } = given
  if (attributes !== undefined && !['any', 'read-write', 'primary'].includes(attributes)) {
    throw new Error('target_session_attrs must be any, read-write or primary: Cairn writes')
  }
  if (timeout !== undefined && !/^[1-9][0-9]{0,2}$/.test(timeout)) {
    throw new Error('connect_timeout must be a whole number of seconds from 1 to 999')
  }
  if (binding !== undefined && !['disable', 'prefer', 'require'].includes(binding)) {
    throw new Error('channel_binding must be disable, prefer or require')
  }
  const hosts = hostsOf(given)
  return {
    hosts,
    login: {
      user: given.user,
      password: given.password,
      database: given.dbname,
      application_name: given.application_name,
      options: given.options,
    },
    tls: tlsOf(given),
    needsPrimary: (attributes ?? (hosts.length > 1 ? 'primary' : 'any')) !== 'any',
    connectTimeout_ms: 1000 * Number(timeout ?? CONNECT_TIMEOUT_S),
    bindsChannel: binding === 'require' || binding === 'prefer',
  }
}

/** Returns the parts before the parameters, by the names of the equivalent parameters. Empty parts are omitted. */
function fromAuthority({
  user,
  password,
  hosts = '',
  database,
}: Record<string, string | undefined>): Parameters {
  const netlocs = hosts.split(',').map((text) => {
    const { ipv6, name, port = '' } = NETLOC.exec(text)?.groups ?? {}
    const host = ipv6 ?? name
    if (host === undefined) throw new Error('its host must be a name, or an IPv6 address in [ ]')
    return { host, port }
  })
  const given = {
    user,
    password,
    host: netlocs.map(({ host }) => host).join(),
    port: netlocs.map(({ port }) => port).join(),
    dbname: database,
  }
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, text]) => (text ? [[name, decoded(text)]] : [])),
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

/** Returns the hosts with their ports: one port per host, one for all, or none. */
function hostsOf({ host, port }: Parameters): Address['hosts'] {
  const hosts = host?.split(',') ?? [undefined]
  const ports = port?.split(',') ?? []
  if (ports.length > 1 && ports.length !== hosts.length)
    throw new Error('it must have one port per host, or one for all')
  return hosts.map((host, index) => {
    if (host === '') throw new Error('its list of hosts has an empty entry')
    if (host !== undefined && !host.startsWith('/') && !HOST.test(host) && !isIPv6(host))
      throw new Error('its host must be a name, an IP address or the folder of a unix socket')
    const text = ports.length > 1 ? ports[index] : ports[0]
    // In a list libpq uses its own default for an empty port; PGPORT applies only if there is no list of ports at all.
    return { host, port: text === undefined ? undefined : portOf(text || '5432') }
  })
}

function portOf(text: string): number {
  if (!isPort(text)) throw new Error('its port must be a number from 1 to 65535')
  return Number(text)
}

export function isPort(text: string): boolean {
  return /^[0-9]{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535
}

function tlsOf({ sslmode, sslrootcert, sslcert, sslkey, sslnegotiation }: Parameters): Tls {
  const mode = SSL_MODES.find((mode) => mode === sslmode)
  if (mode !== sslmode) throw new Error(`sslmode must be one of ${SSL_MODES.join(', ')}`)
  if (mode === 'verify-ca' && sslrootcert === undefined)
    throw new Error('sslmode=verify-ca needs sslrootcert')
  if (sslrootcert === 'system' && mode !== 'verify-full')
    throw new Error('sslrootcert=system needs sslmode=verify-full')
  if (sslnegotiation !== undefined && sslnegotiation !== 'postgres' && sslnegotiation !== 'direct')
    throw new Error('sslnegotiation must be postgres or direct')
  if (sslnegotiation === 'direct' && (mode === undefined || mode === 'disable'))
    throw new Error('sslnegotiation=direct needs sslmode=require, verify-ca or verify-full')
  return {
    sslmode: mode,
    sslrootcert: sslrootcert === 'system' ? undefined : sslrootcert,
    sslcert,
    sslkey,
    sslnegotiation,
  }
}

function decoded(text: string): string {
  if (/%00/.test(text)) throw new Error('it must not contain %00')
  try {
    return decodeURIComponent(text)
  } catch {
    throw new Error('write a % in it as %25')
  }
}
