// engines: sqlite, postgres

import { describe, expect } from 'vitest'
import type { operationPaths } from '../../generated/operations.ts'
import type { Workspace } from '../fixtures/cairn.ts'
import { customerInJourney } from '../fixtures/customer.ts'
import { it } from '../fixtures/it.ts'
import { keptRefusals } from '../fixtures/refusals.ts'
import { newWebhook } from '../fixtures/webhook.ts'
import { codeOf } from './code-of.ts'

type Victim = Awaited<ReturnType<typeof customerInJourney>>
type Attempt = (intruder: Workspace, victim: Victim) => Promise<unknown>

const path = ({ event }: Victim) => ({ journey_id: event.journey_id, customer_id: event.customer_id })
const own = (body: { data?: { data: object[] } | undefined }) => body.data?.data.length

/** The number of lines of an export before the last one. */
async function exported(answer: Promise<{ data?: ReadableStream | undefined }>): Promise<unknown> {
  const text = await new Response((await answer).data ?? null).text()
  return JSON.parse(text.trimEnd().split('\n').at(-1) ?? '').end
}

/** Defines an event in a workspace. */
async function defined({ client }: Workspace): Promise<{ definition_id: string }> {
  const { data } = await client.defineEvent({ body: { event_id: 'plan_chosen' } })
  return { definition_id: data?.definition.definition_id ?? '' }
}

/** Creates a webhook that nobody receives. */
async function madeWebhook({ client }: Workspace): Promise<{ webhook_id: string }> {
  const body = { url: 'https://hooks.example.com/hook', types: ['customer.created' as const] }
  return (await newWebhook(client, body)).path
}

/** Returns the message to a webhook about the customer that the workspace has. */
async function deliveryTo({ client }: Workspace, path: { webhook_id: string }) {
  await client.replayWebhook({ path, body: { from: '2026-01-01T00:00:00Z' } })
  const deliveries = async () => (await client.listWebhookDeliveries({ path })).data?.data ?? []
  await expect.poll(async () => (await deliveries()).length).toBe(1)
  const [{ delivery_id = '' } = {}] = await deliveries()
  return { delivery_id }
}

/** Saves a view of the customer's journey. */
async function savedView({ workspace, event: { journey_id } }: Victim): Promise<{ view_id: string }> {
  const view = { name: 'Theirs', journey_id, query: {}, visibility: 'workspace' as const }
  const { data } = await workspace.client.createView({ body: view })
  return { view_id: data?.view_id ?? '' }
}

type Ask<Path> = (
  client: Workspace['client'],
  path: Path,
) => Promise<{ error?: { code: string } | undefined }>

/** Rows of operations on one thing of the victim, which answer as if it did not exist. */
function on<Path>(expected: string, thing: (victim: Victim) => Path | Promise<Path>) {
  return (ask: Ask<Path>): [expected: string, attempt: Attempt] => [
    expected,
    async ({ client }, victim) => codeOf(ask(client, await thing(victim))),
  ]
}

const onJourney = on('journey_not_found', path)
const onCustomer = on('customer_not_found', path)
const onWebhook = on('webhook_not_found', ({ workspace }) => madeWebhook(workspace))
const onView = on('view_not_found', savedView)
const onDefinition = on('definition_not_found', ({ workspace }) => defined(workspace))

