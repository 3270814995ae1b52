import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Argument, type Command, Option } from 'commander'
import { type Client, createClient, type OperationRequest, type Problem } from '../../client/index.ts'
import type { Config } from '../config.ts'
import type { CommandIo } from './command-io.ts'
import { countText } from './count-text.ts'
import { type End, ExportFile, endOf, LINE_END, parsedEnd } from './export/export-file.ts'
import { isWorkspaceFolder, WORKSPACE_FILES, writeJourneys } from './export/workspace-folder.ts'
import { CommandFailure, ExitCode } from './failure.ts'
import { baseUrl, lines } from './options.ts'
import { serviceKey } from './service-key.ts'
import { interruptible } from './signals.ts'

type ExportOptions = {
  baseUrl?: string
  keyFile?: string
  since?: string
  linesAtOnce: number
  filter: Record<string, string>
  json?: boolean
}

/** What every part of an export is done with. */
type Run = { client: Client; io: CommandIo; options: ExportOptions; signal: AbortSignal }

type List = 'events' | 'customers' | 'erasures'
type Query = NonNullable<OperationRequest<'exportEvents'>['query']> &
  NonNullable<OperationRequest<'exportCustomers'>['query']>

/** So many lines are asked for at a time: what breaks or is stopped begins again behind the last part, some seconds before. */
const LINES_AT_ONCE = 100_000

/** A server that is away is asked so often again, in all for some two minutes. */
const RETRIES = 30

/** What the replicas have not agreed on yet is asked for again after so long. */
const LOOK_MS = 200

/** How often a line says how far it is. */
const PROGRESS_MS = 5_000

/** The filters of each list. */
const FILTERS: Record<List, readonly (keyof Query)[]> = {
  events: [
    'journey_id',
    'customer_id',
    'event_id',
    'key_id',
    'received_from',
    'received_to',
    'occurred_from',
    'occurred_to',
  ],
  customers: ['customer_type', 'client_customer_id', 'search'],
  erasures: [],
}

const AGAIN = 'Run the same command again to go on.'

const HELP = `
The secret key is taken from the environment variable CAIRN_SERVICE_KEY or from --key-file.

FILE gets one JSON object a line (NDJSON), each as the API lists it, in the order of arrival: all that was acknowledged
before the command began, and what has come by the end. The last line says so: {"end", "list", "filter", "next_cursor", "caught_up_to"}, where end is the number
of the lines before it. A file without that line was cut short.

It can be stopped and run again: until it is whole, the file is FILE.part, with FILE.part.json beside it, and goes on where
it was. With --since, a file begins where one that is whole ends, which is checked; so each event is in one of them.

Erasures say which customers were erased: what other files have of them is to be removed. With --since, who was erased since.

A workspace is written into a folder: journeys, customers, who takes part in what, and events. cairn import FOLDER makes
another one of it.

Filters of events: ${FILTERS.events.join(', ')}.
Filters of customers: ${FILTERS.customers.join(', ')}.`

export function defineExport(command: Command, config: () => Config, io: CommandIo): void {
  command
    .addArgument(new Argument('<what>', 'what to write').choices([...Object.keys(FILTERS), 'workspace']))
    .argument('<file>', 'where to; of a workspace a folder')
    .option('--base-url <url>', 'where the API is (default: http://127.0.0.1:PORT/v1)', baseUrl)
    .option('--key-file <file>', 'a file that holds the secret key and nothing else')
    .option(
      '--filter <name=value>',
      'only what a filter of the list finds; may be given several times',
      filter,
      {},
    )
    .option('--since <file>', 'begin where this file ends')
    .addOption(
      new Option('--lines-at-once <lines>', 'how many to ask for in one request, at which it can go on')
        .argParser(lines)
        .default(LINES_AT_ONCE, LINES_AT_ONCE.toLocaleString('en')),
    )
    .option('--json', 'print the summary as one JSON object')
    .addHelpText('after', HELP)
    .action((what: List | 'workspace', file: string, options: ExportOptions) =>
      interruptible(AGAIN, async (stop) => {
        const run = { client: clientOf(config(), io, options), io, options, signal: stop.signal }
        await (what === 'workspace' ? exportWorkspace(run, file) : exportList(run, what, file))
      }),
    )
}

