import type { Command } from 'commander'
import { type Config, readConfig } from '../config.ts'
import { isFile, openTransferableStore } from '../storage/open.ts'
import { ErasureJournal } from '../storage/removals/erasure-journal.ts'
import { storageFailure } from '../storage/sqlite/connection.ts'
import { ERASURES, erasuresBesideLink, sqlitePath } from '../storage/sqlite/store-files.ts'
import type { TableName } from '../storage/transfer/tables.ts'
import { CopyDiffers, type CopyStep, TargetNotEmpty, transfer } from '../storage/transfer/transfer.ts'
import type { TransferableStore } from '../storage/transfer/transferable-store.ts'
import { causeOf } from '../storage/unavailable.ts'
import type { CommandIo, Output } from './command-io.ts'
import { CommandFailure, ExitCode } from './failure.ts'
import { assertFolder, inStore } from './store.ts'
import { columns } from './table.ts'

type CopyOptions = { from: string; to: string; json?: boolean }

const HELP = `
Stop every server on either store first. Everything is copied unchanged: identifiers, keys (their digests), people and
sessions, events with their message_id, the audit log. Clients and browsers do not notice when a server starts on the copy,
with its URL as DATABASE_URL. Not copied are rejected requests and the counts of what was sent.

The target must be empty at first. If the copy is interrupted, run the same command again to resume; no server starts on an
unfinished copy. At the end the copy is read back and compared, table by table.

  cairn copy --from sqlite:./data/cairn.db --to postgres://cairn@db.example.com/cairn`

/** Interval of progress messages. */
const PROGRESS_MS = 1_000

export function defineCopy(command: Command, config: () => Config, io: CommandIo): void {
  command
    .requiredOption('--from <url>', 'URL of the store to copy, in the form of DATABASE_URL')
    .requiredOption('--to <url>', 'URL of the target, in the same form')
    .option('--json', 'print one JSON object only')
    .addHelpText('after', HELP)
    .action((options: CopyOptions) => copy(io, config(), options))
}

/** Checks a URL as the configuration does. */
function assertUrl(option: string, url: string) {
  try {
    readConfig({ DATABASE_URL: url })
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    throw new CommandFailure(`${option}: ${message}`, ExitCode.usage)
  }
}

/** Adds the option to the message of an error that does not concern the other store. */
async function named<Result>(option: string, work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (error) {
    const cause = causeOf(error)
    if (cause instanceof Error) cause.message = `${option}: ${cause.message}`
    throw cause
  }
}

/** The erasures that were recorded beside a store. */
function erasedFrom(url: string, erasuresFile: string | undefined) {
  const path = erasuresFile ?? (isFile(url) ? sqlitePath(url) + ERASURES : undefined)
  const paths = [path, isFile(url) ? erasuresBesideLink(url) : undefined].filter((each) => each !== undefined)
  return paths.flatMap((each) => [...new ErasureJournal(each).noted])
}

async function copy(io: CommandIo, { erasuresFile }: Config, { from, to, json = false }: CopyOptions) {
  assertUrl('--from', from)
  assertUrl('--to', to)
  if (from === to) throw new CommandFailure('--from and --to are the same store', ExitCode.usage)
  assertFolder(to, '--to')
  // Before it is opened for the copy, which creates a store where there is none.
  await named(
    '--from',
    inStore(from, async () => {}),
  )
  const opened: TransferableStore[] = []
  try {
    const source = await named('--from', openTransferableStore(from))
    opened.push(source)
    const target = await named('--to', openTransferableStore(to))
    opened.push(target)
    const counts = await transfer(source, target, {
      erased: erasedFrom(from, erasuresFile),
      report: json ? () => {} : reporter(io.stderr),
    })
    io.stdout.write(json ? `${JSON.stringify(counts)}\n` : report(counts))
  } catch (error) {
    throw failureOf(error)
  } finally {
    for (const store of opened) await store.close()
  }
}

function failureOf(error: unknown): unknown {
  if (error instanceof TargetNotEmpty) {
    return new CommandFailure(
      `nothing was copied because the target is not empty: ${error.message}`,
      ExitCode.conflict,
    )
  }
  if (error instanceof CopyDiffers) {
    const advice = 'Stop every server and start again with an empty target'
    return new CommandFailure(`do not use the copy: ${error.message}. ${advice}`)
  }
  // PostgreSQL names the file that it cannot extend.
  if (storageFailure(causeOf(error)) === 'storage_full') {
    return new CommandFailure('the disk of --to is full. Make room, and run the same command again to resume')
  }
  return error
}

/** Reports progress on standard error, because standard output contains only the result. */
function reporter(stderr: Output): (step: CopyStep) => void {
  let next_ms = 0
  return ({ step, table, rows, of }) => {
    const now_ms = Date.now()
    if (now_ms < next_ms) return
    next_ms = now_ms + PROGRESS_MS
    stderr.write(`${step} ${table}: ${rows} of ${of}\n`)
  }
}

function report(counts: Record<TableName, number>): string {
  const rows = Object.entries(counts).map(([table, rows]) => [table, String(rows)])
  return `Copied and verified:\n${columns(rows)}`
}
