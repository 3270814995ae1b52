import { argv } from 'node:process'
import { Kysely, PostgresDialect } from 'kysely'
import { Pool } from 'pg'
import { isServiceKey } from '../../../server/domain/service-keys.ts'
import { tokenDigest } from '../../../server/domain/tokens.ts'
import { type ManualTables, serveManual } from '../manual-app.ts'

/** The peer `manual` on PostgreSQL: a pool of 32 connections, a transaction per request, and the same plain tables. */
const { port, databaseUrl, key, journey_id }: ManualPeerOptions = JSON.parse(argv[2] ?? '')
const pool = new Pool({ connectionString: databaseUrl, max: 32 })

await pool.query(`
  CREATE TABLE service_keys (digest text PRIMARY KEY, key_id text NOT NULL);
  CREATE TABLE journeys (journey_id text PRIMARY KEY, name text NOT NULL);
  CREATE TABLE customers (
    customer_id text PRIMARY KEY,
    customer_type text NOT NULL,
    client_customer_id text NOT NULL,
    customer_name text NOT NULL,
    created_ms bigint NOT NULL,
    UNIQUE (customer_type, client_customer_id)
  );
  CREATE TABLE enrolments (
    journey_id text NOT NULL,
    customer_id text NOT NULL,
    PRIMARY KEY (journey_id, customer_id)
  );
  CREATE TABLE events (
    id text PRIMARY KEY,
    journey_id text NOT NULL,
    customer_id text NOT NULL,
    event_id text NOT NULL,
    custom_variables text,
    occurred_ms bigint,
    received_ms bigint NOT NULL,
    message_id text UNIQUE
  );
  CREATE INDEX events_of_customer ON events (customer_id, received_ms);
`)
await pool.query('INSERT INTO service_keys VALUES ($1, $2)', [tokenDigest(key), 'key_bench'])
await pool.query('INSERT INTO journeys VALUES ($1, $2)', [journey_id, 'Onboarding'])

/** Keys are cached, as in our server. */
const known = new Map<string, string>()

/** Start options of a peer, as JSON in its first argument. */
type ManualPeerOptions = { port: number; databaseUrl: string; key: string; journey_id: string }

serveManual({
  db: new Kysely<ManualTables>({ dialect: new PostgresDialect({ pool }) }),
  async checkKey(key) {
    if (key === undefined || !isServiceKey(key)) return undefined
    const digest = tokenDigest(key)
    const kept = known.get(digest)
    if (kept !== undefined) return kept
    const { rows } = await pool.query('SELECT key_id FROM service_keys WHERE digest = $1', [digest])
    if (rows[0]) known.set(digest, rows[0].key_id)
    return rows[0]?.key_id
  },
  port,
})
