import { type Command, Option } from 'commander'
import type { Config } from '../config.ts'
import { newId } from '../domain/identifiers.ts'
import { instantOrNull, instantText } from '../domain/instants.ts'
import { type KeyKind, keyStatus, newServiceKey } from '../domain/service-keys.ts'
import type { Transaction } from '../storage/database.ts'
import { commandLine } from '../storage/tables/audit-log.ts'
import * as audited from '../storage/tables/audited-changes.ts'
import * as keys from '../storage/tables/service-keys.ts'
import type { CommandIo } from './command-io.ts'
import { CommandFailure, ExitCode } from './failure.ts'
import { duration_ms, name, origin, rate } from './options.ts'
import { inStore } from './store.ts'
import { columns } from './table.ts'
import { workspaceOf } from './workspace.ts'

type CreateOptions = {
  workspace?: string
  kind: KeyKind
  name: string
  origin?: string[]
  expiresIn?: number
  rateLimit?: number
  json?: boolean
}

const GRACE = '24h'

export function defineKey(key: Command, config: () => Config, io: CommandIo): void {
  const workspace = () =>
    new Option('--workspace <name>', 'workspace of the keys; required if there are several').argParser(name)
  const json = () => new Option('--json', 'print one JSON value only')

  key
    .command('create')
    .description('create a key and print it; a secret key is shown only this once')
    .addOption(workspace())
    .addOption(new Option('--kind <kind>').choices(['secret', 'publishable']).makeOptionMandatory())
    .requiredOption('--name <name>', 'name of the key in lists', name)
    .option(
      '--origin <origin>',
      'allow only this origin; may be repeated (publishable keys only)',
      collectOrigins,
    )
    .option('--expires-in <time>', 'expire after this time, for example 30d', duration_ms)
    .option('--rate-limit <events>', 'events per second; 0 for no limit', rate)
    .addOption(json())
    .action((options: CreateOptions) => create(config(), io, options))
  key
    .command('list')
    .description('list the keys of a workspace')
    .addOption(workspace())
    .addOption(json())
    .action((options: { workspace?: string; json?: boolean }) => list(config(), io, options))
  key
    .command('rotate')
    .description('create a key that replaces another; both work during the grace period')
    .argument('<key_id>')
    .addOption(
      new Option('--grace <time>', 'how long the old key remains valid')
        .argParser(duration_ms)
        .default(duration_ms(GRACE), GRACE),
    )
    .addOption(json())
    .action((keyId: string, options: { grace: number; json?: boolean }) =>
      rotate(config(), io, keyId, options),
    )
  key
    .command('revoke')
    .description('revoke a key immediately')
    .argument('<key_id>')
    .addOption(json())
    .action((keyId: string, options: { json?: boolean }) => revoke(config(), io, keyId, options))
}

async function create(config: Config, io: CommandIo, options: CreateOptions) {
  const { kind, origin = [], rateLimit = null, expiresIn } = options
  if (kind === 'secret' && origin.length > 0) {
    throw new CommandFailure(
      '--origin is for publishable keys only; secret keys do not belong in browsers',
      ExitCode.usage,
    )
  }
  const token = newServiceKey(kind)
  const made = await inStore(config.databaseUrl, async (db) => {
    const now_ms = Date.now()
    const { workspace_id } = await workspaceOf(db, options.workspace)
    const key = {
      key_id: newId('key'),
      workspace_id,
      kind,
      name: options.name,
      token,
      allowed_origins: origin,
      rate_limit: rateLimit,
      expires_ms: expiresIn === undefined ? null : now_ms + expiresIn,
    }
    return await audited.createServiceKey(db, key, commandLine(now_ms))
  })
  printNew(io, made, token, options.json)
}

async function list(
  config: Config,
  io: CommandIo,
  { workspace, json }: { workspace?: string; json?: boolean },
) {
  const rows = await inStore(config.databaseUrl, async (db) => {
    const { workspace_id } = await workspaceOf(db, workspace)
    return await keys.serviceKeys(db, workspace_id)
  })
  const shown = rows.map((key) => shownKey(key, Date.now()))
  if (json) {
    io.stdout.write(`${JSON.stringify(shown)}\n`)
    return
  }
  const table = shown.map(({ key_id, kind, last_four, state, last_used_at, expires_at, name }) => {
    return [key_id, kind, `…${last_four}`, state, last_used_at ?? 'never', expires_at ?? 'never', name]
  })
  io.stdout.write(columns([['KEY_ID', 'KIND', 'ENDS', 'STATE', 'LAST USED', 'EXPIRES', 'NAME'], ...table]))
}

async function rotate(
  config: Config,
  io: CommandIo,
  keyId: string,
  { grace, json }: { grace: number; json?: boolean },
) {
  const { made, token, expires_ms } = await inStore(config.databaseUrl, async (db) => {
    const now_ms = Date.now()
    const old = await findKey(db, keyId)
    if (keyStatus(old, now_ms) !== 'active') {
      throw new CommandFailure(
        `${keyId} has expired or was revoked; create a new key instead`,
        ExitCode.conflict,
      )
    }
    const token = newServiceKey(old.kind)
    const made = { key_id: newId('key'), token, grace_ms: grace }
    const { key, expires_ms } = await audited.rotateServiceKey(db, old, made, commandLine(now_ms))
    return { made: key, token, expires_ms }
  })
  printNew(io, made, token, json)
  if (!json) io.stdout.write(`The old key remains valid until ${instantText(expires_ms)}.\n`)
}

async function revoke(config: Config, io: CommandIo, keyId: string, { json }: { json?: boolean }) {
  const key = await inStore(config.databaseUrl, async (db) => {
    return await audited.revokeServiceKey(db, await findKey(db, keyId), commandLine(Date.now()))
  })
  const shown = shownKey(key, Date.now())
  io.stdout.write(json ? `${JSON.stringify(shown)}\n` : `${keyId} has been revoked.\n`)
}

async function findKey(db: Transaction, keyId: string): Promise<keys.ServiceKey> {
  const key = await keys.findServiceKey(db, keyId)
  if (!key)
    throw new CommandFailure(
      `the key ${keyId} does not exist; cairn key list shows all keys`,
      ExitCode.conflict,
    )
  return key
}

function collectOrigins(text: string, before: string[] = []): string[] {
  return [...before, origin(text)]
}

/** A key as the command prints it; a publishable one is not secret and is printed in full. */
function shownKey(key: keys.ServiceKey, now_ms: number) {
  return {
    key_id: key.key_id,
    kind: key.kind,
    name: key.name,
    last_four: key.last_four,
    state: keyStatus(key, now_ms),
    publishable_key: key.token,
    allowed_origins: key.allowed_origins,
    rate_limit: key.rate_limit,
    created_at: instantText(key.created_ms),
    last_used_at: instantOrNull(key.last_used_ms),
    expires_at: instantOrNull(key.expires_ms),
    revoked_at: instantOrNull(key.revoked_ms),
  }
}

function printNew(io: CommandIo, made: keys.ServiceKey, token: string, json = false) {
  if (json) io.stdout.write(`${JSON.stringify({ ...shownKey(made, Date.now()), key: token })}\n`)
  else io.stdout.write(`key_id  ${made.key_id}\nkey     ${token}\n`)
}
