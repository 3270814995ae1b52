// engines: sqlite, postgres

import { describe, expect } from 'vitest'
import { startCairnForTest } from '../fixtures/cairn.ts'
import { it } from '../fixtures/it.ts'

const steps = [
  { event_id: 'signed_up', name: 'Signed up' },
  { event_id: 'plan_chosen', name: 'Chose a plan' },
]

describe('journeys', () => {
  it('are created active with a name only, and with description and steps', async ({ client }) => {
    const named = await client.createJourney({ body: { name: 'Renewal' } })
    expect(named.response.status).toBe(201)
    expect(named.data).toMatchObject({ name: 'Renewal', description: '', steps: [], status: 'active' })
    const full = await client.createJourney({ body: { name: 'Trial', description: 'Two weeks', steps } })
    expect(full.data).toMatchObject({ name: 'Trial', description: 'Two weeks', steps })
    const path = { journey_id: full.data?.journey_id ?? '' }
    expect((await client.getJourney({ path })).data).toEqual(full.data)
  })

  it('change only in the fields that are sent', async () => {
    let now = Date.parse('2026-11-20T12:00:00Z')
    const cairn = await startCairnForTest({ now: () => now })
    const { client } = await cairn.workspace()
    const { data } = await client.createJourney({ body: { name: 'Trial', description: 'Two weeks', steps } })
    const path = { journey_id: data?.journey_id ?? '' }
    now += 1000
    const renamed = await client.updateJourney({ path, body: { name: 'Pilot' } })
    expect(renamed.data).toEqual({ ...data, name: 'Pilot', updated_at: '2026-11-20T12:00:01.000Z' })
    const emptied = await client.updateJourney({ path, body: { description: '', steps: [] } })
    expect(emptied.data).toEqual({ ...renamed.data, description: '', steps: [] })
    expect((await client.getJourney({ path })).data).toEqual(emptied.data)
  })

  it('are archived and restored, idempotently', async () => {
    let now = Date.parse('2026-11-20T12:00:00Z')
    const cairn = await startCairnForTest({ now: () => now })
    const { client, journey_id } = await cairn.workspace()
    const path = { journey_id }
    const archived = await client.archiveJourney({ path })
    expect(archived.data?.status).toBe('archived')
    now += 1000
    expect((await client.archiveJourney({ path })).data).toEqual(archived.data)
    const restored = await client.restoreJourney({ path })
    expect(restored.data).toMatchObject({ status: 'active', updated_at: '2026-11-20T12:00:01.000Z' })
    now += 1000
    expect((await client.restoreJourney({ path })).data).toEqual(restored.data)
  })

  it('refuse two steps with the same event_id, and change nothing', async ({ workspace }) => {
    const { client, journey_id } = workspace
    const twice = [...steps, { event_id: 'signed_up', name: 'Again' }]
    const made = await client.createJourney({ body: { name: 'Twice', steps: twice } })
    expect(made.error).toMatchObject({ status: 409, code: 'step_not_unique' })
    const changed = await client.updateJourney({ path: { journey_id }, body: { name: 'New', steps: twice } })
    expect(changed.error).toMatchObject({ status: 409, code: 'step_not_unique' })
    const { data } = await client.listJourneys()
    expect(data?.data.map(({ name, steps }) => ({ name, steps }))).toEqual([
      { name: 'Onboarding', steps: [] },
    ])
  })

  it('accept 100 steps and refuse 101', async ({ client }) => {
    const many = (count: number) =>
      Array.from({ length: count }, (_, at) => ({ event_id: `e${at}`, name: 'x' }))
    expect((await client.createJourney({ body: { name: 'x', steps: many(100) } })).response.status).toBe(201)
    const { error } = await client.createJourney({ body: { name: 'x', steps: many(101) } })
    expect(error).toMatchObject({ status: 400, errors: [{ pointer: '/steps' }] })
  })

  it('refuse an update without a field, and a status', async ({ workspace }) => {
    const { client, journey_id } = workspace
    const empty = await client.updateJourney({ path: { journey_id }, body: {} })
    expect(empty.error).toMatchObject({ status: 400, errors: [{ pointer: '' }] })
    const body = JSON.parse(
      '{"name": "x", "status": "archived", "steps": [{"event_id": "a", "name": "b", "c": 1}]}',
    )
    const { error } = await client.updateJourney({ path: { journey_id }, body })
    expect(error?.errors?.map(({ pointer }) => pointer)).toEqual(['/status', '/steps/0/c'])
  })

  it('are listed newest first, by status, page by page', async ({ workspace }) => {
    const { client, journey_id } = workspace
    const made: string[] = [journey_id]
    for (const name of ['a', 'b', 'c', 'd']) {
      const { data } = await client.createJourney({ body: { name } })
      made.unshift(data?.journey_id ?? '')
    }
    await client.archiveJourney({ path: { journey_id } })
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const { data } = await client.listJourneys({ query: { limit: 2, ...(cursor && { cursor }) } })
      seen.push(...(data?.data ?? []).map((journey) => journey.journey_id))
      cursor = data?.next_cursor ?? undefined
    } while (cursor)
    expect(seen).toEqual(made)
    const archived = await client.listJourneys({ query: { status: 'archived' } })
    expect(archived.data?.data.map((journey) => journey.journey_id)).toEqual([journey_id])
  })
})
