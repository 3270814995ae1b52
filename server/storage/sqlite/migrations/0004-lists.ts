import { type Kysely, sql } from 'kysely'

/** An index for every filter of a list, in list order, so that a page reads little more than it returns. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  'CREATE INDEX customers_of_type ON customers (workspace_id, customer_type, created_ms, customer_id)',
  'CREATE INDEX journeys_of_status ON journeys (workspace_id, status, created_ms, journey_id)',

  'CREATE INDEX audit_log_of_area ON audit_log (workspace_id, area, at_ms, entry_id)',
  'CREATE INDEX audit_log_of_actor ON audit_log (workspace_id, actor_id, at_ms, entry_id)',
  'CREATE INDEX audit_log_of_subject ON audit_log (workspace_id, subject_id, at_ms, entry_id)',

  // The previous index lacked the identifier, so that keys of one millisecond had to be sorted.
  'DROP INDEX service_keys_of_workspace',
  'CREATE INDEX service_keys_newest ON service_keys (workspace_id, created_ms, key_id)',

  'CREATE INDEX sessions_by_expiry ON sessions (expires_ms)',
]
