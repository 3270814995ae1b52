import {
  copyFileSync,
  existsSync,
  linkSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Command } from 'commander'
import { Kysely } from 'kysely'
import type { DB } from '../../generated/tables.ts'
import type { Config } from '../config.ts'
import { instantOrNull, instantText } from '../domain/instants.ts'
import { keyStatus } from '../domain/service-keys.ts'
import { InUse } from '../in-use.ts'
import { errorText } from '../storage/file-errors.ts'
import { createPrivateFolder, syncFile } from '../storage/private-file.ts'
import { ErasureJournal, makeErasuresFile } from '../storage/removals/erasure-journal.ts'
import type { NotedErasure } from '../storage/removals/removal-store.ts'
import { isSameFile } from '../storage/same-file.ts'
import {
  assertWritable,
  isDamage,
  openReadable,
  openWritable,
  takeServerLock,
} from '../storage/sqlite/connection.ts'
import { lastCustomerRef, skipCustomerRefs } from '../storage/sqlite/customer-refs.ts'
import { LocalDialect } from '../storage/sqlite/local-dialect.ts'
import {
  DERIVED,
  ENCRYPTION_KEY,
  ENGINE_COMPANIONS,
  ERASURES,
  isStore,
  RESTORED,
  sqlitePath,
} from '../storage/sqlite/store-files.ts'
import { commandLine } from '../storage/tables/audit-log.ts'
import {
  type Access,
  type AccessOfMember,
  accessTo,
  endOldAccess,
} from '../storage/tables/restored-access.ts'
import { allWebhooks } from '../storage/tables/webhooks.ts'
import { openSecretBox, type SecretBox } from '../webhooks/secret-box.ts'
import type { CommandIo } from './command-io.ts'
import { CommandFailure, ExitCode } from './failure.ts'
import { assertReadable } from './named-files.ts'
import { assertFile, assertFolder, inStore } from './store.ts'
import { withStoreCopy } from './store-copy.ts'
import { columns, countText } from './table.ts'

const HELP = `
Stop the server first. The replaced store is kept, in a folder next to it.

Sessions, setup links, invitations, password links and links to views in the backup are ended. Keys that have expired stay
expired; keys that were revoked since the backup stay revoked if the replaced store can be read. Everyone else who had access
at the time of the backup has it again: the keys and members are listed, with what has changed since.

No backup contains the key of the webhooks' secrets, and the one on this machine is kept. Webhooks whose secrets it cannot read
are counted.`

export function defineRestore(command: Command, config: () => Config, io: CommandIo): void {
  command
    .argument('<file>', 'backup made by cairn backup; it is not modified')
    .option('--json', 'print one JSON object only')
    .addHelpText('after', HELP)
    .action((file: string, { json }: { json?: boolean }) => restore(config(), io, file, json))
}

async function restore(config: Config, io: CommandIo, file: string, json = false) {
  assertFile(config.databaseUrl, 'restore a PostgreSQL database with pg_restore; see deploy/postgres.md')
  assertReadable(file)
  // SQLite would wait for a writer.
  if (statSync(file).isFIFO())
    throw new CommandFailure(`${file} is a pipe; write the backup to a file first`, ExitCode.usage)
  assertFolder(config.databaseUrl)
  // No server starts on a file with two names, and no lock is taken on it.
  removeSecondName(sqlitePath(config.databaseUrl))
  const isNew = !existsSync(sqlitePath(config.databaseUrl))
  const lock = takeServerLock(sqlitePath(config.databaseUrl))
  if (!lock) throw new InUse('a server is running on the store; stop it first')
  try {
    assertWritable(sqlitePath(config.databaseUrl))
    const restored = await replace(config, file)
    io.stdout.write(json ? `${JSON.stringify(restored)}\n` : report(restored))
  } catch (error) {
    if (error instanceof CommandFailure) throw error
    throw new CommandFailure(`restore failed, nothing was changed: ${errorText(error)}`)
  } finally {
    // Created for the lock; if nothing was restored, an empty store would look like one that has lost its data.
    const path = sqlitePath(config.databaseUrl)
    if (isNew && !isStore(path)) {
      rmSync(path)
      // While it is held: a server that starts meanwhile takes a new one.
      rmSync(`${path}.lock`)
    }
    lock.close()
  }
}

