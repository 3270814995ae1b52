import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Argument, type Command, InvalidArgumentError, Option } from 'commander'
import type { Client, OperationRequest, Problem } from '../../client/index.ts'
import type { Config } from '../config.ts'
import { makePrivateFolder } from '../storage/private-file.ts'
import { patientClient } from './api-client.ts'
import type { CommandIo } from './command-io.ts'
import { begunAt, erasedCustomers, LOOK_MS, UNKNOWN_THERE } from './export/erased-customers.ts'
import { type End, ExportFile, endOf, firstCustomerOf, LINE_END, parsedEnd } from './export/export-file.ts'
import { whileLocked } from './export/file-lock.ts'
import { isWorkspaceFolder, WORKSPACE_FILES, writeJourneys } from './export/workspace-folder.ts'
import { CommandFailure, ExitCode } from './failure.ts'
import { assertWritable, isFolder } from './named-files.ts'
import { type ApiOptions, lines, withApi } from './options.ts'
import { causeText, giveUpAfter } from './patient-fetch.ts'
import { PAGE } from './replies.ts'
import { interruptible } from './signals.ts'
import { countText } from './table.ts'

type ExportOptions = ApiOptions & {
  since?: string
  linesAtOnce: number
  giveUpAfter: number
  filter?: Record<string, string>
  json?: boolean
}

/** What every part of an export is done with. */
type Run = { client: Client; io: CommandIo; options: ExportOptions; signal: AbortSignal }

type List = 'events' | 'customers' | 'erasures'
type Query = NonNullable<OperationRequest<'exportEvents'>['query']> &
  NonNullable<OperationRequest<'exportCustomers'>['query']>

/**
 * Maximum lines per request. After a failure or a stop the export resumes after the last part, some seconds of work
 * earlier.
 */
const LINES_AT_ONCE = 100_000

/** Interval of progress messages. */
const PROGRESS_MS = 5_000

/** The filters that each list accepts. */
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

const AGAIN = 'Run the same command again to resume.'

const HELP = `
The secret key is read from the environment variable CAIRN_SERVICE_KEY or from --key-file.

FILE gets one JSON object per line (NDJSON), as the API lists it, in order of arrival: everything acknowledged before the
command started, and what arrived until it finished. The last line marks the end: {"end", "list", "filter", "next_cursor",
"caught_up_to"}, where end is the number of lines before it. A file without that line is incomplete.

You can stop the command and run it again to resume. Until the file is complete it is called FILE.part, with its position in
FILE.part.json. FILE.lock keeps other commands away while one runs. With --since, a file starts where another one ends, so
each event is in exactly one of them. That the other one is complete and of the same list and filters is checked; so is its
workspace, by the customer in its first line.

Erasures list the customers that were erased, so that you can remove their data from other files. With --since, only the
erasures since that file.

A workspace is exported to a folder: journeys, event definitions, customers, enrolments and events. cairn import FOLDER
creates another workspace from it. What belongs to customers who were erased, or to journeys that were removed, while the
command ran is removed from the folder at the end.

Filters of events: ${FILTERS.events.join(', ')}.
Filters of customers: ${FILTERS.customers.join(', ')}.`

export function defineExport(command: Command, config: () => Config, io: CommandIo): void {
  const what = new Argument('<what>', 'what to export').choices([...Object.keys(FILTERS), 'workspace'])
  command.addArgument(what).argument('<file>', 'file to write; for a workspace, a folder')
  withApi(command, 'secret key')
    .option(
      '--filter <name=value>',
      'export only what matches this filter of the list; may be repeated',
      filter,
    )
    .option('--since <file>', 'start where this file ends')
    .addOption(
      new Option(
        '--lines-at-once <lines>',
        'lines per request; a resumed export starts after the last complete one',
      )
        .argParser(lines)
        .default(LINES_AT_ONCE, LINES_AT_ONCE.toLocaleString('en')),
    )
    .addOption(giveUpAfter())
    .option('--json', 'print the summary as one JSON object')
    .addHelpText('after', HELP)
    .action((what: List | 'workspace', file: string, options: ExportOptions) =>
      interruptible(AGAIN, async (stop) => {
        const { signal } = stop
        const client = patientClient(config(), io, options, { user: 'the export', signal, advice: AGAIN })
        const run = { client, io, options, signal }
        await (what === 'workspace' ? exportWorkspace(run, file) : exportList(run, what, file))
      }),
    )
}

