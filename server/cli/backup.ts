import { existsSync, linkSync, realpathSync, renameSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Command } from 'commander'
import type { Config } from '../config.ts'
import { instantText } from '../domain/instants.ts'
import { COMPANIONS } from '../storage/sqlite/private-files.ts'
import { sqlitePath } from '../storage/storage.ts'
import { CommandFailure, ExitCode } from './failure.ts'
import { assertStore } from './store.ts'
import { sync, withStoreCopy } from './store-copy.ts'

type BackupOptions = { overwrite?: boolean; json?: boolean }

export function defineBackup(command: Command, config: () => Config): void {
  command
    .argument('<file>', 'where the copy goes; its folder must exist')
    .option('--overwrite', 'replace the file where it exists')
    .option('--json', 'print one JSON object and nothing else')
    .addHelpText('after', '\ncairn restore puts it back.')
    .action((file: string, options: BackupOptions) => backup(config(), file, options))
}

async function backup(config: Config, file: string, { overwrite = false, json }: BackupOptions) {
  const path = sqlitePath(config.databaseUrl)
  assertStore(path)
  assertFree(file, path, overwrite)
  const folder = dirname(resolve(file))
  try {
    const { events, newest_ms } = await withStoreCopy(path, folder, (copy, copied) => {
      put(copy, file, overwrite)
      sync(folder)
      return copied
    })
    const newest_event_at = newest_ms === null ? null : instantText(newest_ms)
    const made = { file, bytes: statSync(file).size, events, newest_event_at }
    process.stdout.write(json ? `${JSON.stringify(made)}\n` : report(made))
  } catch (error) {
    if (error instanceof CommandFailure) throw error
    throw new CommandFailure(`no backup was made: ${error instanceof Error ? error.message : error}`)
  }
}

/** @throws {CommandFailure} where the copy may not or cannot go there */
function assertFree(file: string, path: string, overwrite: boolean) {
  const folder = dirname(resolve(file))
  if (!existsSync(folder)) throw new CommandFailure(`there is no folder ${folder}`, ExitCode.conflict)
  if (!overwrite && existsSync(file)) throw exists(file)
  const inUse = [path, ...COMPANIONS.map((suffix) => `${path}${suffix}`)]
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
}): string {
  const newest = made.newest_event_at === null ? '' : `, the newest received at ${made.newest_event_at}`
  return `${made.file}: ${made.bytes} bytes, ${made.events} events${newest}\n`
}
