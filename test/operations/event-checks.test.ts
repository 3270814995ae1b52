// engines: sqlite, postgres

import { describe, expect } from 'vitest'
import type { Client, OperationRequest } from '../../client/index.ts'
import { startCairnForTest } from '../fixtures/cairn.ts'
import { customerInJourney } from '../fixtures/customer.ts'
import { it } from '../fixtures/it.ts'
import { keptRefusals } from '../fixtures/refusals.ts'
import { createKey } from '../fixtures/service-keys.ts'

type Variables = NonNullable<OperationRequest<'defineEvent'>['body']['variables']>
type Mode = NonNullable<OperationRequest<'defineEvent'>['body']['mode']>
type Event = OperationRequest<'createEvent'>['body']

const dry = { dry_run: true }

const PLAN: Variables = {
  type: 'object',
  properties: { plan: { type: 'string', enum: ['free', 'team'] }, seats: { type: 'integer', minimum: 1 } },
  required: ['plan'],
  additionalProperties: false,
}

/** The only violation of `{ plan: 'team', seats: 0 }`. */
const NO_SEATS = {
  code: 'out_of_bounds',
  pointer: '/custom_variables/seats',
  detail: 'must be at least 1',
  expected: 'at least 1',
  found: 'number',
}

async function define(client: Client, mode: Mode, variables = PLAN, event_id = 'signed_up'): Promise<string> {
  const { data, error } = await client.defineEvent({ body: { event_id, mode, variables } })
  if (error) throw new Error(error.detail)
  return data.definition.definition_id
}

/** The reply to each way of sending an event: its outcome, and the violations that it lists. */
async function repliesOf(client: Client, event: Event) {
  const [one, trial, many, trials] = [
    await client.createEvent({ body: event }),
    await client.createEvent({ body: event, query: dry }),
    await client.createEvents({ body: { events: [event] } }),
    await client.createEvents({ body: { events: [event] }, query: dry }),
  ]
  const singles = [one, trial].map(({ data, error }) => {
    const outcome = data?.duplicate ? 'duplicate' : 'created'
    return error ? [error.code, error.errors] : [outcome, data?.warnings]
  })
  const items = [many, trials].map(({ data }) => {
    const result = data?.results[0]
    return result?.problem ? [result.problem.code, result.problem.errors] : [result?.status, result?.warnings]
  })
  return [...singles, ...items]
}

const four = <Reply>(reply: Reply) => [reply, reply, reply, reply]

