import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type OfEngines, onEachEngine, type StartOnEngine } from './engines.ts'
import { runLoad, UNLIMITED } from './processes.ts'
import { send } from './requests.ts'
import type { Settings } from './settings.ts'
import type { Watched } from './watched.ts'
import { CONNECTIONS, initializeCustomers, untilIndexed } from './windows.ts'

/** Figures of a server that tells a webhook every event while it ingests; one per slice. */
export type WebhookFigures = {
  /** Single events per second, with the webhook enabled, and disabled. */
  events_per_s: Record<'told' | 'alone', number[]>
  /** Messages received per second while events arrive as fast as they are answered. */
  messages_per_s: number[]
  /** Messages received per second once no events arrive, from what has piled up. */
  alone_messages_per_s: number[]
}

const SLICES = 4

/** How long messages are counted while nothing arrives. */
const ALONE_SECONDS = 3

type Options = { settings: Settings; watched: Watched }

/** Measures sending to a receiver on this machine beside ingestion, on each engine. */
export async function measureWebhooks(folder: string, options: Options): Promise<OfEngines<WebhookFigures>> {
  return await onEachEngine({ folder, ...options }, 'webhooks', (start) => measureOn(start, options))
}

async function measureOn(start: StartOnEngine, { settings, watched }: Options): Promise<WebhookFigures> {
  let received = 0
  const receiver = createServer((req, res) => {
    req.resume().once('end', () => {
      received += 1
      res.writeHead(204).end()
    })
  })
  receiver.listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  const environment = {
    ...UNLIMITED,
    CAIRN_WEBHOOK_ALLOW: '127.0.0.1',
    CAIRN_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
  }
  const { engine, server } = await start('webhooks', { environment })
  await initializeCustomers(server)
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
  const made = await send(server, 'POST', '/webhooks', { url, types: ['event.created'] })
  const path = `/webhooks/${made.webhook.webhook_id}`
  const figures: WebhookFigures = {
    events_per_s: { told: [], alone: [] },
    messages_per_s: [],
    alone_messages_per_s: [],
  }
  const { seconds, warmUpSeconds, rounds } = settings
  const job = { kind: 'single', connections: CONNECTIONS, messageIds: 'mixed' } as const
  await runLoad(server, { ...job, seconds, warmUpSeconds })
  const window = { seconds: seconds / SLICES, warmUpSeconds: 0.5 }
  for (let slice = 1; slice <= rounds * SLICES; slice += 1) {
    for (const which of (['told', 'alone'] as const).toSorted(() => (slice % 2 === 0 ? -1 : 1))) {
      const isTold = which === 'told'
      await send(server, 'PATCH', path, isTold ? { enabled: true } : { enabled: false, skip_missed: true })
      const [before, start_ms] = [received, performance.now()]
      const { requestsPerSecond } = await runLoad(server, { ...job, ...window })
      figures.events_per_s[which].push(requestsPerSecond)
      if (isTold) {
        figures.messages_per_s.push(perSecond(received - before, start_ms))
        figures.alone_messages_per_s.push(await messagesAlone())
      }
      await untilIndexed(server)
    }
  }
  await watched.note(`webhooks, ${engine}`, server)
  await server.end()
  receiver.closeAllConnections()
  receiver.close()
  return figures

  async function messagesAlone(): Promise<number> {
    const [before, start_ms] = [received, performance.now()]
    await new Promise((resolve) => setTimeout(resolve, ALONE_SECONDS * 1000))
    return perSecond(received - before, start_ms)
  }
}

function perSecond(count: number, start_ms: number): number {
  return (count * 1000) / (performance.now() - start_ms)
}
