import proxyaddr from 'proxy-addr'
import { isPort, readAddress } from './domain/postgres-urls.ts'

/** The only store whose folder is made: in any other place a missing one is more likely a slip of the pen. */
export const DEFAULT_DATABASE_URL = 'sqlite:./data/cairn.db'

/** The environment variables, for `--help` and for the README. */
export const settings = [
  { name: 'PORT', default: '3000', description: 'Port to listen on' },
  { name: 'HOST', default: '127.0.0.1', description: 'Address to listen on; 0.0.0.0 for all' },
  {
    name: 'DATABASE_URL',
    default: DEFAULT_DATABASE_URL,
    description: 'The store: sqlite:PATH, whose folder must exist, or postgres://…',
  },
  {
    name: 'CAIRN_PUBLIC_URL',
    default: '',
    description: 'Where browsers reach the server, for example https://cairn.example.com',
  },
  {
    name: 'CAIRN_TRUSTED_PROXIES',
    default: '',
    description: 'Proxies whose X-Forwarded-… headers are believed, for example loopback,10.0.0.0/8',
  },
  {
    name: 'CAIRN_RATE_LIMIT',
    default: '500',
    description: 'Events a second for each key, twice as many at once; 0 for no limit',
  },
  {
    name: 'CAIRN_RATE_LIMIT_MAX',
    default: '5000',
    description: 'The most that members may give a key, not below CAIRN_RATE_LIMIT; 0 for any',
  },
  {
    name: 'CAIRN_ACCOUNTS',
    default: 'invitation',
    description: 'Who makes accounts: invitation, the invited; operator, the cairn command alone',
  },
  {
    name: 'CAIRN_METRICS_TOKEN',
    default: '',
    description: 'Opens /metrics to other machines, as Authorization: Bearer TOKEN',
  },
  {
    name: 'CAIRN_REFUSALS_DAYS',
    default: '7',
    description: 'How many days refused requests are kept to be looked at; 0 for none',
  },
  {
    name: 'CAIRN_REFUSALS_MEGABYTES',
    default: '50',
    description: 'The most that the refused requests of a workspace take; 0 keeps none',
  },
  {
    name: 'CAIRN_REFUSALS_ROWS',
    default: '100000',
    description: 'The most refused requests that are kept of a workspace; 0 keeps none',
  },
  {
    name: 'CAIRN_ERASURES_FILE',
    default: '',
    description: 'Notes who was erased, outside of the store; by default beside a SQLite file',
  },
  { name: 'LOG_LEVEL', default: 'info', description: 'trace, debug, info, warn, error or silent' },
  {
    name: 'CAIRN_LOG_ADDRESSES',
    default: 'on',
    description: 'Whether the log has the addresses of senders, on or off; the audit log has them',
  },
] as const

type SettingName = (typeof settings)[number]['name']

export type Config = {
  port: number
  host: string
  databaseUrl: string
  /** Where browsers reach the server; undefined: where the request says. */
  publicUrl: URL | undefined
  /** Addresses and networks of proxies whose headers are believed. */
  trustedProxies: string[]
  /** Events a second for each key without a rate of its own; 0: no limit. */
  rateLimit: number
  /** The most events a second that members may give a key; 0: any rate, and none. The command line may give more. */
  rateLimitMax: number
  /** Whether an invitation lets somebody without an account make one, or only operators do. */
  accounts: 'invitation' | 'operator'
  /** Opens `/metrics`; without one only this machine reads it. */
  metricsToken: string | undefined
  /** How much is kept of what was refused, of each workspace; any of them 0: nothing. */
  refusals: { days: number; bytes: number; rows: number }
  /** Notes who was erased, outside of the store; undefined: beside it where it is a file, else nowhere. */
  erasuresFile: string | undefined
  logLevel: string
  /** Whether the log has the addresses of senders. */
  logAddresses: boolean
}

/** A path to a file: not in memory, no folder, and no host, which `data` would be in `sqlite://data/cairn.db`. */
const SQLITE_URL = /^sqlite:(?!:memory:|file:|\/\/(?!\/)).*[^/]$/

/**
 * What an env file or a shell leaves in a value by mistake. It is refused, and not cut off: then every program that reads
 * the same variable means the same.
 */
