import { type Kysely, sql } from 'kysely'

/** What people do about their own account and each other's. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  // An account is one for all workspaces, and so is the link for its password.
  `CREATE TABLE password_links (
    person_id TEXT NOT NULL PRIMARY KEY REFERENCES people (person_id),
    digest TEXT NOT NULL UNIQUE, -- SHA-256 of the token
    made_by TEXT NOT NULL REFERENCES people (person_id),
    expires_ms INTEGER NOT NULL
  ) STRICT`,
  'CREATE INDEX password_links_by_maker ON password_links (made_by)',
]
