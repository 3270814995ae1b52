import { Kysely } from 'kysely'
import { migrate } from '../migrate.ts'
import { openWritable } from './connection.ts'
import { LocalDialect } from './dialect.ts'

/** Makes the file where there is none and brings its schema up to date. */
export async function migrateFile(path: string): Promise<void> {
  const database = openWritable(path, { create: true })
  const db = new Kysely<unknown>({ dialect: new LocalDialect({ database }) })
  try {
    await migrate(db)
  } finally {
    await db.destroy()
  }
}
