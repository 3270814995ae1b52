import type { Command } from 'commander'
import { type Config, readConfig } from '../config.ts'
import { isFile, openTransferableStore } from '../storage/open.ts'
import { sqlitePath } from '../storage/sqlite/store-files.ts'
import type { TableName } from '../storage/transfer/tables.ts'
import { CopyDiffers, TargetNotEmpty, type Told, transfer } from '../storage/transfer/transfer.ts'
import type { TransferableStore } from '../storage/transfer/transferable-store.ts'
import type { CommandIo, Output } from './command-io.ts'
import { CommandFailure, ExitCode } from './failure.ts'
import { assertFolder, assertStore } from './store.ts'
import { columns } from './table.ts'

type CopyOptions = { from: string; to: string; json?: boolean }

const HELP = `
Every server on either store must be stopped. All is copied as it is: identifiers, keys (their digests), people and their
sessions, events with their message_id, the audit log. So clients and browsers notice nothing when a server starts on the
copy, with its URL as DATABASE_URL.

The copy must be empty at the beginning. Interrupted, the same command goes on where it was; no server starts on a copy that
has not ended. At the end the copy is read again and compared, table by table.

  cairn copy --from sqlite:./data/cairn.db --to postgres://cairn@db.example.com/cairn`

/** Progress is told about so often. */
const TELL_MS = 1_000

export function defineCopy(command: Command, _config: () => Config, io: CommandIo): void {
  command
    .requiredOption('--from <url>', 'the store, as DATABASE_URL names it')
    .requiredOption('--to <url>', 'where the copy goes, in the same form')
    .option('--json', 'print one JSON object and nothing else')
    .addHelpText('after', HELP)
    .action((options: CopyOptions) => copy(io, options))
}

/** Checks an address as the configuration does. */
function assertUrl(option: string, url: string) {
  try {
    readConfig({ DATABASE_URL: url })
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    throw new CommandFailure(`${option}, like ${message}`, ExitCode.usage)
  }
}

async function copy(io: CommandIo, { from, to, json = false }: CopyOptions) {
  assertUrl('--from', from)
  assertUrl('--to', to)
  if (from === to) throw new CommandFailure('a store cannot be copied into itself', ExitCode.usage)
  if (isFile(from)) assertStore(sqlitePath(from))
  assertFolder(to)
  const opened: TransferableStore[] = []
  try {
    const source = await openTransferableStore(from)
    opened.push(source)
    const target = await openTransferableStore(to)
    opened.push(target)
    const counts = await transfer(source, target, json ? () => {} : teller(io.stderr))
    io.stdout.write(json ? `${JSON.stringify(counts)}\n` : report(counts))
  } catch (error) {
    throw failureOf(error)
  } finally {
    for (const store of opened) await store.close()
  }
}

function failureOf(error: unknown): Error {
  if (error instanceof TargetNotEmpty) {
    return new CommandFailure(
      `nothing was copied, the target is not empty: ${error.message}`,
      ExitCode.conflict,
    )
  }
  if (error instanceof CopyDiffers) {
    const advice = 'Stop every server and begin again with an empty target'
    return new CommandFailure(`the copy must not be used: ${error.message}. ${advice}`)
  }
  if (error instanceof CommandFailure) return error
  return new CommandFailure(error instanceof Error ? error.message : String(error))
}

/** Tells on the standard error how far the copy has come: the standard output has the result alone. */
function teller(stderr: Output): (told: Told) => void {
  let next_ms = 0
  return ({ step, table, rows, of }) => {
    const now_ms = Date.now()
    if (now_ms < next_ms) return
    next_ms = now_ms + TELL_MS
    stderr.write(`${step} ${table}: ${rows} of ${of}\n`)
  }
}

function report(counts: Record<TableName, number>): string {
  const rows = Object.entries(counts).map(([table, rows]) => [table, String(rows)])
  return `Copied and compared:\n${columns(rows)}`
}
