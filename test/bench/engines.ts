import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { BATCH_EVENTS } from './data.ts'
import { newBenchDatabase, startBenchPostgres } from './postgres/database.ts'
import { runLoad, type Server, startCairn } from './processes.ts'
import { BATCH_CONNECTIONS, untilIndexed } from './windows.ts'

/** A server on an empty store of an engine, and a folder that is its own. */
export type OnEngine = { engine: 'sqlite' | 'postgres'; databaseUrl: string; folder: string; server: Server }

/** Starts a server on an empty store; measuring ends it. @param name of its folder */
export type StartOnEngine = (name: string, environment?: Record<string, string>) => Promise<OnEngine>

/** Measures the same on each engine, with servers on stores of their own. */
export async function onEachEngine<Figures>(
  folder: string,
  name: string,
  measure: (start: StartOnEngine) => Promise<Figures>,
): Promise<Record<'sqlite' | 'postgres', Figures>> {
  const inner = join(folder, name)
  const made = (name: string) => {
    const own = join(inner, name)
    mkdirSync(own, { recursive: true })
    return own
  }
  const sqlite = await measure(async (name, environment = {}) => {
    const folder = made(name)
    const databaseUrl = `sqlite:${join(folder, 'cairn.db')}`
    return { engine: 'sqlite', databaseUrl, folder, server: await startCairn(folder, { environment }) }
  })
  rmSync(inner, { recursive: true })

  const running = await startBenchPostgres()
  try {
    const postgres = await measure(async (name, environment = {}) => {
      const folder = made(name)
      const databaseUrl = await newBenchDatabase(running)
      const server = await startCairn(folder, { databaseUrl, environment })
      return { engine: 'postgres', databaseUrl, folder, server }
    })
    return { sqlite, postgres }
  } finally {
    await running.remove()
    rmSync(inner, { recursive: true, force: true })
  }
}

/** Measures the same on each engine, on an empty store with a server that measuring ends. */
export async function measureOnEach<Figures>(
  folder: string,
  name: string,
  measure: (databaseUrl: string, server: Server) => Promise<Figures>,
): Promise<Record<'sqlite' | 'postgres', Figures>> {
  return await onEachEngine(folder, name, async (start) => {
    const { databaseUrl, server } = await start('store')
    return await measure(databaseUrl, server)
  })
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
