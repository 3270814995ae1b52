// engines: sqlite, postgres

import { describe, expect } from 'vitest'
import type { Client, OperationRequest } from '../../client/index.ts'
import { DAY_MS } from '../../server/domain/durations.ts'
import { type Cairn, newStore, startCairn, startCairnForTest } from '../fixtures/cairn.ts'
import { customerInJourney } from '../fixtures/customer.ts'
import { engine } from '../fixtures/engine.ts'
import { inStore } from '../fixtures/in-store.ts'
import { it } from '../fixtures/it.ts'
import { withPatience } from '../fixtures/patience.ts'
import { newDatabase } from '../fixtures/postgres/databases.ts'
import { rowsOfWorkspace } from '../fixtures/rows-of-workspace.ts'
import { createKey } from '../fixtures/service-keys.ts'

type Definition = OperationRequest<'defineEvent'>['body']

const dry = { dry_run: true }

const PLAN = {
  type: 'object',
  properties: {
    plan: { type: 'string', enum: ['free', 'team'] },
    items: { type: 'array', items: { type: 'object', properties: { price: { type: 'number' } } } },
  },
  required: ['plan'],
  additionalProperties: false,
}

async function define(client: Client, definition: Partial<Definition> = {}) {
  const body = { event_id: 'signed_up', variables: PLAN, ...definition }
  const { data, error } = await client.defineEvent({ body })
  if (error) throw new Error(error.detail)
  return { definition_id: data.definition.definition_id }
}

async function violations(client: Client, path: { definition_id: string }, days?: number) {
  const { data, error } = await client.listDefinitionViolations({ path, ...(days && { query: { days } }) })
  if (error) throw new Error(error.detail)
  return data
}

/** The kinds in short: code, pointer, outcome and number of events. */
async function kinds(client: Client, path: { definition_id: string }) {
  const found = await violations(client, path)
  return found.kinds
    .map(({ code, pointer, outcome, events }) => `${code} ${pointer} ${outcome} ${events}`)
    .sort()
}

