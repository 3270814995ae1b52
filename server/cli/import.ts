import { createReadStream, existsSync, fstatSync, type Stats, statSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { type Command, Option } from 'commander'
import { createClient } from '../../client/index.ts'
import type { Config } from '../config.ts'
import type { CommandIo } from './command-io.ts'
import { countText } from './count-text.ts'
import { isWorkspaceFolder, WORKSPACE_FILES } from './export/workspace-folder.ts'
import { CommandFailure, ExitCode } from './failure.ts'
import { AGAIN, Delivery } from './import/delivery.ts'
import { Importer } from './import/importer.ts'
import { rateText, showProgress } from './import/progress.ts'
import { RefusedFile } from './import/refused-file.ts'
import { WorkspaceImport } from './import/workspace-import.ts'
import { baseUrl, duration_ms, name } from './options.ts'
import { serviceKey } from './service-key.ts'
import { interruptible } from './signals.ts'

type ImportOptions = {
  baseUrl?: string
  keyFile?: string
  journey?: string
  refused?: string
  giveUpAfter: number
  dryRun?: boolean
  json?: boolean
}

const PATIENCE = '2m'

const HELP = `
The service key is taken from the environment variable CAIRN_SERVICE_KEY or from --key-file. It is no argument,
because every user of the machine can see the arguments of a command (ps), and shells keep them in their history.

FILE has one JSON object a line (NDJSON), plain or gzipped. A line is
  an event       if it has an event_id: what createEvent takes. Instead of the customer_id it may have
                 client_customer_id, customer_type and customer_name; the customer is then initialized first.
                 Without customer_name it keeps the name that it has, for which it takes a secret key.
  a customer     if it has none, but a client_customer_id: what initializeCustomer takes.
Any other line is refused. Customers are initialized before the events of later lines. Events travel in batches, some
at a time: give occurred_at where their order matters.

FILE may also be a folder that cairn export workspace has written; the key is then a secret one of an empty workspace.
Journeys, customers, who takes part in what, and events are the same there, each with its occurred_at, which of an event
that was sent without one is the time at which it was received first, and with its message_id, or export: and its old
identifier. New are the identifiers, received_at and created_at. FOLDER.identifiers.ndjson says what journeys and customers
are called now: {"kind", "old", "new"}.

It can be stopped and run again: an event without a message_id gets one that is made from what the line says and how
many lines before it said the same, so that what is stored already is recognised. That holds for a file that was moved,
has grown at its end, or was written again with its fields, or its numbers and times, in another form.

Where lines give one customer several names, the customer ends with that of the last line.

Exit code 4: the import came to its end, and the refused lines are in a file of their own, each as
{"line_number", "code", "detail", "line"}. Correct each line there and import that file, or correct FILE and import it
again.`

export function defineImport(command: Command, config: () => Config, io: CommandIo): void {
  command
    .argument('<file>', 'NDJSON, plain or gzipped; - for the standard input')
    .option('--base-url <url>', 'where the API is (default: http://127.0.0.1:PORT/v1)', baseUrl)
    .option('--key-file <file>', 'a file that holds the service key and nothing else')
    .option('--journey <journey_id>', 'the journey of lines that name none', name)
    .option('--refused <file>', 'where refused lines go (default: FILE.refused.ndjson)')
    .addOption(
      new Option('--give-up-after <time>', 'how long the server may be away')
        .argParser(duration_ms)
        .default(duration_ms(PATIENCE), PATIENCE),
    )
    .option('--dry-run', 'only read the file; what the server would refuse is not found')
    .option('--json', 'print the summary as one JSON object')
    .addHelpText('after', HELP)
    .action((file: string, options: ImportOptions) =>
      interruptible(AGAIN, (stop) => importFile(config(), io, { file, options, stop })),
    )
}

type Run = { file: string; options: ImportOptions; stop: AbortController }

async function importFile(config: Config, io: CommandIo, { file, options, stop }: Run) {
  const { dryRun = false, json } = options
  const isWorkspace = existsSync(file) && isWorkspaceFolder(file)
  const url = options.baseUrl ?? `http://127.0.0.1:${config.port}/v1`
  const { input, stats } = isWorkspace
    ? { input: undefined, stats: statSync(join(file, WORKSPACE_FILES.events)) }
    : open(file, io)
  if (isWorkspace && dryRun) throw new CommandFailure('an exported workspace has no dry run', ExitCode.usage)
  const key = dryRun ? '' : serviceKey(io, options.keyFile, 'the import')
  const folder = file.replace(/\/+$/, '')
  const workspace = isWorkspace
    ? new WorkspaceImport({
        client: createClient({ baseUrl: url, serviceKey: key }),
        folder,
        tablePath: `${folder}.identifiers.ndjson`,
      })
    : undefined
  const delivery = new Delivery({
    client: createClient({ baseUrl: url, serviceKey: key, retries: 0 }),
    baseUrl: url,
    patience_ms: options.giveUpAfter,
    signal: stop.signal,
  })
  const refused = new RefusedFile(options.refused ?? `${file === '-' ? 'import' : file}.refused.ndjson`, {
    isNamed: options.refused !== undefined,
    input: stats,
  })
  const importer = new Importer({
    delivery,
    journeyId: options.journey,
    dryRun,
    onRefused: (line) => refused.write(line),
    stop,
  })
  const began_ms = performance.now()
  const endProgress = showProgress({
    output: io.stderr,
    importer,
    delivery,
    size_bytes: !isWorkspace && stats?.isFile() ? stats.size : undefined,
  })
  let failure: unknown
  try {
    await workspace?.makeJourneys()
    await importer.run(workspace?.lines() ?? input ?? Readable.from([]))
    if (importer.counts.refused === 0) await workspace?.finish()
  } catch (error) {
    // A wait that was ended says only that it was.
    failure = stop.signal.aborted ? stop.signal.reason : error
  } finally {
    endProgress()
    input?.destroy()
    refused.close()
  }
  const { read_bytes: _, ...counts } = importer.counts
  const seconds = (performance.now() - began_ms) / 1000
  const summary = {
    ...counts,
    seconds: Math.round(seconds * 10) / 10,
    held_seconds: Math.round(delivery.pace.held_ms / 100) / 10,
  }
  io.stdout.write(
    json ? `${JSON.stringify(summary)}\n` : report(summary, { dryRun, rate: rateText(delivery) }),
  )
  if (counts.refused > 0) io.stderr.write(`The refused lines are in ${refused.path}.\n`)
  if (failure) throw failure
  if (counts.refused > 0)
    throw new CommandFailure(
      `${countText(counts.refused, 'line was', 'lines were')} refused`,
      ExitCode.refused,
    )
}

/** @throws {CommandFailure} where there is no such file */
function open(file: string, { stdin }: CommandIo): { input: Readable; stats: Stats | undefined } {
  if (file === '-') return { input: stdin, stats: stdin.fd === undefined ? undefined : fstatSync(stdin.fd) }
  if (!existsSync(file)) throw new CommandFailure(`there is no file ${file}`, ExitCode.conflict)
  const stats = statSync(file)
  if (stats.isDirectory()) throw new CommandFailure(`${file} is a folder`, ExitCode.usage)
  return { input: createReadStream(file), stats }
}

type Summary = Omit<Importer['counts'], 'read_bytes'> & { seconds: number; held_seconds: number }

function report(summary: Summary, { dryRun, rate }: { dryRun: boolean; rate: string }): string {
  const { lines, created, duplicate, refused, customers, new_customers, seconds, held_seconds } = summary
  if (dryRun) return `${countText(lines, 'line')} read, ${refused} of them refused; nothing was sent\n`
  const perSecond = Math.round((created + duplicate) / Math.max(seconds, 0.1))
  const held = held_seconds > 0 ? `The key's rate limit${rate} held the import for ${held_seconds} s.\n` : ''
  return (
    `${countText(lines, 'line')}: ${countText(created, 'event')} created, ` +
    `${countText(duplicate, 'duplicate')}, ${refused} refused\n` +
    `${countText(customers, 'customer')} initialized, ${new_customers} of them new\n` +
    `${seconds} s, ${perSecond} events/s\n${held}`
  )
}
