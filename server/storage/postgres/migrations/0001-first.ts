import { type Kysely, sql } from 'kysely'
import { hasCitus } from './citus.ts'

/**
 * All tables. Text is compared by bytes (the collation "C"), wherever the database was created.
 *
 * Designed to be distributed by workspace over the nodes of Citus: `workspace_id` is in every primary key, unique index
 * and foreign key of a workspace's tables. The other tables, which are read before the workspace is known, are on every
 * node. Customers, journeys and the like, with text identifiers, are co-located, and so are events, with UUIDs: an
 * ingestion statement is about one workspace and co-located tables.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const isDistributed = await hasCitus(db)
  for (const [table, ...statements] of tables) {
    for (const statement of statements) await sql.raw(statement).execute(db)
    // Immediately: what refers to it must find it distributed, and so must concurrent migrations.
    if (isDistributed) await sql.raw(distribution(table)).execute(db)
  }
}

const text = 'text COLLATE "C"'
type Tables = readonly (readonly [name: string, ...statements: string[]])[]

const tables: Tables = [
  [
    'people',
    `CREATE TABLE people (
      person_id ${text} NOT NULL PRIMARY KEY,
      name ${text} NOT NULL,
      email ${text} NOT NULL,
      email_key ${text} NOT NULL UNIQUE, -- the email in lower case
      password_hash ${text} NOT NULL, -- argon2id, in the PHC string format
      created_ms bigint NOT NULL,
      name_key ${text} NOT NULL DEFAULT '' -- the words of the name, each behind a blank
    )`,
  ],

  [
    'workspaces',
    `CREATE TABLE workspaces (
      workspace_id ${text} NOT NULL PRIMARY KEY,
      name ${text} NOT NULL UNIQUE,
      created_ms bigint NOT NULL,
      created_by ${text} REFERENCES people (person_id) -- null: on the command line
    )`,
    'CREATE INDEX workspaces_by_maker ON workspaces (created_by)',
  ],

  [
    'service_keys',
    `CREATE TABLE service_keys (
      key_id ${text} NOT NULL PRIMARY KEY,
      workspace_id ${text} NOT NULL REFERENCES workspaces (workspace_id),
      kind ${text} NOT NULL CHECK (kind IN ('publishable', 'secret')),
      name ${text} NOT NULL,
      digest ${text} NOT NULL UNIQUE, -- SHA-256 of the key
      token ${text} CHECK (kind = 'publishable' OR token IS NULL), -- the key itself: a publishable one is no secret
      last_four ${text} NOT NULL,
      allowed_origins ${text} NOT NULL DEFAULT '[]', -- JSON array; empty: every origin
      rate_limit bigint, -- events a second; null: the server's default
      created_ms bigint NOT NULL,
      last_used_ms bigint,
      expires_ms bigint,
      revoked_ms bigint,
      created_by ${text} REFERENCES people (person_id),
      name_key ${text} NOT NULL DEFAULT ''
    )`,
    // Without its filter columns, unlike on SQLite: an index key may have 2,700 bytes, and the words of a name can have
    // more.
    'CREATE INDEX service_keys_newest ON service_keys (workspace_id, created_ms, key_id)',
  ],

  [
    'sessions',
    `CREATE TABLE sessions (
      digest ${text} NOT NULL PRIMARY KEY, -- SHA-256 of the cookie's value
      person_id ${text} NOT NULL REFERENCES people (person_id),
      created_ms bigint NOT NULL,
      last_seen_ms bigint NOT NULL,
      expires_ms bigint NOT NULL, -- in any case
      session_id ${text} NOT NULL DEFAULT '' UNIQUE, -- names it where its digest, of what opens it, has no business
      browser ${text} -- what it called itself, in two words; null: not known
    )`,
    'CREATE INDEX sessions_by_use ON sessions (person_id, last_seen_ms)',
    'CREATE INDEX sessions_by_expiry ON sessions (expires_ms)',
  ],

  [
    'setup_links',
    `CREATE TABLE setup_links (
      digest ${text} NOT NULL PRIMARY KEY, -- SHA-256 of the token
      workspace_id ${text} REFERENCES workspaces (workspace_id), -- null: one is to be made
      expires_ms bigint NOT NULL
    )`,
  ],

  [
    'password_links',
    `CREATE TABLE password_links (
      person_id ${text} NOT NULL PRIMARY KEY REFERENCES people (person_id),
      digest ${text} NOT NULL UNIQUE, -- SHA-256 of the token
      made_by ${text} NOT NULL REFERENCES people (person_id),
      expires_ms bigint NOT NULL
    )`,
    'CREATE INDEX password_links_by_maker ON password_links (made_by)',
  ],

  // State shared by all processes on the store. The salt makes the UUIDs unpredictable that stand for a message_id that
  // is not one, so that nobody can choose messages with the same one.
  [
    'cairn_store',
    `CREATE TABLE cairn_store (
      one integer NOT NULL PRIMARY KEY CHECK (one = 1),
      changes bigint NOT NULL, -- raised by each transaction that other processes must hear of
      message_salt uuid NOT NULL
    )`,
    'INSERT INTO cairn_store VALUES (1, 0, gen_random_uuid())',
  ],

  // Wrong guesses, counted for all processes. They expire after an hour.
  [
    'wrong_guesses',
    `CREATE TABLE wrong_guesses (
      counted_by ${text} NOT NULL, -- a pair of account and network, a browser, a network, …
      digest ${text} NOT NULL, -- of whose they are
      failures integer NOT NULL,
      since_ms bigint NOT NULL,
      until_ms bigint NOT NULL, -- further guesses must wait until then
      PRIMARY KEY (counted_by, digest)
    )`,
    'CREATE INDEX wrong_guesses_oldest ON wrong_guesses (since_ms)',
  ],

  [
    'journeys',
    `CREATE TABLE journeys (
      workspace_id ${text} NOT NULL REFERENCES workspaces (workspace_id),
      journey_id ${text} NOT NULL,
      name ${text} NOT NULL,
      description ${text} NOT NULL,
      steps ${text} NOT NULL, -- JSON array of {event_id, name}
      status ${text} NOT NULL CHECK (status IN ('active', 'archived')),
      created_ms bigint NOT NULL,
      updated_ms bigint NOT NULL,
      name_key ${text} NOT NULL DEFAULT '',
      PRIMARY KEY (workspace_id, journey_id)
    )`,
    'CREATE INDEX journeys_newest ON journeys (workspace_id, created_ms, journey_id)',
    'CREATE INDEX journeys_of_status ON journeys (workspace_id, status, created_ms, journey_id)',
  ],

  [
    'customers',
    `CREATE TABLE customers (
      workspace_id ${text} NOT NULL REFERENCES workspaces (workspace_id),
      customer_id ${text} NOT NULL,
      customer_type ${text} NOT NULL CHECK (customer_type IN ('account', 'contact')),
      client_customer_id ${text} NOT NULL,
      customer_name ${text} NOT NULL,
      created_ms bigint NOT NULL,
      updated_ms bigint NOT NULL,
      name_key ${text} NOT NULL DEFAULT '',
      PRIMARY KEY (workspace_id, customer_id),
      UNIQUE (workspace_id, client_customer_id, customer_type)
    )`,
    'CREATE INDEX customers_newest ON customers (workspace_id, created_ms, customer_id)',
    'CREATE INDEX customers_of_type ON customers (workspace_id, customer_type, created_ms, customer_id)',
  ],

  [
    'customer_words',
    `CREATE TABLE customer_words (
      workspace_id ${text} NOT NULL,
      word ${text} NOT NULL, -- its first characters; customers.name_key has all words whole
      created_ms bigint NOT NULL, -- of the customer
      customer_id ${text} NOT NULL,
      PRIMARY KEY (workspace_id, word, created_ms, customer_id)
    )`,
  ],

  [
    'enrolments',
    `CREATE TABLE enrolments (
      workspace_id ${text} NOT NULL,
      journey_id ${text} NOT NULL,
      customer_id ${text} NOT NULL,
      enrolled_ms bigint NOT NULL,
      PRIMARY KEY (workspace_id, journey_id, customer_id),
      FOREIGN KEY (workspace_id, journey_id) REFERENCES journeys (workspace_id, journey_id),
      FOREIGN KEY (workspace_id, customer_id) REFERENCES customers (workspace_id, customer_id)
    )`,
  ],

  [
    'members',
    `CREATE TABLE members (
      workspace_id ${text} NOT NULL REFERENCES workspaces (workspace_id),
      person_id ${text} NOT NULL REFERENCES people (person_id),
      role ${text} NOT NULL CHECK (role IN ('owner', 'admin', 'viewer')),
      joined_ms bigint NOT NULL,
      PRIMARY KEY (workspace_id, person_id)
    )`,
    'CREATE INDEX members_newest ON members (workspace_id, joined_ms, person_id)',
    'CREATE INDEX members_of_person ON members (person_id)',
  ],

  [
    'invitations',
    `CREATE TABLE invitations (
      workspace_id ${text} NOT NULL REFERENCES workspaces (workspace_id),
      invitation_id ${text} NOT NULL,
      digest ${text} NOT NULL, -- SHA-256 of the token
      email ${text} NOT NULL,
      email_key ${text} NOT NULL,
      role ${text} NOT NULL CHECK (role IN ('owner', 'admin', 'viewer')),
      invited_by ${text} NOT NULL REFERENCES people (person_id),
      created_ms bigint NOT NULL,
      expires_ms bigint NOT NULL,
      PRIMARY KEY (workspace_id, invitation_id),
      UNIQUE (workspace_id, email_key)
    )`,
    'CREATE INDEX invitations_newest ON invitations (workspace_id, created_ms, invitation_id)',
    'CREATE INDEX invitations_by_digest ON invitations (digest)',
  ],

  [
    'audit_log',
    `CREATE TABLE audit_log (
      workspace_id ${text} NOT NULL REFERENCES workspaces (workspace_id),
      entry_id ${text} NOT NULL,
      at_ms bigint NOT NULL,
      area ${text} NOT NULL,
      action ${text} NOT NULL,
      actor_kind ${text} NOT NULL CHECK (actor_kind IN ('person', 'service_key', 'command_line', 'unknown')),
      actor_id ${text},
      actor_name ${text},
      subject_kind ${text} NOT NULL,
      subject_id ${text} NOT NULL,
      subject_name ${text} NOT NULL,
      address ${text},
      before ${text}, -- JSON object of the fields that changed
      after ${text},
      request_id ${text},
      PRIMARY KEY (workspace_id, entry_id)
    )`,
    'CREATE INDEX audit_log_newest ON audit_log (workspace_id, at_ms, entry_id)',
    'CREATE INDEX audit_log_of_area ON audit_log (workspace_id, area, at_ms, entry_id)',
    'CREATE INDEX audit_log_of_actor ON audit_log (workspace_id, actor_id, at_ms, entry_id)',
    'CREATE INDEX audit_log_of_subject ON audit_log (workspace_id, subject_id, at_ms, entry_id)',
  ],

  // No foreign keys: the writer has looked up every reference, and each key would cost another lookup. The columns are
  // in the order that leaves no padding between them.
  [
    'events',
    `CREATE TABLE events (
      at_ms bigint NOT NULL, -- when it occurred, or else was received
      id uuid NOT NULL, -- UUIDv7: its first 48 bits are the time of receipt; the UUID of evt_…
      workspace_id uuid NOT NULL, -- the UUIDs of wsp_…, jrn_…, cus_…
      journey_id uuid NOT NULL,
      customer_id uuid NOT NULL,
      message_id uuid, -- in lower case; else it is in message_text
      is_dated boolean NOT NULL, -- whether it was said when it occurred
      event_id ${text} NOT NULL,
      message_text ${text},
      custom_variables ${text}, -- JSON
      received_ms bigint, -- null: as the id says, as nearly always; of a copied event it may be another
      PRIMARY KEY (workspace_id, id)
    ) PARTITION BY RANGE (id)`,
    'CREATE INDEX events_of_customer ON events (customer_id, at_ms, id)',
    // What has no partition of its own goes here, so that nothing is refused for lack of one.
    'CREATE TABLE events_other PARTITION OF events DEFAULT',
  ],

  // Separate from events, whose partitions come and go: a message is recognized in whichever partition its event is.
  [
    'event_messages',
    `CREATE TABLE event_messages (
      workspace_id uuid NOT NULL,
      message uuid NOT NULL, -- the message_id, or a UUID that stands for it
      event_id uuid NOT NULL, -- events.id
      PRIMARY KEY (workspace_id, message)
    )`,
  ],
]

/** The tables that are read before the workspace is known; all others belong to a workspace. */
const EVERYWHERE = new Set([
  'people',
  'workspaces',
  'service_keys',
  'sessions',
  'setup_links',
  'password_links',
  'cairn_store',
  'wrong_guesses',
])

function distribution(table: string): string {
  if (EVERYWHERE.has(table)) return `SELECT create_reference_table('${table}')`
  return `SELECT create_distributed_table('${table}', 'workspace_id')`
}