/** The response of each operation when one workspace's key asks for something that belongs to another. */
const attempts: Record<keyof typeof operationPaths, [expected: unknown, attempt: Attempt]> = {
  initializeCustomer: [
    'journey_not_found',
    ({ client }, victim) => {
      const names = { client_customer_id: 'user-1', customer_type: 'contact', customer_name: 'Eve' } as const
      return codeOf(client.initializeCustomer({ body: { ...names, journey_id: victim.event.journey_id } }))
    },
  ],
  createEvent: [
    ['journey_not_found', 'customer_not_found'],
    async ({ client, journey_id }, { event }) => [
      await codeOf(client.createEvent({ body: event })),
      await codeOf(client.createEvent({ body: { ...event, journey_id } })),
    ],
  ],
  createEvents: [
    ['journey_not_found', 'customer_not_found', 'created'],
    async ({ client, journey_id }, { event }) => {
      const names = { client_customer_id: 'user-2', customer_type: 'contact', customer_name: 'Eve' } as const
      const mine = await client.initializeCustomer({ body: { ...names, journey_id } })
      const customer_id = mine.data?.customer_id ?? ''
      const events = [event, { ...event, journey_id }, { ...event, journey_id, customer_id }]
      const { data } = await client.createEvents({ body: { events } })
      return data?.results.map(({ status, problem }) => problem?.code ?? status)
    },
  ],
  getJourney: onJourney((client, path) => client.getJourney({ path })),
  updateJourney: onJourney((client, path) => client.updateJourney({ path, body: { name: 'Mine' } })),
  archiveJourney: onJourney((client, path) => client.archiveJourney({ path })),
  restoreJourney: onJourney((client, path) => client.restoreJourney({ path })),
  listWebhooks: [
    [0, 1],
    async ({ client }, { workspace }) => {
      await madeWebhook(workspace)
      return [own(await client.listWebhooks()), own(await workspace.client.listWebhooks())]
    },
  ],
  createWebhook: [
    [1, 0],
    async (intruder, { workspace }) => {
      await madeWebhook(intruder)
      const lists = await Promise.all([intruder, workspace].map(({ client }) => client.listWebhooks()))
      return lists.map(own)
    },
  ],
  getWebhook: onWebhook((client, path) => client.getWebhook({ path })),
  updateWebhook: onWebhook((client, path) => client.updateWebhook({ path, body: { enabled: false } })),
  removeWebhook: onWebhook((client, path) => client.removeWebhook({ path })),
  rotateWebhookSecret: onWebhook((client, path) => client.rotateWebhookSecret({ path })),
  testWebhook: onWebhook((client, path) => client.testWebhook({ path })),
  replayWebhook: onWebhook((client, path) =>
    client.replayWebhook({ path, body: { from: '2026-11-20T08:00:00Z' } }),
  ),
  listWebhookDeliveries: onWebhook((client, path) => client.listWebhookDeliveries({ path })),
  resendWebhookDelivery: [
    ['webhook_not_found', 'delivery_not_found'],
    async (intruder, { workspace }) => {
      const theirs = await madeWebhook(workspace)
      const { delivery_id } = await deliveryTo(workspace, theirs)
      const mine = await madeWebhook(intruder)
      return [
        await codeOf(intruder.client.resendWebhookDelivery({ path: { ...theirs, delivery_id } })),
        await codeOf(intruder.client.resendWebhookDelivery({ path: { ...mine, delivery_id } })),
      ]
    },
  ],
  listViews: [
    [0, 1],
    async ({ client }, victim) => {
      await savedView(victim)
      return [own(await client.listViews()), own(await victim.workspace.client.listViews())]
    },
  ],
  createView: [
    'journey_not_found',
    ({ client }, { event }) => {
      const { journey_id } = event
      return codeOf(
        client.createView({ body: { name: 'Mine', journey_id, query: {}, visibility: 'workspace' } }),
      )
    },
  ],
  getView: onView((client, path) => client.getView({ path })),
  updateView: onView((client, path) => client.updateView({ path, body: { name: 'Mine' } })),
  removeView: onView((client, path) => client.removeView({ path })),
  listEventDefinitions: [
    [0, 0],
    async ({ client }, { workspace }) => {
      await defined(workspace)
      return [
        own(await client.listEventDefinitions()),
        own(await client.listEventDefinitions({ query: { event_id: 'plan_chosen' } })),
      ]
    },
  ],
  getObservedEvent: [
    0,
    async ({ client }, { workspace, event }) => {
      const query = { event_id: event.event_id }
      expect((await workspace.client.getObservedEvent({ query })).data?.examined).toBeGreaterThan(0)
      return (await client.getObservedEvent({ query })).data?.examined
    },
  ],
  // The name is free here.
  defineEvent: [
    201,
    async ({ client }, { workspace }) => {
      await defined(workspace)
      return (await client.defineEvent({ body: { event_id: 'plan_chosen' } })).response.status
    },
  ],
  getEventDefinition: onDefinition((client, path) => client.getEventDefinition({ path })),
  updateEventDefinition: onDefinition((client, path) =>
    client.updateEventDefinition({ path, body: { mode: 'off' } }),
  ),
  removeEventDefinition: onDefinition((client, path) => client.removeEventDefinition({ path })),
  listDefinitionViolations: onDefinition((client, path) => client.listDefinitionViolations({ path })),
  listEventDefinitionRevisions: onDefinition((client, path) => client.listEventDefinitionRevisions({ path })),
  getRetentionPreview: [
    'journey_not_found',
    ({ client }, { event: { journey_id } }) =>
      codeOf(client.getRetentionPreview({ query: { retention_days: 1, journey_id } })),
  ],
  eraseCustomer: onCustomer((client, path) => client.eraseCustomer({ path })),
  getCustomer: onCustomer((client, path) => client.getCustomer({ path })),
  listCustomerEvents: onCustomer((client, path) => client.listCustomerEvents({ path })),
  exportEvents: [
    [0, 0],
    async ({ client }, { event }) => [
      await exported(client.exportEvents()),
      await exported(client.exportEvents({ query: { journey_id: event.journey_id } })),
    ],
  ],
  exportCustomer: onCustomer((client, path) => client.exportCustomer({ path })),
  listErasures: [
    0,
    async ({ client }, { workspace, event: { journey_id } }) => {
      const names = { client_customer_id: 'user-3', customer_type: 'contact', customer_name: 'Eve' } as const
      const made = await workspace.client.initializeCustomer({ body: { ...names, journey_id } })
      const path = { customer_id: made.data?.customer_id ?? '' }
      expect((await workspace.client.eraseCustomer({ path })).response.status).toBe(200)
      return own(await client.listErasures())
    },
  ],
  exportCustomers: [0, ({ client }) => exported(client.exportCustomers())],
  listEvents: [
    [0, 0],
    async ({ client }, { event }) => [
      own(await client.listEvents()),
      own(
        await client.listEvents({ query: { journey_id: event.journey_id, customer_id: event.customer_id } }),
      ),
    ],
  ],
  listRefusals: [
    [0, 0],
    async ({ client }, { event, workspace }) => {
      await workspace.client.createEvent({ body: { ...event, customer_id: 'cus_unknown' } })
      return [
        own(await client.listRefusals()),
        own(await client.listRefusals({ query: { customer_id: 'cus_unknown' } })),
      ]
    },
  ],
  getRefusalSummary: [
    [0, []],
    async ({ client }, { event, workspace }) => {
      await workspace.client.createEvent({ body: { ...event, customer_id: 'cus_unknown' } })
      const { data } = await client.getRefusalSummary()
      return [data?.count, data?.groups]
    },
  ],
  getRefusal: [
    'refusal_not_found',
    async ({ client }, { event, workspace }) => {
      await workspace.client.createEvent({ body: { ...event, customer_id: 'cus_unknown' } })
      const [refusal] = await keptRefusals(workspace.client, 1)
      return await codeOf(client.getRefusal({ path: { refusal_id: refusal?.refusal_id ?? '' } }))
    },
  ],
  replayRefusals: [
    ['refusal_not_found', 0],
    async ({ client }, { event, workspace }) => {
      await workspace.client.createEvent({ body: { ...event, customer_id: 'cus_unknown' } })
      const [refusal] = await keptRefusals(workspace.client, 1)
      const refusal_id = refusal?.refusal_id ?? ''
      const all = await client.replayRefusals({ body: {} })
      return [await codeOf(client.replayRefusals({ body: { refusal_id } })), all.data?.results.length]
    },
  ],
  listCustomers: [
    [0, 0],
    async ({ client }) => [
      own(await client.listCustomers()),
      own(await client.listCustomers({ query: { client_customer_id: 'user-1' } })),
    ],
  ],
  listJourneys: [1, async ({ client }) => own(await client.listJourneys())],
  getJourneyContract: onJourney((client, path) => client.getJourneyContract({ path })),
  getJourneyReport: onJourney((client, path) => client.getJourneyReport({ path })),
  getJourneyTrend: onJourney((client, path) => client.getJourneyTrend({ path })),
  getJourneyStepTimes: onJourney((client, path) => client.getJourneyStepTimes({ path, query: { step: 1 } })),
  listJourneyCustomers: onJourney((client, path) => client.listJourneyCustomers({ path })),
  listCustomerJourneys: onCustomer((client, path) => client.listCustomerJourneys({ path })),
  getActivity: [
    [0, 0, 0],
    async ({ client }, { event }) => {
      const answers = [
        await client.getActivity(),
        await client.getActivity({ query: { group_by: 'event' } }),
        await client.getActivity({ query: { journey_id: event.journey_id } }),
      ]
      return answers.map(({ data }) => (data ? data.total.created + data.groups.length : data))
    },
  ],
  createJourney: [
    1,
    async ({ client }, victim) => {
      await client.createJourney({ body: { name: 'Mine' } })
      return own(await victim.workspace.client.listJourneys())
    },
  ],
}

describe('a workspace', () => {
  it.for(Object.entries(attempts))(
    'is closed to the key of another: %s',
    async ([_operation, [expected, attempt]], { cairn }) => {
      const victim = await customerInJourney(cairn)
      await victim.workspace.client.createEvent({ body: { ...victim.event, message_id: 'm-1' } })
      const before = await everything(victim)
      const intruder = await cairn.workspace()
      expect(await attempt(intruder, victim)).toEqual(expected)
      expect(await everything(victim)).toEqual(before)
    },
  )
})

async function everything({ workspace: { client } }: Victim) {
  const lists = [await client.listJourneys(), await client.listCustomers(), await client.listEvents()]
  return lists.map(({ data }) => data)
}
