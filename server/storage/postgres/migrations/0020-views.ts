import { type Kysely, sql } from 'kysely'
import { hasCitus } from './citus.ts'

/** Saved reports, and the links to them for people without an account. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const isDistributed = await hasCitus(db)
  for (const [table, statement] of tables) {
    await sql.raw(statement).execute(db)
    if (isDistributed)
      await sql.raw(`SELECT create_distributed_table('${table}', 'workspace_id')`).execute(db)
  }
  for (const statement of others) await sql.raw(statement).execute(db)
}

const text = 'text COLLATE "C"'

const tables: readonly (readonly [name: string, statement: string])[] = [
  [
    'views',
    `CREATE TABLE views (
      workspace_id ${text} NOT NULL REFERENCES workspaces (workspace_id),
      view_id ${text} NOT NULL,
      journey_id ${text} NOT NULL,
      person_id ${text} REFERENCES people (person_id), -- who alone sees it; NULL: everybody in the workspace
      name ${text} NOT NULL,
      query ${text} NOT NULL, -- JSON
      created_ms bigint NOT NULL,
      updated_ms bigint NOT NULL,
      PRIMARY KEY (workspace_id, view_id)
    )`,
  ],
  [
    'view_links',
    `CREATE TABLE view_links (
      workspace_id ${text} NOT NULL,
      link_id ${text} NOT NULL,
      view_id ${text} NOT NULL,
      digest ${text} NOT NULL, -- SHA-256 of the token
      created_by ${text} NOT NULL REFERENCES people (person_id),
      created_ms bigint NOT NULL,
      expires_ms bigint NOT NULL,
      PRIMARY KEY (workspace_id, link_id)
    )`,
  ],
]

const others = [
  // Citus creates no table that refers both to one that is on every node and to one that is distributed.
  `ALTER TABLE view_links ADD CONSTRAINT view_links_workspace_id_view_id_fkey
    FOREIGN KEY (workspace_id, view_id) REFERENCES views (workspace_id, view_id)`,
  'CREATE INDEX views_by_person ON views (workspace_id, person_id, journey_id)',
  'CREATE INDEX views_by_journey ON views (workspace_id, journey_id)',
  'CREATE INDEX view_links_by_view ON view_links (workspace_id, view_id)',
  'CREATE INDEX view_links_by_digest ON view_links (digest)',
  // 0: links to views do not work.
  'ALTER TABLE workspaces ADD COLUMN has_view_links integer NOT NULL DEFAULT 0',
]
