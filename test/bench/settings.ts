import { parseArgs } from 'node:util'

export type Settings = {
  rounds: number
  /** How long each window is measured, and how long the load runs before. */
  seconds: number
  warmUpSeconds: number
  /** Events in the full store. */
  storedEvents: number
  isQuick: boolean
  /** Only the comparison with peers, or only the full store. */
  only: string | undefined
  /** Where the figures are written. */
  json: string | undefined
  /** Where the stores are made; it must be on a disk. */
  folder: string | undefined
}

const usage = `npm run bench -- [--json FILE] [--quick] [--folder DIR] [--only peers|store]

  --json FILE   write the ratios and what they are made of
  --quick       a sketch: one round, short windows, a small store
  --folder DIR  where stores are made and removed; on a real disk (default: the system's folder for temporary files)
  --only PART   compare with the peers only, or measure the full store only
`

/** What the command line asks for; undefined where it asks for help. */
export function readSettings(args: string[]): Settings | undefined {
  const { values } = parseArgs({
    args,
    options: {
      json: { type: 'string' },
      quick: { type: 'boolean', default: false },
      folder: { type: 'string' },
      only: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  const { json, folder, only, quick: isQuick } = values
  if (values.help) {
    process.stdout.write(usage)
    return undefined
  }
  if (only !== undefined && only !== 'peers' && only !== 'store')
    throw new Error('--only peers, or --only store')
  const common = { isQuick, json, folder, only }
  if (isQuick) return { ...common, rounds: 1, seconds: 4, warmUpSeconds: 1, storedEvents: 300_000 }
  return { ...common, rounds: 3, seconds: 10, warmUpSeconds: 2, storedEvents: 10_000_000 }
}

/** Tells on the standard error what is being done. */
export function say(text: string): void {
  process.stderr.write(`${text}\n`)
}
