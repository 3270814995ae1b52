import { type Connection, openReadable, openWritable } from './connection.ts'
import { migrations } from './migrations/index.ts'

/** Makes the file where there is none and brings its schema up to date. */
export async function migrateFile(path: string): Promise<void> {
  if (isUpToDate(path)) return
  // Loaded only here: most starts have nothing to migrate, and this takes a tenth of one.
  const [{ Kysely }, { migrate }, { LocalDialect }] = await Promise.all([
    import('kysely'),
    import('../migrate.ts'),
    import('./local-dialect.ts'),
  ])
  const database = openWritable(path, { create: true })
  const db = new Kysely<unknown>({ dialect: new LocalDialect({ database }) })
  try {
    await migrate(db, migrations)
  } finally {
    await db.destroy()
  }
}

/** Whether the file has had all migrations and no other; false also where that cannot be told. */
function isUpToDate(path: string): boolean {
  let connection: Connection | undefined
  try {
    connection = openReadable(path)
    const names = connection.prepare('SELECT name FROM kysely_migration ORDER BY name').pluck().all()
    return names.join() === Object.keys(migrations).join()
  } catch {
    return false
  } finally {
    connection?.close()
  }
}
