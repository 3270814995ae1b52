import { BATCH_EVENTS, type Breadth, CUSTOMERS, type MessageIds } from './data.ts'
import { countEvents, pause, runLoad, type Server, startCairn } from './processes.ts'
import type { Settings } from './settings.ts'

/** Number of connections for batches: enough to keep the writer busy, few enough not to queue for long. */
export const BATCH_CONNECTIONS = 4

/** Number of connections for single events and initializations. */
export const CONNECTIONS = 64

/** Time limit of indexing. */
const INDEXED_WAIT_MS = 600_000

/** Events that an idle store may leave unindexed; fewer than this do not affect figures. */
const UNINDEXED_EVENTS = 10_000

/** Starts our server on a new store, and initializes the customers. */
export async function startCairnWithCustomers(folder: string, breadth: Breadth = 'narrow'): Promise<Server> {
  const server = await startCairn(folder, { breadth })
  await initializeCustomers(server)
  return server
}

/** Initializes the customers on a server, through its API. */
export async function initializeCustomers(server: Server, customers = CUSTOMERS): Promise<void> {
  await runLoad(server, {
    kind: 'customers',
    connections: CONNECTIONS,
    messageIds: 'mixed',
    warmUpSeconds: 0,
    seconds: 0,
    requests: customers * (server.workspaces[0]?.journey_ids.length ?? 1),
  })
}

/**
 * Sends batches for one window.
 * @returns events per second, the number of acknowledged events, and the longest gap between responses
 */
export async function batchWindow(
  server: Server,
  { messageIds, breadth = 'narrow' }: { messageIds: MessageIds; breadth?: Breadth },
  settings: Settings,
) {
  const { requestsPerSecond, stored, longestGap_ms } = await runLoad(server, {
    kind: 'batch',
    connections: BATCH_CONNECTIONS,
    breadth,
    messageIds,
    warmUpSeconds: settings.warmUpSeconds,
    seconds: settings.seconds,
  })
  return { eventsPerSecond: requestsPerSecond * BATCH_EVENTS, stored, longestGap_ms }
}

/** Waits until indexing is complete, so that the work of one window does not slow down the next. */
export async function untilIndexed(server: Server): Promise<void> {
  const deadline = performance.now() + INDEXED_WAIT_MS
  while (((await server.metric('cairn_unindexed_events')) ?? 0) >= UNINDEXED_EVENTS) {
    if (performance.now() > deadline) throw new Error('the events were not indexed in time')
    await pause(100)
  }
}

/**
 * Counts the events in a store.
 * @throws {Error} if there are fewer than `least` or more than `most`
 */
export function expectStored(file: string, { least, most }: { least: number; most: number }): number {
  const count = countEvents(file)
  if (count < least || count > most) {
    throw new Error(`a store contains ${count} events; ${least} were acknowledged`)
  }
  return count
}
