import { randomUUID } from 'node:crypto'
import { existsSync, linkSync, realpathSync, renameSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { type Command, Option } from 'commander'
import type { Config } from '../config.ts'
import { instantOrNull } from '../domain/instants.ts'
import { errorText } from '../storage/file-errors.ts'
import { syncFile } from '../storage/private-file.ts'
import { assertServedPath } from '../storage/sqlite/connection.ts'
import { COMPANIONS, DERIVED, ENCRYPTION_KEY, ERASURES, sqlitePath } from '../storage/sqlite/store-files.ts'
import { nameOfBackup, removeOldBackups } from './backup-folder.ts'
import type { CommandIo } from './command-io.ts'
import { CommandFailure, ExitCode } from './failure.ts'
import { assertWritable, isFolder } from './named-files.ts'
import { count } from './options.ts'
import { assertFile, assertStore } from './store.ts'
import { withStoreCopy } from './store-copy.ts'
import { countText } from './table.ts'

type BackupOptions = { keep?: number; overwrite?: boolean; json?: boolean }

const HELP = `
cairn restore puts it back.

With --keep the backup is named by its time (UTC), for example cairn-2026-11-21T03-10-00-000Z.db. Once it is checked and on
disk, the oldest backups of the same store are removed until <count> are left; all other files stay.`

export function defineBackup(command: Command, config: () => Config, io: CommandIo): void {
  command
    .argument('<file>', 'file to write, or with --keep the folder; the folder must exist')
    .option('--keep <count>', 'in a folder: keep this many backups and remove older ones', count)
    .addOption(new Option('--overwrite', 'replace the file if it exists').conflicts('keep'))
    .option('--json', 'print one JSON object only')
    .addHelpText('after', HELP)
    .action((place: string, options: BackupOptions) => backup(config(), io, place, options))
}

async function backup(
  config: Config,
  io: CommandIo,
  place: string,
  { keep, overwrite = false, json }: BackupOptions,
) {
  assertFile(
    config.databaseUrl,
    'back up a PostgreSQL database with pg_dump or pg_basebackup; see deploy/postgres.md',
  )
  if (keep !== undefined && !isFolder(place)) {
    throw new CommandFailure(`--keep needs a folder, but ${place} is not one`, ExitCode.conflict)
  }
  if (keep === undefined && isFolder(place)) {
    throw new CommandFailure(`${place} is a folder; name a file in it, or use --keep 7`, ExitCode.usage)
  }
  const file = keep === undefined ? place : join(place, nameOfBackup(Date.now()))
  const path = sqlitePath(config.databaseUrl)
  assertStore(path)
  assertFree(file, path, overwrite)
  const folder = dirname(resolve(file))
  const copy = join(folder, `.cairn-copy-${randomUUID()}.partial`)
  try {
    // A path with another name has another write-ahead log; the copy would miss what is not checkpointed yet.
    assertServedPath(path)
    // Elsewhere it stays root's: the service must not be able to change a backup that root keeps from it.
    const model = statSync(folder).uid === statSync(path).uid ? path : undefined
    const { events, newest_ms } = await withStoreCopy({ path, copy, model }, (copied) => {
      put(copy, file, overwrite)
      syncFile(folder)
      return copied
    })
    const newest_event_at = instantOrNull(newest_ms)
    const made = { file, bytes: statSync(file).size, events, newest_event_at }
    const removed = keep === undefined ? undefined : removeOld(file, keep)
    io.stdout.write(json ? `${JSON.stringify({ ...made, removed })}\n` : report({ ...made, removed }))
  } catch (error) {
    if (error instanceof CommandFailure) throw error
    throw new CommandFailure(`backup failed: ${errorText(error)}`)
  }
}

/** @returns the files that were removed */
function removeOld(file: string, keep: number): string[] {
  const folder = dirname(file)
  try {
    return removeOldBackups(folder, { name: basename(file), keep }).map((name) => join(folder, name))
  } catch (error) {
    throw new CommandFailure(
      `${file} was written, but older backups could not be removed: ${errorText(error)}`,
    )
  }
}

/** @throws {CommandFailure} if the copy must not or cannot be written there */
function assertFree(file: string, path: string, overwrite: boolean) {
  const folder = dirname(resolve(file))
  assertWritable(file)
  if (!overwrite && existsSync(file)) throw exists(file)
  // The backup takes its name, which root can take even from /dev/null.
  if (statSync(file, { throwIfNoEntry: false })?.isFile() === false)
    throw new CommandFailure(`${file} is not a regular file; choose another path`, ExitCode.conflict)
  const inUse = [
    path,
    ...[...COMPANIONS, ...DERIVED, ERASURES, ENCRYPTION_KEY].map((suffix) => `${path}${suffix}`),
  ]
  const target = existsSync(file)
    ? realpathSync(file)
    : join(realpathSync(folder), resolve(file).slice(folder.length))
  if (inUse.some((used) => existsSync(used) && realpathSync(used) === target)) {
    throw new CommandFailure(`${file} is part of the store itself`, ExitCode.conflict)
  }
  const stray = COMPANIONS.map((suffix) => `${file}${suffix}`).find((companion) => existsSync(companion))
  if (stray !== undefined) {
    throw new CommandFailure(
      `${stray} exists and would corrupt the copy; use another name`,
      ExitCode.conflict,
    )
  }
}

/** Moves the finished copy to its final name. */
function put(partial: string, file: string, overwrite: boolean) {
  if (overwrite) return renameSync(partial, file)
  try {
    // Unlike a rename, a link cannot replace a file that was created in the meantime.
    linkSync(partial, file)
  } catch {
    // Not every file system supports hard links.
    if (existsSync(file)) throw exists(file)
    renameSync(partial, file)
  }
}

function exists(file: string): CommandFailure {
  return new CommandFailure(`${file} already exists; use --overwrite to replace it`, ExitCode.conflict)
}

function report(made: {
  file: string
  bytes: number
  events: number
  newest_event_at: string | null
  removed: string[] | undefined
}): string {
  const removed = made.removed?.map((old) => `${old}: removed\n`).join('') ?? ''
  const newest = made.newest_event_at === null ? '' : `, newest received at ${made.newest_event_at}`
  return `${made.file}: ${countText(made.bytes, 'byte')}, ${countText(made.events, 'event')}${newest}\n${removed}`
}
