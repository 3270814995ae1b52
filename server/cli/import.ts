import { createReadStream, existsSync, fstatSync, type Stats, statSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { Command } from 'commander'
import { createClient } from '../../client/index.ts'
import type { Config } from '../config.ts'
import { fetchOrSay } from './api-client.ts'
import type { CommandIo } from './command-io.ts'
import { isWorkspaceFolder, WORKSPACE_FILES } from './export/workspace-folder.ts'
import { CommandFailure, ExitCode } from './failure.ts'
import { AGAIN, Delivery } from './import/delivery.ts'
import { Importer } from './import/importer.ts'
import { rateText, showProgress } from './import/progress.ts'
import { RefusedFile } from './import/refused-file.ts'
import { WorkspaceImport } from './import/workspace-import.ts'
import { assertReadable } from './named-files.ts'
import { type ApiOptions, apiUrl, name, withApi } from './options.ts'
import { giveUpAfter, patientFetch } from './patient-fetch.ts'
import { serviceKey } from './service-key.ts'
import { interruptible } from './signals.ts'
import { countText } from './table.ts'

type ImportOptions = ApiOptions & {
  journey?: string
  refused?: string
  giveUpAfter: number
  dryRun?: boolean
  json?: boolean
}

const HELP = `
The service key is read from the environment variable CAIRN_SERVICE_KEY or from --key-file. It is not an argument, because
every user of the machine can see a command's arguments (ps), and shells keep them in their history.

FILE has one JSON object per line (NDJSON), plain or gzipped. A line is
  an event       if it has an event_id: the body of createEvent. Instead of customer_id it may have
                 client_customer_id, customer_type and customer_name; the customer is then initialized first.
                 Without customer_name an existing customer keeps its name, which needs a secret key.
  a customer     if it has no event_id but a client_customer_id: the body of initializeCustomer.
Any other line is refused. Customers are initialized before the events of later lines. Several batches of events are sent
at a time, so give occurred_at if the order of events matters.

FILE may also be a folder written by cairn export workspace; the key must then be a secret key of an empty workspace.
Journeys, customers, enrolments and events are recreated. Each event keeps its occurred_at (if it had none, the time at which
it was first received) and its message_id (if it had none, export: plus its old identifier). Identifiers, received_at and
created_at are new. FOLDER.identifiers.ndjson maps the old identifiers of journeys and customers to the new ones:
{"kind", "old", "new"}. Events of customers who were erased, or of journeys that were removed, while the folder was written
are skipped and counted. Creating a journey is neither retried nor interrupted, because that could create it twice.
With one refused line the import of a folder is not finished: event definitions, the retention and archiving of journeys and the
identifiers of customers come last. Correct the line in the file of the folder, and import the folder again.

The import is idempotent: you can stop it and run it again. An event without a message_id gets one derived from the contents
of its line and the number of identical lines before it, so events that are already stored are recognized. This also works if
the file was moved, has grown at its end, or was rewritten with its fields, numbers or times in another form.

If lines give a customer several names, the name in the last line wins.

Exit code 4: the import finished, but some lines were refused. They are in a separate file, each as
{"line_number", "code", "detail", "line"}. Correct the lines there and import that file, or correct FILE and import it
again (a folder: only this).`

export function defineImport(command: Command, config: () => Config, io: CommandIo): void {
  command.argument(
    '<file>',
    'NDJSON, plain or gzipped; - for standard input; or the folder of an exported workspace',
  )
  withApi(command, 'service key')
    .option('--journey <journey_id>', 'journey for lines without a journey_id', name)
    .option(
      '--refused <file>',
      'file for refused lines (default: FILE.refused.ndjson, or import.refused.ndjson for a pipe)',
    )
    .addOption(giveUpAfter())
    .option('--dry-run', 'only check the file; what the server would refuse is not detected')
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
  const url = apiUrl(config, options.baseUrl)
  const { input, stats } = isWorkspace
    ? { input: undefined, stats: statSync(join(file, WORKSPACE_FILES.events), { throwIfNoEntry: false }) }
    : open(file, io)
  if (isWorkspace && dryRun)
    throw new CommandFailure('--dry-run does not work with an exported workspace', ExitCode.usage)
  const key = dryRun ? '' : serviceKey(io, options.keyFile, 'the import')
  const folder = file.replace(/\/+$/, '')
  const patience = {
    patience_ms: options.giveUpAfter,
    signal: stop.signal,
    advice: AGAIN,
    output: io.stderr,
  }
  const workspace = isWorkspace
    ? new WorkspaceImport({
        client: createClient({ baseUrl: url, serviceKey: key, retries: 0, fetch: patientFetch(patience) }),
        creator: createClient({ baseUrl: url, serviceKey: key, fetch: fetchOrSay }),
        signal: stop.signal,
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
  // A pipe has no folder to write to.
  const name = isWorkspace || (file !== '-' && stats?.isFile()) ? file : 'import'
  const refused = new RefusedFile(options.refused ?? `${name}.refused.ndjson`, {
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
    failure = error
  } finally {
    endProgress()
    input?.destroy()
    refused.close()
  }
  const { read_bytes: _, ...counts } = importer.counts
  const seconds = (performance.now() - began_ms) / 1000
  const skipped = workspace?.skipped ?? 0
  const summary = {
    ...counts,
    ...(workspace && { skipped }),
    seconds: Math.round(seconds * 10) / 10,
    held_seconds: Math.round(delivery.pace.held_ms / 100) / 10,
  }
  io.stdout.write(
    json ? `${JSON.stringify(summary)}\n` : report(summary, { dryRun, rate: rateText(delivery) }),
  )
  if (skipped > 0) {
    const [are, its] = skipped === 1 ? ['event was', 'its'] : ['events were', 'their']
    io.stderr.write(
      `${skipped} ${are} skipped: ${its} customer was erased, or ${its} journey removed, during the export.\n`,
    )
  }
  if (counts.refused > 0) {
    io.stderr.write(`Refused lines were written to ${refused.path}.\n`)
    if (workspace) {
      io.stderr.write(
        `The import is not finished: event definitions, retention and archiving come last. Correct the lines in ${folder}, and import it again.\n`,
      )
    }
  }
  if (failure) throw failure
  if (counts.refused > 0)
    throw new CommandFailure(
      `${countText(counts.refused, 'line was', 'lines were')} refused`,
      ExitCode.refused,
    )
}

/** @throws {CommandFailure} if the file does not exist or is a folder */
function open(file: string, { stdin }: CommandIo): { input: Readable; stats: Stats | undefined } {
  if (file === '-') return { input: stdin, stats: stdin.fd === undefined ? undefined : fstatSync(stdin.fd) }
  assertReadable(file)
  return { input: createReadStream(file), stats: statSync(file) }
}

type Summary = Omit<Importer['counts'], 'read_bytes'> & { seconds: number; held_seconds: number }

function report(summary: Summary, { dryRun, rate }: { dryRun: boolean; rate: string }): string {
  const { lines, created, duplicate, refused, customers, new_customers, seconds, held_seconds } = summary
  if (dryRun) return `${countText(lines, 'line')} read, ${refused} of them refused; nothing was sent\n`
  const perSecond = Math.round((created + duplicate) / Math.max(seconds, 0.1))
  const held =
    held_seconds > 0 ? `The key's rate limit${rate} delayed the import by ${held_seconds} s.\n` : ''
  return (
    `${countText(lines, 'line')}: ${countText(created, 'event')} created, ` +
    `${countText(duplicate, 'duplicate')}, ${refused} refused\n` +
    `${countText(customers, 'customer')} initialized, ${new_customers} of them new\n` +
    `${seconds} s, ${perSecond} events/s\n${held}`
  )
}
