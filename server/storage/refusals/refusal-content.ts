import type { CompiledQuery, Kysely } from 'kysely'
import type { RefusalTables } from './refusal-table.ts'

/** Size of a refusal besides its texts: identifiers, field names, the outcome of a replay. */
export const OTHER_BYTES = 1_024

const NO_FAULTS = JSON.stringify({ errors: [], errors_omitted: 0 })

/** Turns a row into one that only counts. */
export const NO_CONTENT = {
  request_id: '',
  journey_id: null,
  customer_id: null,
  event_id: null,
  field: '',
  faults: NO_FAULTS,
  sent: '',
  sent_bytes: 0,
  bytes: OTHER_BYTES + NO_FAULTS.length,
}

/** Removes the contents of rows but keeps their counts. */
export function contentRemoval(
  compiler: Kysely<RefusalTables>,
  workspaceId: string,
  ids: string[],
): CompiledQuery {
  return compiler
    .updateTable('refusals')
    .set(NO_CONTENT)
    .where('workspace_id', '=', workspaceId)
    .where('refusal_id', 'in', ids)
    .compile()
}
