import proxyaddr from 'proxy-addr'
import { isPort, readAddress } from './domain/postgres-urls.ts'
import { readEncryptionKey } from './webhooks/encryption-key.ts'
import { type Network, readNetwork } from './webhooks/networks.ts'

/** The only path whose folder is created. Anywhere else a missing folder is more likely a typo. */
export const DEFAULT_DATABASE_URL = 'sqlite:./data/cairn.db'

/** The environment variables, as `--help` and the README list them. */
export const settings = [
  { name: 'PORT', default: '3000', description: 'Port to listen on' },
  { name: 'HOST', default: '127.0.0.1', description: 'Address to listen on; 0.0.0.0 for all interfaces' },
  {
    name: 'DATABASE_URL',
    default: DEFAULT_DATABASE_URL,
    description: 'Database: sqlite:PATH (the folder must exist) or postgres://…',
  },
  {
    name: 'CAIRN_PUBLIC_URL',
    default: '',
    description: 'Public URL of the server, for example https://cairn.example.com',
  },
  {
    name: 'CAIRN_TRUSTED_PROXIES',
    default: '',
    description: 'Proxies whose X-Forwarded-… headers are trusted, for example loopback,10.0.0.0/8',
  },
  {
    name: 'CAIRN_RATE_LIMIT',
    default: '500',
    description: 'Events per second and key, with bursts of twice as many; 0 for no limit',
  },
  {
    name: 'CAIRN_RATE_LIMIT_MAX',
    default: '5000',
    description: 'Highest rate that members may set for a key, at least CAIRN_RATE_LIMIT; 0 for any',
  },
  {
    name: 'CAIRN_ACCOUNTS',
    default: 'invitation',
    description: 'Who creates accounts: invitation (the invited) or operator (the cairn command)',
  },
  {
    name: 'CAIRN_METRICS_TOKEN',
    default: '',
    description: 'Token that lets other machines read /metrics, sent as Authorization: Bearer TOKEN',
  },
  {
    name: 'CAIRN_REFUSALS_DAYS',
    default: '7',
    description: 'Days for which rejected requests are kept for inspection; 0 keeps none',
  },
  {
    name: 'CAIRN_REFUSALS_MEGABYTES',
    default: '50',
    description: 'Maximum megabytes of rejected requests per workspace; 0 keeps none',
  },
  {
    name: 'CAIRN_REFUSALS_ROWS',
    default: '100000',
    description: 'Maximum number of rejected requests kept per workspace; 0 keeps none',
  },
  {
    name: 'CAIRN_ERASURES_FILE',
    default: '',
    description: 'File with the list of erased customers; if unset, next to a SQLite database',
  },
  {
    name: 'CAIRN_ENCRYPTION_KEY',
    default: '',
    description: 'Key that encrypts secrets of webhooks; if unset, in a file next to a SQLite database',
  },
  {
    name: 'CAIRN_WEBHOOK_ALLOW',
    default: '',
    description: 'Networks that webhooks may call besides public addresses, such as 127.0.0.1',
  },
  { name: 'LOG_LEVEL', default: 'info', description: 'trace, debug, info, warn, error or silent' },
  {
    name: 'CAIRN_LOG_ADDRESSES',
    default: 'on',
    description: 'Whether the log contains client addresses, on or off; the audit log always does',
  },
] as const

/** Other variables that begin with `CAIRN_`; an entry that ends with `_` is a prefix. */
export const otherVariables = [
  // Read by commands, and by the receivers of webhooks in the samples.
  'CAIRN_SERVICE_KEY',
  'CAIRN_WEBHOOK_SECRET',
  // Of the proxy in deploy/.
  'CAIRN_HOST',
  'CAIRN_UPSTREAM',
  // Of the tests.
  'CAIRN_TEST_',
  'CAIRN_CONTRACT_',
  'CAIRN_KILLS',
] as const

type SettingName = (typeof settings)[number]['name']

