import { EVENT_NAMES } from './data.ts'
import { type OfEngines, onEachEngine, type StartOnEngine } from './engines.ts'
import { runLoad, type Server } from './processes.ts'
import { type Settings, say } from './settings.ts'
import type { Watched } from './watched.ts'
import { BATCH_CONNECTIONS, CONNECTIONS, initializeCustomers, untilIndexed } from './windows.ts'

/** Figures of a server where every event has a definition of ten fields, and of one without; one number per slice. */
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

/** Slices of a window. The two servers alternate, so that other load on the machine affects both. */
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
  const started = { defined: await start('defined'), free: await start('free') }
  const { engine } = started.defined
  for (const { server } of Object.values(started)) await initializeCustomers(server)
  await define(started.defined.server)
  const figures: DefinitionFigures = {
    single: { requests_per_s: { defined: [], free: [] }, cpu_us: { defined: [], free: [] } },
    batch: { requests_per_s: { defined: [], free: [] }, cpu_us: { defined: [], free: [] } },
  }
  const job = (kind: keyof DefinitionFigures) => {
    const connections = kind === 'batch' ? BATCH_CONNECTIONS : CONNECTIONS
    return { kind, connections, messageIds: 'mixed', variables: 'ten' } as const
  }
  // Not counted: V8 is still compiling.
  for (const { server } of Object.values(started)) {
    const { seconds, warmUpSeconds } = settings
    await runLoad(server, { ...job('single'), seconds, warmUpSeconds })
  }
  const window = { seconds: settings.seconds / SLICES, warmUpSeconds: 0.5 }
  for (let slice = 1; slice <= settings.rounds * SLICES; slice += 1) {
    say(`${engine}: with definitions and without, slice ${slice}`)
    for (const kind of ['single', 'batch'] as const) {
      for (const which of WHICH.toSorted(() => (slice % 2 === 0 ? -1 : 1))) {
        const { server } = started[which]
        const cpu_us = server.cpu_us()
        const { requestsPerSecond, stored } = await runLoad(server, { ...job(kind), ...window })
        figures[kind].cpu_us[which].push((server.cpu_us() - cpu_us) / stored)
        figures[kind].requests_per_s[which].push(requestsPerSecond)
        await untilIndexed(server)
      }
    }
  }
  for (const [which, { server }] of Object.entries(started)) {
    await watched.note(`${which}, ${engine}`, server)
    await server.end()
  }
  return figures
}

/** Defines every event of the load. A load fails if one is rejected, because its reply is not the expected one. */
async function define({ url, workspaces: [workspace] }: Server) {
  for (const event_id of EVENT_NAMES) {
    const reply = await fetch(`${url}/v1/event-definitions`, {
      method: 'POST',
      headers: { 'x-service-key': workspace?.key ?? '', 'content-type': 'application/json' },
      body: JSON.stringify({ event_id, mode: 'enforce', variables: VARIABLES }),
    })
    if (!reply.ok) throw new Error(`a definition was answered with ${reply.status}`)
  }
}