async function replace(config: Config, file: string) {
  const path = realpathSync(sqlitePath(config.databaseUrl))
  const secrets = openSecretBox(config)
  if (realpathSync(file) === path) throw new CommandFailure(`${file} is the store itself`, ExitCode.conflict)
  const at_ms = Date.now()
  const copy = path + RESTORED
  return await withStoreCopy({ path: file, copy, model: path }, async ({ events, newest_ms }) => {
    const replaced = await readReplaced(path, accessTo)
    const lastRef = (await readReplaced(path, lastCustomerRef)) ?? 0
    await noteErasures(config, (await readReplaced(path, erasuresIn)) ?? [])
    const { ended, access, webhooks } = await inStore(`sqlite:${copy}`, async (db) => {
      const ended = await endOldAccess(db, { replaced, author: commandLine(at_ms) })
      await skipCustomerRefs(db, lastRef)
      return { ended, access: await accessTo(db), webhooks: await unsignedWebhooks(db, secrets) }
    })
    syncFile(copy)
    const kept_in = keepReplaced(path, at_ms)
    try {
      renameSync(copy, path)
    } catch (error) {
      removeSecondName(path)
      throw error
    }
    syncFile(dirname(path))
    return {
      store: path,
      events,
      newest_event_at: instantOrNull(newest_ms),
      kept_in,
      ended,
      compared: replaced !== undefined,
      keys: access.flatMap((each) => workingKeys(each, at_ms, replaced)),
      members: access.flatMap((each) => members(each, replaced)),
      unsigned_webhooks: webhooks,
    }
  })
}

/** Returns the webhooks whose secrets cannot be read with the key that this machine has. */
async function unsignedWebhooks(db: Kysely<DB>, secrets: SecretBox | undefined): Promise<string[]> {
  const webhooks = (await allWebhooks(db)).map(({ webhook_id, secret }) => ({ webhook_id, secret }))
  const unsigned = webhooks.filter((each) => secrets?.open(each.secret, each.webhook_id) === 'other_key')
  return unsigned.map(({ webhook_id }) => webhook_id)
}

/** Reads from the store that is to be replaced. @returns undefined if it cannot be read */
async function readReplaced<Result>(
  path: string,
  read: (db: Kysely<DB>) => Promise<Result>,
): Promise<Result | undefined> {
  if (!isStore(path)) return undefined
  try {
    const db = new Kysely<DB>({ dialect: new LocalDialect({ database: openReadable(path) }) })
    return await read(db).finally(() => db.destroy())
  } catch {
    return undefined
  }
}

async function erasuresIn(db: Kysely<DB>): Promise<NotedErasure[]> {
  return await db
    .selectFrom('erasures')
    .select(['workspace_id', 'customer_id', 'own_digest', 'erased_ms'])
    .execute()
}

/** Adds to the journal the erasures that a server committed and was killed before it recorded them. */
async function noteErasures(
  { databaseUrl, erasuresFile }: Config,
  erasures: readonly NotedErasure[],
): Promise<void> {
  if (erasures.length === 0) return
  if (erasuresFile !== undefined) makeErasuresFile(erasuresFile)
  await new ErasureJournal(erasuresFile ?? sqlitePath(databaseUrl) + ERASURES).note(erasures)
}

/**
 * Keeps the store and the files beside it in a new folder. Until the restored file takes its place the store stays complete,
 * in case this process is killed. The lock file stays, because it is held.
 * @returns the folder; null if there was nothing to keep
 */
