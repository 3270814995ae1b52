import { type Command, Option } from 'commander'
import type { Transaction } from 'kysely'
import type { DB } from '../../generated/tables.ts'
import type { Config } from '../config.ts'
import { newId } from '../domain/identifiers.ts'
import { instantText } from '../domain/instants.ts'
import { type KeyKind, newServiceKey } from '../domain/service-keys.ts'
import * as keys from '../storage/service-keys.ts'
import { workspaces } from '../storage/workspaces.ts'
import { CommandFailure, ExitCode } from './failure.ts'
import { duration_ms, name, origin, rate } from './options.ts'
import { inStore } from './store.ts'

type CreateOptions = {
  workspace?: string
  kind: KeyKind
  name: string
  origin: string[]
  expiresIn?: number
  rateLimit?: number
  json?: boolean
}

const GRACE = '24h'

export function addKey(program: Command, config: () => Config): void {
  const key = program.command('key').description('make and manage service keys')
  const workspace = () =>
    new Option('--workspace <name>', 'whose keys; needed where there are several').argParser(name)
  const json = () => new Option('--json', 'print one JSON value and nothing else')

  key
    .command('create')
    .description('make a key and print it; a secret key is printed this one time')
    .addOption(workspace())
    .addOption(new Option('--kind <kind>').choices(['secret', 'publishable']).makeOptionMandatory())
    .requiredOption('--name <name>', 'what it is for, as lists show it', name)
    .option(
      '--origin <origin>',
      'allow only this origin; may be repeated (publishable keys)',
      collectOrigins,
      [],
    )
    .option('--expires-in <time>', 'let it expire, for example 30d', duration_ms)
    .option('--rate-limit <events>', 'events a second, 0 for no limit', rate)
    .addOption(json())
    .action((options: CreateOptions) => create(config(), options))
  key
    .command('list')
    .description('list the keys of a workspace')
    .addOption(workspace())
    .addOption(json())
    .action((options: { workspace?: string; json?: boolean }) => list(config(), options))
  key
    .command('rotate')
    .description('make a key that takes the place of another; both work during the grace period')
    .argument('<key_id>')
    .addOption(
      new Option('--grace <time>', 'how long the old key still works')
        .argParser(duration_ms)
        .default(duration_ms(GRACE), GRACE),
    )
    .addOption(json())
    .action((keyId: string, options: { grace: number; json?: boolean }) => rotate(config(), keyId, options))
  key
    .command('revoke')
    .description('let a key work no more, at once')
    .argument('<key_id>')
    .addOption(json())
    .action((keyId: string, options: { json?: boolean }) => revoke(config(), keyId, options))
}

async function create(config: Config, options: CreateOptions) {
  const { kind, rateLimit = null, expiresIn } = options
  if (kind === 'secret' && options.origin.length > 0) {
    throw new CommandFailure(
      '--origin is for publishable keys; browsers never hold a secret one',
      ExitCode.usage,
    )
  }
  const created_ms = Date.now()
  const token = newServiceKey(kind)
  const made = await inStore(config.databaseUrl, async (db) => {
    return await keys.insertServiceKey(db, {
      key_id: newId('key'),
      workspace_id: await workspaceId(db, options.workspace),
      kind,
      name: options.name,
      token,
      allowed_origins: options.origin,
      rate_limit: rateLimit,
      created_ms,
      expires_ms: expiresIn === undefined ? null : created_ms + expiresIn,
    })
  })
  printNew(made, token, options.json)
}

async function list(config: Config, { workspace, json }: { workspace?: string; json?: boolean }) {
  const rows = await inStore(config.databaseUrl, async (db) => {
    return await keys.serviceKeys(db, await workspaceId(db, workspace))
  })
  const shown = rows.map((key) => shownKey(key, Date.now()))
  if (json) {
    process.stdout.write(`${JSON.stringify(shown)}\n`)
    return
  }
  const table = shown.map(({ key_id, kind, last_four, state, last_used_at, expires_at, name }) => {
    return [key_id, kind, `…${last_four}`, state, last_used_at ?? 'never', expires_at ?? 'never', name]
  })
  process.stdout.write(
    columns([['KEY_ID', 'KIND', 'ENDS', 'STATE', 'LAST USED', 'EXPIRES', 'NAME'], ...table]),
  )
}

