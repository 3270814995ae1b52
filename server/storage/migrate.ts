import { type Kysely, sql } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import { migrations } from './migrations/index.ts'

/**
 * Brings the schema up to date, whole or not at all. Several programs may call it at once: the first one holds the
 * write lock and the others find nothing left to do.
 * @throws {Error} where the file was written by a newer Cairn
 */
export async function migrate<Tables>(db: Kysely<Tables>): Promise<void> {
  await db.transaction().execute(async (db) => {
    const newer = await unknownMigration(db)
    if (newer) {
      throw new Error(
        `The store was written by a newer Cairn (it has the migration ${newer}). Run that version or a later one.`,
      )
    }
    const { error } = await new Migrator({ db, provider: { getMigrations } }).migrateToLatest()
    if (error) throw error
  })
}

async function getMigrations(): Promise<Record<string, Migration>> {
  const loaded = Object.entries(migrations).map(async ([name, load]) => [name, await load()] as const)
  return Object.fromEntries(await Promise.all(loaded))
}

async function unknownMigration<Tables>(db: Kysely<Tables>): Promise<string | undefined> {
  const tables = await sql`SELECT 1 FROM sqlite_schema WHERE name = 'kysely_migration'`.execute(db)
  if (tables.rows.length === 0) return undefined
  const { rows } = await sql<{ name: string }>`SELECT name FROM kysely_migration ORDER BY name`.execute(db)
  return rows.find(({ name }) => !(name in migrations))?.name
}
