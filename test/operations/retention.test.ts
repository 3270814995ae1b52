// engines: sqlite, postgres

import { beforeAll, describe, expect, it } from 'vitest'
import { DAY_MS } from '../../server/domain/durations.ts'
import { type Cairn, startCairn, type Workspace } from '../fixtures/cairn.ts'
import { initialize } from '../fixtures/customer.ts'
import { withPatience } from '../fixtures/patience.ts'
import { browser, signIn, signUp } from '../fixtures/people.ts'
import { settled } from './settled.ts'

let cairn: Cairn
/** The server's clock. It is never behind the real one, which the database uses for the as-of time. */
let now_ms = Date.now()

beforeAll(async () => {
  cairn = await startCairn({ now: () => now_ms })
  return cairn.stop
})

const STEPS = ['signed_up', 'plan_chosen', 'invoice_paid']

/** A year of a workspace: each month a customer arrives and takes one step a month. The clock is a year later then. */
async function aYear() {
  const workspace = await cairn.workspace()
  const { client, journey_id } = workspace
  const path = { journey_id }
  await client.updateJourney({
    path,
    body: { steps: STEPS.map((event_id) => ({ event_id, name: event_id })) },
  })
  const customers: string[] = []
  const stored: { month: number; message_id: string }[] = []
  const events = (month: number) =>
    STEPS.flatMap((event_id, step) => {
      const customer_id = customers[month - step]
      const message_id = `${month} ${event_id}`
      return customer_id === undefined ? [] : { journey_id, customer_id, event_id, message_id }
    })
  for (let month = 0; month < 12; month += 1) {
    customers.push(await initialize(workspace, `user-${month}`))
    const { data } = await client.createEvents({ body: { events: events(month) } })
    for (const { status, message_id } of data?.results.map(({ status }, index) => {
      return { status, message_id: events(month)[index]?.message_id ?? '' }
    }) ?? []) {
      expect(status).toBe('created')
      stored.push({ month, message_id })
    }
    now_ms += 30 * DAY_MS
  }
  return { workspace, path, events, stored }
}

async function listed({ client }: Workspace): Promise<string[]> {
  const { data } = await client.listEvents({ query: { limit: 500 } })
  return (data?.data ?? []).map(({ message_id }) => message_id ?? '').reverse()
}

/** The report of the journey, without what depends on the time of the request. */
async function told({ client }: Workspace, path: { journey_id: string }) {
  const { as_of: _, ...report } = await settled(() => client.getJourneyReport({ path }))
  const customers = await client.listJourneyCustomers({ path })
  return { report, customers: customers.data?.data }
}

/** The same report, rebuilt from what is stored: the steps are edited, and edited back. */
async function toldAnew(workspace: Workspace, path: { journey_id: string }) {
  const { client } = workspace
  const steps = STEPS.map((event_id) => ({ event_id, name: event_id }))
  for (const body of [{ steps: steps.toReversed() }, { steps }]) {
    await client.updateJourney({ path, body })
    await settled(() => client.getJourneyReport({ path }))
  }
  return await told(workspace, path)
}

describe('a retention period', () => {
  it('removes what is older, as the preview says, and reports cover what is kept', async () => {
    const { workspace, path, events, stored } = await aYear()
    const { client } = workspace
    const before = await told(workspace, path)
    expect(before.report).toMatchObject({
      enrolled: 12,
      events_since: null,
      steps: [{ reached: 12 }, {}, {}],
    })

    const retention_days = 100
    const kept = stored.filter(({ month }) => (12 - month) * 30 <= retention_days)
    const query = { retention_days, ...path }
    const preview = (await client.getRetentionPreview({ query })).data
    expect(preview).toMatchObject({ events: stored.length - kept.length, more_events: false })
    expect(Date.parse(preview?.oldest_kept_at ?? '')).toBe(now_ms - 90 * DAY_MS)
    // Of another journey nothing is stored.
    const other = await client.createJourney({ body: { name: 'Other' } })
    const ofOther = { retention_days, journey_id: other.data?.journey_id ?? '' }
    expect((await client.getRetentionPreview({ query: ofOther })).data).toMatchObject({
      events: 0,
      oldest_kept_at: null,
    })
    expect(await listed(workspace)).toHaveLength(stored.length)

    const { data } = await client.updateJourney({ path, body: { retention_days } })
    expect(data).toMatchObject({ retention_days })
    await expect.poll(() => listed(workspace), withPatience).toEqual(kept.map(({ message_id }) => message_id))
    const left = async () => (await told(workspace, path)).report
    await expect.poll(async () => (await left()).steps[0]?.reached, withPatience).toBe(3)
    const after = await told(workspace, path)
    expect(after.report).toMatchObject({ enrolled: 12, events_since: preview?.before })
    expect(after).toEqual(await toldAnew(workspace, path))

    const again = await client.createEvents({ body: { events: [...events(0), ...events(11)] } })
    expect(again.data?.results.map(({ status }) => status)).toEqual([
      'created',
      'duplicate',
      'duplicate',
      'duplicate',
    ])
  })

  it('continues over time, and applies to a whole workspace and no other', async () => {
    const other = await aYear()
    const { workspace, path, stored } = await aYear()
    const owner = await signUp(cairn, workspace, 'owner')
    const made = await owner.client().updateWorkspace({ body: { retention_days: 365 } })
    expect(made.data).toMatchObject({ retention_days: 365 })
    const keptIn = (days: number) => {
      const kept = stored.filter(({ month }) => (12 - month) * 30 <= days)
      return kept.map(({ message_id }) => message_id)
    }
    expect(keptIn(365)).toHaveLength(stored.length)
    for (const days of [30, 60]) {
      now_ms += 30 * DAY_MS
      // Retention runs every minute, and whenever somebody changes how long to keep events.
      await workspace.client.updateJourney({ path, body: { retention_days: null } })
      await expect.poll(() => listed(workspace), withPatience).toEqual(keptIn(365 - days))
    }
    // The first session has ended meanwhile.
    const later = browser(cairn, await signIn(cairn, owner)).client()
    const since_ms = Date.parse((await later.getWorkspace()).data?.events_since ?? '')
    expect(since_ms).toBe(now_ms - 365 * DAY_MS)
    expect(await listed(other.workspace)).toHaveLength(other.stored.length)
    const log = (
      await later.listAuditLog({ query: { area: 'members', subject_id: workspace.workspace_id, limit: 1 } })
    ).data?.data
    expect(log).toMatchObject([
      {
        action: 'workspace_retention_changed',
        before: { retention_days: null },
        after: { retention_days: 365 },
      },
    ])
  })
})
