import { type Connection, openDerived } from '../connection.ts'
import type { Layout } from '../derived-file.ts'

/** Path of the file with a store's refusals, which is next to the store. */
export function refusalsPath(path: string): string {
  return `${path}-refusals`
}

/** Writes append to the end, and reads are rare. */
const CACHE_KIB = 4_096

function open(path: string): Connection {
  const connection = openDerived(path, CACHE_KIB)
  // The file holds what customers sent, so deleted rows are overwritten with zeros.
  connection.pragma('secure_delete = ON')
  return connection
}

/** `RefusalRow` documents every column. */
const LAYOUT_STATEMENTS = [
  `CREATE TABLE refusals (
    workspace_id TEXT NOT NULL,
    refusal_id TEXT NOT NULL,
    received_ms INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    left_out INTEGER NOT NULL,
    key_id TEXT NOT NULL,
    operation TEXT NOT NULL,
    code TEXT NOT NULL,
    field TEXT NOT NULL,
    status INTEGER NOT NULL,
    journey_id TEXT,
    customer_id TEXT,
    event_id TEXT,
    request_id TEXT NOT NULL,
    item INTEGER,
    replayed_ms INTEGER,
    replay TEXT, -- JSON
    sent_bytes INTEGER NOT NULL,
    faults TEXT NOT NULL, -- JSON
    sent TEXT NOT NULL,
    PRIMARY KEY (workspace_id, refusal_id)
  ) STRICT`,
  'CREATE INDEX refusals_by_time ON refusals (workspace_id, received_ms, refusal_id)',
  'CREATE INDEX refusals_by_key ON refusals (workspace_id, key_id, received_ms, refusal_id)',
  'CREATE INDEX refusals_by_age ON refusals (received_ms)',
]

export const REFUSALS_LAYOUT: Layout = { version: 2, statements: LAYOUT_STATEMENTS, open }