describe('an event whose name is defined', () => {
  it('is stored without a word if it conforms', async ({ client, event }) => {
    await define(client, 'enforce')
    const body = { ...event, custom_variables: { plan: 'team', seats: 1 } }
    expect(await repliesOf(client, body)).toEqual(four(['created', undefined]))
  })

  it.for<[mode: Mode, outcome: string, listed: object[] | undefined]>([
    ['off', 'created', undefined],
    ['warn', 'created', [NO_SEATS]],
    ['enforce', 'event_not_as_defined', [NO_SEATS]],
  ])('gets with the mode %s: %s', async ([mode, outcome, listed], { client, event }) => {
    await define(client, mode)
    const body = { ...event, custom_variables: { plan: 'team', seats: 0 } }
    expect(await repliesOf(client, body)).toEqual(four([outcome, listed]))
    const { data } = await client.listEvents()
    expect(data?.data.length).toBe(outcome === 'created' ? 2 : 0)
  })

  it.for<[sent: string, variables: Event['custom_variables'], violations: (string | undefined)[][]]>([
    ['nothing', undefined, [['missing', '/custom_variables/plan', 'string', 'nothing']]],
    ['a string of JSON that conforms', '{"plan":"free"}', []],
    [
      'a string of JSON that does not',
      '{"plan":5}',
      [['wrong_type', '/custom_variables/plan', 'string', 'number']],
    ],
    ['a string of other JSON', '[1]', [['wrong_type', '/custom_variables', 'object', 'string']]],
    ['any other string', 'a note', [['wrong_type', '/custom_variables', 'object', 'string']]],
    [
      'another value',
      { plan: 'gold' },
      [['not_in_enum', '/custom_variables/plan', 'one of "free", "team"', 'string']],
    ],
    [
      'a misspelt name',
      { plan: 'free', Se_ats: 2 },
      [['unexpected', '/custom_variables/Se_ats', 'nothing', 'number', 'seats']],
    ],
  ])('is checked if it carries %s', async ([, custom_variables, violations], { client, event }) => {
    await define(client, 'warn')
    const body = custom_variables === undefined ? event : { ...event, custom_variables }
    const { data } = await client.createEvent({ body })
    expect(
      (data?.warnings ?? []).map(({ code, pointer, expected, found, did_you_mean }) =>
        [code, pointer, expected, found, did_you_mean].slice(0, did_you_mean ? 5 : 4),
      ),
    ).toEqual(violations)
    const stored = await client.listEvents()
    expect(stored.data?.data[0]?.custom_variables).toEqual(custom_variables ?? null)
  })

  it('is listed with what is wrong by the definition in force now, if that is asked for', async ({
    client,
    event,
    owner,
  }) => {
    await client.createEvent({ body: { ...event, custom_variables: { plan: 'team', seats: 0 } } })
    await client.createEvent({ body: { ...event, custom_variables: '{"plan":"team"}' } })
    const listed = async (caller: Pick<Client, 'listEvents'>, query = { warnings: true }) =>
      (await caller.listEvents({ query })).data?.data.map(({ warnings }) => warnings)
    expect(await listed(client)).toEqual([undefined, undefined])
    const definition_id = await define(client, 'enforce')
    const person = owner.client()
    expect(await listed(client)).toEqual([undefined, [NO_SEATS]])
    expect(await listed(person)).toEqual([undefined, [NO_SEATS]])
    expect(await listed(client, { warnings: false })).toEqual([undefined, undefined])
    const path = { definition_id }
    await client.updateEventDefinition({
      path,
      body: { variables: { type: 'object' }, confirm_breaking: true },
    })
    expect(await listed(person)).toEqual([undefined, undefined])
  })

  it('is refused only after what the sender must correct first', async ({ client, event }) => {
    await define(client, 'enforce')
    const codes = async (body: Event) => (await repliesOf(client, body)).map(([code]) => code)
    expect(await codes({ ...event, customer_id: 'cus_unknown' })).toEqual(four('customer_not_found'))
    expect(await codes({ ...event, occurred_at: '9999-01-01T00:00:00Z' })).toEqual(
      four('occurred_at_in_future'),
    )
  })

  it('is never refused as a resend', async ({ client, event }) => {
    const sent = { ...event, message_id: 'message-1', custom_variables: { seats: 'SECRET' } }
    const first = await client.createEvent({ body: sent })
    await define(client, 'enforce')
    for (const [outcome, warnings] of await repliesOf(client, sent)) {
      expect(outcome).toBe('duplicate')
      expect(warnings).toHaveLength(2)
      expect(JSON.stringify(warnings)).not.toContain('SECRET')
    }
    const [, other] = await repliesOf(client, { ...sent, custom_variables: { seats: 5 } })
    expect(other).toEqual(['message_id_conflict', undefined])
    const resend = await client.createEvent({ body: sent })
    expect(resend.data?.id).toBe(first.data?.id)
    const [code] = (await repliesOf(client, { ...sent, message_id: 'message-2' })).map(([code]) => code)
    expect(code).toBe('event_not_as_defined')
  })

  it('is checked by itself in a batch', async ({ client, event }) => {
    await define(client, 'enforce')
    await define(client, 'warn', PLAN, 'plan_chosen')
    const wrong = { plan: 'team', seats: 0 }
    const { data } = await client.createEvents({
      body: {
        events: [
          { ...event, custom_variables: wrong },
          { ...event, event_id: 'plan_chosen', custom_variables: wrong },
          { ...event, custom_variables: { plan: 'free' } },
          { ...event, event_id: 'anything', custom_variables: wrong },
          { ...event, message_id: 'message-1', custom_variables: wrong },
          { ...event, message_id: 'message-1', custom_variables: { plan: 'free' } },
        ],
      },
    })
    expect(data).toMatchObject({ created: 4, rejected: 2, duplicate: 0 })
    expect(data?.results.map(({ problem, warnings }) => problem?.code ?? warnings?.length ?? 0)).toEqual([
      'event_not_as_defined',
      1,
      0,
      0,
      'event_not_as_defined',
      0,
    ])
  })

  it('has one violation in the reply to a batch that has a thousand already', async ({ client, event }) => {
    const names = Array.from({ length: 20 }, (_, index) => `field_${index}`)
    const properties = Object.fromEntries(names.map((name) => [name, {}]))
    await define(client, 'warn', { type: 'object', properties, required: names })
    const events = Array.from({ length: 60 }, () => event)
    const { data } = await client.createEvents({ body: { events } })
    const lengths = data?.results.map(({ warnings }) => warnings?.length)
    expect(lengths).toEqual([...Array(50).fill(20), ...Array(10).fill(1)])
  })

  it('is checked by the newest revision, and by none after the definition is removed', async ({
    client,
    event,
  }) => {
    const definition_id = await define(client, 'enforce')
    const code = async () => (await client.createEvent({ body: event })).error?.code
    expect(await code()).toBe('event_not_as_defined')
    const variables: Variables = { type: 'object' }
    await client.updateEventDefinition({
      path: { definition_id },
      body: { variables, confirm_breaking: true },
    })
    expect(await code()).toBeUndefined()
    const closed: Variables = { ...PLAN, required: ['seats'] }
    await client.updateEventDefinition({
      path: { definition_id },
      body: { variables: closed, confirm_breaking: true },
    })
    expect(await code()).toBe('event_not_as_defined')
    await client.removeEventDefinition({ path: { definition_id } })
    expect(await code()).toBeUndefined()
  })

  it('may be as the revision before says, until a time', async () => {
    let now_ms = Date.parse('2026-11-20T12:00:00Z')
    const { workspace, event } = await customerInJourney(await startCairnForTest({ now: () => now_ms }))
    const { client } = workspace
    const definition_id = await define(client, 'enforce')
    await client.updateEventDefinition({
      path: { definition_id },
      body: {
        variables: { ...PLAN, required: ['plan', 'seats'] },
        previous_accepted_until: '2026-11-21T00:00:00Z',
        confirm_breaking: true,
      },
    })
    const body = { ...event, custom_variables: { plan: 'team' } }
    const missing = [expect.objectContaining({ code: 'missing', pointer: '/custom_variables/seats' })]
    expect(await repliesOf(client, body)).toEqual(four(['created', missing]))
    const neither = { ...event, custom_variables: { seats: 1 } }
    expect((await repliesOf(client, neither)).map(([code]) => code)).toEqual(four('event_not_as_defined'))
    now_ms = Date.parse('2026-11-21T00:00:00Z')
    expect(await repliesOf(client, body)).toEqual(four(['event_not_as_defined', missing]))
  })
})

