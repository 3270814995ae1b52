import type { TestProject } from 'vitest/node'
import { inStore } from '../../server/cli/store.ts'
import { programsForTests } from '../fixtures/postgres/programs.ts'
import { postgresUrl, startPostgresServer } from '../fixtures/postgres/server.ts'
import { runSql } from '../fixtures/postgres/sql.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The PostgreSQL server that all test files of a run share. */
    postgres: { folder: string; template: string }
  }
}

/** Starts PostgreSQL once for a run and removes it afterwards. */
export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  // Nothing kills it or cuts its power; a test that does starts its own. With fsync, dropping a database takes six
  // times as long, and every test file drops some. Torn pages need not be feared either.
  const server = await startPostgresServer(programsForTests(), { fsync: 'off', full_page_writes: 'off' })
  const template = 'cairn_template'
  await runSql(postgresUrl(server.folder), `CREATE DATABASE ${template}`)
  await inStore(postgresUrl(server.folder, template), async () => {}, { create: true })
  provide('postgres', { folder: server.folder, template })
  return server.remove
}
