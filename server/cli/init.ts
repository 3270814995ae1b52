import type { Command } from 'commander'
import type { Config } from '../config.ts'
import { newId } from '../domain/identifiers.ts'
import { newServiceKey } from '../domain/service-keys.ts'
import { commandLine, insertAuditEntry } from '../storage/audit-log.ts'
import { insertJourney } from '../storage/journeys.ts'
import { insertServiceKey } from '../storage/service-keys.ts'
import type { Transaction } from '../storage/storage.ts'
import { insertWorkspace } from '../storage/workspaces.ts'
import { CommandFailure, ExitCode } from './failure.ts'
import { name } from './options.ts'
import { inStore } from './store.ts'

type InitOptions = { workspace: string; journey: string; json?: boolean }

export function addInit(program: Command, config: () => Config): void {
  program
    .command('init')
    .description('make a workspace with an active journey, a secret and a publishable key')
    .requiredOption('--workspace <name>', 'name of the new workspace', name)
    .requiredOption('--journey <name>', 'name of its first journey', name)
    .option('--json', 'print one JSON object and nothing else')
    .action((options: InitOptions) => init(config(), options))
}

async function init(config: Config, { workspace, journey, json }: InitOptions) {
  const made = await createWorkspace(config.databaseUrl, { workspace, journey })
  process.stdout.write(json ? `${JSON.stringify(made)}\n` : report(made))
}

/**
 * Makes a workspace with an active journey and a key of each kind, or nothing at all.
 * @throws {CommandFailure} where a workspace of that name exists
 */
export async function createWorkspace(databaseUrl: string, names: { workspace: string; journey: string }) {
  const created_ms = Date.now()
  const workspace_id = newId('wsp')
  const journey_id = newId('jrn')
  const tokens = { secret: newServiceKey('secret'), publishable: newServiceKey('publishable') }
  const insert = async (db: Transaction) => {
    if (!(await insertWorkspace(db, { workspace_id, name: names.workspace, created_ms }))) {
      const name = JSON.stringify(names.workspace)
      throw new CommandFailure(`a workspace named ${name} exists already`, ExitCode.conflict)
    }
    const author = commandLine(created_ms)
    await insertAuditEntry(db, workspace_id, author, {
      action: 'workspace_created',
      subject: { kind: 'workspace', id: workspace_id, name: names.workspace },
    })
    const journey = { journey_id, name: names.journey, description: '', steps: [], created_ms }
    await insertJourney(db, workspace_id, journey)
    await insertAuditEntry(db, workspace_id, author, {
      action: 'journey_created',
      subject: { kind: 'journey', id: journey_id, name: names.journey },
      after: { name: names.journey },
    })
    for (const kind of ['secret', 'publishable'] as const) {
      const key_id = newId('key')
      const name = `First ${kind} key`
      await insertAuditEntry(db, workspace_id, author, {
        action: 'service_key_created',
        subject: { kind: 'service_key', id: key_id, name },
        after: { name, kind },
      })
      await insertServiceKey(db, {
        key_id,
        workspace_id,
        kind,
        name,
        token: tokens[kind],
        allowed_origins: [],
        rate_limit: null,
        created_ms,
        expires_ms: null,
      })
    }
  }
  await inStore(databaseUrl, insert, { create: true })
  return { workspace_id, journey_id, secret_key: tokens.secret, publishable_key: tokens.publishable }
}

function report(made: Record<string, string>): string {
  const rows = Object.entries(made).map(([field, value]) => `${field.padEnd(16)} ${value}\n`)
  return `${rows.join('')}\nKeep the secret key now: it is stored as a digest and not shown again.\n`
}
