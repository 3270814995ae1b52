import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { argv } from 'node:process'
import Database from 'better-sqlite3'
import type { Logger } from 'pino'
import { isServiceKey } from '../../server/domain/service-keys.ts'
import { tokenDigest } from '../../server/domain/tokens.ts'

/** Start options of a peer, as JSON in its first argument. */
export type PeerOptions = { port: number; file: string; key: string; journey_id: string }

export function peerOptions(): PeerOptions {
  return JSON.parse(argv[2] ?? '')
}

/**
 * Opens a store as durable as ours: with a write-ahead log, and every commit on disk when it returns. It has plain tables
 * with text identifiers, an index of the events of each customer, and a unique index of `message_id`.
 */
export function openPeerStore({ file, key, journey_id }: PeerOptions) {
  const database = new Database(file)
  database.pragma('journal_mode = WAL')
  database.pragma('synchronous = FULL')
  database.pragma('cache_size = -65536')
  database.exec(`
    CREATE TABLE service_keys (digest TEXT NOT NULL PRIMARY KEY, key_id TEXT NOT NULL);
    CREATE TABLE journeys (journey_id TEXT NOT NULL PRIMARY KEY, name TEXT NOT NULL);
    CREATE TABLE customers (
      customer_id TEXT NOT NULL PRIMARY KEY,
      customer_type TEXT NOT NULL,
      client_customer_id TEXT NOT NULL,
      customer_name TEXT NOT NULL,
      created_ms INTEGER NOT NULL,
      UNIQUE (customer_type, client_customer_id)
    );
    CREATE TABLE enrolments (
      journey_id TEXT NOT NULL,
      customer_id TEXT NOT NULL,
      PRIMARY KEY (journey_id, customer_id)
    );
    CREATE TABLE events (
      id TEXT NOT NULL PRIMARY KEY,
      journey_id TEXT NOT NULL,
      customer_id TEXT NOT NULL,
      event_id TEXT NOT NULL,
      custom_variables TEXT,
      occurred_ms INTEGER,
      received_ms INTEGER NOT NULL,
      message_id TEXT UNIQUE
    );
    CREATE INDEX events_of_customer ON events (customer_id, received_ms);
  `)
  database.prepare('INSERT INTO service_keys VALUES (?, ?)').run(tokenDigest(key), 'key_bench')
  database.prepare('INSERT INTO journeys VALUES (?, ?)').run(journey_id, 'Onboarding')
  return database
}

/** Looks up a key as our server does: it checks form and checksum, and caches known digests in memory. */
export function keyCheck(database: Database.Database): (key: string | undefined) => string | undefined {
  const find = database.prepare<[string], { key_id: string }>(
    'SELECT key_id FROM service_keys WHERE digest = ?',
  )
  const known = new Map<string, string>()
  return (key) => {
    if (key === undefined || !isServiceKey(key)) return undefined
    const digest = tokenDigest(key)
    const keyId = known.get(digest) ?? find.get(digest)?.key_id
    if (keyId !== undefined) known.set(digest, keyId)
    return keyId
  }
}

/** Gives the response a request id, and writes a log line like our server's once it has been sent. */
export function withLogLine(req: IncomingMessage, res: ServerResponse, log: Logger) {
  const started = performance.now()
  const request_id = randomUUID()
  res.setHeader('X-Request-Id', request_id)
  res.once('close', () => {
    const duration_ms = Math.round((performance.now() - started) * 1000) / 1000
    log.info({ request_id, method: req.method, operation: req.url, status: res.statusCode, duration_ms })
  })
}

/** An event in the form of the contract. */
export type EventBody = {
  journey_id: string
  customer_id: string
  event_id: string
  custom_variables?: unknown
  occurred_at?: string
  message_id?: string
}

export type CustomerBody = {
  journey_id: string
  client_customer_id: string
  customer_type: string
  customer_name: string
}

type StoredContent = {
  journey_id: string
  customer_id: string
  event_id: string
  custom_variables: string | null
  occurred_ms: number | null
}

/** The content of an event as a peer stores it. */
export function storedContent(body: EventBody): StoredContent {
  const { journey_id, customer_id, event_id, custom_variables, occurred_at } = body
  return {
    journey_id,
    customer_id,
    event_id,
    custom_variables: custom_variables === undefined ? null : JSON.stringify(custom_variables),
    occurred_ms: occurred_at === undefined ? null : Date.parse(occurred_at),
  }
}

/** Whether an event with a known `message_id` has the same content as the stored one. */
export function isSameContent(a: StoredContent, b: StoredContent): boolean {
  return (
    a.journey_id === b.journey_id &&
    a.customer_id === b.customer_id &&
    a.event_id === b.event_id &&
    a.custom_variables === b.custom_variables &&
    a.occurred_ms === b.occurred_ms
  )
}
