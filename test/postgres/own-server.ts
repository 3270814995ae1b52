import { onTestFinished } from 'vitest'
import { programsForTests } from '../fixtures/postgres/programs.ts'
import { type PostgresServer, startPostgresServer } from '../fixtures/postgres/server.ts'

/** Starts a PostgreSQL server for one test, which may do anything with it. @param settings see `startPostgresServer` */
export async function ownServer(settings: Record<string, string> = {}): Promise<PostgresServer> {
  const server = await startPostgresServer(programsForTests(), settings)
  onTestFinished(server.remove)
  return server
}
