import { Kysely } from 'kysely'
import type { DB } from '../../../generated/tables.ts'
import { readAddress } from '../../domain/postgres-urls.ts'
import type { Database, Reading, ReadingDatabase } from '../database.ts'
import { sumOfReads } from '../lists/list-queue.ts'
import { DEFAULT_LIMITS } from '../refusals/refusal-bounds.ts'
import { Refusals } from '../refusals/refusals.ts'
import { ErasureJournal } from '../removals/erasure-journal.ts'
import { erasedNames } from '../removals/erasures.ts'
import { RemovalWork } from '../removals/removal-work.ts'
import type { OpenDatabaseOptions, Storage, StorageOptions } from '../storage.ts'
import { assertWhole } from '../transfer/unfinished-copy.ts'
import { causeOf } from '../unavailable.ts'
import { readClock } from './arrivals/arrival-order.ts'
import { assertNodesUsable } from './citus-nodes.ts'
import { ChangeWatch } from './connection/change-watch.ts'
import { type Connection, Servers } from './connection/connection.ts'
import { connectionAdvice } from './connection/connection-limits.ts'
import { CannotConnect, isRefused, outward } from './connection/outages.ts'
import { Pool } from './connection/pool.ts'
import { readIdentity } from './connection/store-identity.ts'
import { PoolDialect, type Read, TRANSACTION } from './dialect.ts'
import { postgresEventStore } from './event-store.ts'
import { PostgresGuessCounts } from './guess-counts.ts'
import { appliedMigrations, hasTable, isUpToDate, migrateDatabase } from './migrate-database.ts'
import { hasCitus } from './migrations/citus.ts'
import { dropEmptyPartitions, makePartitions } from './partitions.ts'
import { arrivedCustomers } from './reader/arrived-customers.ts'
import { ListReader } from './reader/list-reader.ts'
import { PostgresRefusalTable } from './refusals/postgres-refusal-table.ts'
import { EventRemover } from './removals/event-remover.ts'
import {
  countEnrolments,
  forgetJourney,
  removeCustomer,
  removeJourney,
  removeOwn,
} from './removals/postgres-removals.ts'
import { PostgresStandings, STANDINGS_CONNECTIONS } from './standings/postgres-standings.ts'
import { transactOn } from './transact-on.ts'
import { CustomerWriter } from './writer/customer-writer.ts'
import { EventWriter } from './writer/event-writer.ts'
import { WritableProbe } from './writer/writable-probe.ts'
import { WriteScheduler } from './writer/write-scheduler.ts'

/**
 * The connections of a process by purpose, with statement timeouts. Lookups for ingestion and sign-in never wait for a
 * list or a transaction. Transactions run one after the other on all replicas, so one connection is enough.
 */
const POOLS = {
  lookUps: { most: 4, mostWaiting: 1_000, statement_ms: 2_000 },
  /** Their deadline is earlier, and is reported as such. */
  lists: { most: 2, mostWaiting: 1_000, statement_ms: 6_000 },
  ingestion: { most: 4, mostWaiting: 1_000, statement_ms: 5_000, prepares: true },
  transactions: { most: 1, mostWaiting: 1_000, statement_ms: 5_000 },
  guesses: { most: 2, mostWaiting: 100, statement_ms: 5_000 },
  /** One group, or one step of what has expired, after the other; and when each key was used last. */
  refusals: { most: 1, mostWaiting: 1_000, statement_ms: 10_000 },
  removals: { most: 1, mostWaiting: 10, statement_ms: 10_000 },
  /** Polls for changes by others and for writability, independently of everything else. */
  watch: { most: 2, mostWaiting: 10, statement_ms: 1_000 },
} as const

/** The most connections of a process. Each purpose keeps its own, so that with fewer one of them would wait forever. */
const CONNECTIONS = Object.values(POOLS).reduce((sum, { most }) => sum + most, STANDINGS_CONNECTIONS)

/** Interval in which partitions for the next months are created. */
const PARTITIONS_MS = 3_600_000

