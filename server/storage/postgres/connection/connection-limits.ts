import type { Pool } from './pool.ts'

type Limits = {
  role: string
  database: string
  /** Undefined limits are -1. */
  of_role: number
  of_database: number
  /** Without those that are reserved for superusers. */
  of_server: number
}

/**
 * Returns what to change if the role, the database or the server allows fewer connections than a process may need;
 * undefined if they are enough. Other programs may need some of them too, which cannot be known.
 */
export async function connectionAdvice(pool: Pool, needed: number): Promise<string | undefined> {
  const [limits] = await pool.read<Limits>(LIMITS, [])
  if (!limits) return undefined
  const { role, database, of_role, of_database, of_server } = limits
  const lowest = [
    { limit: of_role, whose: `The role ${role}`, cure: `ALTER ROLE ${role} CONNECTION LIMIT` },
    {
      limit: of_database,
      whose: `The database ${database}`,
      cure: `ALTER DATABASE ${database} CONNECTION LIMIT`,
    },
    { limit: of_server, whose: 'The database server', cure: 'max_connections = ' },
  ].find(({ limit }) => limit >= 0 && limit < needed)
  if (!lowest) return undefined
  const { limit, whose, cure } = lowest
  return (
    `${whose} allows ${limit} connections, but this server may need ${needed}: some requests will wait and get 503. ` +
    `Raise the limit (${cure} ...)`
  )
}

const LIMITS = `
  SELECT quote_ident(rolname) AS role, quote_ident(datname) AS database,
    CASE WHEN rolsuper THEN -1 ELSE rolconnlimit END AS of_role, datconnlimit AS of_database,
    current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
      - coalesce(current_setting('reserved_connections', true)::int, 0) AS of_server
  FROM pg_roles CROSS JOIN pg_database WHERE rolname = current_user AND datname = current_database()`
