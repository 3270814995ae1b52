import { parseArgs } from 'node:util'

export type Settings = {
  rounds: number
  /** Duration of each window, and of the load before it. */
  seconds: number
  warmUpSeconds: number
  /** Events in the full store. */
  storedEvents: number
  isQuick: boolean
  /** Duration of the hostile load. */
  soakSeconds: number
  /** The only part to measure; without it the comparison with peers and the full store. */
  only: Part | undefined
  /** Another checkout of Cairn with its packages installed, to compare with. */
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
] as const
type Part = (typeof PARTS)[number]

const ENGINES = ['sqlite', 'postgres'] as const
export type Engine = (typeof ENGINES)[number]

const usage = `npm run bench -- [--json FILE] [--quick] [--rounds N] [--events N] [--folder DIR] [--only PART] [--engine ENGINE] [--before DIR]

  --json FILE   write the ratios and what they are made of
  --quick       a sketch: one round, short windows, a small store
  --rounds N    1 to 9 (default: 3; 1 with --quick and for hostile callers)
  --events N    in the full store, in thousands (default: 10,000; 300 with --quick)
  --folder DIR  where stores are made and removed; on a real disk (default: the system's folder for temporary files)
  --only PART   peers: compare with the peers only; store: measure the full store only; hostile: hostile callers beside
                ordinary senders; postgres: the engine PostgreSQL and its peers; report: reports of a journey, on each
                engine; profile: what an event costs at each station of its way;
                export: exports of all events, on each engine; refused: what it costs that refusals are kept, on each
                engine; retention: sending while others age, on each engine; builds: this checkout beside another
  --engine ENGINE  sqlite or postgres: the one engine on which is measured what is measured on each
  --before DIR  of the part builds: the other checkout, with its packages installed
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
    throw new Error('--only builds and --before belong together')
  }
  const rounds = Number(values.rounds ?? (isQuick || only === 'hostile' ? 1 : 3))
  if (!Number.isInteger(rounds) || rounds < 1 || rounds > 9) throw new Error('--rounds must be 1 to 9')
  const thousands = Number(values.events ?? (isQuick ? 300 : 10_000))
  if (!Number.isInteger(thousands) || thousands < 1) throw new Error('--events must be a number of thousands')
  const common = {
    isQuick,
    json,
    folder,
    rounds,
    before,
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
