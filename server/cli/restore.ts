import { existsSync, mkdirSync, realpathSync, renameSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Command } from 'commander'
import { Kysely } from 'kysely'
import type { DB } from '../../generated/tables.ts'
import type { Config } from '../config.ts'
import { instantText } from '../domain/instants.ts'
import { FOLDER_MODE, syncFile } from '../storage/private-file.ts'
import { openReadable, takeServerLock } from '../storage/sqlite/connection.ts'
import { LocalDialect } from '../storage/sqlite/local-dialect.ts'
import { DERIVED, ENGINE_COMPANIONS, sqlitePath } from '../storage/sqlite/store-files.ts'
import { commandLine } from '../storage/tables/audit-log.ts'
import {
  type Access,
  type AccessOfMember,
  accessTo,
  endOldAccess,
} from '../storage/tables/restored-access.ts'
import type { ServiceKey } from '../storage/tables/service-keys.ts'
import type { CommandIo } from './command-io.ts'
import { countText } from './count-text.ts'
import { CommandFailure, ExitCode } from './failure.ts'
import { assertFile, assertFolder, inStore } from './store.ts'
import { withStoreCopy } from './store-copy.ts'
import { columns } from './table.ts'

const HELP = `
The server must be stopped. What is in the place of the store is kept, in a folder beside it.

Sessions, set-up links, invitations and links for a new password of the backup end. Keys that have been revoked since, or have expired, stay so,
where the store that is replaced can be read. Everybody else who could get in when the backup was made can again: the
keys and members are listed, with what has changed since.`

export function defineRestore(command: Command, config: () => Config, io: CommandIo): void {
  command
    .argument('<file>', 'what cairn backup has made; it stays as it is')
    .option('--json', 'print one JSON object and nothing else')
    .addHelpText('after', HELP)
    .action((file: string, { json }: { json?: boolean }) => restore(config(), io, file, json))
}

async function restore(config: Config, io: CommandIo, file: string, json = false) {
  assertFile(
    config.databaseUrl,
    'a database on PostgreSQL is restored by pg_restore; deploy/postgres.md shows how',
  )
  if (!existsSync(file)) throw new CommandFailure(`there is no file ${file}`, ExitCode.conflict)
  assertFolder(config.databaseUrl)
  const lock = takeServerLock(sqlitePath(config.databaseUrl))
  if (!lock) throw new CommandFailure('a server runs on the store; stop it first', ExitCode.conflict)
  try {
    const restored = await replace(realpathSync(sqlitePath(config.databaseUrl)), file)
    io.stdout.write(json ? `${JSON.stringify(restored)}\n` : report(restored))
  } catch (error) {
    if (error instanceof CommandFailure) throw error
    throw new CommandFailure(`nothing was restored: ${error instanceof Error ? error.message : error}`)
  } finally {
    lock.close()
  }
}

/** @param path the store, behind every link */
async function replace(path: string, file: string) {
  if (realpathSync(file) === path) throw new CommandFailure(`${file} is the store itself`, ExitCode.conflict)
  const at_ms = Date.now()
  return await withStoreCopy(file, dirname(path), async (copy, { events, newest_ms }) => {
    const replaced = await accessBefore(path)
    const { ended, access } = await inStore(`sqlite:${copy}`, async (db) => {
      const ended = await endOldAccess(db, { replaced, author: commandLine(at_ms) })
      return { ended, access: await accessTo(db) }
    })
    syncFile(copy)
    const kept_in = moveAside(path, at_ms)
    renameSync(copy, path)
    syncFile(dirname(path))
    return {
      store: path,
      events,
      newest_event_at: newest_ms === null ? null : instantText(newest_ms),
      kept_in,
      ended,
      compared: replaced !== undefined,
      keys: access.flatMap((each) => workingKeys(each, at_ms, replaced)),
      members: access.flatMap((each) => members(each, replaced)),
    }
  })
}