/** Opens the store of a serving process, of which there may be many on one database. */
export async function openPostgres(url: string, options: Omit<StorageOptions, 'url'>): Promise<Storage> {
  const { now, onKeyChange, onOutsideChange, onDeath, onAdvice = () => {} } = options
  const { onGroup = () => {}, onIndexingFailure = () => {} } = options
  const journal = options.erasuresFile === undefined ? undefined : new ErasureJournal(options.erasuresFile)
  const servers = new Servers(readAddress(url))
  await explained(migrateDatabase(servers, { onBegin: options.onMigration }))
  const pool = (name: keyof typeof POOLS) => new Pool({ servers, ...POOLS[name] })
  const pools = {
    lookUps: pool('lookUps'),
    lists: pool('lists'),
    ingestion: pool('ingestion'),
    transactions: pool('transactions'),
    guesses: pool('guesses'),
    refusals: pool('refusals'),
    removals: pool('removals'),
    watch: pool('watch'),
  }
  const { message_salt, identity, isDistributed } = await explained(
    madeReady({ pools, journal }, now()),
  ).catch(async (error) => {
    await Promise.all(Object.values(pools).map((pool) => pool.close()))
    throw error
  })
  // A role may not be allowed to read the limits.
  const advice = await connectionAdvice(pools.lookUps, CONNECTIONS).catch(() => undefined)
  if (advice !== undefined) onAdvice(advice)
  const partitions = setInterval(() => {
    // A failure is retried in an hour; until then there is the default partition, and an empty one may stay.
    makePartitions(pools.transactions, now()).catch(() => {})
    dropEmptyPartitions(pools.removals).catch(() => {})
  }, PARTITIONS_MS)
  partitions.unref()

  const watch = new ChangeWatch({
    pool: pools.watch,
    identity,
    onChange: onOutsideChange,
    onReplaced: onDeath,
  })
  const lists = new ListReader(pools.lists, POOLS.lists.most)
  const standings = new PostgresStandings({ url, now, onFailure: onIndexingFailure })
  const {
    refusalLimits = DEFAULT_LIMITS,
    onRefusalsFailure = () => {},
    onRemovalFailure = () => {},
  } = options
  const refusals = new Refusals({
    table: new PostgresRefusalTable({ pool: pools.refusals, lists }),
    limits: refusalLimits,
    now,
    erasedNames: (workspaceId) => erasedNames(refusalsDb, workspaceId),
    onFailure: onRefusalsFailure,
  })
  const probe = new WritableProbe(pools.watch, now)
  const written = { pool: pools.ingestion, now, isDistributed }
  const scheduler = new WriteScheduler({
    events: new EventWriter({ ...written, messageSalt: message_salt, identity }),
    customers: new CustomerWriter(written),
    most: POOLS.ingestion.most,
    waitingTransactions: () => pools.transactions.waiting,
    onGroup,
    onFull: () => probe.noteFull(),
  })
  const database = (read: Read) =>
    new Kysely<DB>({
      dialect: new PoolDialect({
        read,
        transactions: {
          pool: pools.transactions,
          assertAvailable: () => scheduler.assertAvailable(),
          areServed: true,
        },
        onChange: ({ ofKeys, number }) => {
          if (number !== null) watch.made(number)
          if (ofKeys) onKeyChange()
        },
      }),
    })
  const db = database((sql, parameters) => pools.lookUps.read(sql, parameters))
  // Stays open until the last refusals are written.
  const refusalsDb = database((sql, parameters) => pools.refusals.read(sql, parameters))
  const remover = new EventRemover({ pool: pools.removals, messageSalt: message_salt, isDistributed })
  const removing = new RemovalWork({
    db,
    now,
    engine: { slice: (removal) => remover.slice(removal), removeJourney, forgetJourney, removeOwn },
    refusals,
    journal,
    groups: () => scheduler.groups,
    onFailure: onRemovalFailure,
  })
  return {
    db,
    // Read-only; the type has no transactions.
    lists: (reading: Reading) =>
      database((sql, parameters) => lists.rows(sql, parameters, reading)) as ReadingDatabase,
    events: postgresEventStore(lists, scheduler),
    arrivedCustomers: (reading) =>
      lists.read(reading, (connection) => arrivedCustomers(connection, reading.workspaceId)),
    clock_ms: (reading) => lists.read(reading, readClock),
    activity: standings.activity,
    standings,
    refusals,
    removals: {
      removeCustomer,
      removeJourney,
      countEnrolments,
      note: (erasure) => removing.note(erasure),
      begin: () => removing.begin(),
    },
    guesses: new PostgresGuessCounts({ pool: pools.guesses, now }),
    assertAvailable(use, workspaceId) {
      if (use === 'read') pools.lookUps.assertAvailable()
      else scheduler.assertAvailable(workspaceId)
    },
    isCurrent: () => watch.isCurrent,
    async noteKeyUse(key_id) {
      // Not beside ingestion, which would wait for it. After other transactions: Citus locks the workspace with the key, where
      // a transaction that makes both has them the other way round.
      const note = (connection: Connection) => connection.run(KEY_USED, [now(), key_id])
      await transactOn(pools.refusals, note, TRANSACTION)
    },
    async assertWritable() {
      scheduler.assertAvailable()
      const began_ms = performance.now()
      const probed = outward(probe.run())
      const failed = await probed.then(
        () => false,
        () => true,
      )
      onGroup({ rows: 1, commit_ms: performance.now() - began_ms, failed })
      await probed
    },
    statistics: () => ({
      waitingRows: scheduler.waitingRows,
      waitingTransactions: pools.transactions.waiting,
      listReads: sumOfReads(lists.statistics(), standings.statistics()),
      refusals: refusals.statistics(),
      ...NOT_HERE,
      connections: [...Object.values(pools), standings].reduce(
        (sum, { openConnections }) => sum + openConnections,
        0,
      ),
    }),
    async close() {
      clearInterval(partitions)
      const { ingestion, refusals: _, ...others } = pools
      // All at once, so that none accepts new work; the writer finishes what it was given.
      const closing = [
        removing.close(),
        watch.end(),
        standings.close(),
        refusals.close(),
        lists.close(),
        ...Object.values(others).map((pool) => pool.close()),
      ]
      await scheduler.close()
      await Promise.all([ingestion.close(), ...closing])
    },
  }
}

