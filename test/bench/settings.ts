import { parseArgs } from 'node:util'

export type Settings = {
  rounds: number
  /** Duration of each window; `warmUpSeconds` is the load before it. */
  seconds: number
  warmUpSeconds: number
  /** Events in the full store. */
  storedEvents: number
  isQuick: boolean
  /** Duration of the hostile load. */
  soakSeconds: number
  /** Duration of the load on webhooks with kills. */
  minutes: number
  /** The only part to measure; by default `peers` and `store`. */
  only: Part | undefined
  /** Another checkout of Cairn to compare with, with its packages installed. */
  before: string | undefined
  /** The engines for measurements that run on each engine. */
  engines: readonly Engine[]
  /** File for the figures. */
  json: string | undefined
  /** Folder for the stores; it must be on a disk. */
  folder: string | undefined
}

const PARTS = [
  'peers',
  'store',
  'hostile',
  'postgres',
  'report',
  'profile',
  'export',
  'refused',
  'retention',
  'builds',
  'grown',
  'definitions',
  'webhooks',
  'webhooks-killed',
  'breakdown',
] as const
type Part = (typeof PARTS)[number]

const ENGINES = ['sqlite', 'postgres'] as const
export type Engine = (typeof ENGINES)[number]

const usage = `npm run bench -- [--json FILE] [--quick] [--rounds N] [--events N] [--folder DIR] [--only PART] [--engine ENGINE] [--before DIR] [--minutes N]

  --json FILE      also write the figures to this file
  --quick          a rough run: one round, short windows, a small store
  --rounds N       rounds, 1 to 9 (default: 3; 1 with --quick and for hostile callers)
  --events N       events in full stores, in thousands (default: 10,000; 300 with --quick)
  --folder DIR     where stores are created and removed; on a real disk (default: the system's temporary folder)
  --engine ENGINE  sqlite or postgres: measure only this engine (default: both, where a part measures each)
  --before DIR     another checkout to compare with, with its packages installed (with --only builds)
  --minutes N      how long servers and receivers are killed (default: 60; 1 with --quick)
  --only PART      measure one part (default: peers and store):
                     peers      our server and its peers on SQLite
                     store      full stores on SQLite
                     hostile    ordinary senders beside hostile callers
                     postgres   PostgreSQL and its peers
                     report     journey reports, on each engine
                     profile    the cost of an event, stage by stage
                     export     exports of all events, on each engine
                     refused    the cost of keeping rejected requests, on each engine
                     retention  ingestion while old events expire, on each engine
                     builds     this checkout against another one, on each engine
                     grown      full stores of ours and of the peer fastify, on SQLite
                     definitions  events with and without definitions, on each engine
                     webhooks   messages to a webhook beside ingestion, on each engine
                     webhooks-killed  a webhook whose server and receiver are killed again and again, on each engine
                     breakdown  reports by a variable, on each engine
`

/** Parses the command line; undefined if it asks for help. */
export function readSettings(args: string[]): Settings | undefined {
  const { values } = parseArgs({
    args,
    options: {
      json: { type: 'string' },
      quick: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      events: { type: 'string' },
      folder: { type: 'string' },
      only: { type: 'string' },
      engine: { type: 'string' },
      before: { type: 'string' },
      minutes: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  const { json, folder, only, before, quick: isQuick } = values
  if (values.help) {
    process.stdout.write(usage)
    return undefined
  }
  const part = PARTS.find((part) => part === only)
  if (only !== part) throw new Error(`--only must be one of ${PARTS.join(', ')}`)
  const engine = ENGINES.find((engine) => engine === values.engine)
  if (values.engine !== engine) throw new Error(`--engine must be one of ${ENGINES.join(', ')}`)
  const engines = engine ? [engine] : ENGINES
  if ((part === 'builds') !== (before !== undefined)) {
    throw new Error('--only builds needs --before, and --before is only for it')
  }
  const rounds = Number(values.rounds ?? (isQuick || only === 'hostile' ? 1 : 3))
  if (!Number.isInteger(rounds) || rounds < 1 || rounds > 9) throw new Error('--rounds must be 1 to 9')
  const thousands = Number(values.events ?? (isQuick ? 300 : 10_000))
  if (!Number.isInteger(thousands) || thousands < 1)
    throw new Error('--events must be a whole number of thousands')
  const minutes = Number(values.minutes ?? (isQuick ? 1 : 60))
  if (!Number.isInteger(minutes) || minutes < 1) throw new Error('--minutes must be a whole number')
  const common = {
    isQuick,
    json,
    folder,
    rounds,
    before,
    minutes,
    only: part,
    engines,
    storedEvents: thousands * 1000,
  }
  if (isQuick) return { ...common, seconds: 4, warmUpSeconds: 1, soakSeconds: 20 }
  return { ...common, seconds: 10, warmUpSeconds: 2, soakSeconds: 300 }
}

/** Reports progress on standard error. */
export function say(text: string): void {
  process.stderr.write(`${text}\n`)
}