function filter(text: string, before: Record<string, string>): Record<string, string> {
  const [, name = '', value = ''] = /^([^=]*)=?(.*)$/s.exec(text) ?? []
  return { ...before, [name]: value }
}

/** Writes all of a workspace that another one can be made of. What was written whole in an earlier run stays. */
async function exportWorkspace(run: Run, folder: string) {
  const { since, filter } = run.options
  if (since !== undefined || Object.keys(filter).length > 0) {
    throw new CommandFailure(
      'a workspace is exported as a whole, without --since and --filter',
      ExitCode.usage,
    )
  }
  if (isWorkspaceFolder(folder)) {
    throw new CommandFailure(
      `${folder} has an exported workspace already. Name another folder.`,
      ExitCode.conflict,
    )
  }
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (const list of ['events', 'customers'] as const) {
    const path = join(folder, WORKSPACE_FILES[list])
    if (!existsSync(path)) await exportList(run, list, path)
  }
  await writeJourneys(run.client, folder, run.signal)
}

function clientOf(config: Config, io: CommandIo, { baseUrl, keyFile }: ExportOptions): Client {
  return createClient({
    baseUrl: baseUrl ?? `http://127.0.0.1:${config.port}/v1`,
    serviceKey: serviceKey(io, keyFile, 'the export'),
    retries: RETRIES,
  })
}

async function exportList({ client, io, options, signal }: Run, list: List, path: string) {
  const { filter, json } = options
  const unknown = Object.keys(filter).find((name) => !FILTERS[list].some((known) => known === name))
  if (unknown !== undefined) {
    const known = FILTERS[list].join(', ') || 'none'
    throw new CommandFailure(
      `${list} have no filter ${JSON.stringify(unknown)}, but ${known}`,
      ExitCode.usage,
    )
  }
  const since = options.since === undefined ? undefined : await endOf(options.since)
  if (since && (since.list !== list || JSON.stringify(since.filter) !== JSON.stringify(filter))) {
    throw new CommandFailure(`${options.since} has another list, or other filters`, ExitCode.usage)
  }
  const file = new ExportFile(path, { list, filter, since: since?.next_cursor })
  const began_ms = performance.now()
  const before = file.reached.lines
  /** By the clock of the server. What was acknowledged by then will be in the file. */
  let begin: number | undefined
  const tell = () => io.stderr.write(`${file.reached.lines + file.added} ${list}\n`)
  const progress = setInterval(tell, PROGRESS_MS)
  try {
    for (;;) {
      const cursor = file.reached.cursor ?? since?.next_cursor
      const query = { ...filter, ...(cursor && { cursor }) }
      const part = { ...options, file, signal }
      const { end, response } =
        list === 'erasures'
          ? await nextErasures(client, query, part)
          : await nextPart(client, list, query, part)
      const { next_cursor, caught_up_to } = end
      begin ??= begunAt(response)
      if (caught_up_to === null) continue
      if (Date.parse(caught_up_to) < begin) {
        await sleep(LOOK_MS, undefined, { signal })
        continue
      }
      const { lines } = file.reached
      file.finish({ end: lines, list, filter, next_cursor, caught_up_to })
      const seconds = Math.round((performance.now() - began_ms) / 100) / 10
      const summary = { file: path, lines, caught_up_to, seconds }
      const perSecond = Math.round((lines - before) / Math.max(seconds, 0.1))
      const text = `${lines} ${list} in ${path}: all until ${caught_up_to}\n${seconds} s, ${perSecond}/s\n`
      io.stdout.write(json ? `${JSON.stringify(summary)}\n` : text)
      return
    }
  } catch (error) {
    try {
      file.note()
    } catch {
      // It begins again where it was noted before; what has failed is worth more than that.
    }
    throw signal.aborted ? signal.reason : error
  } finally {
    clearInterval(progress)
  }
}

/** The header has whole seconds, of which the next one is not before the answer. */
function begunAt({ headers }: Response): number {
  return Date.parse(headers.get('date') ?? new Date().toUTCString()) + 1000
}

type Exported = Exclude<List, 'erasures'>

type Part = { file: ExportFile; linesAtOnce: number; signal: AbortSignal }

