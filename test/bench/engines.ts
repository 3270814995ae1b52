import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { BATCH_EVENTS, type MessageIds } from './data.ts'
import { newBenchDatabase, startBenchPostgres } from './postgres/database.ts'
import { runLoad, type Server, type StartedOn, startCairn } from './processes.ts'
import type { Engine, Settings } from './settings.ts'
import { BATCH_CONNECTIONS, untilIndexed } from './windows.ts'

/** A server on a store of its own, which was empty when it started. */
export type OnEngine = { engine: Engine; databaseUrl: string; folder: string; server: Server }

/** Starts a server on an empty store; the measurement must stop it. @param name of its folder */
export type StartOnEngine = (
  name: string,
  options?: Pick<StartedOn, 'checkout' | 'environment' | 'core'>,
) => Promise<OnEngine>

/** Figures of each engine that was measured. */
export type OfEngines<Figures> = Partial<Record<Engine, Figures>>

type Measuring = { folder: string; settings: Settings }

/** Runs a measurement on each requested engine; each server has a store of its own. @param name of their folder */
export async function onEachEngine<Figures>(
  { folder, settings }: Measuring,
  name: string,
  measure: (start: StartOnEngine) => Promise<Figures>,
): Promise<OfEngines<Figures>> {
  const inner = join(folder, name)
  const figures: OfEngines<Figures> = {}
  for (const engine of settings.engines) {
    const running = engine === 'postgres' ? await startBenchPostgres() : undefined
    try {
      figures[engine] = await measure(async (name, options) => {
        const folder = join(inner, name)
        mkdirSync(folder, { recursive: true })
        const database = running && { databaseUrl: await newBenchDatabase(running) }
        const server = await startCairn(folder, { ...database, ...options })
        return { engine, databaseUrl: `sqlite:${server.file}`, ...database, folder, server }
      })
    } finally {
      await running?.remove()
      rmSync(inner, { recursive: true, force: true })
    }
  }
  return figures
}

/** Runs a measurement on each requested engine, with a server on an empty store, which the measurement must stop. */
export async function measureOnEach<Figures>(
  measuring: Measuring,
  name: string,
  measure: (databaseUrl: string, server: Server) => Promise<Figures>,
): Promise<OfEngines<Figures>> {
  return await onEachEngine(measuring, name, async (start) => {
    const { databaseUrl, server } = await start('store')
    return await measure(databaseUrl, server)
  })
}

/** Stores this many events, and waits until they are indexed. */
export async function fill(server: Server, events: number, messageIds: MessageIds = 'mixed'): Promise<void> {
  await runLoad(server, {
    kind: 'batch',
    connections: BATCH_CONNECTIONS,
    messageIds,
    warmUpSeconds: 0,
    seconds: 0,
    requests: events / BATCH_EVENTS,
  })
  await untilIndexed(server)
}