function keepReplaced(path: string, at_ms: number): string | null {
  const beside = (suffixes: string[]) => suffixes.filter((suffix) => existsSync(path + suffix))
  const logs = beside(ENGINE_COMPANIONS)
  const derived = beside(DERIVED)
  const isEmpty = statSync(path).size === 0
  if (isEmpty && logs.length + derived.length === 0) return null
  const folder = `${path}.replaced-${instantText(at_ms).replace(/[:.]/g, '-')}`
  createPrivateFolder(folder, path)
  const kept = (suffix: string) => join(folder, basename(path) + suffix)
  try {
    for (const suffix of logs) copyFileSync(path + suffix, kept(suffix))
    if (!isEmpty) {
      foldLog(path)
      linkOrCopy(path, kept(''))
    }
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
  // SQLite would take a log left beside the restored file for its own and corrupt the file.
  for (const suffix of logs) rmSync(path + suffix, { force: true })
  // The standings are rebuilt from what is restored, and rejected requests start empty.
  for (const suffix of derived) renameSync(path + suffix, kept(suffix))
  return folder
}

/** Writes into the store what only its log holds. A damaged store is left as it is: its log is kept. */
function foldLog(path: string): void {
  try {
    const store = openWritable(path, { create: false })
    try {
      const isBusy = store.pragma('wal_checkpoint(TRUNCATE)', { simple: true }) !== 0
      if (isBusy) throw new Error('another program is reading the store; end it first')
    } finally {
      store.close()
    }
  } catch (error) {
    if (!isDamage(error)) throw error
  }
}

/** Removes the second name of the store that a restore has left which ended before the restored file took its place. */
function removeSecondName(path: string): void {
  if (!existsSync(path)) return
  const store = realpathSync(path)
  const atPath = statSync(store)
  for (const name of readdirSync(dirname(store))) {
    if (!name.startsWith(`${basename(store)}.replaced-`)) continue
    const kept = join(dirname(store), name, basename(store))
    if (isSameFile(statSync(kept, { throwIfNoEntry: false }), atPath)) rmSync(kept)
  }
}

function linkOrCopy(path: string, link: string): void {
  try {
    linkSync(path, link)
  } catch {
    // Not every file system has links.
    copyFileSync(path, link)
  }
}

function workingKeys(
  { workspace_id, workspace_name, keys }: Access,
  now_ms: number,
  replaced: Access[] | undefined,
) {
  const known = replaced && new Set(replaced.flatMap(({ keys }) => keys.map(({ key_id }) => key_id)))
  const working = keys.filter((key) => keyStatus(key, now_ms) === 'active')
  return working.map(({ key_id, kind, name, last_four }) => {
    const since = known && !known.has(key_id) ? 'not in the replaced store' : null
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
  if (!then) return 'was removed'
  const changes = [
    ...(then.role === member.role ? [] : [`was ${then.role}`]),
    ...(then.password_hash === member.password_hash ? [] : ['had a different password']),
  ]
  return changes.length > 0 ? changes.join(', ') : null
}

function report(restored: Awaited<ReturnType<typeof replace>>): string {
  const { store, events, newest_event_at, kept_in, ended, compared, keys, members, unsigned_webhooks } =
    restored
  const newest = newest_event_at === null ? '' : `, newest received at ${newest_event_at}`
  const { sessions, setup_links, invitations, password_links, view_links } = ended
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
    kept_in === null ? '' : `The replaced store is in ${kept_in}\n`,
    `Ended: ${countText(sessions, 'session')}, ${countText(setup_links, 'setup link')}, ${countText(invitations, 'invitation')}, ${countText(password_links, 'password link')}, ${countText(view_links, 'view link')}\n`,
    compared
      ? ''
      : `${kept_in === null ? 'No store was replaced' : 'The replaced store could not be read'}, so it is unknown what was revoked or removed since the backup.\n`,
    '\nThese keys are valid; use cairn key revoke to revoke one:\n',
    columns([['KEY_ID', 'KIND', 'ENDS IN', 'WORKSPACE', 'NAME', 'SINCE THE BACKUP'], ...keyRows]),
    '\nThese members can sign in with the password that they had then:\n',
    columns([['EMAIL', 'ROLE', 'WORKSPACE', 'SINCE THE BACKUP'], ...memberRows]),
    unsigned_webhooks.length === 0
      ? ''
      : `\nWithout the key of their secrets, ${countText(unsigned_webhooks.length, 'webhook')} will send nothing. Put its file in ${store}${ENCRYPTION_KEY}, or set CAIRN_ENCRYPTION_KEY; if it is lost, rotate their secrets.\n`,
  ].join('')
}