/**
 * Adds the next part of the list to the file. Where the connection breaks in the middle of one, smaller parts are asked for:
 * a connection that never lasts as long as one would lead nowhere else.
 * @throws {CommandFailure} where the server refuses it, or does not answer for long
 */
async function nextPart(client: Client, list: Exported, query: Query, { file, linesAtOnce, signal }: Part) {
  let limit = linesAtOnce
  for (let attempt = 1; ; attempt += 1) {
    const { body, response } = await partOf(client, list, { ...query, limit }, signal)
    try {
      const end = await addLines(body, file)
      file.keep(end.next_cursor)
      return { end, response }
    } catch (error) {
      file.forget()
      if (signal.aborted) throw error
      if (attempt === BROKEN) throw new CommandFailure(`the connection broke: ${causeOf(error)}. ${AGAIN}`)
      limit = Math.max(Math.ceil(limit / 4), 1)
      await sleep(LOOK_MS * 2 ** attempt, undefined, { signal })
    }
  }
}

/** A part is asked for so often, in all for some six seconds, while its connection breaks. */
const BROKEN = 5

async function partOf(client: Client, list: Exported, query: Query & { limit: number }, signal: AbortSignal) {
  const call = async () => {
    return list === 'events'
      ? await client.exportEvents({ query, signal })
      : await client.exportCustomers({ query, signal })
  }
  const { data, response } = await answered(call, signal)
  return { body: data, response }
}

/** Adds the next page of a list that is no export, line by line. */
async function nextErasures(client: Client, { cursor }: Query, { file, linesAtOnce, signal }: Part) {
  const query = { limit: Math.min(linesAtOnce, PAGE), ...(cursor && { cursor }) }
  const { data, response } = await answered(() => client.listErasures({ query, signal }), signal)
  file.add(Buffer.from(data.data.map((erasure) => `${JSON.stringify(erasure)}\n`).join('')))
  file.keep(data.next_cursor)
  return { end: data, response }
}

/** A page of a list has so many items at the most. */
const PAGE = 500

/** What an older server says of a path that it has not: that of erasures is one of a customer to it. */
const UNKNOWN_THERE = new Set(['not_found', 'method_not_allowed', 'customer_not_found'])

type Answer<Data> = { data?: Data | undefined; error?: Problem | undefined; response: Response }

/** @throws {CommandFailure} where the server refuses it, or does not answer for long */
async function answered<Data extends object>(call: () => Promise<Answer<Data>>, signal: AbortSignal) {
  const { data, error, response } = await call().catch((error: unknown) => {
    if (signal.aborted) throw error
    throw new CommandFailure(`the server does not answer: ${causeOf(error)}. ${AGAIN}`)
  })
  if (data) return { data, response }
  if (error && UNKNOWN_THERE.has(error.code)) {
    throw new CommandFailure('The server is older than this command: it has no such list to export.')
  }
  const faults = error?.errors?.map(({ detail }) => detail).join(' ') ?? ''
  throw new CommandFailure(`refused: ${error?.detail} (${error?.code}) ${faults} ${AGAIN}`)
}

/** Adds all lines but the last one. @returns what that says @throws {Error} where the part is not whole */
async function addLines(body: ReadableStream<Uint8Array>, file: ExportFile): Promise<End> {
  // From the last whole line on: it may be the last one of all.
  let held = Buffer.alloc(0)
  for await (const chunk of body) {
    const last = chunk.lastIndexOf(LINE_END)
    held = Buffer.concat([held, chunk])
    if (last < 0) continue
    const whole = held.length - chunk.length + last
    const begin = whole > 0 ? held.lastIndexOf(LINE_END, whole - 1) + 1 : 0
    file.add(held.subarray(0, begin))
    held = held.subarray(begin)
  }
  const end = held.at(-1) === LINE_END ? parsedEnd(held.toString()) : undefined
  if (!end) throw new Error('its last line did not come')
  if (end.end !== file.added) throw new Error(`${countText(file.added, 'line')} came, and it says ${end.end}`)
  return end
}

/** What `fetch` says is only that it failed. */
function causeOf(error: unknown): string {
  const { cause = error } = error instanceof Error ? error : {}
  return cause instanceof Error ? cause.message : String(cause)
}