/** Who could get into the store that is to be replaced; undefined where that cannot be read. */
async function accessBefore(path: string): Promise<Access[] | undefined> {
  if (statSync(path).size === 0) return undefined
  try {
    const db = new Kysely<DB>({ dialect: new LocalDialect({ database: openReadable(path) }) })
    return await accessTo(db).finally(() => db.destroy())
  } catch {
    return undefined
  }
}

/**
 * What is moved of a store. The logs first: left beside the restored file, one would be taken for its own and damage it. The
 * standings are made anew of what is restored, and refusals begin at nothing. The lock stays, for it is held.
 */
const MOVED = [...ENGINE_COMPANIONS, ...DERIVED, '']

/** Moves the store and what is beside it into a new folder. @returns the folder; null where there was no store */
function moveAside(path: string, at_ms: number): string | null {
  if (statSync(path).size === 0) return null
  const folder = `${path}.replaced-${instantText(at_ms).replace(/[:.]/g, '-')}`
  mkdirSync(folder, { mode: FOLDER_MODE })
  for (const suffix of MOVED) {
    if (existsSync(path + suffix)) renameSync(path + suffix, join(folder, basename(path) + suffix))
  }
  return folder
}

function workingKeys(
  { workspace_id, workspace_name, keys }: Access,
  now_ms: number,
  replaced: Access[] | undefined,
) {
  const known = replaced && new Set(replaced.flatMap(({ keys }) => keys.map(({ key_id }) => key_id)))
  const works = ({ revoked_ms, expires_ms }: ServiceKey) =>
    revoked_ms === null && (expires_ms === null || expires_ms > now_ms)
  return keys.filter(works).map(({ key_id, kind, name, last_four }) => {
    const since = known && !known.has(key_id) ? 'is not in the replaced store' : null
    return { key_id, kind, name, last_four, workspace_id, workspace_name, since }
  })
}

function members({ workspace_id, workspace_name, members }: Access, replaced: Access[] | undefined) {
  const before = replaced?.find((access) => access.workspace_id === workspace_id)
  return members.map((member) => {
    const { person_id, name, email, role } = member
    const then = before?.members.find((each) => each.person_id === person_id)
    const since = replaced === undefined ? null : changedSince(member, then)
    return { person_id, name, email, role, workspace_id, workspace_name, since }
  })
}

function changedSince(member: AccessOfMember, then: AccessOfMember | undefined): string | null {
  if (!then) return 'was removed since'
  const changes = [
    ...(then.role === member.role ? [] : [`was ${then.role}`]),
    ...(then.password_hash === member.password_hash ? [] : ['had another password']),
  ]
  return changes.length > 0 ? changes.join(', ') : null
}

function report(restored: Awaited<ReturnType<typeof replace>>): string {
  const { store, events, newest_event_at, kept_in, ended, compared, keys, members } = restored
  const newest = newest_event_at === null ? '' : `, the newest received at ${newest_event_at}`
  const { sessions, setup_links, invitations, password_links } = ended
  const keyRows = keys.map((key) => [
    key.key_id,
    key.kind,
    key.last_four,
    key.workspace_name,
    key.name,
    key.since ?? '',
  ])
  const memberRows = members.map((member) => [
    member.email,
    member.role,
    member.workspace_name,
    member.since ?? '',
  ])
  return [
    `${store}: ${countText(events, 'event')}${newest}\n`,
    kept_in === null ? '' : `What was there is in ${kept_in}\n`,
    `Ended: ${countText(sessions, 'session')}, ${countText(setup_links, 'set-up link')}, ${countText(invitations, 'invitation')}, ${countText(password_links, 'link for a new password', 'links for a new password')}\n`,
    compared
      ? ''
      : 'The replaced store could not be read: nobody knows what was revoked or removed since the backup.\n',
    '\nThese keys work; cairn key revoke ends one:\n',
    columns([['KEY_ID', 'KIND', 'ENDS IN', 'WORKSPACE', 'NAME', 'SINCE THE BACKUP'], ...keyRows]),
    '\nThese members can sign in, with the password that they had then:\n',
    columns([['EMAIL', 'ROLE', 'WORKSPACE', 'SINCE THE BACKUP'], ...memberRows]),
  ].join('')
}