describe('an event whose name is not defined', () => {
  it.for([
    ['allow', 'created', undefined],
    ['warn', 'created', 'signed_up'],
    ['reject', 'unknown_event', 'signed_up'],
  ] as const)(
    'gets in a workspace with unknown_events %s: %s',
    async ([unknown_events, outcome, meant], { client, event, owner, workspace }) => {
      await define(client, 'off')
      await owner.client(workspace.workspace_id).updateWorkspace({ body: { unknown_events } })
      const violation = {
        code: 'unknown_event',
        pointer: '/event_id',
        detail: 'is not a defined event; did you mean "signed_up"?',
        expected: 'a defined event',
        found: 'string',
        did_you_mean: meant,
      }
      const misspelt = { ...event, event_id: 'Signed.Up' }
      expect(await repliesOf(client, misspelt)).toEqual(four([outcome, meant && [violation]]))
      const [, other] = (await repliesOf(client, { ...event, event_id: 'signed_in' }))[0] ?? []
      const { did_you_mean: _, ...unlike } = { ...violation, detail: 'is not a defined event' }
      expect(other).toEqual(meant && [unlike])
      // The name that is defined is never unknown, even if it is not checked.
      expect((await repliesOf(client, event)).map(([code]) => code)).toEqual(four('created'))
    },
  )
})

describe('a publishable key', () => {
  it('gets the same, whatever its customer is', async ({ cairn, client, event, workspace }) => {
    await define(client, 'enforce')
    const page = cairn.client(workspace.publishable_key)
    const body = { ...event, custom_variables: { plan: 'team', seats: 0 } }
    const known = await repliesOf(page, body)
    expect(known).toEqual(four(['event_not_as_defined', [NO_SEATS]]))
    expect(await repliesOf(page, { ...body, customer_id: 'cus_unknown' })).toEqual(known)
  })
})

