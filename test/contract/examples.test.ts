// engines: sqlite, postgres

import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inStore } from '../../server/cli/store.ts'
import { newId } from '../../server/domain/identifiers.ts'
import { problems } from '../../server/problems.ts'
import { insertWorkspace } from '../../server/storage/tables/workspaces.ts'
import type { Cairn } from '../fixtures/cairn.ts'
import { type ContractOperation, contractDocument, operations } from '../fixtures/contract/document.ts'
import { assertValid } from '../fixtures/contract/reply-check.ts'
import { openTarget, type Target } from '../fixtures/contract/target.ts'
import { addMember, newEmail, newMember, newPerson, signIn } from '../fixtures/people.ts'
import {
  allowViewLinks,
  archivedWorkspace,
  type Caller,
  callersOf,
  type Inside,
  isInside,
  newCustomer,
  newInvitation,
  newJourney,
  newKey,
  newPasswordToken,
  newPlace,
  newSetupToken,
  newViewLink,
  type Place,
  pathTo,
} from './requests.ts'

let target: Target

beforeAll(async () => {
  target = await openTarget()
})
afterAll(() => target.stop())

const withBody = operations.filter(({ body }) => body !== undefined)

const rows = withBody
  // Without people and links an operation can only reject the requests of its examples.
  .filter(({ accepts }) => isInside || accepts.includes('SecretKey'))
  .flatMap((operation) =>
    callersOf(operation).map((caller): [string, ContractOperation, Caller] => [
      `${operation.operationId} by ${caller}`,
      operation,
      caller,
    ]),
  )

/** What an example's names stand for in this run; the same value wherever a name occurs. */
type Actual = Map<string, string>

function actual(value: unknown, names: Actual): unknown {
  return JSON.parse(JSON.stringify(value), (_name, text) => names.get(text) ?? text)
}

/** Removes what differs from run to run: identifiers, timestamps, request ids and the random part of tokens. */
function shape(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (name, text) => {
    // Null until the first report of the server.
    if (name === 'as_of') return 'as of'
    if (typeof text !== 'string') return text
    if (name === 'request_id') return 'request id'
    if (name === 'message_id') return 'message id'
    if (name === 'last_four') return 'last four'
    return text
      .replace(/^(\w{3})_[0-9a-z]{26}$/, '$1_…')
      .replace(/^(setup|invitation|password|viewlink)_[0-9A-Za-z]{43}$/, '$1_…')
      .replace(/^(whsec)_[0-9A-Za-z+/]{43}=$/, '$1_…')
      .replace(/^(pk|sk)_[0-9A-Za-z]{49}$/, '$1_…')
      .replace(/^\d{4}-\d\d-\d\dT.*Z$/, 'instant')
  })
}

/** The response that the contract shows under the name of a request. */
function namedReply({ replies }: ContractOperation, name: string) {
  const found = Object.entries(replies).flatMap(([status, { content }]) =>
    Object.values(content).flatMap(({ examples }) => {
      const example = examples[name]
      return example ? [{ status: Number(status), body: example.value }] : []
    }),
  )
  expect(found, `one reply named ${name}`).toHaveLength(1)
  return found[0]
}

describe('every example of a request is answered with the response of the same name', () => {
  it.each(rows)('%s', async (_name, operation, caller) => {
    const { place, names } = await setting(operation)
    const named = operation.parameters.map(({ name, example }) => [name, actual(example, names)])
    const path = pathTo(operation, Object.fromEntries(named))
    const examples = Object.entries(operation.body?.examples ?? {})
    expect(examples.length).toBeGreaterThan(0)
    for (const [name, example] of examples) {
      const expected = namedReply(operation, name)
      const reply = await target.send({
        method: operation.method,
        path,
        headers: { ...place.headers[caller], 'content-type': 'application/json' },
        body: JSON.stringify(actual(example?.value, names)),
      })
      const body = await reply.json()
      expect(reply.status, JSON.stringify(body)).toBe(expected?.status)
      expect(shape(body), name).toEqual(shape(actual(expected?.body, names)))
    }
  })
})

