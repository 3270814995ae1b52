import { Kysely, sql } from 'kysely'
import { type BegunMigration, type Migrations, migrate } from '../migrate.ts'
import { Unavailable } from '../unavailable.ts'
import { assertNodesUsable } from './citus-nodes.ts'
import type { Servers } from './connection/connection.ts'
import { isLocked } from './connection/outages.ts'
import { Pool } from './connection/pool.ts'
import { PoolDialect } from './dialect.ts'
import { migrations } from './migrations/index.ts'

/** Timeout of a migration, which may take long and wait for another one. */
const STATEMENT_MS = 3_600_000

/**
 * How long a migration waits for a table that others read or lock, a `pg_dump` say: everyone who comes after it waits as
 * long. It is tried again after a pause, in which they go on. More than `deadlock_timeout` (1 s), after which PostgreSQL
 * cancels an autovacuum that is in the way.
 */
const LOCK_MS = 2_000
const PAUSE_S = 4

type MigrateOptions = { released?: Migrations; onBegin?: ((begun: BegunMigration) => void) | undefined }

/** Migrates the schema of a database; creates it if there is none. See `migrate`. */
export async function migrateDatabase(
  servers: Servers,
  { released = migrations, onBegin }: MigrateOptions = {},
): Promise<void> {
  const pool = new Pool({ servers, most: 1, mostWaiting: 1, statement_ms: STATEMENT_MS })
  try {
    await assertNodesUsable(pool)
    if (isUpToDate(await appliedMigrations(pool), released)) return
    const read = (sql: string, parameters: readonly unknown[]) => pool.read(sql, parameters)
    const db = new Kysely<unknown>({ dialect: new PoolDialect({ read, transactions: { pool } }) })
    const deadline_ms = performance.now() + STATEMENT_MS
    let last: string | undefined
    const begun = (migration: BegunMigration) => {
      if (migration.name !== last) onBegin?.(migration)
      last = migration.name
    }
    for (let isDone = false; !isDone; ) {
      isDone = await migrate(db, waitingBriefly(released), begun).then(
        () => true,
        (error) => {
          const isBlocked = error instanceof Unavailable && isLocked(error.cause)
          if (!isBlocked || performance.now() > deadline_ms) throw error
          return false
        },
      )
      // Other servers that start may wait too, and must not take turns without a pause.
      if (!isDone) await pool.read('SELECT pg_sleep($1)', [PAUSE_S * (1 + Math.random())])
    }
  } finally {
    await pool.close()
  }
}

/** Limits the time for which each migration waits for a lock. */
function waitingBriefly(released: Migrations): Migrations {
  const limited = Object.entries(released).map(([name, load]) => [
    name,
    async () => {
      const { up } = await load()
      return {
        async up(db: Kysely<unknown>) {
          await sql.raw(`SET LOCAL lock_timeout = ${LOCK_MS}`).execute(db)
          await up(db)
        },
      }
    },
  ])
  return Object.fromEntries(limited)
}

/**
 * Whether a database has all migrations. They only add: while replicas are replaced one by one, one of the previous
 * version may start on a newer schema.
 */
export function isUpToDate(
  applied: ReadonlySet<string> | undefined,
  released: Migrations = migrations,
): boolean {
  return Object.keys(released).every((name) => applied?.has(name))
}

/** Returns the applied migrations of a database; undefined if it has no store. */
export async function appliedMigrations(pool: Pool): Promise<Set<string> | undefined> {
  if (!(await hasTable(pool, 'kysely_migration'))) return undefined
  const rows = await pool.read<{ name: string }>('SELECT name FROM kysely_migration', [])
  return new Set(rows.map(({ name }) => name))
}

export async function hasTable(pool: Pool, name: string): Promise<boolean> {
  const [row] = await pool.read<{ found: string | null }>('SELECT to_regclass($1)::text AS found', [name])
  return typeof row?.found === 'string'
}
