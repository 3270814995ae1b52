import { existsSync, linkSync, realpathSync, renameSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { type Command, Option } from 'commander'
import type { Config } from '../config.ts'
import { instantText } from '../domain/instants.ts'
import { syncFile } from '../storage/private-file.ts'
import { assertServedPath } from '../storage/sqlite/connection.ts'
import { COMPANIONS, DERIVED, ERASURES, sqlitePath } from '../storage/sqlite/store-files.ts'
import { nameOfBackup, removeOldBackups } from './backup-folder.ts'
import type { CommandIo } from './command-io.ts'
import { countText } from './count-text.ts'
import { CommandFailure, ExitCode } from './failure.ts'
import { count } from './options.ts'
import { assertFile, assertStore } from './store.ts'
import { withStoreCopy } from './store-copy.ts'

type BackupOptions = { keep?: number; overwrite?: boolean; json?: boolean }

const HELP = `
cairn restore puts it back.

With --keep the backup gets a name by its time (UTC), for example cairn-2026-11-21T03-10-00-000Z.db. When it has been
checked and is on disk, the oldest backups of the same store are removed until so many are left; all other files stay.`

export function defineBackup(command: Command, config: () => Config, io: CommandIo): void {
  command
    .argument('<file>', 'where the copy goes, with --keep the folder; the folder must exist')
    .option('--keep <count>', 'in a folder: keep so many backups and remove older ones', count)
    .addOption(new Option('--overwrite', 'replace the file where it exists').conflicts('keep'))
    .option('--json', 'print one JSON object and nothing else')
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
    'a database on PostgreSQL is backed up by pg_dump or pg_basebackup; deploy/postgres.md shows how',
  )
  const isFolder = statSync(place, { throwIfNoEntry: false })?.isDirectory() === true
  if (keep !== undefined && !isFolder) {
    throw new CommandFailure(`--keep is for a folder, and there is none at ${place}`, ExitCode.conflict)
  }
  if (keep === undefined && isFolder) {
    throw new CommandFailure(`${place} is a folder; name a file in it, or add --keep 7`, ExitCode.usage)
  }
  const file = keep === undefined ? place : join(place, nameOfBackup(Date.now()))
  const path = sqlitePath(config.databaseUrl)
  assertStore(path)
  assertFree(file, path, overwrite)
  const folder = dirname(resolve(file))
  try {
    // Beside another name's log the copy would miss what is not moved into the file yet.
    assertServedPath(path)
    const { events, newest_ms } = await withStoreCopy(path, folder, (copy, copied) => {
      put(copy, file, overwrite)
      syncFile(folder)
      return copied
    })
    const newest_event_at = newest_ms === null ? null : instantText(newest_ms)
    const made = { file, bytes: statSync(file).size, events, newest_event_at }
    const removed = keep === undefined ? undefined : removeOld(file, keep)
    io.stdout.write(json ? `${JSON.stringify({ ...made, removed })}\n` : report({ ...made, removed }))
  } catch (error) {
    if (error instanceof CommandFailure) throw error
    throw new CommandFailure(`no backup was made: ${messageOf(error)}`)
  }
}

/** @returns the files that were removed */
function removeOld(file: string, keep: number): string[] {
  const folder = dirname(file)
  try {
    return removeOldBackups(folder, { name: basename(file), keep }).map((name) => join(folder, name))
  } catch (error) {
    throw new CommandFailure(`${file} was made, but older ones could not be removed: ${messageOf(error)}`)
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** @throws {CommandFailure} where the copy may not or cannot go there */
function assertFree(file: string, path: string, overwrite: boolean) {
  const folder = dirname(resolve(file))
  if (!existsSync(folder)) throw new CommandFailure(`there is no folder ${folder}`, ExitCode.conflict)
  if (!overwrite && existsSync(file)) throw exists(file)
  const inUse = [path, ...[...COMPANIONS, ...DERIVED, ERASURES].map((suffix) => `${path}${suffix}`)]
  const target = existsSync(file)
    ? realpathSync(file)
    : join(realpathSync(folder), resolve(file).slice(folder.length))
  if (inUse.some((used) => existsSync(used) && realpathSync(used) === target)) {
    throw new CommandFailure(`${file} belongs to the store itself`, ExitCode.conflict)
  }
  const stray = COMPANIONS.map((suffix) => `${file}${suffix}`).find((companion) => existsSync(companion))
  if (stray !== undefined) {
    throw new CommandFailure(
      `${stray} is there and would damage the copy; use another name`,
      ExitCode.conflict,
    )
  }
}

/** Gives the finished copy its name. */
function put(partial: string, file: string, overwrite: boolean) {
  if (overwrite) return renameSync(partial, file)
  try {
    // Unlike a rename it cannot take the place of a file that somebody has made meanwhile.
    linkSync(partial, file)
  } catch {
    // Not every file system has links.
    if (existsSync(file)) throw exists(file)
    renameSync(partial, file)
  }
}

function exists(file: string): CommandFailure {
  return new CommandFailure(`${file} exists already; --overwrite would replace it`, ExitCode.conflict)
}

function report(made: {
  file: string
  bytes: number
  events: number
  newest_event_at: string | null
  removed: string[] | undefined
}): string {
  const removed = made.removed?.map((old) => `${old}: removed\n`).join('') ?? ''
  const newest = made.newest_event_at === null ? '' : `, the newest received at ${made.newest_event_at}`
  return `${made.file}: ${countText(made.bytes, 'byte')}, ${countText(made.events, 'event')}${newest}\n${removed}`
}
