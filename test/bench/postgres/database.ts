import { randomBytes } from 'node:crypto'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { programsForTests } from '../../fixtures/postgres/programs.ts'
import { type PostgresServer, postgresUrl, startPostgresServer } from '../../fixtures/postgres/server.ts'
import { runSql } from '../../fixtures/postgres/sql.ts'

/** Settings as on a machine with several gigabytes of memory; all others are defaults. */
const MEMORY = { shared_buffers: '512MB', max_wal_size: '4GB' }

/** Starts a PostgreSQL server with full durability. Autovacuum is on, because it is part of PostgreSQL's cost. */
export async function startBenchPostgres(): Promise<PostgresServer> {
  return await startPostgresServer(programsForTests(), { ...MEMORY, autovacuum: 'on' })
}

/** Runs work with a new database and a new folder, and removes both afterwards. */
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

/** Creates an empty database, which is removed with the server if not before. @returns its `DATABASE_URL` */
export async function newBenchDatabase(postgres: PostgresServer): Promise<string> {
  const name = `bench_${randomBytes(6).toString('hex')}`
  await runSql(postgresUrl(postgres.folder), `CREATE DATABASE ${name}`)
  return postgresUrl(postgres.folder, name)
}

/** Size of a database on disk. */
export async function databaseBytes(databaseUrl: string): Promise<number> {
  const [row] = await runSql(databaseUrl, 'SELECT pg_database_size(current_database()) AS bytes')
  return Number(row?.bytes)
}

/** Sizes in bytes of the tables and indexes that have grown since, by name, the largest first. */
export async function relationBytes(
  databaseUrl: string,
  before: ReadonlyMap<string, number> = new Map(),
): Promise<Map<string, number>> {
  const rows = await runSql(
    databaseUrl,
    `SELECT relname, pg_table_size(oid) AS bytes FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'i')`,
  )
  const grown = rows.map(({ relname, bytes }): [string, number] => {
    const name = String(relname)
    return [name, Number(bytes) - (before.get(name) ?? 0)]
  })
  return new Map(grown.filter(([, bytes]) => bytes > 0).sort(([, a], [, b]) => b - a))
}