type Opening = {
  pools: { lookUps: Pool; transactions: Pool }
  journal: ErasureJournal | undefined
}

/** Makes sure that a database can be served. @returns what is remembered of the store */
async function madeReady({ pools: { lookUps, transactions }, journal }: Opening, now_ms: number) {
  await assertWhole('the database', (table) => hasTable(lookUps, table))
  // First: if the database is replaced meanwhile, the identity is the old one, and the watch notices.
  const identity = await readIdentity(lookUps)
  const [store] = await lookUps.read<{ message_salt: string }>('SELECT message_salt FROM cairn_store', [])
  if (!store) throw new Error('the row of cairn_store is missing')
  await makePartitions(transactions, now_ms)
  const db = databaseOn({ lookUps, transactions })
  await journal?.reconcile(db, { removeCustomer }, now_ms)
  return { ...store, identity, isDistributed: await hasCitus(db) }
}

/** Returns a database whose changes nobody is notified of. */
function databaseOn({ lookUps, transactions: pool }: Opening['pools']): Database {
  const read: Read = (sql, parameters) => lookUps.read(sql, parameters)
  const transactions = { pool, areServed: true }
  return new Kysely<DB>({ dialect: new PoolDialect({ read, transactions }) })
}

/**
 * Opens the database of a command, with or without running servers, and migrates its schema.
 * @returns undefined if it has no store and none is to be created
 */
export async function openPostgresDatabase(
  url: string,
  { create, onMigration }: OpenDatabaseOptions,
): Promise<{ db: Database; close: () => Promise<void> } | undefined> {
  const servers = new Servers(readAddress(url))
  const pool = new Pool({ servers, most: 1, mostWaiting: 10, statement_ms: POOLS.transactions.statement_ms })
  const close = () => pool.close()
  try {
    const done = await explained(appliedMigrations(pool))
    if (!create && !done) {
      await close()
      return undefined
    }
    if (isUpToDate(done)) await assertNodesUsable(pool)
    else await explained(migrateDatabase(servers, { onBegin: onMigration }))
  } catch (error) {
    await close()
    throw error
  }
  return { db: databaseOn({ lookUps: pool, transactions: pool }), close }
}

/** Statistics that do not apply, because PostgreSQL handles it itself. */
const NOT_HERE = {
  unindexedEvents: 0,
  longestIndexingPause_ms: 0,
  disk: { log_bytes: 0, unmoved_bytes: 0, free_bytes: null, refusing: null },
}

const KEY_USED = 'UPDATE service_keys SET last_used_ms = $1 WHERE key_id = $2'

const SEARCH_PATH =
  'Check the search_path of the role and of the database: it must name the schema of the tables, and the role needs USAGE on it'

/** Advice if the tables cannot be created or found, by PostgreSQL's error code. */
const ADVICE: Record<string, string> = {
  '42501':
    'As the owner of the schema, run GRANT USAGE, CREATE ON SCHEMA public TO cairn, with your names. Or let another role ' +
    'own the tables: see “A role that owns nothing” in the guide “Running on PostgreSQL”',
  '3F000': SEARCH_PATH,
  '42P01': SEARCH_PATH,
  '42P07': 'It belongs to another program: give Cairn a database or a schema of its own',
}

/** Converts an error to a message for a person who starts a server or a command. */
async function explained<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (error) {
    const cause = causeOf(error)
    const advice = isRefused(cause) ? ADVICE[cause.code] : undefined
    if (!(cause instanceof CannotConnect || (cause instanceof Error && advice))) throw error
    const reason = advice ? `${cause.message}. ${advice}` : cause.message
    throw new Error(`Cannot use the database: ${reason}`, { cause: error })
  }
}