/** A workspace that matches an operation's examples, and what their names stand for in it. */
async function setting(operation: ContractOperation): Promise<{ place: Place; names: Actual }> {
  const place = await newPlace(target)
  const names: Actual = new Map()
  const text = JSON.stringify(operation)
  for (const id of text.match(/jrn_[0-9a-z]{26}/g) ?? []) {
    if (!names.has(id)) names.set(id, await exampleJourney(place))
  }
  for (const id of text.match(/cus_[0-9a-z]{26}/g) ?? []) {
    const [journey = ''] = text.match(/jrn_[0-9a-z]{26}/) ?? []
    if (!names.has(id)) names.set(id, await newCustomer(place, names.get(journey) ?? ''))
  }
  const defines = ['defineEvent', 'updateEventDefinition'].includes(operation.operationId)
  // A workspace has one of each. In a deployment all examples share a workspace, with those of earlier runs.
  for (const name of ['client_customer_id', 'message_id', ...(defines ? ['event_id'] : [])]) {
    for (const [, value = ''] of text.matchAll(new RegExp(`"${name}":"([^"]+)"`, 'g'))) {
      names.set(value, randomUUID())
    }
  }
  for (const id of operation.operationId === 'updateEventDefinition'
    ? (text.match(/def_01[0-9a-z]{24}/) ?? [])
    : []) {
    names.set(
      id,
      await exampleOf(place, 'defineEvent', 'typed', ({ definition }) => definition?.definition_id, names),
    )
  }
  for (const id of ['updateWebhook', 'replayWebhook'].includes(operation.operationId)
    ? (text.match(/whk_01[0-9a-z]{24}/) ?? [])
    : []) {
    names.set(id, await exampleOf(place, 'createWebhook', 'events', ({ webhook }) => webhook?.webhook_id))
  }
  const isOfView = ['updateView', 'createViewLink', 'readSharedView'].includes(operation.operationId)
  if (isOfView && !names.has(JOURNEY_OF_VIEW)) names.set(JOURNEY_OF_VIEW, await exampleJourney(place))
  for (const id of isOfView ? (text.match(/viw_01[0-9a-z]{24}/) ?? ['viw_']) : []) {
    names.set(id, await exampleOf(place, 'createView', 'relative', (view) => String(view.view_id), names))
  }
  if (place.inside) await nameTheirThings(operation, place, place.inside, names)
  return { place, names }
}

/**
 * The people and things in the examples of the operations for people: Grace Hopper, who owns Acme, and those around
 * her.
 */
async function nameTheirThings(
  { operationId }: ContractOperation,
  place: Place,
  { cairn, workspace, owner }: Inside,
  names: Actual,
) {
  const isNew = operationId === 'setUp'
  const session = await target.send({ method: 'GET', path: '/session', headers: place.headers.person ?? {} })
  const [{ name }] = (await session.json()).workspaces
  const invited = newEmail()
  names.set('Acme', isNew ? randomUUID() : name)
  // Workspaces are sorted by name.
  names.set('Babbage', `${name} and more`)
  names.set('grace@example.com', isNew ? newEmail() : owner.email)
  names.set('alan@example.com', invited)
  switch (operationId) {
    case 'removeJourney': {
      const headers = place.headers.key ?? {}
      for (const id of [...names.values()].filter((name) => name.startsWith('jrn_'))) {
        await target.send({ method: 'POST', path: `/journeys/${id}/archive`, headers })
      }
      break
    }
    case 'removeWorkspace':
      await archivedWorkspace(place)
      break
    case 'findSetupLink':
    case 'setUp':
      names.set(SETUP_TOKEN, await newSetupToken({ cairn }))
      break
    case 'findInvitation':
    case 'acceptInvitation':
      names.set(INVITATION_TOKEN, (await newInvitation(place, { email: invited, role: 'admin' })).token)
      break
    case 'joinWorkspace':
      names.set(INVITATION_TOKEN, await tokenOfBabbage(cairn, `${name} and more`, owner.email))
      break
    case 'updateMember':
    case 'findPasswordLink':
    case 'resetPassword': {
      const alan = await newPerson(cairn, { name: 'Alan Turing', email: invited })
      await addMember(cairn, workspace, alan, 'viewer')
      names.set('per_01jd40b2x5y8a1d4g7j0m3q6tv', alan.person_id)
      if (operationId !== 'updateMember') {
        names.set(PASSWORD_TOKEN, await newPasswordToken(place, alan.person_id))
      }
      break
    }
    case 'createViewLink':
      await allowViewLinks(place)
      break
    case 'readSharedView': {
      const view_id = names.get('viw_')
      names.set(VIEW_LINK_TOKEN, (await newViewLink(place, view_id)).token)
      break
    }
    case 'updateServiceKey':
    case 'rotateServiceKey': {
      const { key_id } = await newKey(place, { allowed_origins: ['https://www.example.com'] })
      names.set('key_01jd40m2k5n8q1s4v7y0b3e6g9', key_id)
    }
  }
}

