import type { ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Client, createClient } from '../../client/index.ts'
import { freePort } from '../fixtures/free-port.ts'
import { type OfEngines, onEachEngine, type StartOnEngine } from './engines.ts'
import { pause, restartCairn, type Server, startProgram, UNLIMITED } from './processes.ts'
import { type Settings, say } from './settings.ts'
import { type ReceiverJob, subjectOf, UNVERIFIED } from './webhook-receiver.ts'

/** What a run with kills came to. */
export type KilledWebhookFigures = {
  minutes: number
  kills: { server: number; receiver: number }
  /** Messages that had to arrive, and those of them that did not. */
  wanted: number
  missing: number
  received: number
  /** Messages that arrived under more than one `webhook-id`. */
  ambiguous: number
  unverified: number
  /** From the last kill until nothing was pending. */
  drained_s: number
}

type Reply<Data> = Promise<{ data?: Data; error?: { title: string } | undefined }>

/** Events of each customer: a batch. */
const EVENTS = 12
const BATCH_EVERY_MS = 300

/** The longest time that a server, or the receiver, lives, and that the receiver stays dead. */
const SERVER_LIFE_MS = 60_000
const RECEIVER_LIFE_MS = 40_000
const RECEIVER_DEATH_MS = 3_000

const DRAIN_MS = 10 * 60_000
const REPORT_MS = 60_000

/**
 * Kills a server and the receiver of its webhook at random moments while events arrive, on each engine.
 * @throws {Error} unless every message has arrived, signed, under one `webhook-id`, and none is pending
 */
export async function measureKilledWebhooks(
  folder: string,
  settings: Settings,
): Promise<OfEngines<KilledWebhookFigures>> {
  return await onEachEngine({ folder, settings }, 'killed-webhooks', (start) => killOn(start, settings))
}

