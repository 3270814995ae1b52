import type { TestProject } from 'vitest/node'
import { inStore } from '../../server/cli/store.ts'
import { processEnvironment } from '../../server/config.ts'
import { dropAll, newPrefix, serverOf, type TestServer } from '../fixtures/postgres/databases.ts'
import { programsForTests } from '../fixtures/postgres/programs.ts'
import { postgresUrl, startPostgresServer } from '../fixtures/postgres/server.ts'
import { runSql } from '../fixtures/postgres/sql.ts'
import { RECORDING } from './recorded-statements.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The PostgreSQL server that all test files of a run share. */
    postgres: TestServer
  }
}

/** Starts PostgreSQL once for a run and removes it afterwards. With `CAIRN_TEST_DATABASE_URL` that server is used. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const own = processEnvironment().CAIRN_TEST_DATABASE_URL
  if (own !== undefined) {
    const named = await serverOf(own)
    project.provide('postgres', named)
    return async () => await dropAll(named)
  }
  // Nothing kills it or cuts its power; a test that does starts its own. With fsync, dropping a database takes six
  // times as long, and every test file drops some. Torn pages need not be feared either.
  const settings = { ...RECORDING, fsync: 'off', full_page_writes: 'off' }
  const server = await startPostgresServer(programsForTests(), settings)
  const template = 'cairn_template'
  await runSql(postgresUrl(server.folder), `CREATE DATABASE ${template}`)
  await inStore(postgresUrl(server.folder, template), async () => {}, { create: true })
  project.provide('postgres', {
    url: postgresUrl(server.folder),
    template,
    prefix: newPrefix(),
    nodes: [],
    folder: server.folder,
  })
  return server.remove
}
