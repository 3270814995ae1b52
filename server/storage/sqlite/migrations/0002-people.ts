import { type Kysely, sql } from 'kysely'

/**
 * People who sign in, and their actions. As in the first migration `workspace_id` comes first in every unique index,
 * except where the workspace is not known yet: people, their sessions, and the links that are looked up by a token.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
  await nameCustomers(
    db as Kysely<{ customers: { customer_ref: number; customer_name: string; name_key: string } }>,
  )
  await sql.raw('CREATE INDEX customers_by_name ON customers (workspace_id, name_key)').execute(db)
}

const statements = [
  `CREATE TABLE people (
    person_id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    email TEXT NOT NULL,
    email_key TEXT NOT NULL UNIQUE, -- the email in lower case
    password_hash TEXT NOT NULL, -- argon2id, in the PHC string format
    created_ms INTEGER NOT NULL
  ) STRICT`,

  `CREATE TABLE members (
    workspace_id TEXT NOT NULL REFERENCES workspaces (workspace_id),
    person_id TEXT NOT NULL REFERENCES people (person_id),
    role TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'viewer')),
    joined_ms INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, person_id)
  ) STRICT, WITHOUT ROWID`,
  'CREATE INDEX members_newest ON members (workspace_id, joined_ms, person_id)',
  'CREATE INDEX members_of_person ON members (person_id)',

  `CREATE TABLE sessions (
    digest TEXT NOT NULL PRIMARY KEY, -- SHA-256 of the cookie's value
    person_id TEXT NOT NULL REFERENCES people (person_id),
    created_ms INTEGER NOT NULL,
    last_seen_ms INTEGER NOT NULL,
    expires_ms INTEGER NOT NULL -- in any case
  ) STRICT`,
  'CREATE INDEX sessions_of_person ON sessions (person_id)',

  `CREATE TABLE setup_links (
    digest TEXT NOT NULL PRIMARY KEY, -- SHA-256 of the token
    workspace_id TEXT REFERENCES workspaces (workspace_id), -- null: one is to be made
    expires_ms INTEGER NOT NULL
  ) STRICT`,

  `CREATE TABLE invitations (
    workspace_id TEXT NOT NULL REFERENCES workspaces (workspace_id),
    invitation_id TEXT NOT NULL,
    digest TEXT NOT NULL, -- SHA-256 of the token
    email TEXT NOT NULL,
    email_key TEXT NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'viewer')),
    invited_by TEXT NOT NULL REFERENCES people (person_id),
    created_ms INTEGER NOT NULL,
    expires_ms INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, invitation_id),
    UNIQUE (workspace_id, email_key)
  ) STRICT, WITHOUT ROWID`,
  'CREATE INDEX invitations_newest ON invitations (workspace_id, created_ms, invitation_id)',
  'CREATE INDEX invitations_by_digest ON invitations (digest)',

  `CREATE TABLE audit_log (
    workspace_id TEXT NOT NULL REFERENCES workspaces (workspace_id),
    entry_id TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    area TEXT NOT NULL,
    action TEXT NOT NULL,
    actor_kind TEXT NOT NULL CHECK (actor_kind IN ('person', 'service_key', 'command_line', 'unknown')),
    actor_id TEXT,
    actor_name TEXT,
    subject_kind TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    subject_name TEXT NOT NULL,
    address TEXT,
    before TEXT, -- JSON object of the fields that changed
    after TEXT,
    request_id TEXT,
    PRIMARY KEY (workspace_id, entry_id)
  ) STRICT, WITHOUT ROWID`,
  'CREATE INDEX audit_log_newest ON audit_log (workspace_id, at_ms, entry_id)',

  'ALTER TABLE service_keys ADD COLUMN created_by TEXT REFERENCES people (person_id)',

  // The name in the form that the search compares.
  "ALTER TABLE customers ADD COLUMN name_key TEXT NOT NULL DEFAULT ''",
]

/** Rows per statement, so that a store with millions of customers is migrated in bounded memory. */
const ROWS = 1000

async function nameCustomers(
  db: Kysely<{ customers: { customer_ref: number; customer_name: string; name_key: string } }>,
) {
  for (let last = 0; ; ) {
    const rows = await db
      .selectFrom('customers')
      .select(['customer_ref', 'customer_name'])
      .where('customer_ref', '>', last)
      .orderBy('customer_ref')
      .limit(ROWS)
      .execute()
    if (rows.length === 0) return
    const keys = rows.map((row) => [
      row.customer_ref,
      row.customer_name.normalize('NFKC').toLowerCase().replaceAll('ς', 'σ'),
    ])
    await sql`UPDATE customers SET name_key = value ->> 1 FROM json_each(${JSON.stringify(keys)})
      WHERE customer_ref = value ->> 0`.execute(db)
    last = rows.at(-1)?.customer_ref ?? 0
  }
}
