import type { Transaction } from '../storage/database.ts'
import { workspaces } from '../storage/tables/workspaces.ts'
import { CommandFailure, ExitCode } from './failure.ts'

/**
 * Returns the workspace of a command: the one with the name, or the only one if no name is given.
 * @throws {CommandFailure} if there is none, or there are several
 */
export async function workspaceOf(
  db: Transaction,
  name: string | undefined,
): Promise<{ workspace_id: string; name: string }> {
  const found = await workspaces(db, name)
  const [only] = found
  if (!only) {
    throw new CommandFailure(
      name === undefined
        ? 'there is no workspace yet; create one with cairn init'
        : 'no workspace has this name',
      ExitCode.conflict,
    )
  }
  if (found.length > 1) {
    const names = found.map((workspace) => JSON.stringify(workspace.name)).join(', ')
    throw new CommandFailure(`choose a workspace with --workspace: ${names}`, ExitCode.usage)
  }
  return only
}