const SETUP_TOKEN = 'setup_000000000000000000000000000000000000example'
const INVITATION_TOKEN = 'invitation_000000000000000000000000000000000000example'
const JOURNEY_OF_VIEW = 'jrn_01jd3zc4s7e9qv6x0m2n5b8wtr'
const VIEW_LINK_TOKEN = 'viewlink_000000000000000000000000000000000000example'
const PASSWORD_TOKEN = 'password_000000000000000000000000000000000000example'

/** Invites an admin to another workspace. */
async function tokenOfBabbage(cairn: Cairn, name: string, email: string): Promise<string> {
  const workspace = { workspace_id: newId('wsp'), name, created_ms: Date.now() }
  await inStore(cairn.databaseUrl, (db) => insertWorkspace(db, workspace))
  const person = await signIn(cairn, await newMember(cairn, workspace, 'owner'))
  const { token } = await newInvitation({ send: target.send, headers: { person } }, { email, role: 'admin' })
  return token
}

/** Creates in a journey what the examples of other operations show of it. */
async function exampleJourney(place: Place): Promise<string> {
  const journey_id = await newJourney(place)
  const create = operations.find(({ operationId }) => operationId === 'createJourney')
  await target.send({
    method: 'PATCH',
    path: `/journeys/${journey_id}`,
    headers: { ...place.headers.key, 'content-type': 'application/json' },
    body: JSON.stringify(create?.body?.examples.with_steps?.value),
  })
  return journey_id
}

/** Creates what the examples of other operations are about. @returns its identifier */
async function exampleOf(
  place: Place,
  operationId: string,
  name: string,
  idOf: (body: Record<string, Record<string, string> | undefined>) => string | undefined,
  names: Actual = new Map(),
): Promise<string> {
  const create = operations.find((operation) => operation.operationId === operationId)
  const reply = await target.send({
    method: 'POST',
    path: create?.path ?? '',
    headers: { ...place.headers.key, 'content-type': 'application/json' },
    body: JSON.stringify(actual(create?.body?.examples[name]?.value, names)),
  })
  return idOf(await reply.json()) ?? ''
}

describe('every example fits its schema', () => {
  it.each(operations.map((operation) => [operation.operationId, operation] as const))(
    '%s',
    (_id, operation) => {
      let checked = 0
      const media = [
        operation.body,
        ...Object.values(operation.replies).flatMap(({ content }) => Object.values(content)),
      ]
      for (const { schema, examples } of media.filter((type) => type !== undefined)) {
        for (const [name, example] of Object.entries(examples)) {
          assertValid(`${operation.operationId}, example ${name},`, schema, example?.value)
          checked += 1
        }
      }
      for (const { name, schema, example } of operation.parameters) {
        assertValid(`${operation.operationId}, parameter ${name},`, schema, example)
      }
      expect(checked).toBeGreaterThan(0)
    },
  )
})

describe('the examples of problems', () => {
  type ProblemExample = { value: { code: keyof typeof problems } & Record<string, unknown> }
  const { components } = contractDocument() as { components: { examples: Record<string, ProblemExample> } }
  // Others are of replies that several operations share.
  const examples = Object.entries(components.examples).filter(([, { value }]) => 'code' in value)

  it.each(examples)('say what the server says: %s', (_name, { value }) => {
    const { status, title } = problems[value.code]
    expect(value).toMatchObject({ status, title, type: `/docs/problems#${value.code}` })
  })

  it('cover all codes that an operation can answer, and no others', () => {
    const shown = new Set(examples.map(([, { value }]) => value.code))
    // No operation returns the first two: they are for requests to no operation. The third occurs only in items of a
    // batch.
    expect([...shown, 'not_found', 'method_not_allowed', 'event_too_large'].sort()).toEqual(
      Object.keys(problems).sort(),
    )
  })
})
