// engines: sqlite, postgres

import { describe, expect } from 'vitest'
import type { Client, OperationRequest } from '../../client/index.ts'
import type { DefinedValue } from '../../server/domain/event-definitions.ts'
import { newId } from '../../server/domain/identifiers.ts'
import { insertDefinition } from '../../server/storage/tables/event-definitions.ts'
import { inStore } from '../fixtures/in-store.ts'
import { it } from '../fixtures/it.ts'

const plan = {
  type: 'object',
  properties: {
    plan: { type: 'string', enum: ['free', 'team'], description: "The plan's name" },
    seats: { type: 'integer', minimum: 1 },
  },
  required: ['plan'],
}

async function define(client: Client, event_id = 'plan_chosen', variables: object = plan) {
  const { data, error } = await client.defineEvent({ body: { event_id, variables } })
  if (error) throw new Error(`${error.code}: ${error.detail}`)
  return data.definition
}

describe('a definition', () => {
  it('is stored as revision 1 and returned as it was sent', async ({ client }) => {
    const body = { event_id: 'plan_chosen', description: 'Chose', mode: 'enforce', variables: plan } as const
    const { data, response } = await client.defineEvent({ body })
    expect(response.status).toBe(201)
    expect(data).toMatchObject({ senders: 'additive', readers: 'additive', changes: [] })
    const { definition_id = '' } = data?.definition ?? {}
    expect(data?.definition).toMatchObject({ ...body, revision: 1, previous_accepted_until: null })
    const read = await client.getEventDefinition({ path: { definition_id } })
    expect(read.data).toEqual(data?.definition)
    const listed = { ...read.data, not_conforming: 0 }
    expect((await client.listEventDefinitions()).data).toEqual({ data: [listed], next_cursor: null })
    const named = await client.listEventDefinitions({ query: { event_id: 'plan_chosen' } })
    expect(named.data?.data).toEqual([listed])
    expect((await client.listEventDefinitions({ query: { event_id: 'Plan_chosen' } })).data?.data).toEqual([])
  })

  it('keeps the order of its fields, and names that JavaScript knows', async ({ client }) => {
    const properties = { zebra: {}, constructor: { type: 'string' }, 10: {}, a: {}, toString: {} }
    const { variables, definition_id } = await define(client, 'odd', { type: 'object', properties })
    expect(Object.keys(variables.properties ?? {})).toEqual(Object.keys(properties))
    const { data } = await client.getEventDefinition({ path: { definition_id } })
    expect(JSON.stringify(data?.variables)).toBe(JSON.stringify(variables))
  })

  it('exists once per name, however many are made at the same time', async ({ client }) => {
    const replies = await Promise.all(
      Array.from({ length: 8 }, () => client.defineEvent({ body: { event_id: 'signed_up' } })),
    )
    const statuses = replies.map(({ response }) => response.status).sort()
    expect(statuses).toEqual([201, ...Array(7).fill(409)])
    expect(replies.flatMap(({ error }) => error?.code ?? [])).toEqual(Array(7).fill('event_already_defined'))
  })

  it('is listed newest first, page by page', async ({ client }) => {
    const names = ['one', 'two', 'three']
    for (const name of names) await define(client, name)
    const listed: string[] = []
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const { data } = await client.listEventDefinitions({ query: { limit: 2, ...(cursor && { cursor }) } })
      listed.push(...(data?.data ?? []).map(({ event_id }) => event_id))
      cursor = data?.next_cursor ?? null
    }
    expect(listed).toEqual(names.reverse())
  })

  it('is gone when it is removed, with its revisions, and its name is free', async ({ client }) => {
    const { definition_id } = await define(client)
    const path = { definition_id }
    await client.updateEventDefinition({ path, body: { description: 'Chose a plan' } })
    expect((await client.removeEventDefinition({ path })).response.status).toBe(204)
    for (const reply of [
      await client.getEventDefinition({ path }),
      await client.listEventDefinitionRevisions({ path }),
      await client.updateEventDefinition({ path, body: { mode: 'off' } }),
      await client.removeEventDefinition({ path }),
    ]) {
      expect(reply.error).toMatchObject({ code: 'definition_not_found', status: 404 })
    }
    expect((await define(client)).definition_id).not.toBe(definition_id)
  })
})

