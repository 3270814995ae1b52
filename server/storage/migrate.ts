import { type Kysely, sql } from 'kysely'
import { DEFAULT_MIGRATION_TABLE, type Migration, Migrator } from 'kysely/migration'

/** A schema's migrations, in order. A released migration never changes. Loaded only when needed. */
export type Migrations = Readonly<Record<string, () => Promise<Migration>>>

/**
 * Migrates the schema completely or not at all. Several processes may call it at once: the first one holds the write
 * lock, and the others find nothing left to do.
 * @throws {Error} if the store was written by a newer Cairn
 */
export async function migrate<Tables>(db: Kysely<Tables>, migrations: Migrations): Promise<void> {
  await db.transaction().execute(async (db) => {
    const migrator = new Migrator({ db, provider: { getMigrations: () => loaded(migrations) } })
    const newer = await unknownMigration(db, migrations)
    if (newer) {
      throw new Error(
        `The store was written by a newer Cairn (it has the migration ${newer}). Run that version or a later one.`,
      )
    }
    const { error } = await migrator.migrateToLatest()
    if (error) throw error
  })
}

async function loaded(migrations: Migrations): Promise<Record<string, Migration>> {
  const all = Object.entries(migrations).map(async ([name, load]) => [name, await load()] as const)
  return Object.fromEntries(await Promise.all(all))
}

async function unknownMigration<Tables>(
  db: Kysely<Tables>,
  migrations: Migrations,
): Promise<string | undefined> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true })
  if (!tables.some(({ name }) => name === DEFAULT_MIGRATION_TABLE)) return undefined
  const { rows } = await sql<{
    name: string
  }>`SELECT name FROM ${sql.table(DEFAULT_MIGRATION_TABLE)} ORDER BY name`.execute(db)
  return rows.find(({ name }) => !(name in migrations))?.name
}
