import { setTimeout as sleep } from 'node:timers/promises'
import { Argument, type Command } from 'commander'
import { type Client, createClient, type OperationRequest } from '../../client/index.ts'
import type { Config } from '../config.ts'
import { ExportFile, endOf } from './export/export-file.ts'
import { CommandFailure, ExitCode } from './failure.ts'
import { baseUrl } from './options.ts'
import { serviceKey } from './service-key.ts'
import { interruptible } from './signals.ts'

type ExportOptions = {
  baseUrl?: string
  keyFile?: string
  since?: string
  filter: Record<string, string>
  json?: boolean
}

type List = 'events' | 'customers'
type Query = NonNullable<OperationRequest<'listEvents'>['query']> &
  NonNullable<OperationRequest<'listCustomers'>['query']>

/** What a page has at the most. */
const LIMIT = 500

/** A server that is away is asked so often again, in all for some two minutes. */
const RETRIES = 30

/** What the replicas have not agreed on yet is asked for again after so long. */
const LOOK_MS = 200

/** How often a line says how far it is. */
const PROGRESS_MS = 5_000

/** The filters of each list. */
const FILTERS: Record<List, readonly (keyof Query)[]> = {
  events: ['journey_id', 'customer_id', 'event_id', 'received_from', 'received_to'],
  customers: ['customer_type', 'client_customer_id', 'search'],
}

const AGAIN = 'Run the same command again to go on.'

const HELP = `
The secret key is taken from the environment variable CAIRN_SERVICE_KEY or from --key-file.

FILE gets one JSON object a line (NDJSON), each as the API lists it, in the order of arrival: all that was acknowledged
before the command began, and what has come by the end. The last line says so: {"end", "list", "filter", "next_cursor", "caught_up_to"}, where end is the number
of the lines before it. A file without that line was cut short.

It can be stopped and run again: until it is whole, the file is FILE.part, with FILE.part.json beside it, and goes on where
it was. With --since, a file begins where one that is whole ends, which is checked; so each event is in one of them.

Filters of events: ${FILTERS.events.join(', ')}.
Filters of customers: ${FILTERS.customers.join(', ')}.`

export function defineExport(command: Command, config: () => Config): void {
  command
    .addArgument(new Argument('<list>', 'what to write').choices(Object.keys(FILTERS)))
    .argument('<file>', 'where to')
    .option('--base-url <url>', 'where the API is (default: http://127.0.0.1:PORT/v1)', baseUrl)
    .option('--key-file <file>', 'a file that holds the secret key and nothing else')
    .option(
      '--filter <name=value>',
      'only what a filter of the list finds; may be given several times',
      filter,
      {},
    )
    .option('--since <file>', 'begin where this file ends')
    .option('--json', 'print the summary as one JSON object')
    .addHelpText('after', HELP)
    .action((list: List, file: string, options: ExportOptions) => exportList(config(), list, file, options))
}

function filter(text: string, before: Record<string, string>): Record<string, string> {
  const [, name = '', value = ''] = /^([^=]*)=?(.*)$/s.exec(text) ?? []
  return { ...before, [name]: value }
}

async function exportList(config: Config, list: List, path: string, options: ExportOptions) {
  const { filter, json } = options
  const unknown = Object.keys(filter).find((name) => !FILTERS[list].some((known) => known === name))
  if (unknown !== undefined) {
    const known = FILTERS[list].join(', ')
    throw new CommandFailure(
      `${list} have no filter ${JSON.stringify(unknown)}, but ${known}`,
      ExitCode.usage,
    )
  }
  const since = options.since === undefined ? undefined : await endOf(options.since)
  if (since && (since.list !== list || JSON.stringify(since.filter) !== JSON.stringify(filter))) {
    throw new CommandFailure(`${options.since} has another list, or other filters`, ExitCode.usage)
  }
  const stop = interruptible(AGAIN)
  const client = createClient({
    baseUrl: options.baseUrl ?? `http://127.0.0.1:${config.port}/v1`,
    serviceKey: serviceKey(options.keyFile, 'the export'),
    retries: RETRIES,
  })
  const file = new ExportFile(path, { list, filter, since: since?.next_cursor })
  const began_ms = performance.now()
  const before = file.reached.lines
  /** By the clock of the server. What was acknowledged by then will be in the file. */
  let begin: number | undefined
  const progress = setInterval(() => process.stderr.write(`${file.reached.lines} ${list}\n`), PROGRESS_MS)
  try {
    for (;;) {
      const cursor = file.reached.cursor ?? since?.next_cursor
      const query = { ...filter, order: 'oldest', limit: LIMIT, ...(cursor && { cursor }) } as const
      const { page, response } = await pageOf(client, list, query, stop.signal)
      const { data, next_cursor, caught_up_to } = page
      if (next_cursor === null || caught_up_to === undefined) {
        throw new CommandFailure(
          'The server is older than this command: it has no lists in the order of arrival.',
        )
      }
      file.add(
        data.map((item) => JSON.stringify(item)),
        next_cursor,
      )
      begin ??= begunAt(response)
      if (caught_up_to === null) continue
      if (Date.parse(caught_up_to) < begin) {
        await sleep(LOOK_MS, undefined, { signal: stop.signal })
        continue
      }
      file.finish({ end: file.reached.lines, list, filter, next_cursor, caught_up_to })
      const lines = file.reached.lines - before
      const seconds = Math.round((performance.now() - began_ms) / 100) / 10
      const summary = { file: path, lines: file.reached.lines, caught_up_to, seconds }
      const perSecond = Math.round(lines / Math.max(seconds, 0.1))
      const text = `${summary.lines} ${list} in ${path}: all until ${caught_up_to}\n${seconds} s, ${perSecond}/s\n`
      process.stdout.write(json ? `${JSON.stringify(summary)}\n` : text)
      return
    }
  } catch (error) {
    file.note()
    throw stop.signal.aborted ? stop.signal.reason : error
  } finally {
    clearInterval(progress)
  }
}

/** The header has whole seconds, of which the next one is not before the answer. */
function begunAt({ headers }: Response): number {
  return Date.parse(headers.get('date') ?? new Date().toUTCString()) + 1000
}

/** @throws {CommandFailure} where the server refuses it, or does not answer for long */
async function pageOf(client: Client, list: List, query: Query, signal: AbortSignal) {
  const call = async () => {
    return list === 'events'
      ? await client.listEvents({ query, signal })
      : await client.listCustomers({ query, signal })
  }
  const { data, error, response } = await call().catch((error: unknown) => {
    if (signal.aborted) throw error
    const reason = error instanceof Error ? error.message : error
    throw new CommandFailure(`the server does not answer: ${reason}. ${AGAIN}`)
  })
  if (data) return { page: data, response }
  const faults = error.errors?.map(({ detail }) => detail).join(' ') ?? ''
  throw new CommandFailure(`refused: ${error.detail} (${error.code}) ${faults} ${AGAIN}`)
}