describe('an update', () => {
  it('of the mode makes no revision', async ({ client }) => {
    const path = await define(client)
    const { data } = await client.updateEventDefinition({ path, body: { mode: 'enforce' } })
    expect(data).toMatchObject({ senders: 'none', readers: 'none', changes: [] })
    expect(data?.definition).toMatchObject({ mode: 'enforce', revision: 1, variables: plan })
  })

  it('that changes nothing leaves everything unchanged, whatever the order of fields', async ({
    client,
    owner,
  }) => {
    const { definition_id, ...before } = await define(client)
    const { properties, ...rest } = plan
    const { plan: name, seats } = properties
    const body = { variables: { properties: { seats, plan: name }, ...rest }, description: '' }
    const { data } = await client.updateEventDefinition({ path: { definition_id }, body })
    expect(data?.definition).toEqual({ definition_id, ...before })
    const log = await owner.client().listAuditLog({ query: { area: 'event_definitions' } })
    expect(log.data?.data.map(({ action }) => action)).toEqual(['event_defined'])
  })

  it('of what it says makes a revision, and each says what it changed', async ({ client }) => {
    const path = await define(client)
    const notes = { ...plan, properties: { ...plan.properties, note: { type: 'string' } } }
    const required = { ...notes, required: ['plan', 'seats'] }
    await client.updateEventDefinition({ path, body: { variables: notes } })
    const until = '2031-01-01T00:00:00Z'
    const breaking = { variables: required, previous_accepted_until: until, confirm_breaking: true }
    const { data } = await client.updateEventDefinition({ path, body: breaking })
    expect(data).toMatchObject({
      definition: { revision: 3, variables: required, previous_accepted_until: '2031-01-01T00:00:00.000Z' },
      senders: 'breaking',
      readers: 'additive',
      changes: [{ pointer: '/seats', change: 'required', senders: 'breaking', readers: 'additive' }],
    })
    const listed = await client.listEventDefinitionRevisions({ path })
    expect(listed.data).toMatchObject({
      data: [
        { revision: 3, variables: required, senders: 'breaking', readers: 'additive' },
        {
          revision: 2,
          variables: notes,
          senders: 'additive',
          changes: [{ pointer: '/note', change: 'added' }],
        },
        { revision: 1, variables: plan, senders: 'additive', readers: 'additive', changes: [] },
      ],
      next_before: null,
    })
    const earlier = await client.listEventDefinitionRevisions({ path, query: { before: 2 } })
    expect(earlier.data?.data.map(({ revision }) => revision)).toEqual([1])
    const next = await client.updateEventDefinition({ path, body: { description: 'Chose a plan' } })
    expect(next.data?.definition).toMatchObject({ revision: 4, previous_accepted_until: null })
  })

  it('that is breaking needs to be confirmed, and stores nothing otherwise', async ({ client }) => {
    const path = await define(client)
    const variables = { type: 'object', properties: { seats: plan.properties.seats } }
    const refused = await client.updateEventDefinition({ path, body: { variables, mode: 'off' } })
    expect(refused.error).toMatchObject({
      code: 'breaking_definition',
      status: 409,
      errors: [{ pointer: '/plan', detail: 'is no longer defined' }],
    })
    expect((await client.getEventDefinition({ path })).data).toMatchObject({ revision: 1, mode: 'warn' })
  })

  it('is applied after those that came before it, so that no revision is lost', async ({ client }) => {
    const path = await define(client)
    const replies = await Promise.all(
      Array.from({ length: 8 }, (_, count) => {
        return client.updateEventDefinition({ path, body: { description: `Number ${count}` } })
      }),
    )
    const revisions = replies.map(({ data }) => data?.definition.revision)
    expect(revisions.sort()).toEqual([2, 3, 4, 5, 6, 7, 8, 9])
    const listed = await client.listEventDefinitionRevisions({ path })
    expect(listed.data?.data.map(({ revision }) => revision)).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1])
  })
})

const large = {
  type: 'object',
  properties: Object.fromEntries(
    Array.from({ length: 8 }, (_, n) => [`f${n}`, { description: 'x'.repeat(2000) }]),
  ),
}

/** Stores definitions with these variables. */
async function fill(
  { databaseUrl }: { databaseUrl: string },
  workspace_id: string,
  { count, variables, revision = 1 }: { count: number; variables: object; revision?: number },
) {
  await inStore(databaseUrl, async (db) => {
    for (let number = 0; number < count; number += 1) {
      await insertDefinition(db, workspace_id, {
        definition_id: newId('def'),
        event_id: `filling ${number}`,
        revision,
        description: '',
        mode: 'off',
        variables: variables as DefinedValue,
        previous_until_ms: null,
        created_ms: Date.now(),
        updated_ms: Date.now(),
      })
    }
  })
}