const LEFTOVERS: [RegExp, string][] = [
  [/[\r\n]/, 'has a line break (an env file with Windows line ends, perhaps)'],
  [/^\s|\s$/, 'begins or ends with a blank'],
  [/^["'`]|["'`]$/, 'begins or ends with a quotation mark; not every reader of an env file takes them away'],
  [/\p{Cc}/u, 'has a control character'],
]

/** What would be part of the file's name: the store of that name would be a new one, and empty. */
const NOT_OF_A_PATH: [RegExp, string][] = [
  [/\?/, 'has a ? in it: a sqlite: URL has no parameters, and its path is taken as it is'],
  [/#/, 'has a # in it: a sqlite: URL has no fragment, and its path is taken as it is'],
  [/%[0-9A-Fa-f]{2}/, 'is encoded with %; the path of a sqlite: URL is written as it is'],
  [/\$[{A-Za-z_]/, 'has a variable that was not replaced by its value'],
  [/^sqlite:["'`\s]/, 'has a path that begins with a quotation mark or a blank'],
]

/** What fits into the header (RFC 6750), and cannot be guessed: 32 hexadecimal digits are 128 bits. */
const METRICS_TOKEN = /^[A-Za-z0-9._~+/=-]{32,255}$/

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent']

/**
 * Reads the configuration.
 * @throws {Error} whose message lists every setting that is wrong and what it must be
 */
export function readConfig(environment: NodeJS.ProcessEnv): Config {
  const faults: string[] = []
  const values = new Map(settings.map(({ name, default: value }) => [name, tidy(name) || value]))
  const config = {
    port: integer('PORT', 0, 65535),
    host: text('HOST'),
    databaseUrl: text('DATABASE_URL'),
    publicUrl: publicUrl(text('CAIRN_PUBLIC_URL')),
    trustedProxies: text('CAIRN_TRUSTED_PROXIES')
      .split(/[\s,]+/)
      .filter(Boolean),
    rateLimit: integer('CAIRN_RATE_LIMIT', 0, 1_000_000),
    rateLimitMax: integer('CAIRN_RATE_LIMIT_MAX', 0, 1_000_000),
    accounts: accounts(text('CAIRN_ACCOUNTS')),
    metricsToken: text('CAIRN_METRICS_TOKEN') || undefined,
    refusals: {
      days: integer('CAIRN_REFUSALS_DAYS', 0, 3_650),
      bytes: integer('CAIRN_REFUSALS_MEGABYTES', 0, 100_000) * 1_000_000,
      rows: integer('CAIRN_REFUSALS_ROWS', 0, 10_000_000),
    },
    erasuresFile: text('CAIRN_ERASURES_FILE') || undefined,
    logLevel: text('LOG_LEVEL'),
    logAddresses: isOn('CAIRN_LOG_ADDRESSES'),
  }
  // Never with what it is: the message ends up in a log.
  if (config.metricsToken !== undefined && !METRICS_TOKEN.test(config.metricsToken)) {
    faults.push('CAIRN_METRICS_TOKEN must have 32 to 255 characters, of A-Z a-z 0-9 . _ ~ + / = -')
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

  /** Without what it is: it may have a password. */
  function tidy(name: SettingName): string | undefined {
    const value = environment[name]
    // A list, whose members blanks and line breaks part.
    if (name === 'CAIRN_TRUSTED_PROXIES') return value
    const leftover = value && LEFTOVERS.find(([form]) => form.test(value))
    if (!leftover) return value
    faults.push(`${name} ${leftover[1]}`)
    return undefined
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
    const url = URL.canParse(value) ? new URL(value) : undefined
    if (
      url &&
      /^https?:$/.test(url.protocol) &&
      url.pathname === '/' &&
      !url.search &&
      !url.hash &&
      !url.username
    ) {
      return url
    }
    faults.push(
      'CAIRN_PUBLIC_URL must be a scheme and a host without a path, for example https://cairn.example.com',
    )
    return undefined
  }

  function integer(name: SettingName, least: number, most: number): number {
    const value = text(name)
    const number = Number(value)
    if (/^[0-9]+$/.test(value) && number >= least && number <= most) return number
    faults.push(`${name} must be a whole number from ${least} to ${most}`)
    return least
  }
}

/** What every key has without asking, each may be given. */
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

/** Never with what it is: it may have a password. */
function faultOf(databaseUrl: string, environment: NodeJS.ProcessEnv): string | undefined {
  if (SQLITE_URL.test(databaseUrl)) {
    const strange = NOT_OF_A_PATH.find(([form]) => form.test(databaseUrl))
    return strange && `DATABASE_URL ${strange[1]}`
  }
  if (!/^postgres(ql)?:/.test(databaseUrl)) {
    return 'DATABASE_URL must be sqlite:PATH or postgres://…, for example sqlite:./data/cairn.db'
  }
  try {
    const { hosts } = readAddress(databaseUrl)
    const { PGPORT } = environment
    if (!PGPORT || hosts.every(({ port }) => port !== undefined) || isPort(PGPORT)) return undefined
    return 'PGPORT, which DATABASE_URL leaves the port to, must be a number from 1 to 65535'
  } catch (error) {
    return `DATABASE_URL: ${error instanceof Error ? error.message : error}`
  }
}

/** The environment of this process. */
export function processEnvironment(): NodeJS.ProcessEnv {
  // biome-ignore lint/style/noProcessEnv: the one place where it is read
  return process.env
}
