import { type Kysely, sql } from 'kysely'

/** Management of people's own accounts and each other's. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

/** A random digit of an identifier, from the first digits of its alphabet. */
const digit = (of: 8 | 32) => `substr('0123456789abcdefghjkmnpqrstvwxyz', 1 + (random() & ${of - 1}), 1)`

const statements = [
  // A person has one account for all workspaces, and so one password link.
  `CREATE TABLE password_links (
    person_id TEXT NOT NULL PRIMARY KEY REFERENCES people (person_id),
    digest TEXT NOT NULL UNIQUE, -- SHA-256 of the token
    made_by TEXT NOT NULL REFERENCES people (person_id),
    expires_ms INTEGER NOT NULL
  ) STRICT`,
  'CREATE INDEX password_links_by_maker ON password_links (made_by)',

  // Identifies a session wherever the digest of its token must not appear.
  "ALTER TABLE sessions ADD COLUMN session_id TEXT NOT NULL DEFAULT ''",
  `UPDATE sessions SET session_id = 'ses_' || ${[digit(8), ...Array(25).fill(digit(32))].join(' || ')}`,
  'CREATE UNIQUE INDEX sessions_by_id ON sessions (session_id)',
  // The browser's name for itself, in two words; null if unknown.
  'ALTER TABLE sessions ADD COLUMN browser TEXT',
  // The previous index did not have the order of the list.
  'DROP INDEX sessions_of_person',
  'CREATE INDEX sessions_by_use ON sessions (person_id, last_seen_ms)',

  // Null if created on the command line.
  'ALTER TABLE workspaces ADD COLUMN created_by TEXT REFERENCES people (person_id)',
  'CREATE INDEX workspaces_by_maker ON workspaces (created_by)',
]
