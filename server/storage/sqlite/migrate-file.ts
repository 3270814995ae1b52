import { InUse } from '../../in-use.ts'
import type { BegunMigration } from '../migrate.ts'
import { type Connection, isServed, openReadable, openWritable } from './connection.ts'
import { migrations } from './migrations/index.ts'

/**
 * Creates the file if it does not exist, and migrates its schema. See `migrate`.
 * @throws {Error} if it is the database of another program
 */
export async function migrateFile(path: string, onBegin?: (begun: BegunMigration) => void): Promise<void> {
  if (isUpToDate(path)) return
  if (isOfAnotherProgram(path)) {
    throw new Error(`${path} is the SQLite database of another program. Choose another path.`)
  }
  // Loaded on demand: most starts have nothing to migrate, and loading takes a tenth of a start.
  const [{ Kysely }, { migrate }, { LocalDialect }] = await Promise.all([
    import('kysely'),
    import('../migrate.ts'),
    import('./local-dialect.ts'),
  ])
  const database = openWritable(path, { create: true })
  const db = new Kysely<unknown>({ dialect: new LocalDialect({ database }) })
  try {
    await migrate(db, migrations, onBegin)
  } finally {
    await db.destroy()
  }
}

export function hasTable(connection: Connection, name: string): boolean {
  return connection.prepare<[string]>('SELECT 1 FROM sqlite_schema WHERE name = ?').get(name) !== undefined
}

/**
 * Refuses to migrate a store under a server of an earlier version, which would fail on the new schema.
 * @throws {InUse}
 */
export function assertMigratable(path: string): void {
  // Again at the end: the server may have been migrating the store meanwhile.
  if (!isOutdated(path) || !isServed(path) || !isOutdated(path)) return
  throw new InUse(
    `A Cairn server of an earlier version is running on ${path}. Stop it before you use a newer command.`,
  )
}

/** Whether the file has a store that lacks migrations; false also if that is unknown. */
function isOutdated(path: string): boolean {
  return holds(path, (connection) => {
    const applied = connection.prepare('SELECT name FROM kysely_migration').pluck().all()
    return Object.keys(migrations).some((name) => !applied.includes(name))
  })
}

/** Whether the file has all migrations and no others; false also if that is unknown. */
function isUpToDate(path: string): boolean {
  return holds(path, (connection) => {
    const names = connection.prepare('SELECT name FROM kysely_migration ORDER BY name').pluck().all()
    return names.join() === Object.keys(migrations).join()
  })
}

/** Whether the file has tables, but none of ours; false also if that is unknown. */
function isOfAnotherProgram(path: string): boolean {
  return holds(path, (connection) => {
    const hasTables = connection.prepare('SELECT 1 FROM sqlite_schema').get() !== undefined
    return hasTables && !hasTable(connection, 'kysely_migration')
  })
}

function holds(path: string, check: (connection: Connection) => boolean): boolean {
  let connection: Connection | undefined
  try {
    connection = openReadable(path)
    return check(connection)
  } catch {
    return false
  } finally {
    connection?.close()
  }
}
