import type { Command } from 'commander'
import type { Config } from '../config.ts'
import { browserUrl, makeSetupLink } from '../setup-link.ts'
import type { Transaction } from '../storage/database.ts'
import { commandLine, insertAuditEntry } from '../storage/tables/audit-log.ts'
import { hasWorkspaces } from '../storage/tables/workspaces.ts'
import type { CommandIo } from './command-io.ts'
import { name } from './options.ts'
import { inStore } from './store.ts'
import { workspaceOf } from './workspace.ts'

type SetupLinkOptions = { workspace?: string; json?: boolean }

const HELP = `
The link works once, within an hour, and only until the next one is created. It leads to CAIRN_PUBLIC_URL, or without one to
HOST and PORT: set them as for the server.`

export function defineSetupLink(command: Command, config: () => Config, io: CommandIo): void {
  command
    .option('--workspace <name>', 'workspace of the owner; required if there are several', name)
    .option('--json', 'print one JSON object only')
    .addHelpText('after', HELP)
    .action((options: SetupLinkOptions) => setupLink(config(), io, options))
}

async function setupLink(config: Config, io: CommandIo, { workspace, json }: SetupLinkOptions) {
  const baseUrl = browserUrl(config, config.port)
  const make = async (db: Transaction) => {
    const isNew = workspace === undefined && !(await hasWorkspaces(db))
    const now_ms = Date.now()
    if (isNew) return await makeSetupLink(db, { workspace_id: null, baseUrl, now_ms })
    const { workspace_id, name } = await workspaceOf(db, workspace)
    const subject = { kind: 'workspace', id: workspace_id, name } as const
    await insertAuditEntry(db, workspace_id, commandLine(now_ms), { action: 'setup_link_created', subject })
    return await makeSetupLink(db, { workspace_id, baseUrl, now_ms })
  }
  const link = await inStore(config.databaseUrl, make)
  io.stdout.write(json ? `${JSON.stringify({ link })}\n` : `${link}\n`)
}
