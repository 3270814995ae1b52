import { type Kysely, sql } from 'kysely'
import { nameWords } from './0005-customer-words.ts'

/**
 * The words of names, for searches of journeys, service keys and members. For journeys and keys they are in the
 * indexes in list order, with all columns that the filters need (covering indexes): a search reads no descriptions,
 * steps or origins.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of columns) await sql.raw(statement).execute(db)
  await nameRows(db, 'journeys', 'journey_ref')
  await nameRows(db, 'service_keys', 'key_id')
  await nameRows(db, 'people', 'person_id')
  for (const statement of indexes) await sql.raw(statement).execute(db)
}

const columns = ['journeys', 'service_keys', 'people'].map(
  (table) => `ALTER TABLE ${table} ADD COLUMN name_key TEXT NOT NULL DEFAULT ''`,
)

const indexes = [
  'DROP INDEX journeys_newest',
  'CREATE INDEX journeys_newest ON journeys (workspace_id, created_ms, journey_id, name_key)',
  'DROP INDEX journeys_of_status',
  'CREATE INDEX journeys_of_status ON journeys (workspace_id, status, created_ms, journey_id, name_key)',
  'DROP INDEX service_keys_newest',
  `CREATE INDEX service_keys_newest ON service_keys
    (workspace_id, created_ms, key_id, kind, expires_ms, revoked_ms, last_four, name_key)`,
]

/** Rows per statement, so that a store with many of them is migrated in bounded memory. */
const ROWS = 1000

async function nameRows(db: Kysely<unknown>, table: string, id: string) {
  let last: number | string | undefined
  for (;;) {
    const behind = last === undefined ? sql`` : sql`WHERE ${sql.ref(id)} > ${last}`
    const { rows } = await sql<{ id: number | string; name: string }>`SELECT ${sql.ref(id)} AS id, name
      FROM ${sql.table(table)} ${behind} ORDER BY ${sql.ref(id)} LIMIT ${sql.lit(ROWS)}`.execute(db)
    if (rows.length === 0) return
    const keys = JSON.stringify(rows.map(({ id, name }) => [id, wordsText(name)]))
    await sql`UPDATE ${sql.table(table)} SET name_key = value ->> 1 FROM json_each(${keys})
      WHERE ${sql.ref(id)} = value ->> 0`.execute(db)
    last = rows.at(-1)?.id
  }
}

function wordsText(name: string): string {
  return nameWords(name)
    .map((word) => ` ${word}`)
    .join('')
}
