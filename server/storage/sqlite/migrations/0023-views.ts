import { type Kysely, sql } from 'kysely'

/** Saved reports, and the links to them for people without an account. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `CREATE TABLE views (
    workspace_id TEXT NOT NULL REFERENCES workspaces (workspace_id),
    view_id TEXT NOT NULL,
    journey_id TEXT NOT NULL,
    person_id TEXT REFERENCES people (person_id), -- who alone sees it; NULL: everybody in the workspace
    name TEXT NOT NULL,
    query TEXT NOT NULL, -- JSON
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, view_id)
  ) STRICT, WITHOUT ROWID`,
  'CREATE INDEX views_by_person ON views (workspace_id, person_id, journey_id)',
  'CREATE INDEX views_by_journey ON views (workspace_id, journey_id)',

  `CREATE TABLE view_links (
    workspace_id TEXT NOT NULL,
    link_id TEXT NOT NULL,
    view_id TEXT NOT NULL,
    digest TEXT NOT NULL, -- SHA-256 of the token
    created_by TEXT NOT NULL REFERENCES people (person_id),
    created_ms INTEGER NOT NULL,
    expires_ms INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, link_id),
    FOREIGN KEY (workspace_id, view_id) REFERENCES views
  ) STRICT, WITHOUT ROWID`,
  'CREATE INDEX view_links_by_view ON view_links (workspace_id, view_id)',
  'CREATE INDEX view_links_by_digest ON view_links (digest)',
  // 0: links to views do not work.
  'ALTER TABLE workspaces ADD COLUMN has_view_links INTEGER NOT NULL DEFAULT 0',
]
