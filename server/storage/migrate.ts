import { type Kysely, sql, type Transaction } from 'kysely'
import { DEFAULT_MIGRATION_TABLE, type Migration, Migrator } from 'kysely/migration'
import { inTransaction } from './in-transaction.ts'

/** A schema's migrations, in order. A released migration never changes. Loaded only when needed. */
export type Migrations = Readonly<Record<string, () => Promise<Migration>>>

/** A migration that begins: `number` of `total`, counting those that were applied before. */
export type BegunMigration = { name: string; number: number; total: number }

/**
 * Migrates the schema: a new store completely or not at all, an existing one in a transaction per migration, so that those
 * that are done stay done if a later one fails. Several processes may call it at once: each migration is done by the one
 * that holds the write lock, and the others find it done.
 * @param onBegin called when a migration of an existing store begins
 * @throws {Error} if the store was written by a newer Cairn
 */
export async function migrate<Tables>(
  db: Kysely<Tables>,
  migrations: Migrations,
  onBegin: (begun: BegunMigration) => void = () => {},
): Promise<void> {
  const names = Object.keys(migrations)
  const isNew = (await appliedMigrations(db)).length === 0
  let last: string | undefined
  const begun = (name: string) => {
    if (isNew) return
    last = name
    onBegin({ name, number: names.indexOf(name) + 1, total: names.length })
  }
  const next = async (db: Transaction<Tables>) => {
    const applied = await appliedMigrations(db)
    const newer = applied.find((name) => !(name in migrations))
    if (newer) {
      throw new Error(
        `The store was written by a newer Cairn (it has the migration ${newer}). Run that version or a later one.`,
      )
    }
    const migrator = new Migrator({ db, provider: { getMigrations: () => loaded(migrations, begun) } })
    const { error, results = [] } = await (isNew ? migrator.migrateToLatest() : migrator.migrateUp())
    if (error) throw error
    return isNew || results.length === 0
  }
  try {
    while (!(await inTransaction(db, next))) last = undefined
  } catch (error) {
    // The error itself stays: the engine's callers decide by its kind.
    if (last !== undefined && error instanceof Error)
      error.message = `Migration ${last} failed: ${error.message}`
    throw error
  }
}

async function loaded(
  migrations: Migrations,
  begun: (name: string) => void,
): Promise<Record<string, Migration>> {
  const all = Object.entries(migrations).map(async ([name, load]) => {
    const { up } = await load()
    const announced: Migration = {
      async up(db) {
        begun(name)
        await up(db)
      },
    }
    return [name, announced] as const
  })
  return Object.fromEntries(await Promise.all(all))
}

/** The names of the applied migrations, in order; none if there is no store. */
async function appliedMigrations<Tables>(db: Kysely<Tables>): Promise<string[]> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true })
  if (!tables.some(({ name }) => name === DEFAULT_MIGRATION_TABLE)) return []
  const { rows } = await sql<{
    name: string
  }>`SELECT name FROM ${sql.table(DEFAULT_MIGRATION_TABLE)} ORDER BY name`.execute(db)
  return rows.map(({ name }) => name)
}