function filter(text: string, before: Record<string, string> = {}): Record<string, string> {
  const [, name = '', value = ''] = /^([^=]*)=?(.*)$/s.exec(text) ?? []
  if (name === '' || value === '') throw new InvalidArgumentError('Use the form name=value.')
  if (Object.hasOwn(before, name))
    throw new InvalidArgumentError(`${name} is given twice; export each value by itself.`)
  return { ...before, [name]: value }
}

/**
 * Writes everything of a workspace that is needed to create another one from it. Keeps files that an earlier run
 * completed.
 */
async function exportWorkspace(run: Run, folder: string) {
  const { since, filter = {} } = run.options
  if (since !== undefined || Object.keys(filter).length > 0) {
    throw new CommandFailure(
      'a workspace is exported completely; --since and --filter cannot be used',
      ExitCode.usage,
    )
  }
  if (existsSync(folder) && !isFolder(folder)) {
    throw new CommandFailure(`${folder} is not a folder`, ExitCode.conflict)
  }
  makePrivateFolder(folder)
  await whileLocked(join(folder, WORKSPACE_FILES.journeys), () => writeWorkspace(run, folder))
}

async function writeWorkspace(run: Run, folder: string) {
  if (isWorkspaceFolder(folder)) {
    throw new CommandFailure(
      `${folder} already contains an exported workspace. Choose another folder.`,
      ExitCode.conflict,
    )
  }
  for (const list of ['events', 'customers'] as const) {
    const path = join(folder, WORKSPACE_FILES[list])
    if (existsSync(path)) await assertOwn(run, path, 'Use a key of its workspace, or choose another folder.')
    else await exportList(run, list, path)
  }
  const tell = () => run.io.stderr.write('checking the files for erased customers and removed journeys\n')
  const slow = setTimeout(tell, PROGRESS_MS)
  const removed = await writeJourneys(run.client, folder, run.signal).finally(() => clearTimeout(slow))
  if (removed.events + removed.customers > 0) {
    const what = `${countText(removed.events, 'event')} and ${countText(removed.customers, 'customer')}`
    run.io.stderr.write(
      `Removed from the export: ${what}. The customers were erased, or the journeys removed, while it ran.\n`,
    )
  }
}

async function exportList(run: Run, list: List, path: string) {
  const { options } = run
  const { filter = {} } = options
  const unknown = Object.keys(filter).find((name) => !FILTERS[list].some((known) => known === name))
  if (unknown !== undefined) {
    const known = FILTERS[list].join(', ') || 'none'
    throw new CommandFailure(
      `${list} have no filter ${JSON.stringify(unknown)}; available filters: ${known}`,
      ExitCode.usage,
    )
  }
  assertWritable(path)
  const since = options.since === undefined ? undefined : await endOf(options.since)
  if (since && (since.list !== list || JSON.stringify(since.filter) !== JSON.stringify(filter))) {
    throw new CommandFailure(
      `${options.since} contains another list or was written with other filters`,
      ExitCode.usage,
    )
  }
  if (options.since !== undefined) await assertOwn(run, options.since, 'Use a key of its workspace.')
  await whileLocked(path, () => writeList(run, list, path, since))
}

async function writeList(run: Run, list: List, path: string, since: End | undefined) {
  const { client, io, options, signal } = run
  const { filter = {}, json } = options
  const file = new ExportFile(path, { list, filter, since: since?.next_cursor })
  if (file.reached.lines > 0) {
    await assertOwn(
      run,
      `${path}.part`,
      `Use a key of its workspace, or remove ${path}.part and ${path}.part.json to start again.`,
    )
  }
  const began_ms = performance.now()
  const before = file.reached.lines
  /** By the server's clock. Everything acknowledged by then will be in the file. */
  let begin: number | undefined
  const report = () => io.stderr.write(`${file.reached.lines + file.added} ${list}\n`)
  const progress = setInterval(report, PROGRESS_MS)
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
      const text = `${lines} ${list} in ${path}, complete until ${caught_up_to}\n${seconds} s, ${perSecond}/s\n`
      io.stdout.write(json ? `${JSON.stringify(summary)}\n` : text)
      return
    }
  } catch (error) {
    try {
      file.leave()
    } catch {
      // The next run resumes from the previous position; the original error is more important.
    }
    throw error
  } finally {
    clearInterval(progress)
  }
}

