import { Client } from 'pg'
import type { PostgresServer } from '../../fixtures/postgres/server.ts'
import { BATCH_EVENTS } from '../data.ts'
import {
  restartCairn,
  runLoad,
  runProgram,
  type Server,
  startCairn,
  startPeer,
  UNLIMITED,
} from '../processes.ts'
import { type Settings, say } from '../settings.ts'
import { BATCH_CONNECTIONS, batchWindow, CONNECTIONS, initializeCustomers } from '../windows.ts'
import { databaseBytes, inDatabase, relationBytes, startBenchPostgres } from './database.ts'
import type { LimitOptions } from './limit.ts'
import type { TimelineOptions, TimelineResult } from './timeline.ts'

/** Figures of PostgreSQL; lists have one number per round. */
export type PostgresFigures = {
  /** Requests per second. */
  single: { cairn: number[]; two_replicas: number[]; manual: number[] }
  single_p99_ms: { cairn: number[]; manual: number[] }
  /** Events per second. */
  batch: number[]
  limit: number[]
  /**
   * The newest page of a customer's events, during a load of single events: through Cairn, and by a minimal client with the
   * same query.
   */
  timeline_p99_ms: { cairn: number[]; bare: number[] }
  bytes_per_event: number
  /** Bytes per event of each table and index, the largest first. */
  relation_bytes: [name: string, bytes: number][]
  fill_events_per_s: number
}

/** Number of groups that `pg_limit` writes per second of a window. */
const GROUPS_A_SECOND = 40

/** Number of groups that `pg_limit` writes concurrently, as one of our replicas may. */
const LIMIT_CONNECTIONS = 4

/**
 * Measures our server and the peers alternately, on one PostgreSQL server with full durability and each on a new database;
 * then reads from a full one. PostgreSQL may use all cores; our server and the peers have one, and the load another.
 * @throws {Error} if a database does not contain what was acknowledged
 */
export async function measurePostgres(folder: string, settings: Settings): Promise<PostgresFigures> {
  const postgres = await startBenchPostgres()
  const figures: PostgresFigures = {
    single: { cairn: [], two_replicas: [], manual: [] },
    single_p99_ms: { cairn: [], manual: [] },
    batch: [],
    limit: [],
    timeline_p99_ms: { cairn: [], bare: [] },
    bytes_per_event: Number.NaN,
    relation_bytes: [],
    fill_events_per_s: Number.NaN,
  }
  try {
    for (let round = 1; round <= settings.rounds; round += 1) {
      await measureRound({ folder, postgres, settings, figures, round })
    }
    await measureFull({ folder, postgres, settings, figures })
  } finally {
    await postgres.remove()
  }
  return figures
}

type Measured = { folder: string; postgres: PostgresServer; settings: Settings; figures: PostgresFigures }

async function measureRound({ folder, postgres, settings, figures, round }: Measured & { round: number }) {
  const { seconds, warmUpSeconds } = settings
  const window = { kind: 'single', messageIds: 'mixed', seconds, warmUpSeconds } as const

  say(`PostgreSQL, round ${round}: cairn`)
  await inDatabase(folder, postgres, async (inner, databaseUrl) => {
    const server = await startCairn(inner, { databaseUrl })
    await initializeCustomers(server)
    const single = await runLoad(server, { ...window, connections: CONNECTIONS })
    figures.single.cairn.push(single.requestsPerSecond)
    figures.single_p99_ms.cairn.push(single.p99_ms)
    const batch = await batchWindow(server, { messageIds: 'mixed' }, settings)
    figures.batch.push(batch.eventsPerSecond)

    say(`PostgreSQL, round ${round}: two replicas`)
    const other = await replicaOf(server, inner, databaseUrl)
    const half = { ...window, connections: CONNECTIONS / 2 }
    const both = await Promise.all([runLoad(server, half), runLoad(other, half)])
    figures.single.two_replicas.push(both[0].requestsPerSecond + both[1].requestsPerSecond)
    await Promise.all([server.end(), other.end()])
    await expectStored(databaseUrl, [single, batch, ...both])
  })

  say(`PostgreSQL, round ${round}: manual`)
  await inDatabase(folder, postgres, async (inner, databaseUrl) => {
    const server = await startPeer('postgres/manual', inner, databaseUrl)
    await initializeCustomers(server)
    const single = await runLoad(server, { ...window, connections: CONNECTIONS })
    figures.single.manual.push(single.requestsPerSecond)
    figures.single_p99_ms.manual.push(single.p99_ms)
    await server.end()
    await expectStored(databaseUrl, [single])
  })

  say(`PostgreSQL, round ${round}: pg_limit`)
  await inDatabase(folder, postgres, async (inner, databaseUrl) => {
    // Creates the tables.
    await (await startCairn(inner, { databaseUrl })).end()
    const options: LimitOptions = {
      databaseUrl,
      groups: GROUPS_A_SECOND * seconds,
      connections: LIMIT_CONNECTIONS,
    }
    type Printed = { eventsPerSecond: number; stored: number }
    const limit = await runProgram<Printed>('server', 'postgres/limit.ts', options)
    figures.limit.push(limit.eventsPerSecond)
    await expectStored(databaseUrl, [limit])
  })
}

