import { createReadStream, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** The settings of a server that records every statement, see `recordedStatements`. */
export const RECORDING = {
  logging_collector: 'on',
  log_destination: 'jsonlog',
  log_statement: 'all',
  log_parameter_max_length: '0',
  log_parameter_max_length_on_error: '0',
} as const

/** A line of the server's log in JSON. */
type LogLine = { application_name?: string; session_id: string; vxid?: string; message?: string }

export type RecordedStatements = {
  /** Lists of statements; each list once, with each statement once per list. */
  transactions: string[][]
  /** Those of ingestion, which alone are prepared by name. */
  prepared: Set<string>
}

/**
 * Returns what Cairn's own connections have sent to a server with these settings.
 * @param folder of the server's files
 */
export async function recordedStatements(folder: string): Promise<RecordedStatements> {
  const prepared = new Set<string>()
  const transactions = new Map<string, string[]>()
  const open = new Map<string, { vxid: string; statements: Set<string> }>()
  const close = ({ statements }: { statements: Set<string> }) =>
    transactions.set([...statements].join('\0'), [...statements])
  const logs = join(folder, 'data', 'log')
  for (const name of readdirSync(logs).sort()) {
    if (!name.endsWith('.json')) continue
    for await (const line of createInterface({ input: createReadStream(join(logs, name)) })) {
      // Tests look into databases too, under other names.
      if (!line.includes('"application_name":"cairn"')) continue
      const { session_id, vxid = '', message = '' }: LogLine = JSON.parse(line)
      const [, name, statement] = /^(?:statement|execute ([^:]*)): ([\s\S]*)$/.exec(message) ?? []
      if (statement === undefined) continue
      if (name !== undefined && name !== '<unnamed>') prepared.add(statement)
      const before = open.get(session_id)
      if (before && before.vxid !== vxid) close(before)
      const current = before?.vxid === vxid ? before : { vxid, statements: new Set<string>() }
      current.statements.add(statement)
      open.set(session_id, current)
    }
  }
  for (const one of open.values()) close(one)
  return { transactions: [...transactions.values()], prepared }
}