/**
 * Positions do not say which workspace they are in. The customer in the first line does.
 * @throws {CommandFailure} if the workspace has never had that customer
 */
async function assertOwn({ client, signal }: Run, path: string, advice: string) {
  const customer_id = await firstCustomerOf(path)
  if (customer_id === undefined) return
  const { error } = await client.getCustomer({ path: { customer_id }, signal })
  if (error?.code !== 'customer_not_found' || (await erasedCustomers(client, signal)).has(customer_id)) return
  throw new CommandFailure(
    `${path} is from another workspace: this one has no customer ${customer_id}. ${advice}`,
    ExitCode.usage,
  )
}

type Part = { file: ExportFile; linesAtOnce: number; signal: AbortSignal }

/**
 * Adds the next part of the list to the file. If the connection breaks during a part, smaller parts are requested:
 * otherwise a connection that never lasts for a whole part would make no progress.
 * @throws {CommandFailure} if the server refuses the request, or stays unreachable
 */
async function nextPart(
  client: Client,
  list: Exclude<List, 'erasures'>,
  query: Query,
  { file, linesAtOnce, signal }: Part,
) {
  let limit = linesAtOnce
  for (let attempt = 1; ; attempt += 1) {
    const wanted = { query: { ...query, limit }, signal }
    const { data, response } = await answered(async () => {
      return list === 'events' ? await client.exportEvents(wanted) : await client.exportCustomers(wanted)
    }, signal)
    try {
      const end = await addLines(data, file)
      file.keep(end.next_cursor)
      return { end, response }
    } catch (error) {
      file.forget()
      if (signal.aborted || error instanceof CommandFailure) throw error
      if (attempt === BROKEN) throw new CommandFailure(`the connection broke: ${causeText(error)}. ${AGAIN}`)
      limit = Math.max(Math.ceil(limit / 4), 1)
      await sleep(LOOK_MS * 2 ** attempt, undefined, { signal })
    }
  }
}

/** Maximum attempts per part while its connection breaks or falls silent; the waits between them take about six seconds. */
const BROKEN = 5

/** Adds the next page of a list that has no export operation, line by line. */
async function nextErasures(client: Client, { cursor }: Query, { file, linesAtOnce, signal }: Part) {
  const query = { limit: Math.min(linesAtOnce, PAGE), ...(cursor && { cursor }) }
  const { data, response } = await answered(() => client.listErasures({ query, signal }), signal)
  file.add(Buffer.from(data.data.map((erasure) => `${JSON.stringify(erasure)}\n`).join('')))
  file.keep(data.next_cursor)
  return { end: data, response }
}

type Answer<Data> = { data?: Data | undefined; error?: Problem | undefined; response: Response }

/** @throws {CommandFailure} if the server refuses the request, or stays unreachable */
async function answered<Data extends object>(call: () => Promise<Answer<Data>>, signal: AbortSignal) {
  const { data, error, response } = await call().catch((error: unknown) => {
    if (signal.aborted || error instanceof CommandFailure) throw error
    throw new CommandFailure(`no response from Cairn: ${causeText(error)}. ${AGAIN}`)
  })
  if (data) return { data, response }
  if (error && UNKNOWN_THERE.has(error.code)) {
    throw new CommandFailure(
      'this list cannot be exported there. Check --base-url, which ends with /v1; or the server is older than this command.',
    )
  }
  if (error?.errors) {
    const faults = error.errors.map(({ parameter, detail }) => `${parameter}: ${detail}`)
    throw new CommandFailure(`refused: ${faults.join('; ')}`, ExitCode.usage)
  }
  throw new CommandFailure(`refused: ${error?.detail} (${error?.code}) ${AGAIN}`)
}

/** Adds all lines except the last, and returns that one parsed. @throws {Error} if the part is incomplete */
async function addLines(body: ReadableStream<Uint8Array>, file: ExportFile): Promise<End> {
  // Starts at the last complete line so far, which may be the final one.
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
  if (!end) throw new Error('its last line is missing')
  if (end.end !== file.added)
    throw new Error(`received ${countText(file.added, 'line')} instead of ${end.end}`)
  return end
}
