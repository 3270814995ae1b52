import type { Pool } from './connection/pool.ts'
import { SETTINGS_AS_JSON, type SessionSettings, unsuitable } from './connection/session-settings.ts'

type Node = { name: string; settings: string; role: string }

/**
 * Refuses nodes of Citus that would read a statement otherwise than the coordinator writes it: only its own session has
 * the settings that Cairn wants. A node that is down is not asked.
 * @throws {Error} with the statement to run
 */
export async function assertNodesUsable(pool: Pool): Promise<void> {
  const [citus] = await pool.read(
    "SELECT 1 FROM pg_proc WHERE oid = to_regproc('run_command_on_workers')",
    [],
  )
  if (!citus) return
  const nodes = await pool.read<Node>(
    `SELECT nodename || ':' || nodeport AS name, result AS settings, quote_ident(current_user) AS role
    FROM run_command_on_workers($1) WHERE success`,
    [`SELECT ${SETTINGS_AS_JSON}`],
  )
  for (const { name, settings, role } of nodes) {
    const fault = unsuitable(JSON.parse(settings) as SessionSettings, role)
    if (fault)
      throw new Error(`the node ${name} has unsuitable settings: ${fault.found}. Run \`${fault.cure}\` there`)
  }
}
