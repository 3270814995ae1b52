// engines: sqlite, postgres

import { describe, expect } from 'vitest'
import type { operationPaths } from '../../generated/operations.ts'
import type { Workspace } from '../fixtures/cairn.ts'
import { customerInJourney } from '../fixtures/customer.ts'
import { it } from '../fixtures/it.ts'

type Victim = Awaited<ReturnType<typeof customerInJourney>>
type Attempt = (intruder: Workspace, victim: Victim) => Promise<unknown>

const path = ({ event }: Victim) => ({ journey_id: event.journey_id, customer_id: event.customer_id })
const code = (answer: Promise<{ error?: { code: string } | undefined }>) =>
  answer.then(({ error }) => error?.code)
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
  const { data } = await client.createWebhook({ body })
  return { webhook_id: data?.webhook.webhook_id ?? '' }
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

/** The response of each operation when one workspace's key asks for something that belongs to another. */
const attempts: Record<keyof typeof operationPaths, [expected: unknown, attempt: Attempt]> = {
  initializeCustomer: [
    'journey_not_found',
    ({ client }, victim) => {
      const names = { client_customer_id: 'user-1', customer_type: 'contact', customer_name: 'Eve' } as const
      return code(client.initializeCustomer({ body: { ...names, journey_id: victim.event.journey_id } }))
    },
  ],
  createEvent: [
    ['journey_not_found', 'customer_not_found'],
    async ({ client, journey_id }, { event }) => [
      await code(client.createEvent({ body: event })),
      await code(client.createEvent({ body: { ...event, journey_id } })),
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
  getJourney: ['journey_not_found', ({ client }, victim) => code(client.getJourney({ path: path(victim) }))],
  updateJourney: [
    'journey_not_found',
    ({ client }, victim) => code(client.updateJourney({ path: path(victim), body: { name: 'Mine' } })),
  ],
  archiveJourney: [
    'journey_not_found',
    ({ client }, victim) => code(client.archiveJourney({ path: path(victim) })),
  ],
  restoreJourney: [
    'journey_not_found',
    ({ client }, victim) => code(client.restoreJourney({ path: path(victim) })),
  ],
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
  getWebhook: [
    'webhook_not_found',
    async ({ client }, { workspace }) => code(client.getWebhook({ path: await madeWebhook(workspace) })),
  ],
  updateWebhook: [
    'webhook_not_found',
    async ({ client }, { workspace }) =>
      code(client.updateWebhook({ path: await madeWebhook(workspace), body: { enabled: false } })),
  ],
  removeWebhook: [
    'webhook_not_found',
    async ({ client }, { workspace }) => code(client.removeWebhook({ path: await madeWebhook(workspace) })),
  ],
  rotateWebhookSecret: [
    'webhook_not_found',
    async ({ client }, { workspace }) =>
      code(client.rotateWebhookSecret({ path: await madeWebhook(workspace) })),
  ],
  testWebhook: [
    'webhook_not_found',
    async ({ client }, { workspace }) => code(client.testWebhook({ path: await madeWebhook(workspace) })),
  ],
  replayWebhook: [
    'webhook_not_found',
    async ({ client }, { workspace }) => {
      const body = { from: '2026-11-20T08:00:00Z' }
      return await code(client.replayWebhook({ path: await madeWebhook(workspace), body }))
    },
  ],
  listWebhookDeliveries: [
    'webhook_not_found',
    async ({ client }, { workspace }) =>
      code(client.listWebhookDeliveries({ path: await madeWebhook(workspace) })),
  ],
  resendWebhookDelivery: [
    ['webhook_not_found', 'delivery_not_found'],
    async (intruder, { workspace }) => {
      const theirs = await madeWebhook(workspace)
      const { delivery_id } = await deliveryTo(workspace, theirs)
      const mine = await madeWebhook(intruder)
      return [
        await code(intruder.client.resendWebhookDelivery({ path: { ...theirs, delivery_id } })),
        await code(intruder.client.resendWebhookDelivery({ path: { ...mine, delivery_id } })),
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
      return code(
        client.createView({ body: { name: 'Mine', journey_id, query: {}, visibility: 'workspace' } }),
      )
    },
  ],
  getView: [
    'view_not_found',
    async ({ client }, victim) => code(client.getView({ path: await savedView(victim) })),
  ],
  updateView: [
    'view_not_found',
    async ({ client }, victim) =>
      code(client.updateView({ path: await savedView(victim), body: { name: 'Mine' } })),
  ],
  removeView: [
    'view_not_found',
    async ({ client }, victim) => code(client.removeView({ path: await savedView(victim) })),
  ],
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
  getEventDefinition: [
    'definition_not_found',
    async ({ client }, { workspace }) => code(client.getEventDefinition({ path: await defined(workspace) })),
  ],
  updateEventDefinition: [
    'definition_not_found',
    async ({ client }, { workspace }) =>
      code(client.updateEventDefinition({ path: await defined(workspace), body: { mode: 'off' } })),
  ],
  removeEventDefinition: [
    'definition_not_found',
    async ({ client }, { workspace }) =>
      code(client.removeEventDefinition({ path: await defined(workspace) })),
  ],
  listDefinitionViolations: [
    'definition_not_found',
    async ({ client }, { workspace }) =>
      code(client.listDefinitionViolations({ path: await defined(workspace) })),
  ],
  listEventDefinitionRevisions: [
    'definition_not_found',
    async ({ client }, { workspace }) =>
      code(client.listEventDefinitionRevisions({ path: await defined(workspace) })),
  ],
  getRetentionPreview: [
    'journey_not_found',
    ({ client }, { event: { journey_id } }) =>
      code(client.getRetentionPreview({ query: { retention_days: 1, journey_id } })),
  ],
  eraseCustomer: [
    'customer_not_found',
    ({ client }, victim) => code(client.eraseCustomer({ path: path(victim) })),
  ],
  getCustomer: [
    'customer_not_found',
    ({ client }, victim) => code(client.getCustomer({ path: path(victim) })),
  ],
  listCustomerEvents: [
    'customer_not_found',
    ({ client }, victim) => code(client.listCustomerEvents({ path: path(victim) })),
  ],
  exportEvents: [
    [0, 0],
    async ({ client }, { event }) => [
      await exported(client.exportEvents()),
      await exported(client.exportEvents({ query: { journey_id: event.journey_id } })),
    ],
  ],
  exportCustomer: [
    'customer_not_found',
    ({ client }, victim) => code(client.exportCustomer({ path: path(victim) })),
  ],
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
      const { data } = await workspace.client.listRefusals()
      return await code(client.getRefusal({ path: { refusal_id: data?.data[0]?.refusal_id ?? '' } }))
    },
  ],
  replayRefusals: [
    ['refusal_not_found', 0],
    async ({ client }, { event, workspace }) => {
      await workspace.client.createEvent({ body: { ...event, customer_id: 'cus_unknown' } })
      const { data } = await workspace.client.listRefusals()
      const refusal_id = data?.data[0]?.refusal_id ?? ''
      const all = await client.replayRefusals({ body: {} })
      return [await code(client.replayRefusals({ body: { refusal_id } })), all.data?.results.length]
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
  getJourneyContract: [
    'journey_not_found',
    ({ client }, victim) => code(client.getJourneyContract({ path: path(victim) })),
  ],
  getJourneyReport: [
    'journey_not_found',
    ({ client }, victim) => code(client.getJourneyReport({ path: path(victim) })),
  ],
  getJourneyTrend: [
    'journey_not_found',
    ({ client }, victim) => code(client.getJourneyTrend({ path: path(victim) })),
  ],
  getJourneyStepTimes: [
    'journey_not_found',
    ({ client }, victim) => code(client.getJourneyStepTimes({ path: path(victim), query: { step: 1 } })),
  ],
  listJourneyCustomers: [
    'journey_not_found',
    ({ client }, victim) => code(client.listJourneyCustomers({ path: path(victim) })),
  ],
  listCustomerJourneys: [
    'customer_not_found',
    ({ client }, victim) => code(client.listCustomerJourneys({ path: path(victim) })),
  ],
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