it('holds a workspace to 4 MiB of definitions, of which nothing is stored beyond, also in a dry run', async ({
  cairn,
  workspace,
  client,
}) => {
  const count = Math.floor((4 * 1024 * 1024) / JSON.stringify(large).length)
  await fill(cairn, workspace.workspace_id, { count, variables: large })
  const path = await define(client, 'small', { type: 'object' })
  for (const query of [{ dry_run: true }, {}]) {
    const beyond = await client.defineEvent({ query, body: { event_id: 'beyond', variables: large } })
    expect(beyond.error).toMatchObject({ code: 'definition_limit', status: 409 })
    const grown = await client.updateEventDefinition({
      query,
      path,
      body: { variables: large, confirm_breaking: true },
    })
    expect(grown.error).toMatchObject({ code: 'definition_limit', status: 409 })
  }
  expect((await client.listEventDefinitions({ query: { event_id: 'beyond' } })).data?.data).toEqual([])
  expect((await client.getEventDefinition({ path })).data).toMatchObject({ revision: 1 })
  const small = { description: 'A little more' }
  const listed = await client.listEventDefinitions({ query: { event_id: 'filling 0' } })
  const largest = { definition_id: listed.data?.data[0]?.definition_id ?? '' }
  for (const query of [{ dry_run: true }, {}]) {
    for (const one of [path, largest]) {
      const { response } = await client.updateEventDefinition({ query, path: one, body: small })
      expect(response.status).toBe(200)
    }
  }
  const another = { event_id: 'another' }
  expect((await client.defineEvent({ query: { dry_run: true }, body: another })).response.status).toBe(200)
  expect((await client.defineEvent({ body: another })).response.status).toBe(201)
})

it('holds a workspace to 1,000 definitions, also in a dry run', async ({ cairn, workspace, client }) => {
  await fill(cairn, workspace.workspace_id, { count: 999, variables: { type: 'object' } })
  const last = { event_id: 'last' }
  expect((await client.defineEvent({ query: { dry_run: true }, body: last })).response.status).toBe(200)
  expect((await client.defineEvent({ body: last })).response.status).toBe(201)
  for (const query of [{ dry_run: true }, {}]) {
    const { error } = await client.defineEvent({ query, body: { event_id: 'one more' } })
    expect(error).toMatchObject({ code: 'definition_limit', status: 409 })
  }
})

it('holds a definition to 1,000 revisions, also in a dry run', async ({ cairn, workspace, client }) => {
  await fill(cairn, workspace.workspace_id, { count: 1, variables: plan, revision: 999 })
  const [{ definition_id = '' } = {}] = (await client.listEventDefinitions()).data?.data ?? []
  const update = (body: OperationRequest<'updateEventDefinition'>['body'], query = {}) =>
    client.updateEventDefinition({ path: { definition_id }, query, body })
  const dry = { dry_run: true }
  for (const query of [dry, {}]) {
    const { data } = await update({ description: 'The last revision' }, query)
    expect(data?.definition.revision).toBe(1000)
  }
  for (const query of [dry, {}]) {
    const { error } = await update({ description: 'One more' }, query)
    expect(error).toMatchObject({ code: 'definition_limit', status: 409 })
  }
  expect((await update({ mode: 'warn' })).data?.definition).toMatchObject({ mode: 'warn', revision: 1000 })
})

it('lists many revisions page by page', async ({ client }) => {
  const path = await define(client)
  for (let count = 0; count < 24; count += 1) {
    await client.updateEventDefinition({ path, body: { description: `Number ${count}` } })
  }
  const first = await client.listEventDefinitionRevisions({ path })
  expect(first.data?.data.map(({ revision }) => revision)).toEqual(
    Array.from({ length: 20 }, (_, n) => 25 - n),
  )
  expect(first.data?.next_before).toBe(6)
  const second = await client.listEventDefinitionRevisions({ path, query: { before: 6 } })
  expect(second.data?.data.map(({ revision }) => revision)).toEqual([5, 4, 3, 2, 1])
  expect(second.data?.next_before).toBeNull()
  // Each is compared with the one before, also the last of a page.
  const verdicts = [...(first.data?.data ?? []), ...(second.data?.data ?? [])].map(({ senders }) => senders)
  expect(verdicts).toEqual([...Array(24).fill('none'), 'additive'])
})

const deep = (levels: number): object =>
  levels === 0 ? {} : { type: 'object', properties: { in: deep(levels - 1) } }

const wide = Object.fromEntries(
  Array.from({ length: 20 }, (_, n) => [`f${n}`, { description: 'x'.repeat(900) }]),
)

