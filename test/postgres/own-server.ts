import { onTestFinished } from 'vitest'
import { programsForTests } from './programs.ts'
import { type PostgresServer, startPostgresServer } from './server.ts'

/** A PostgreSQL server for one test, which may do with it what it likes. @param settings see `startPostgresServer` */
export async function ownServer(settings: Record<string, string> = {}): Promise<PostgresServer> {
  const server = await startPostgresServer(programsForTests(), settings)
  onTestFinished(server.remove)
  return server
}