describe('events that do not conform', () => {
  it('are counted by what is wrong, per event once, with key and revision', async ({
    client,
    event,
    cairn,
    workspace,
  }) => {
    const path = await define(client)
    const prices = [{ price: 'a' }, { price: 'b' }, { price: 1 }]
    const custom_variables = { plan: 'gold', items: prices }
    await client.createEvent({ body: { ...event, custom_variables } })
    await client.createEvent({ body: { ...event, custom_variables: { plan: 'free' } } })
    await client.updateEventDefinition({ path, body: { mode: 'enforce', description: 'Another' } })
    const { key, key_id } = await createKey(cairn, workspace, 'secret')
    const sent = { ...event, custom_variables: { items: [] } }
    await cairn.client(key).createEvents({ body: { events: [sent, sent, { ...sent, event_id: 'other' }] } })
    await expect
      .poll(() => kinds(client, path))
      .toEqual([
        'missing /custom_variables/plan rejected 2',
        'not_in_enum /custom_variables/plan stored 1',
        'wrong_type /custom_variables/items/-/price stored 1',
      ])
    const found = await violations(client, path)
    expect(found).toMatchObject({ ...path, stored: 1, rejected: 2 })
    expect(found.kinds[0]).toMatchObject({ revision: 2, key_id, events: 2 })
    expect(found.days).toHaveLength(30)
    expect(found.days.at(-1)).toMatchObject({ stored: 1, rejected: 2 })
    const { data } = await client.listEventDefinitions()
    expect(data?.data[0]?.not_conforming).toBe(3)
  })

  it('count once, however often they are sent again, and not in a dry run or with another fault', async ({
    client,
    event,
  }) => {
    const path = await define(client)
    const body = { ...event, message_id: 'message-1', custom_variables: {} }
    await client.createEvent({ body, query: dry })
    await client.createEvents({ body: { events: [body] }, query: dry })
    await client.createEvent({ body: { ...body, customer_id: 'cus_unknown' } })
    expect(await kinds(client, path)).toEqual([])
    for (let count = 0; count < 3; count += 1) await client.createEvent({ body })
    await client.createEvents({ body: { events: [body, body] } })
    await client.createEvent({ body: { ...body, custom_variables: { more: 1 } } })
    await expect.poll(() => kinds(client, path)).toEqual(['missing /custom_variables/plan stored 1'])
  })

  it('reveal no name of a field that may be a value', async ({ client, event }) => {
    const path = await define(client)
    const names = [
      'seat_s',
      'ada@example.com',
      '+4915112345678',
      'a name',
      'user12345',
      'x'.repeat(41),
      'note',
    ]
    const fields = Object.fromEntries(names.map((name) => [name, 1]))
    await client.createEvent({ body: { ...event, custom_variables: { plan: 'free', ...fields } } })
    await expect
      .poll(() => kinds(client, path))
      .toEqual([
        'unexpected /custom_variables stored 1',
        'unexpected /custom_variables/note stored 1',
        'unexpected /custom_variables/seat_s stored 1',
      ])
  })

  it('count together beyond 200 kinds a day, in one write and in several', async ({ client, event }) => {
    const path = await define(client)
    // 20 violations are listed per event.
    const events = Array.from({ length: 11 }, (_, index) => {
      const names = Array.from({ length: 20 }, (_, field) => [`field_${'abcdefghijk'[index]}${field}`, 1])
      return { ...event, custom_variables: { plan: 'free', ...Object.fromEntries(names) } }
    })
    await client.createEvents({ body: { events } })
    await expect.poll(() => kinds(client, path)).toHaveLength(200)
    await client.createEvents({ body: { events } })
    await expect.poll(async () => (await violations(client, path)).stored).toBe(22)
    const { kinds: found } = await violations(client, path)
    expect(found).toHaveLength(200)
    expect(found.reduce((sum, { events }) => sum + events, 0)).toBe(2 * 199 + 2)
    expect(found).toContainEqual(
      expect.objectContaining({ code: 'other', pointer: '', key_id: null, events: 2 }),
    )
  })

  it('have a kind of their own up to the 200th, also if the others were written before', async ({
    client,
    event,
  }) => {
    const path = await define(client)
    const send = async (...names: string[]) => {
      const custom_variables = { plan: 'free', ...Object.fromEntries(names.map((name) => [name, 1])) }
      await client.createEvent({ body: { ...event, custom_variables } })
    }
    const found = async () => (await violations(client, path)).kinds.map(({ pointer }) => pointer)
    const names = Array.from({ length: 199 }, (_, index) => {
      return `field_${'abcdefghij'[Math.floor(index / 20)]}${index % 20}`
    })
    // 20 violations are listed per event.
    for (let at = 0; at < names.length; at += 20) await send(...names.slice(at, at + 20))
    await expect.poll(found).toHaveLength(199)
    await send('last')
    await expect.poll(found).toContain('/custom_variables/last')
    await send('beyond')
    await expect.poll(found).toContain('')
    expect(await found()).not.toContain('/custom_variables/beyond')
  })

  it('count as one kind beyond 10,000 kinds that were not written yet', async ({ client, event }) => {
    const names = Array.from({ length: 51 }, (_, index) => `event_${index}`)
    const paths = await Promise.all(names.map((event_id) => define(client, { event_id })))
    const sent = (event_id: string, field: string) => {
      const fields = Array.from({ length: 20 }, (_, index) => [`${field}${index}`, 1])
      return { ...event, event_id, custom_variables: { plan: 'free', ...Object.fromEntries(fields) } }
    }
    // One batch is counted before anything of it is written.
    const events = names.flatMap((name) => [...'abcdefghij'].map((field) => sent(name, field)))
    const { data } = await client.createEvents({ body: { events } })
    expect(data?.created).toBe(510)
    const last = paths.at(-1) ?? { definition_id: '' }
    await expect.poll(() => kinds(client, last)).toEqual(['other  stored 10'])
    const first = paths[0] ?? last
    await expect.poll(() => kinds(client, first)).toHaveLength(200)
    await client.createEvent({ body: sent('event_50', 'k') })
    await expect.poll(() => kinds(client, last)).toHaveLength(21)
  })

  it('count at the object that has them if their place is longer than 200 characters', async ({
    client,
    event,
  }) => {
    const [fits, longer] = ['x'.repeat(182), 'y'.repeat(183)]
    const path = await define(client, {
      variables: { type: 'object', properties: { [fits]: PLAN, [longer]: { type: 'string' } } },
    })
    await client.createEvent({ body: { ...event, custom_variables: { [fits]: 1, [longer]: 1 } } })
    await client.createEvent({ body: { ...event, custom_variables: { [fits]: {} } } })
    await expect
      .poll(() => kinds(client, path))
      .toEqual([
        `missing /custom_variables/${fits} stored 1`,
        'wrong_type /custom_variables stored 1',
        `wrong_type /custom_variables/${fits} stored 1`,
      ])
  })

  it('go with their definition', async ({ client, event, cairn, workspace }) => {
    const path = await define(client)
    await client.createEvent({ body: event })
    await expect.poll(() => kinds(client, path)).toHaveLength(1)
    await client.createEvent({ body: event })
    await client.removeEventDefinition({ path })
    const again = await define(client)
    expect(await kinds(client, again)).toEqual([])
    const rows = await inStore(cairn.databaseUrl, (db) => rowsOfWorkspace(db, workspace.workspace_id))
    expect(rows.definition_violations).toBeUndefined()
  })
})

