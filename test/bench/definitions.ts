import { EVENT_NAMES } from './data.ts'
import { type OfEngines, onEachEngine, type StartOnEngine } from './engines.ts'
import { runLoad, type Server } from './processes.ts'
import { send } from './requests.ts'
import { type Settings, say } from './settings.ts'
import type { Watched } from './watched.ts'
import { BATCH_CONNECTIONS, CONNECTIONS, initializeCustomers, untilIndexed } from './windows.ts'

/** Figures of a server where every event has a definition of ten fields that is enforced, or is off; one per slice. */
export type DefinitionFigures = Record<
  'single' | 'batch',
  {
    requests_per_s: Record<Which, number[]>
    /** Microseconds of processor time of the server per event. */
    cpu_us: Record<Which, number[]>
  }
>

const WHICH = ['defined', 'free'] as const
type Which = (typeof WHICH)[number]

/** Slices of a window. The two modes alternate, so that other load on the machine affects both. */
const SLICES = 5

/** A definition of the ten variables of `Events`, with one of each rule that is common. */
const VARIABLES = {
  type: 'object',
  properties: {
    plan: { type: 'string', enum: ['free', 'team', 'enterprise'] },
    seats: { type: 'integer', minimum: 0, maximum: 100_000 },
    trial: { type: 'boolean' },
    currency: { type: 'string', minLength: 3, maxLength: 3 },
    price: { type: 'number', minimum: 0 },
    coupon: { type: ['string', 'null'] },
    source: { type: 'object', properties: { name: { type: 'string' }, campaign: { type: 'string' } } },
    tags: { type: 'array', items: { type: 'string' }, maxItems: 20 },
    page: { type: 'string', maxLength: 2000 },
    began_at: { type: 'string', format: 'date-time' },
  },
  required: ['plan', 'seats', 'trial', 'currency', 'price', 'page', 'began_at'],
  additionalProperties: false,
}

type Options = { settings: Settings; watched: Watched }

/** Measures the cost of checking events against definitions, on each engine. */
export async function measureDefinitions(
  folder: string,
  options: Options,
): Promise<OfEngines<DefinitionFigures>> {
  return await onEachEngine({ folder, ...options }, 'definitions', (start) => measureOn(start, options))
}

async function measureOn(start: StartOnEngine, { settings, watched }: Options): Promise<DefinitionFigures> {
  const { engine, server } = await start('definitions')
  await initializeCustomers(server)
  const ids = await define(server)
  const figures: DefinitionFigures = {
    single: { requests_per_s: { defined: [], free: [] }, cpu_us: { defined: [], free: [] } },
    batch: { requests_per_s: { defined: [], free: [] }, cpu_us: { defined: [], free: [] } },
  }
  const job = (kind: keyof DefinitionFigures) => {
    const connections = kind === 'batch' ? BATCH_CONNECTIONS : CONNECTIONS
    return { kind, connections, messageIds: 'mixed', variables: 'ten' } as const
  }
  // Not counted: V8 is still compiling.
  const { seconds, warmUpSeconds, rounds } = settings
  for (const kind of ['single', 'batch'] as const) {
    await runLoad(server, { ...job(kind), seconds, warmUpSeconds })
  }
  const window = { seconds: seconds / SLICES, warmUpSeconds: 0.5 }
  for (let slice = 1; slice <= rounds * SLICES; slice += 1) {
    say(`${engine}: with definitions and without, slice ${slice}`)
    for (const kind of ['single', 'batch'] as const) {
      for (const which of WHICH.toSorted(() => (slice % 2 === 0 ? -1 : 1))) {
        for (const id of ids) await setMode(server, id, which === 'defined' ? 'enforce' : 'off')
        const cpu_us = server.cpu_us()
        const { requestsPerSecond, stored } = await runLoad(server, { ...job(kind), ...window })
        figures[kind].cpu_us[which].push((server.cpu_us() - cpu_us) / stored)
        figures[kind].requests_per_s[which].push(requestsPerSecond)
        await untilIndexed(server)
      }
    }
  }
  await watched.note(`definitions, ${engine}`, server)
  await server.end()
  return figures
}

/** Defines every event of the load, with mode `off`. @returns the identifiers */
async function define(server: Server): Promise<string[]> {
  const ids: string[] = []
  for (const event_id of EVENT_NAMES) {
    const body = { event_id, mode: 'off', variables: VARIABLES }
    const { definition } = await send(server, 'POST', '/event-definitions', body)
    ids.push(definition.definition_id)
  }
  return ids
}

/** A load fails if an event is rejected, because its reply is not the expected one. */
async function setMode(server: Server, definition_id: string, mode: 'off' | 'enforce') {
  await send(server, 'PATCH', `/event-definitions/${definition_id}`, { mode })
}
