import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { BATCH_EVENTS } from './data.ts'
import { inDatabase, startBenchPostgres } from './postgres/database.ts'
import { runLoad, type Server, startCairn } from './processes.ts'
import { BATCH_CONNECTIONS, untilIndexed } from './windows.ts'

/** Measures the same on each engine, on an empty store with a server that measuring ends. */
export async function measureOnEach<Figures>(
  folder: string,
  name: string,
  measure: (databaseUrl: string, server: Server) => Promise<Figures>,
): Promise<Record<'sqlite' | 'postgres', Figures>> {
  const inner = join(folder, name)
  mkdirSync(inner)
  const sqlite = await measure(`sqlite:${join(inner, 'cairn.db')}`, await startCairn(inner))
  rmSync(inner, { recursive: true })

  const server = await startBenchPostgres()
  let postgres: Figures | undefined
  try {
    await inDatabase(folder, server, async (inner, databaseUrl) => {
      postgres = await measure(databaseUrl, await startCairn(inner, { databaseUrl }))
    })
  } finally {
    await server.remove()
  }
  if (!postgres) throw new Error('nothing was measured on PostgreSQL')
  return { sqlite, postgres }
}

/** Stores so many events, and waits until they are indexed. */
export async function fill(server: Server, events: number): Promise<void> {
  await runLoad(server, {
    kind: 'batch',
    connections: BATCH_CONNECTIONS,
    messageIds: 'mixed',
    warmUpSeconds: 0,
    seconds: 0,
    requests: events / BATCH_EVENTS,
  })
  await untilIndexed(server)
}