describe('the counts', () => {
  it('are kept for 90 days, also when the server stops right after an event', async () => {
    const databaseUrl = engine === 'postgres' ? await newDatabase() : await newStore()
    let now_ms = Date.parse('2026-11-20T23:59:59Z')
    const open = () => startCairn({ databaseUrl, now: () => now_ms })
    const first = await open()
    const { workspace, event } = await customerInJourney(first)
    const path = await define(workspace.client)
    await workspace.client.createEvent({ body: event })
    await first.stop()

    now_ms += 1_000
    const second = await open()
    const client = second.client(workspace.secret_key)
    await client.createEvent({ body: event })
    await expect
      .poll(async () => (await violations(client, path, 2)).days)
      .toEqual([
        { day: '2026-11-20T00:00:00.000Z', stored: 1, rejected: 0 },
        { day: '2026-11-21T00:00:00.000Z', stored: 1, rejected: 0 },
      ])
    expect((await violations(client, path, 1)).stored).toBe(1)
    await second.stop()

    now_ms += 89 * DAY_MS
    const third = await startCairnForTest({ databaseUrl, now: () => now_ms })
    const late = third.client(workspace.secret_key)
    expect((await late.listEventDefinitions()).data?.data[0]?.not_conforming).toBe(0)
    expect((await violations(late, path, 90)).stored).toBe(1)
    await expect
      .poll(() => days(third, workspace.workspace_id), withPatience)
      .toEqual([Date.parse('2026-11-21T00:00:00Z')])
  })

  it('of the last seven days are in the list of definitions', async () => {
    let now_ms = Date.now()
    const at = await startCairnForTest({ now: () => now_ms })
    const { workspace, event } = await customerInJourney(at)
    const { client } = workspace
    await define(client)
    await client.createEvent({ body: event })
    const counted = async () => (await client.listEventDefinitions()).data?.data[0]?.not_conforming
    await expect.poll(counted).toBe(1)
    now_ms += 6 * DAY_MS
    expect(await counted()).toBe(1)
    now_ms += DAY_MS
    expect(await counted()).toBe(0)
  })

  it('are those of kinds, the most frequent first and then the latest, from the first event to the last', async () => {
    let now_ms = Date.parse('2026-11-20T12:00:00Z')
    const at = await startCairnForTest({ now: () => now_ms })
    const { workspace, event } = await customerInJourney(at)
    const { client } = workspace
    const path = await define(client)
    const send = async (custom_variables: Record<string, unknown>) => {
      await client.createEvent({ body: { ...event, custom_variables } })
      now_ms += 1_000
    }
    const found = async () =>
      (await violations(client, path)).kinds.map(
        ({ code, events, first_at, last_at }) =>
          `${code} ${events} ${first_at.slice(17, 19)}-${last_at.slice(17, 19)}`,
      )
    await send({})
    await send({ plan: 'gold' })
    await expect.poll(found).toEqual(['not_in_enum 1 01-01', 'missing 1 00-00'])
    await send({})
    await expect.poll(found).toEqual(['missing 2 00-02', 'not_in_enum 1 01-01'])
  })

  it('are read at once, not when they are written anyway', async ({ client, event }) => {
    const path = await define(client)
    await client.createEvent({ body: event })
    expect((await violations(client, path)).stored).toBe(1)
    await client.createEvent({ body: event })
    expect((await client.listEventDefinitions()).data?.data[0]?.not_conforming).toBe(2)
  })

  it('are those of the same days in all numbers, also after the clock was set back', async () => {
    let now_ms = Date.now() + 10 * DAY_MS
    const at = await startCairnForTest({ now: () => now_ms })
    const { workspace, event } = await customerInJourney(at)
    const { client } = workspace
    const path = await define(client)
    await client.createEvent({ body: event })
    await expect.poll(() => violations(client, path)).toMatchObject({ stored: 1, kinds: [{ events: 1 }] })
    now_ms -= 10 * DAY_MS
    expect(await violations(client, path)).toMatchObject({ stored: 0, kinds: [] })
    expect((await client.listEventDefinitions()).data?.data[0]?.not_conforming).toBe(0)
    await client.createEvent({ body: event })
    await expect.poll(() => violations(client, path)).toMatchObject({ stored: 1, kinds: [{ events: 1 }] })
    expect((await client.listEventDefinitions()).data?.data[0]?.not_conforming).toBe(1)
  })
})

/** The days of which a workspace has counts in the store. */
async function days(cairn: Cairn, workspaceId: string): Promise<number[]> {
  const rows = await inStore(cairn.databaseUrl, (db) =>
    db
      .selectFrom('definition_violations')
      .select('day_ms')
      .distinct()
      .where('workspace_id', '=', workspaceId)
      .orderBy('day_ms')
      .execute(),
  )
  return rows.map(({ day_ms }) => day_ms)
}