/** Rows under each other, each column as wide as its widest cell. */
function columns(rows: string[][]): string {
  const widths = rows[0]?.map((_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0))) ?? []
  const lines = rows.map((row) => row.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join('  '))
  return lines.map((line) => `${line.trimEnd()}\n`).join('')
}

async function rotate(config: Config, keyId: string, { grace, json }: { grace: number; json?: boolean }) {
  const now_ms = Date.now()
  const { made, token, expires_ms } = await inStore(config.databaseUrl, async (db) => {
    const { last_four: _, token: __, last_used_ms: ___, revoked_ms, ...old } = await findKey(db, keyId)
    if (stateOf({ ...old, revoked_ms }, now_ms) !== 'active') {
      throw new CommandFailure(`${keyId} works no more; make a new key instead`, ExitCode.conflict)
    }
    const token = newServiceKey(old.kind)
    const made = await keys.insertServiceKey(db, { ...old, key_id: newId('key'), token, created_ms: now_ms })
    const expires_ms = Math.min(now_ms + grace, old.expires_ms ?? Number.POSITIVE_INFINITY)
    await keys.updateServiceKey(db, keyId, { expires_ms })
    return { made, token, expires_ms }
  })
  printNew(made, token, json)
  if (!json) process.stdout.write(`The old key works until ${instantText(expires_ms)}.\n`)
}

async function revoke(config: Config, keyId: string, { json }: { json?: boolean }) {
  const key = await inStore(config.databaseUrl, async (db) => {
    const found = await findKey(db, keyId)
    const revoked_ms = found.revoked_ms ?? Date.now()
    await keys.updateServiceKey(db, keyId, { revoked_ms })
    return { ...found, revoked_ms }
  })
  const shown = shownKey(key, Date.now())
  process.stdout.write(json ? `${JSON.stringify(shown)}\n` : `${keyId} is revoked.\n`)
}

async function findKey(db: Transaction<DB>, keyId: string): Promise<keys.ServiceKey> {
  const key = await keys.findServiceKey(db, keyId)
  if (!key) throw new CommandFailure(`no key ${keyId}; cairn key list shows all`, ExitCode.conflict)
  return key
}

async function workspaceId(db: Transaction<DB>, name: string | undefined): Promise<string> {
  const found = await workspaces(db, name)
  const [only] = found
  if (!only) {
    throw new CommandFailure(
      name === undefined
        ? 'there is no workspace yet; make one with cairn init'
        : `no workspace of that name`,
      ExitCode.conflict,
    )
  }
  if (found.length > 1) {
    const names = found.map((workspace) => JSON.stringify(workspace.name)).join(', ')
    throw new CommandFailure(`say which workspace with --workspace: ${names}`, ExitCode.usage)
  }
  return only.workspace_id
}

function collectOrigins(text: string, before: string[]): string[] {
  return [...before, origin(text)]
}

function stateOf(
  { revoked_ms, expires_ms }: Pick<keys.ServiceKey, 'revoked_ms' | 'expires_ms'>,
  now_ms: number,
) {
  if (revoked_ms !== null) return 'revoked'
  return expires_ms !== null && expires_ms <= now_ms ? 'expired' : 'active'
}

/** A key as the command prints it; a publishable one is no secret and is shown whole. */
function shownKey(key: keys.ServiceKey, now_ms: number) {
  const instant = (ms: number | null) => (ms === null ? null : instantText(ms))
  return {
    key_id: key.key_id,
    kind: key.kind,
    name: key.name,
    last_four: key.last_four,
    state: stateOf(key, now_ms),
    publishable_key: key.token,
    allowed_origins: key.allowed_origins,
    rate_limit: key.rate_limit,
    created_at: instant(key.created_ms),
    last_used_at: instant(key.last_used_ms),
    expires_at: instant(key.expires_ms),
    revoked_at: instant(key.revoked_ms),
  }
}

function printNew(made: keys.ServiceKey, token: string, json = false) {
  if (json) process.stdout.write(`${JSON.stringify({ ...shownKey(made, Date.now()), key: token })}\n`)
  else process.stdout.write(`key_id  ${made.key_id}\nkey     ${token}\n`)
}
