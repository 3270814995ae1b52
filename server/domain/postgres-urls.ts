import { isIPv6 } from 'node:net'

/** Where a PostgreSQL server may be, and what it must be. It holds the password: never in a message or a log. */
export type Address = {
  /** In the order in which they are tried. What the URL leaves out comes from PGHOST and PGPORT. */
  hosts: readonly { host: string | undefined; port: number | undefined }[]
  /** What the URL leaves out comes from PGUSER, PGPASSWORD, PGDATABASE, PGAPPNAME and PGOPTIONS. */
  login: {
    user: string | undefined
    password: string | undefined
    database: string | undefined
    application_name: string | undefined
    options: string | undefined
  }
  tls: Tls
  /** Whether a host that cannot be written to is passed over. */
  needsPrimary: boolean
  connectTimeout_ms: number
  /** Whether the password is only shown to whom TLS has brought us to (SCRAM-SHA-256-PLUS), where the server can. */
  bindsChannel: boolean
}

/** By libpq's names; the certificates and the key are files. */
export type Tls = {
  sslmode: SslMode | undefined
  /** Undefined: the authorities that Node trusts. */
  sslrootcert: string | undefined
  sslcert: string | undefined
  sslkey: string | undefined
  sslnegotiation: 'postgres' | 'direct' | undefined
}

/** libpq's parameters that Cairn obeys; another one would be a promise that is not kept. */
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

/** A server that is there answers in this time; the next host is tried then. */
const CONNECT_TIMEOUT_S = 3

/**
 * The parts as libpq cuts them (`conninfo_uri_parse_options`); `#` is a character like any other. Where `@`, `/` or `?`
 * can be read in two ways the URL is refused: libpq would take a part of a password for a host, which messages name.
 */
const URL_PARTS =
  /^postgres(?:ql)?:\/\/(?:(?<user>[^:@/?]*)(?::(?<password>[^@/?]*))?@)?(?<hosts>[^@/?]*)(?:\/(?<database>[^@/?]*))?(?:\?(?<query>.*))?$/

/** What a name in the DNS may consist of, and more; but no `$VARIABLE` that nobody has replaced. */
const HOST = /^[\p{L}\p{N}._-]+$/u

const NETLOC = /^(?:\[(?<ipv6>[0-9A-Fa-f:.]+(?:%25[^\]]+)?)\]|(?<name>[^:[\]]*))(?::(?<port>.*))?$/

const WRONG_FORM =
  'it must be postgres://USER:PASSWORD@HOST:PORT/DATABASE; write / @ ? and % in a name or a password as %2F %40 %3F %25'

/**
 * Reads a `postgres://` URL as libpq does, or refuses it: several hosts, unix sockets, TLS.
 * @throws {Error} whose message says what must be changed, and nothing of what the URL has
 */
export function readAddress(url: string): Address {
  if (/[\s\p{Cc}]/u.test(url))
    throw new Error('it has a blank or a line break; write a blank in a name or a password as %20')
  const parts = URL_PARTS.exec(url)?.groups
  // Without a path libpq takes everything up to an `@` for credentials, the parameters too.
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

/** What stands before the parameters, by the names of the parameters that say the same. What is empty is not given. */
function fromAuthority({
  user,
  password,
  hosts = '',
  database,
}: Record<string, string | undefined>): Parameters {
  const netlocs = hosts.split(',').map((text) => {
    const { ipv6, name, port = '' } = NETLOC.exec(text)?.groups ?? {}
    const host = ipv6 ?? name
    if (host === undefined) throw new Error('a host in it must be a name, or an IPv6 address in [ ]')
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

/** As libpq reads them: the last one of a name counts, and `+` is no blank. */
function readQuery(query: string): Parameters {
  const parameters: Record<string, string> = {}
  for (const pair of query.replace(/&$/, '').split('&')) {
    if (query === '') break
    const [name = '', value, ...more] = pair.split('=')
    if (!PARAMETERS.some((known) => known === name)) {
      // A name is no secret, unless it is part of a password with a `?`.
      if (query.includes('@')) throw new Error(WRONG_FORM)
      const told = /^[a-z_]{1,40}$/.test(name) ? ` ${name}` : ''
      throw new Error(`it has a parameter${told} that is not supported; there are ${PARAMETERS.join(', ')}`)
    }
    if (!value) throw new Error(`${name} has no value in it`)
    if (more.length > 0) throw new Error(`write = in the value of ${name} as %3D`)
    parameters[name] = decoded(value)
  }
  return parameters
}

/** A port for each host, one for all, or none. */
function hostsOf({ host, port }: Parameters): Address['hosts'] {
  const hosts = host?.split(',') ?? [undefined]
  const ports = port?.split(',') ?? []
  if (ports.length > 1 && ports.length !== hosts.length)
    throw new Error('it must have a port for each host, or one for all')
  return hosts.map((host, index) => {
    if (host === '') throw new Error('a host in its list is empty')
    if (host !== undefined && !host.startsWith('/') && !HOST.test(host) && !isIPv6(host))
      throw new Error('a host in it is neither a name nor an address nor the folder of a socket')
    const text = ports.length > 1 ? ports[index] : ports[0]
    // In a list libpq takes its own default for an empty one, and PGPORT only where there is none at all.
    return { host, port: text === undefined ? undefined : portOf(text || '5432') }
  })
}

function portOf(text: string): number {
  if (!isPort(text)) throw new Error('a port in it must be a number from 1 to 65535')
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
  if (/%00/.test(text)) throw new Error('it must not have %00')
  try {
    return decodeURIComponent(text)
  } catch {
    throw new Error('a % in it must be written as %25')
  }
}