export type Config = {
  port: number
  host: string
  databaseUrl: string
  /** Public URL of the server; undefined: taken from the request. */
  publicUrl: URL | undefined
  /** Addresses and networks of proxies whose `X-Forwarded-…` headers are trusted. */
  trustedProxies: string[]
  /** Events per second for each key without a rate of its own; 0: no limit. */
  rateLimit: number
  /**
   * Highest rate in events per second that members may set for a key; 0: any rate or none. The command line is not
   * bound by it.
   */
  rateLimitMax: number
  /** Whether a person without an account may create one from an invitation, or only operators create accounts. */
  accounts: 'invitation' | 'operator'
  /** Token for `/metrics`; without one, only this machine may read it. */
  metricsToken: string | undefined
  /** Limits on the rejected requests kept per workspace; if any of them is 0, none are kept. */
  refusals: { days: number; bytes: number; rows: number }
  /** File that lists erased customers, outside the database; undefined: next to a SQLite file, otherwise none. */
  erasuresFile: string | undefined
  /** 32 bytes that encrypt secrets of webhooks; undefined: in a file next to a SQLite file, otherwise none. */
  encryptionKey: Buffer | undefined
  /** Networks that webhooks may call besides public addresses, also over HTTP. */
  webhookAllow: Network[]
  logLevel: string
  /** Whether the log contains client addresses. */
  logAddresses: boolean
}

/**
 * A path to a file: not in memory, not a folder, and without a host, which `data` would be in `sqlite://data/cairn.db`.
 */
const SQLITE_URL = /^sqlite:(?!:memory:|file:|\/\/(?!\/)).*[^/]$/

/**
 * What an env file or a shell leaves in a value by mistake. It is refused rather than trimmed, so that every program
 * that reads the same variable sees the same value.
 */
