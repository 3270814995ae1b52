import { copyFileSync } from 'node:fs'
import { sqlitePath } from '../../server/storage/sqlite/store-files.ts'
import { newStore } from '../fixtures/cairn.ts'
import { engine } from '../fixtures/engine.ts'
import { newDatabase } from '../fixtures/postgres/databases.ts'

/** Copies a store that is not open, like a backup that is restored. @returns its `DATABASE_URL` */
export async function copyOf(databaseUrl: string): Promise<string> {
  if (engine === 'postgres') return await newDatabase(new URL(databaseUrl).pathname.slice(1))
  const copy = await newStore()
  copyFileSync(sqlitePath(databaseUrl), sqlitePath(copy))
  return copy
}
