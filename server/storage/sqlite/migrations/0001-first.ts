import { type Kysely, sql } from 'kysely'

/**
 * `workspace_id` comes first in every unique index, except where a row is looked up before the workspace is known
 * (workspaces, service keys). The `…_ref` columns are SQLite's row numbers: the small integers by which events refer
 * to journeys and customers. They are never part of the API.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `CREATE TABLE workspaces (
    workspace_ref INTEGER NOT NULL PRIMARY KEY,
    workspace_id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL UNIQUE,
    created_ms INTEGER NOT NULL
  ) STRICT`,

  `CREATE TABLE service_keys (
    key_id TEXT NOT NULL PRIMARY KEY,
    workspace_id TEXT NOT NULL REFERENCES workspaces (workspace_id),
    kind TEXT NOT NULL CHECK (kind IN ('publishable', 'secret')),
    name TEXT NOT NULL,
    digest TEXT NOT NULL UNIQUE, -- SHA-256 of the key
    token TEXT CHECK (kind = 'publishable' OR token IS NULL), -- the key itself: a publishable one is no secret
    last_four TEXT NOT NULL,
    allowed_origins TEXT NOT NULL DEFAULT '[]', -- JSON array; empty: every origin
    rate_limit INTEGER, -- events a second; null: the server's default
    created_ms INTEGER NOT NULL,
    last_used_ms INTEGER,
    expires_ms INTEGER,
    revoked_ms INTEGER
  ) STRICT`,
  'CREATE INDEX service_keys_of_workspace ON service_keys (workspace_id, created_ms)',

  `CREATE TABLE journeys (
    journey_ref INTEGER NOT NULL PRIMARY KEY,
    workspace_id TEXT NOT NULL REFERENCES workspaces (workspace_id),
    journey_id TEXT NOT NULL,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    steps TEXT NOT NULL, -- JSON array of {event_id, name}
    status TEXT NOT NULL CHECK (status IN ('active', 'archived')),
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL,
    UNIQUE (workspace_id, journey_id)
  ) STRICT`,
  'CREATE INDEX journeys_newest ON journeys (workspace_id, created_ms, journey_id)',

  `CREATE TABLE customers (
    customer_ref INTEGER NOT NULL PRIMARY KEY,
    workspace_id TEXT NOT NULL REFERENCES workspaces (workspace_id),
    customer_id TEXT NOT NULL,
    customer_type TEXT NOT NULL CHECK (customer_type IN ('account', 'contact')),
    client_customer_id TEXT NOT NULL,
    customer_name TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL,
    UNIQUE (workspace_id, customer_id),
    UNIQUE (workspace_id, customer_type, client_customer_id)
  ) STRICT`,
  'CREATE INDEX customers_newest ON customers (workspace_id, created_ms, customer_id)',

  `CREATE TABLE enrolments (
    journey_ref INTEGER NOT NULL REFERENCES journeys (journey_ref),
    customer_ref INTEGER NOT NULL REFERENCES customers (customer_ref),
    enrolled_ms INTEGER NOT NULL,
    PRIMARY KEY (journey_ref, customer_ref)
  ) STRICT, WITHOUT ROWID`,

  // No foreign keys: the writer has checked every reference, and each key would cost another look-up. No index either:
  // the tables below replace indexes, and are filled after the writes or in ascending order.
  `CREATE TABLE events (
    seq INTEGER NOT NULL PRIMARY KEY, -- order of storing; also the order of id
    workspace_ref INTEGER NOT NULL,
    journey_ref INTEGER NOT NULL,
    customer_ref INTEGER NOT NULL,
    id BLOB NOT NULL, -- the 16 bytes of evt_…
    event_id TEXT NOT NULL,
    occurred_ms INTEGER, -- null: not given, the time of receipt stands for it
    received_ms INTEGER NOT NULL,
    message_id ANY, -- the 16 bytes of a UUID in lower case, else text
    custom_variables TEXT -- JSON
  ) STRICT`,

  // A span is 1,024 consecutive event numbers; its row is written as the events arrive (a zone map).
  `CREATE TABLE event_spans (
    span INTEGER NOT NULL PRIMARY KEY,
    first_id BLOB NOT NULL UNIQUE,
    least_received_ms INTEGER NOT NULL,
    greatest_received_ms INTEGER NOT NULL
  ) STRICT`,
  // Which spans contain an event of the workspace ('' as facet), of one of its journeys, or with a name (a posting
  // list).
  `CREATE TABLE event_facets (
    workspace_ref INTEGER NOT NULL,
    facet TEXT NOT NULL,
    span INTEGER NOT NULL,
    PRIMARY KEY (workspace_ref, facet, span)
  ) STRICT, WITHOUT ROWID`,

  // The timelines of customers, and where a message_id was stored, for all events up to indexed_seq and some later
  // ones. In blocks, because otherwise each customer's events would have a page of their own, and every hundred
  // thousand events would rewrite all of these pages.
  `CREATE TABLE event_timeline (
    block INTEGER NOT NULL, -- of 1,048,576 successive numbers
    customer_ref INTEGER NOT NULL,
    at_ms INTEGER NOT NULL, -- when it occurred, or else was received
    seq INTEGER NOT NULL,
    PRIMARY KEY (block, customer_ref, at_ms, seq)
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE event_messages (
    message_key INTEGER NOT NULL, -- of workspace and message_id; others may have the same
    seq INTEGER NOT NULL,
    PRIMARY KEY (message_key, seq)
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE event_indexing (
    one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    indexed_seq INTEGER NOT NULL,
    message_salt TEXT NOT NULL -- keeps message_key unforeseeable, so that nobody can choose messages that share one
  ) STRICT`,
  `INSERT INTO event_indexing VALUES (1, 0, lower(hex(randomblob(8))))`,
]