const LEFTOVERS: [RegExp, string][] = [
  [/[\r\n]/, 'contains a line break (perhaps an env file with Windows line endings)'],
  [/^\s|\s$/, 'begins or ends with whitespace'],
  [/^["'`]|["'`]$/, 'begins or ends with a quotation mark; not every env file reader removes them'],
  [/\p{Cc}/u, 'contains a control character'],
]

/** What would become part of the file name: a database of that name would be a new, empty one. */
const NOT_OF_A_PATH: [RegExp, string][] = [
  [/\?/, 'contains a ?, but a sqlite: URL has no parameters; its path is used literally'],
  [/#/, 'contains a #, but a sqlite: URL has no fragment; its path is used literally'],
  [/%[0-9A-Fa-f]{2}/, 'is percent-encoded; the path of a sqlite: URL is used literally'],
  [/\$[{A-Za-z_]/, 'contains a variable that was not expanded'],
  [/^sqlite:["'`\s]/, 'has a path that begins with a quotation mark or whitespace'],
]

/** What fits into the header (RFC 6750) and cannot be guessed: 32 hexadecimal digits are 128 bits. */
const METRICS_TOKEN = /^[A-Za-z0-9._~+/=-]{32,255}$/

/** Lists whose entries are separated by whitespace or commas. */
const LISTS: SettingName[] = ['CAIRN_TRUSTED_PROXIES', 'CAIRN_WEBHOOK_ALLOW']

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent']

/**
 * Reads the configuration.
 * @throws {Error} whose message lists every invalid setting and what it must be
 */
export function readConfig(environment: NodeJS.ProcessEnv): Config {
  const faults: string[] = []
  const values = new Map(settings.map(({ name, default: value }) => [name, tidy(name) || value]))
  const config = {
    port: integer('PORT', 65535),
    host: text('HOST'),
    databaseUrl: text('DATABASE_URL'),
    publicUrl: publicUrl(text('CAIRN_PUBLIC_URL')),
    trustedProxies: list('CAIRN_TRUSTED_PROXIES'),
    rateLimit: integer('CAIRN_RATE_LIMIT', 1_000_000),
    rateLimitMax: integer('CAIRN_RATE_LIMIT_MAX', 1_000_000),
    accounts: accounts(text('CAIRN_ACCOUNTS')),
    metricsToken: text('CAIRN_METRICS_TOKEN') || undefined,
    refusals: {
      days: integer('CAIRN_REFUSALS_DAYS', 3_650),
      bytes: integer('CAIRN_REFUSALS_MEGABYTES', 100_000) * 1_000_000,
      rows: integer('CAIRN_REFUSALS_ROWS', 10_000_000),
    },
    erasuresFile: text('CAIRN_ERASURES_FILE') || undefined,
    encryptionKey: encryptionKey(text('CAIRN_ENCRYPTION_KEY')),
    webhookAllow: networks('CAIRN_WEBHOOK_ALLOW'),
    logLevel: text('LOG_LEVEL'),
    logAddresses: isOn('CAIRN_LOG_ADDRESSES'),
  }
  // Without its value: the message ends up in a log.
  if (config.metricsToken !== undefined && !METRICS_TOKEN.test(config.metricsToken)) {
    faults.push('CAIRN_METRICS_TOKEN must have 32 to 255 characters from A-Z a-z 0-9 . _ ~ + / = -')
  }
  if (!areProxies(config.trustedProxies)) {
    faults.push(
      'CAIRN_TRUSTED_PROXIES must list addresses or networks, for example 10.0.0.7, 172.16.0.0/12, loopback',
    )
  }
  if (!LOG_LEVELS.includes(config.logLevel)) faults.push(`LOG_LEVEL must be one of ${LOG_LEVELS.join(', ')}`)
  const databaseFault = faultOf(config.databaseUrl, environment)
  if (databaseFault !== undefined) faults.push(databaseFault)
  if (faults.length > 0) throw new Error(faults.join('\n'))
  return { ...config, rateLimitMax: mostOf(config) }

  function text(name: SettingName): string {
    return values.get(name) ?? ''
  }

  /** Returns the value, or reports a fault without the value, which may contain a password. */
  function tidy(name: SettingName): string | undefined {
    const value = environment[name]
    if (LISTS.includes(name)) return value
    const leftover = value && LEFTOVERS.find(([form]) => form.test(value))
    if (!leftover) return value
    faults.push(`${name} ${leftover[1]}`)
    return undefined
  }

  function list(name: SettingName): string[] {
    return text(name)
      .split(/[\s,]+/)
      .filter(Boolean)
  }

  function networks(name: SettingName): Network[] {
    const entries = list(name)
    const networks = entries.flatMap((entry) => {
      const network = readNetwork(entry)
      return network ? [network] : []
    })
    if (networks.length < entries.length) {
      faults.push(`${name} must list addresses or networks, for example 10.0.0.7, 172.16.0.0/12`)
    }
    return networks
  }

  function encryptionKey(value: string): Buffer | undefined {
    const key = readEncryptionKey(value)
    // Without its value: the message ends up in a log.
    if (value !== '' && !key) {
      faults.push(
        'CAIRN_ENCRYPTION_KEY must be 32 bytes in base64 or hexadecimal, as openssl rand -base64 32 prints',
      )
    }
    return key
  }

  function accounts(value: string): Config['accounts'] {
    if (value === 'invitation' || value === 'operator') return value
    faults.push('CAIRN_ACCOUNTS must be invitation or operator')
    return 'operator'
  }

  function isOn(name: SettingName): boolean {
    const value = text(name)
    if (value !== 'on' && value !== 'off') faults.push(`${name} must be on or off`)
    return value !== 'off'
  }

  function publicUrl(value: string): URL | undefined {
    if (value === '') return undefined
    const url = URL.parse(value)
    if (
      url &&
      /^https?:$/.test(url.protocol) &&
      url.pathname === '/' &&
      !url.search &&
      !url.hash &&
      !url.username &&
      !url.password
    ) {
      return url
    }
    faults.push(
      'CAIRN_PUBLIC_URL must be a scheme and a host without a path, for example https://cairn.example.com',
    )
    return undefined
  }

  function integer(name: SettingName, most: number): number {
    const value = text(name)
    const number = Number(value)
    if (/^[0-9]+$/.test(value) && number <= most) return number
    faults.push(`${name} must be a whole number from 0 to ${most}`)
    return 0
  }
}

/** The default rate is always allowed, so the maximum is at least that. */
function mostOf({ rateLimit, rateLimitMax }: Pick<Config, 'rateLimit' | 'rateLimitMax'>): number {
  return rateLimit === 0 || rateLimitMax === 0 ? 0 : Math.max(rateLimit, rateLimitMax)
}

function areProxies(list: string[]): boolean {
  try {
    proxyaddr.compile(list)
    return true
  } catch {
    return false
  }
}

/** Returns what is wrong with the URL, without the URL itself: it may contain a password. */
function faultOf(databaseUrl: string, environment: NodeJS.ProcessEnv): string | undefined {
  if (SQLITE_URL.test(databaseUrl)) {
    const strange = NOT_OF_A_PATH.find(([form]) => form.test(databaseUrl))
    return strange && `DATABASE_URL ${strange[1]}`
  }
  if (!/^postgres(ql)?:/.test(databaseUrl)) {
    return 'DATABASE_URL must be sqlite:PATH or postgres://…, for example sqlite:./data/cairn.db'
  }
  try {
    const { login } = readAddress(databaseUrl)
    const { PGPORT } = environment
    if (!PGPORT || login.port !== undefined || isPort(PGPORT)) return undefined
    return 'PGPORT must be a number from 1 to 65535, because DATABASE_URL names no port'
  } catch (error) {
    return `DATABASE_URL: ${error instanceof Error ? error.message : error}`
  }
}

/** Returns the environment of this process. */
export function processEnvironment(): NodeJS.ProcessEnv {
  // biome-ignore lint/style/noProcessEnv: the only place that reads it
  return process.env
}
