import type { Command } from 'commander'
import type { Config } from '../config.ts'
import { newId } from '../domain/identifiers.ts'
import { newServiceKey } from '../domain/service-keys.ts'
import { browserUrl } from '../setup-link.ts'
import type { Transaction } from '../storage/database.ts'
import { commandLine } from '../storage/tables/audit-log.ts'
import * as audited from '../storage/tables/audited-changes.ts'
import type { CommandIo } from './command-io.ts'
import { CommandFailure, ExitCode } from './failure.ts'
import { name } from './options.ts'
import { assertFolder, inStore } from './store.ts'
import { columns, printable, quoted } from './table.ts'

type InitOptions = { workspace: string; journey: string; json?: boolean }

export function defineInit(command: Command, config: () => Config, io: CommandIo): void {
  command
    .requiredOption('--workspace <name>', 'name of the new workspace', name)
    .requiredOption('--journey <name>', 'name of its first journey', name)
    .option('--json', 'print one JSON object only')
    .action((options: InitOptions) => init(config(), io, options))
}

async function init(config: Config, io: CommandIo, { workspace, journey, json }: InitOptions) {
  assertFolder(config.databaseUrl)
  const made = await createWorkspace(config.databaseUrl, { workspace, journey })
  io.stdout.write(json ? `${JSON.stringify(made)}\n` : report(made) + wayIn(config, workspace))
}

type Names = { workspace: string; journey: string }

/**
 * Creates a workspace with an active journey and a key of each kind, or nothing at all. Creates the store if there is
 * none.
 * @throws {CommandFailure} if a workspace with this name exists
 */
export async function createWorkspace(databaseUrl: string, names: Names) {
  return await inStore(databaseUrl, (db) => insertWorkspace(db, names), { create: true })
}

/**
 * The same, in a transaction.
 * @throws {CommandFailure} if a workspace with this name exists
 */
export async function insertWorkspace(db: Transaction, names: Names) {
  const workspace_id = newId('wsp')
  const journey_id = newId('jrn')
  const tokens = { secret: newServiceKey('secret'), publishable: newServiceKey('publishable') }
  const author = commandLine(Date.now())
  if (!(await audited.createWorkspace(db, { workspace_id, name: names.workspace }, author))) {
    const name = JSON.stringify(names.workspace)
    throw new CommandFailure(`a workspace named ${name} already exists`, ExitCode.conflict)
  }
  const journey = { journey_id, name: names.journey, description: '', steps: [] }
  await audited.createJourney(db, workspace_id, journey, author)
  for (const kind of ['secret', 'publishable'] as const) {
    const key = { key_id: newId('key'), workspace_id, kind, name: `First ${kind} key`, token: tokens[kind] }
    const rules = { allowed_origins: [], rate_limit: null, expires_ms: null }
    await audited.createServiceKey(db, { ...key, ...rules }, author)
  }
  return { workspace_id, journey_id, secret_key: tokens.secret, publishable_key: tokens.publishable }
}

function report(made: Record<string, string>): string {
  return `${columns(Object.entries(made))}\nSave the secret key now: only its digest is stored, so it cannot be shown again.\n`
}

function wayIn(config: Config, workspace: string): string {
  const command = `npx cairn setup-link --workspace ${quoted(printable(workspace))}`
  return (
    `\nWhile the server is running, the administration interface is at ${browserUrl(config, config.port)}/admin/\n` +
    `To create a link for the first owner of the workspace, run: ${command}\n`
  )
}