it.for<[fault: string, name: string, detail: string]>([
  ['is empty', '', 'each name must not be empty'],
  ['has 256 characters', 'x'.repeat(256), 'each name must NOT have more than 255 characters'],
  ['contains NUL', 'a\0', 'each name must not contain a NUL character'],
])('refuses a field whose name %s, and says that it is the name', async ([, name, detail], { client }) => {
  const properties = { seats: { type: 'integer' }, [name]: {} } as const
  for (const [variables, pointer] of [
    [{ type: 'object', properties }, '/variables/properties'],
    [{ type: 'object', properties: { cart: { properties } } }, '/variables/properties/cart/properties'],
  ] as const) {
    const { error } = await client.defineEvent({ body: { event_id: 'paid', variables } })
    expect(error).toMatchObject({ code: 'invalid_request', errors: [{ pointer, detail }] })
    expect(error?.errors).toHaveLength(1)
  }
})

it.for<[fault: string, variables: object, pointer: string]>([
  ['is no object', { type: 'string' }, '/variables/type'],
  ['requires what it does not define', { type: 'object', required: ['a'] }, '/variables/required/0'],
  ['is nested too deep', deep(6), `/variables${'/properties/in'.repeat(6)}`],
  ['is larger than 16 KiB', { type: 'object', properties: wide }, '/variables'],
])('refuses a definition that %s', async ([, variables, pointer], { client }) => {
  const { error } = await client.defineEvent({ body: { event_id: 'refused', variables } })
  expect(error).toMatchObject({ code: 'invalid_definition', status: 409, errors: [{ pointer }] })
  expect((await client.listEventDefinitions()).data?.data).toEqual([])
})

it('refuses a definition that is nested without end by a schema fault or a rule, never otherwise', async ({
  client,
}) => {
  for (const levels of [8, 9, 12, 15]) {
    const { error } = await client.defineEvent({ body: { event_id: 'refused', variables: deep(levels) } })
    expect(error?.code).toBe('invalid_definition')
  }
})

it('says what a definition would mean without storing it', async ({ client, owner }) => {
  const query = { dry_run: true }
  const made = await client.defineEvent({ query, body: { event_id: 'plan_chosen', variables: plan } })
  expect(made.response.status).toBe(200)
  expect(made.data).toMatchObject({ dry_run: true, definition: { definition_id: `def_${'0'.repeat(26)}` } })
  expect((await client.listEventDefinitions()).data?.data).toEqual([])
  const path = await define(client)
  const body = { variables: { type: 'object' }, confirm_breaking: true }
  const changed = await client.updateEventDefinition({ query, path, body })
  expect(changed.data).toMatchObject({ dry_run: true, readers: 'breaking', definition: { revision: 2 } })
  const again = await client.defineEvent({ query, body: { event_id: 'plan_chosen' } })
  expect(again.error?.code).toBe('event_already_defined')
  expect((await client.getEventDefinition({ path })).data).toMatchObject({ revision: 1 })
  const log = await owner.client().listAuditLog({ query: { area: 'event_definitions' } })
  expect(log.data?.data.map(({ action }) => action)).toEqual(['event_defined'])
})

it('records every change in the audit log, without what revisions say', async ({ client, owner }) => {
  const { definition_id } = await define(client)
  await client.updateEventDefinition({ path: { definition_id }, body: { mode: 'enforce' } })
  await client.removeEventDefinition({ path: { definition_id } })
  const { data } = await owner.client().listAuditLog({ query: { area: 'event_definitions' } })
  const subject = { kind: 'event_definition', id: definition_id, name: 'plan_chosen' }
  expect(data?.data).toMatchObject([
    { action: 'event_definition_removed', subject, before: { mode: 'enforce', revision: 1 }, after: null },
    { action: 'event_definition_updated', subject, before: { mode: 'warn' }, after: { mode: 'enforce' } },
    { action: 'event_defined', subject, before: null, after: { mode: 'warn', revision: 1 } },
  ])
})

it('lets owners decide about names without a definition', async ({ owner }) => {
  const client = owner.client()
  expect((await client.getWorkspace()).data?.unknown_events).toBe('allow')
  const { data } = await client.updateWorkspace({ body: { unknown_events: 'reject' } })
  expect(data?.unknown_events).toBe('reject')
  expect((await client.getWorkspace()).data?.unknown_events).toBe('reject')
  const log = await client.listAuditLog({ query: { area: 'members' } })
  expect(log.data?.data[0]).toMatchObject({
    action: 'workspace_unknown_events_changed',
    before: { unknown_events: 'allow' },
    after: { unknown_events: 'reject' },
  })
})