describe('a rejected event', () => {
  it('is kept with its violations, by field, and is stored once the definition allows it', async ({
    client,
    event,
  }) => {
    const definition_id = await define(client, 'enforce')
    const body = { ...event, custom_variables: { plan: 'team', seats: 0 } }
    await client.createEvent({ body })
    await client.createEvents({ body: { events: [event, body] } })
    const kept = await keptRefusals(client, 3, { order: 'oldest' })
    expect(kept.map(({ code, status, item, errors }) => [code, status, item, errors])).toEqual([
      ['event_not_as_defined', 409, null, [NO_SEATS]],
      ['event_not_as_defined', 409, 0, [expect.objectContaining({ code: 'missing' })]],
      ['event_not_as_defined', 409, 1, [NO_SEATS]],
    ])
    const { data: summary } = await client.getRefusalSummary()
    const groups = summary?.groups.map(({ code, field, count, detail }) => [code, field, count, detail])
    expect(groups).toEqual([
      ['event_not_as_defined', '/custom_variables/seats', 2, 'must be at least 1'],
      ['event_not_as_defined', '/custom_variables/plan', 1, 'is required'],
    ])
    const again = await client.replayRefusals({ body: {} })
    expect(again.data).toMatchObject({ refused: 3, codes: [{ code: 'event_not_as_defined', count: 3 }] })
    const variables: Variables = { ...PLAN, properties: { ...PLAN.properties, seats: { type: 'integer' } } }
    await client.updateEventDefinition({
      path: { definition_id },
      body: { variables, confirm_breaking: true },
    })
    expect((await client.replayRefusals({ body: {}, query: dry })).data).toMatchObject({
      replayed: 2,
      refused: 1,
    })
    expect((await client.replayRefusals({ body: {} })).data).toMatchObject({ replayed: 2, refused: 1 })
    const { data } = await client.listEvents()
    expect(data?.data.map(({ custom_variables }) => custom_variables)).toEqual(
      Array(2).fill({ plan: 'team', seats: 0 }),
    )
  })
})

describe('a change of what events are checked by', () => {
  it('loses no event that is sent meanwhile: each is stored or kept as rejected', async ({
    client,
    event,
  }) => {
    const definition_id = await define(client, 'warn')
    const codes: (string | undefined)[] = []
    const send = async (sender: number) => {
      for (let count = 0; count < 20; count += 1) {
        const { error } = await client.createEvent({ body: { ...event, message_id: `${sender} ${count}` } })
        codes.push(error?.code)
      }
    }
    const modes = async () => {
      for (const mode of ['enforce', 'warn', 'enforce', 'off', 'enforce'] as const) {
        await client.updateEventDefinition({ path: { definition_id }, body: { mode } })
      }
    }
    await Promise.all([...Array(10).keys()].map(send).concat(modes()))
    expect((await client.createEvent({ body: event })).error?.code).toBe('event_not_as_defined')
    const refused = codes.filter((code) => code !== undefined)
    expect(refused.filter((code) => code !== 'event_not_as_defined')).toEqual([])
    const stored = await client.listEvents({ query: { limit: 500 } })
    expect(stored.data?.data).toHaveLength(codes.length - refused.length)
    await keptRefusals(client, refused.length + 1, { order: 'oldest' })
  })

  it('takes effect at once for every key', async ({ cairn, client, event, workspace }) => {
    const { key } = await createKey(cairn, workspace, 'secret')
    const other = cairn.client(key)
    expect((await other.createEvent({ body: event })).data?.warnings).toBeUndefined()
    const definition_id = await define(client, 'warn')
    expect((await other.createEvent({ body: event })).data?.warnings).toHaveLength(1)
    await client.updateEventDefinition({ path: { definition_id }, body: { mode: 'enforce' } })
    expect((await other.createEvent({ body: event })).error?.code).toBe('event_not_as_defined')
    const elsewhere = await customerInJourney(cairn)
    expect((await elsewhere.workspace.client.createEvent({ body: elsewhere.event })).data?.duplicate).toBe(
      false,
    )
  })
})
