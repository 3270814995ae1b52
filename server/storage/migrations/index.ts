import type { MigrationProvider } from 'kysely/migration'
import * as first from './0001-first.ts'

/** The schema's history, in order. A migration that has been released never changes. */
export const migrations: MigrationProvider = {
  getMigrations: async () => ({ '0001-first': first }),
}
