import { randomBytes } from 'node:crypto'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { programsForTests } from '../../postgres/programs.ts'
import { type PostgresServer, postgresUrl, startPostgresServer } from '../../postgres/server.ts'
import { runSql } from '../../postgres/sql.ts'

/** What an operator would set on a machine of some gigabytes; the rest is as it comes. */
const MEMORY = { shared_buffers: '512MB', max_wal_size: '4GB' }

/** A PostgreSQL server of its own that keeps all its promises. Autovacuum belongs to what PostgreSQL costs. */
export async function startBenchPostgres(): Promise<PostgresServer> {
  return await startPostgresServer(programsForTests(), { ...MEMORY, autovacuum: 'on' })
}

/** Works on a new database, and with a new folder, which are removed behind it. */
export async function inDatabase(
  folder: string,
  postgres: PostgresServer,
  work: (folder: string, databaseUrl: string) => Promise<void>,
): Promise<void> {
  const inner = join(folder, 'round')
  mkdirSync(inner)
  const databaseUrl = await newBenchDatabase(postgres)
  await work(inner, databaseUrl)
  const name = new URL(databaseUrl).pathname.slice(1)
  await runSql(postgresUrl(postgres.folder), `DROP DATABASE ${name} WITH (FORCE)`)
  rmSync(inner, { recursive: true })
}

/** Makes an empty database, which goes with its server at the latest. @returns its `DATABASE_URL` */
export async function newBenchDatabase(postgres: PostgresServer): Promise<string> {
  const name = `bench_${randomBytes(6).toString('hex')}`
  await runSql(postgresUrl(postgres.folder), `CREATE DATABASE ${name}`)
  return postgresUrl(postgres.folder, name)
}

/** What a database takes on disk. */
export async function databaseBytes(databaseUrl: string): Promise<number> {
  const [row] = await runSql(databaseUrl, 'SELECT pg_database_size(current_database()) AS bytes')
  return Number(row?.bytes)
}