/** Measures a full store: its size, and the time of a page of a customer's events under load. */
async function measureFull({ folder, postgres, settings, figures }: Measured) {
  await inDatabase(folder, postgres, async (inner, databaseUrl) => {
    const { storedEvents, rounds, seconds, warmUpSeconds } = settings
    say(`PostgreSQL: filling a store with ${storedEvents} events`)
    const server = await startCairn(inner, { databaseUrl })
    await initializeCustomers(server)
    const emptyBytes = await databaseBytes(databaseUrl)
    const empty = await relationBytes(databaseUrl)
    const fill = await runLoad(server, {
      kind: 'batch',
      connections: BATCH_CONNECTIONS,
      messageIds: 'mixed',
      warmUpSeconds: 0,
      seconds: 0,
      requests: storedEvents / BATCH_EVENTS,
    })
    figures.fill_events_per_s = fill.requestsPerSecond * BATCH_EVENTS
    figures.bytes_per_event = ((await databaseBytes(databaseUrl)) - emptyBytes) / fill.stored
    figures.relation_bytes = [...(await relationBytes(databaseUrl, empty))].map(([name, bytes]) => [
      name,
      bytes / fill.stored,
    ])
    const single = { kind: 'single', connections: CONNECTIONS, messageIds: 'mixed' } as const
    const window = { seconds, warmUpSeconds, messageIds: 'mixed' } as const
    const written = [fill]
    for (let round = 1; round <= rounds; round += 1) {
      say(`PostgreSQL: reading while writing, round ${round}`)
      const [ours, beside] = await Promise.all([
        runLoad(server, { ...window, kind: 'timeline', connections: 1 }),
        runLoad(server, { ...window, ...single }),
      ])
      const options: TimelineOptions = { databaseUrl, subjectsFile: server.subjectsFile, ...window }
      const [bare, besideBare] = await Promise.all([
        runProgram<TimelineResult>('load', 'postgres/timeline.ts', options),
        runLoad(server, { ...window, ...single }),
      ])
      written.push(beside, besideBare)
      figures.timeline_p99_ms.cairn.push(ours.p99_ms)
      figures.timeline_p99_ms.bare.push(bare.p99_ms)
    }
    await server.end()
    await expectStored(databaseUrl, written)
  })
}

/** Starts a second server on the same database and the same core. */
async function replicaOf(server: Server, folder: string, databaseUrl: string): Promise<Server> {
  const replica = await restartCairn(server, folder, { ...UNLIMITED, DATABASE_URL: databaseUrl })
  return { ...replica, subjectsFile: server.subjectsFile }
}

/** @throws {Error} if a database contains anything other than what was acknowledged */
async function expectStored(databaseUrl: string, results: { stored: number }[]) {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  const { rows } = await client.query('SELECT count(*) AS count FROM events')
  await client.end()
  const acknowledged = results.reduce((sum, { stored }) => sum + stored, 0)
  if (Number(rows[0].count) !== acknowledged) {
    throw new Error(`a database contains ${rows[0].count} events; ${acknowledged} were acknowledged`)
  }
}
