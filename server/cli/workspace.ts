import type { Transaction } from '../storage/database.ts'
import { workspaces } from '../storage/tables/workspaces.ts'
import { CommandFailure, ExitCode } from './failure.ts'

/**
 * The workspace that a command is about: the one with the name, or without a name the only one.
 * @throws {CommandFailure} where there is none, or several
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
        ? 'there is no workspace yet; make one with cairn init'
        : `no workspace of that name`,
      ExitCode.conflict,
    )
  }
  if (found.length > 1) {
    const names = found.map((workspace) => JSON.stringify(workspace.name)).join(', ')
    throw new CommandFailure(`say which workspace with --workspace: ${names}`, ExitCode.usage)
  }
  return only
}