async function killOn(start: StartOnEngine, { minutes }: Settings): Promise<KilledWebhookFigures> {
  const environment = {
    ...UNLIMITED,
    CAIRN_WEBHOOK_ALLOW: '127.0.0.1',
    CAIRN_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
  }
  const on = await start('killed', { environment, core: 'any' })
  let server = on.server
  const [workspace] = server.workspaces
  if (!workspace) throw new Error('the store has no workspace')
  const journey_id = workspace.journey_ids[0] ?? ''
  const port = await freePort()
  const steps = [{ event_id: 'step', name: 'Step' }]
  await given(clientOf(server).updateJourney({ path: { journey_id }, body: { steps } }))
  const { webhook, secret } = await given(
    clientOf(server).createWebhook({
      body: {
        url: `http://127.0.0.1:${port}/`,
        types: ['event.created', 'customer.created', 'journey.entered', 'journey.step_reached'],
      },
    }),
  )
  const path = { webhook_id: webhook.webhook_id }
  const job: ReceiverJob = { port, secret, file: join(on.folder, 'received') }
  writeFileSync(job.file, '')
  const wanted = new Set<string>()
  const kills = { server: 0, receiver: 0 }
  const until_ms = performance.now() + minutes * 60_000
  const isOver = () => performance.now() > until_ms
  await Promise.all([load(), killServers(), killReceivers(), report()])
  const receiver = startProgram('any', 'webhook-receiver.ts', job)
  const last_ms = performance.now()
  await untilDrained()
  receiver.kill('SIGKILL')
  const drained_s = (performance.now() - last_ms) / 1000
  await server.end()
  const figures = { minutes, kills, drained_s, ...compared(wanted, job.file) }
  say(JSON.stringify(figures))
  const { missing, ambiguous, unverified } = figures
  if (missing + ambiguous + unverified > 0) throw new Error('messages are missing, ambiguous or unverified')
  return figures

  function clientOf({ url }: Server): Client {
    return createClient({ baseUrl: `${url}/v1`, serviceKey: workspace?.key ?? '', retries: 0 })
  }

  /** Sends until it is answered; the server recognizes what it has stored. */
  async function acknowledged<Data>(send: (client: Client) => Reply<Data>): Promise<NonNullable<Data>> {
    for (;;) {
      const reply = await send(clientOf(server)).catch(() => undefined)
      if (reply?.data) return reply.data
      await pause(100)
    }
  }

  async function load() {
    for (let index = 0; !isOver(); index += 1) {
      const customer = { client_customer_id: `user-${index}`, customer_name: 'Ada Lovelace' }
      const { customer_id } = await acknowledged((client) =>
        client.initializeCustomer({ body: { ...customer, journey_id, customer_type: 'contact' } }),
      )
      const events = Array.from({ length: EVENTS }, (_, event) => {
        const event_id = event === 0 ? 'step' : `event-${event}`
        return { journey_id, customer_id, event_id, message_id: randomUUID() }
      })
      const { results } = await acknowledged((client) => client.createEvents({ body: { events } }))
      for (const type of ['customer.created', 'journey.entered', 'journey.step_reached'])
        wanted.add(subjectOf(type, { customer_id }))
      for (const { id } of results) {
        if (!id) throw new Error('an event was refused')
        wanted.add(subjectOf('event.created', { id }))
      }
      await pause(BATCH_EVERY_MS)
    }
  }

  async function killServers() {
    for (;;) {
      await pause(Math.min(Math.random() * SERVER_LIFE_MS, until_ms - performance.now()))
      if (isOver()) return
      await server.end('SIGKILL')
      kills.server += 1
      const settings = { ...environment, DATABASE_URL: on.databaseUrl }
      server = await restartCairn(server, on.folder, settings, undefined, 'any')
    }
  }

  async function killReceivers() {
    while (!isOver()) {
      const receiver: ChildProcess = startProgram('any', 'webhook-receiver.ts', job)
      await pause(Math.min(Math.random() * RECEIVER_LIFE_MS, until_ms - performance.now()))
      receiver.kill('SIGKILL')
      kills.receiver += 1
      await pause(Math.random() * RECEIVER_DEATH_MS)
    }
  }

  async function report() {
    while (!isOver()) {
      await pause(Math.min(REPORT_MS, until_ms - performance.now()))
      const { missing, received } = compared(wanted, job.file)
      say(`${on.engine}: ${JSON.stringify({ ...kills, wanted: wanted.size, missing, received })}`)
    }
  }

  async function untilDrained() {
    const client = clientOf(server)
    // What has failed more than once would wait for minutes.
    for (const enabled of [false, true]) await given(client.updateWebhook({ path, body: { enabled } }))
    const deadline_ms = performance.now() + DRAIN_MS
    while (performance.now() < deadline_ms) {
      await pause(1_000)
      const { data } = await given(client.listWebhookDeliveries({ path, query: { status: 'pending' } }))
      if (data.length === 0 && compared(wanted, job.file).missing === 0) return
    }
    throw new Error('messages are still pending or missing')
  }
}

async function given<Data>(reply: Reply<Data>): Promise<NonNullable<Data>> {
  const { data, error } = await reply
  if (!data) throw new Error(error?.title)
  return data
}

/** Compares what had to arrive with what has been noted. */
function compared(wanted: ReadonlySet<string>, file: string) {
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1)
  const ids = new Map<string, Set<string>>()
  for (const line of lines) {
    const [subject = '', id = ''] = line.split('\t')
    ids.set(subject, (ids.get(subject) ?? new Set()).add(id))
  }
  const unverified = lines.filter((line) => line.startsWith(UNVERIFIED)).length
  return {
    wanted: wanted.size,
    missing: [...wanted].filter((subject) => !ids.has(subject)).length,
    received: lines.length,
    ambiguous: [...ids].filter(([subject, own]) => subject !== UNVERIFIED && own.size > 1).length,
    unverified,
  }
}
