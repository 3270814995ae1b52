// engines: sqlite, postgres

import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createWorkspace } from '../../server/cli/init.ts'
import { inStore } from '../../server/cli/store.ts'
import { newId } from '../../server/domain/identifiers.ts'
import type { Transaction } from '../../server/storage/database.ts'
import { insertDefinition } from '../../server/storage/tables/event-definitions.ts'
import { insertDeliveries, updateDeliveries } from '../../server/storage/tables/webhook-deliveries.ts'
import { insertWorkspace } from '../../server/storage/tables/workspaces.ts'
import {
  type ContractOperation,
  operations,
  type ShownProblem,
  shownProblems,
} from '../fixtures/contract/document.ts'
import { openTarget, type Target } from '../fixtures/contract/target.ts'
import { engine } from '../fixtures/engine.ts'
import { addMember, newEmail, newMember, newPerson, signIn } from '../fixtures/people.ts'
import { createKey } from '../fixtures/service-keys.ts'
import {
  allowViewLinks,
  archivedWorkspace,
  type Caller,
  type Change,
  callersOf,
  type Inside,
  isInside,
  namedBy,
  namesFor,
  newDefinition,
  newInvitation,
  newJourney,
  newKey,
  newPlace,
  newSetupToken,
  newView,
  newViewLink,
  newWebhook,
  type Place,
  sendTo,
  UNKNOWN,
} from './requests.ts'

let target: Target

beforeAll(async () => {
  target = await openTarget()
})
afterAll(() => target.stop())

/** Causes a problem in any operation that shows it, by a caller who may use the operation. */
type Cause = (operation: ContractOperation, caller: Caller, place: Place) => Promise<Change>

/**
 * Causes of problems, by the name of the example that shows them. These are in the request itself: they do not depend
 * on the engine, and are tested on one.
 */
const requestCauses: Record<string, Cause> = {
  invalid_parameter: async () => ({ query: '?no_such_parameter=1' }),
  invalid_request: async () => ({ body: '[]' }),
  invalid_json: async () => ({ body: '{' }),
  unauthorized: async () => ({ headers: {} }),
  no_session: async () => ({ headers: {} }),
  session_required: async (_operation, _caller, { headers }) => ({ headers: headers.key ?? {} }),
  foreign_origin: async (_operation, caller, { headers }) => ({
    headers: { ...headers[caller], 'sec-fetch-site': 'cross-site', origin: 'http://elsewhere.example.com' },
  }),
  step_not_unique: async () => {
    const step = { event_id: 'signed_up', name: 'Signed up' }
    return { body: JSON.stringify({ name: 'Renewal', steps: [step, step] }) }
  },
  webhook_url_not_allowed: async ({ operationId }) => {
    const types = operationId === 'createWebhook' ? { types: ['event.created'] } : {}
    return { body: JSON.stringify({ url: 'https://10.0.0.7/hook', ...types }) }
  },
  dropped_after_missing: async ({ operationId }) => {
    const url = operationId === 'createWebhook' ? { url: 'https://hooks.example.com/hook' } : {}
    return { body: JSON.stringify({ types: ['journey.dropped'], ...url }) }
  },
  invalid_definition: async ({ operationId }) => {
    const name = operationId === 'defineEvent' ? { event_id: 'signed_up' } : {}
    return { body: JSON.stringify({ ...name, variables: { type: 'string' } }) }
  },
  window_missing: async () => ({ query: '?standing=waiting' }),
  compared_period_missing: async (operation, _caller, place) => {
    const compare = 'previous_period'
    if (!operation.body) return { query: `?compare=${compare}` }
    return await viewWith({ compare }, operation, place)
  },
  too_many_periods: async ({ operationId }) => ({
    query: `?${operationId === 'getActivity' ? 'from' : 'entered_from'}=2000-01-01T00:00:00Z`,
  }),
  time_zone_unknown: async (operation, _caller, place) => {
    const time_zone = 'Atlantis/Main_Square'
    if (!operation.body) return { query: `?time_zone=${time_zone}` }
    return await viewWith({ time_zone }, operation, place)
  },
  own_view_by_key: async () => ({ body: JSON.stringify(ownView(UNKNOWN)) }),
  body_too_large: tooLarge,
  small_body_too_large: tooLarge,
  batch_too_large: tooLarge,
  unsupported_media_type: async () => ({ type: 'text/plain' }),
}

/** Causes that need no more than a key. */
const outsideCauses: Record<string, Cause> = {
  journey_not_found: async (operation) => {
    const isInQuery = operation.operationId === 'getRetentionPreview'
    return isInQuery ? { query: `?retention_days=1&journey_id=${UNKNOWN}` } : await nothingIsKnown(operation)
  },
  refusal_not_found: nothingIsKnown,
  definition_not_found: nothingIsKnown,
  view_not_found: nothingIsKnown,
  shared_view_not_found: nothingIsKnown,
  webhook_not_found: nothingIsKnown,
  delivery_not_found: async (_operation, _caller, place) => {
    return { names: { webhook_id: await newWebhook(place), delivery_id: UNKNOWN } }
  },
  event_already_defined: async (_operation, _caller, place) => {
    const body = JSON.stringify({ event_id: 'signed_up' })
    const headers = { ...place.headers.key, 'content-type': 'application/json' }
    await place.send({ method: 'POST', path: '/event-definitions', headers, body })
    return { body }
  },
  breaking_definition: async () => ({
    body: JSON.stringify({ variables: { type: 'object', additionalProperties: false } }),
  }),
  customer_not_found: async () => ({ names: { customer_id: UNKNOWN } }),
  link_not_found: nothingIsKnown,
  customer_not_in_journey: async (operation, _caller, place) => {
    const { customer_id = '' } = await namesFor(place, operation)
    return { names: { customer_id } }
  },
  customer_erased: async (operation, _caller, place) => {
    const names = await namesFor(place, operation)
    const own = { customer_type: 'contact', client_customer_id: 'user-erased' }
    const body = JSON.stringify({ ...own, journey_id: names.journey_id, customer_name: 'Ada' })
    const headers = { ...place.headers.key, 'content-type': 'application/json' }
    const made = await place.send({ method: 'POST', path: '/customers/initialize', headers, body })
    const { customer_id } = await made.json()
    const path = `/customers/${customer_id}`
    await place.send({ method: 'DELETE', path, headers: place.headers.key ?? {} })
    if (operation.operationId === 'initializeCustomer') return { names, body }
    return { names: { ...names, customer_id } }
  },
  journey_archived: async (operation, _caller, place) => {
    const names = await namesFor(place, operation)
    const path = `/journeys/${names.journey_id}/archive`
    await place.send({ method: 'POST', path, headers: place.headers.key ?? {} })
    return { names }
  },
  journey_active: async (_operation, _caller, place) => ({ names: { journey_id: await newJourney(place) } }),
  workspace_active: async () => ({ body: JSON.stringify({ name: 'Another' }) }),
  name_differs: async ({ operationId }, _caller, place) => {
    if (operationId === 'removeWorkspace') await archivedWorkspace(place)
    return { body: JSON.stringify({ name: 'Another' }) }
  },
  message_id_conflict: async (operation, caller, place) => {
    const names = await namesFor(place, operation)
    const event = { ...names, message_id: 'message-1', event_id: 'signed_up' }
    await sendTo(place, operation, caller, { names, body: JSON.stringify(event) })
    return { names, body: JSON.stringify({ ...event, event_id: 'plan_chosen' }) }
  },
  occurred_at_in_future: async (operation, _caller, place) => {
    const names = await namesFor(place, operation)
    const event = { ...names, event_id: 'signed_up', occurred_at: '2999-01-01T00:00:00Z' }
    return { names, body: JSON.stringify(event) }
  },
  event_not_as_defined: async (operation, _caller, place) => {
    const names = await namesFor(place, operation)
    const variables = { type: 'object', properties: { plan: {} }, required: ['plan'] }
    const body = JSON.stringify({ event_id: 'plan_chosen', mode: 'enforce', variables })
    const headers = { ...place.headers.key, 'content-type': 'application/json' }
    await place.send({ method: 'POST', path: '/event-definitions', headers, body })
    return { names, body: JSON.stringify({ ...names, event_id: 'plan_chosen' }) }
  },
}

type InsideCause = (
  operation: ContractOperation,
  caller: Caller,
  place: Place,
  inside: Inside,
) => Promise<Change>

/** Causes that need people, links or a key of another kind. */
const insideCauses: Record<string, InsideCause> = {
  secret_key_required: async (_operation, _caller, _place, inside) => ({
    headers: { 'x-service-key': inside.workspace.publishable_key },
  }),
  origin_not_allowed: async (_operation, _caller, _place, inside) => {
    const rules = { allowed_origins: ['https://www.example.com'] }
    const { key } = await createKey(inside.cairn, inside.workspace, 'publishable', rules)
    return { headers: { 'x-service-key': key, origin: 'https://elsewhere.example.com' } }
  },
  role_not_allowed: async (_operation, _caller, _place, { cairn, workspace }) => {
    const viewer = await newMember(cairn, workspace, 'viewer')
    return { headers: await signIn(cairn, viewer) }
  },
  workspace_required: async (operation, _caller, place, { cairn, owner }) => {
    const names = await namesFor(place, operation)
    await addMember(cairn, await cairn.workspace(), owner, 'owner')
    return { names }
  },
  not_a_member: async (_operation, caller, { headers }, inside) => {
    const { workspace_id } = await inside.cairn.workspace()
    return { headers: { ...headers[caller], 'x-workspace-id': workspace_id } }
  },
  member_not_found: nothingIsKnown,
  session_not_found: nothingIsKnown,
  invitation_not_found: nothingIsKnown,
  service_key_not_found: nothingIsKnown,
  unknown_event: async (operation, _caller, place) => {
    const names = await namesFor(place, operation)
    const headers = { ...place.headers.person, 'content-type': 'application/json' }
    const body = JSON.stringify({ unknown_events: 'reject' })
    await place.send({ method: 'PATCH', path: '/workspace', headers, body })
    return { names, body: JSON.stringify({ ...names, event_id: 'plan_chosen' }) }
  },
  person_exists: async (_operation, _caller, _place, { owner }) => ({ names: { email: owner.email } }),
  sign_in_refused: async ({ operationId }, _caller, place, { cairn }) => {
    if (operationId === 'signIn') return { names: { email: newEmail() } }
    const { token } = await newInvitation(place, { email: (await newPerson(cairn)).email })
    return { names: { token } }
  },
  workspace_exists: async ({ operationId }, _caller, _place, inside) => {
    if (operationId !== 'setUp') {
      const name = randomUUID()
      await createWorkspace(inside.cairn.databaseUrl, { workspace: name, journey: 'Onboarding' })
      return { body: JSON.stringify({ name }) }
    }
    // The link is for a workspace, and the request names one to create.
    return { names: { token: await newSetupToken(inside, inside.workspace.workspace_id) } }
  },
  too_many_workspaces: async (_operation, _caller, _place, { cairn, owner }) => {
    await inStore(cairn.databaseUrl, async (db) => {
      for (let count = 0; count < 20; count += 1) {
        const workspace_id = newId('wsp')
        const made = { created_ms: Date.now(), created_by: owner.person_id }
        await insertWorkspace(db, { workspace_id, name: workspace_id, ...made })
      }
    })
    return {}
  },
  workspace_name_required: async (operation, _caller, place) => {
    const names = await namesFor(place, operation)
    return { names, body: JSON.stringify({ ...names, name: 'Ada' }) }
  },
  password_wrong: async () => ({ names: { current_password: UNKNOWN } }),
  last_owner: async (_operation, _caller, _place, { owner }) => ({ names: { person_id: owner.person_id } }),
  already_member: async ({ operationId }, _caller, _place, { cairn, owner }) => {
    if (operationId === 'createInvitation') return { names: { email: owner.email } }
    const another = await newPlace(target)
    const { token } = await newInvitation(another, { email: owner.email })
    if (another.inside) await addMember(cairn, another.inside.workspace, owner, 'viewer')
    return { names: { token, password: owner.password } }
  },
  invitation_for_another: async (_operation, _caller, place) => ({ names: await newInvitation(place) }),
  own_password: async (_operation, _caller, _place, { owner }) => ({ names: { person_id: owner.person_id } }),
  member_elsewhere: async (operation, _caller, place, { cairn }) => {
    const { person_id = '' } = await namesFor(place, operation)
    await addMember(cairn, await cairn.workspace(), { person_id }, 'viewer')
    return { names: { person_id } }
  },
  service_key_revoked: async (_operation, _caller, place) => {
    const { key_id } = await newKey(place)
    const path = `/service-keys/${key_id}/revoke`
    await place.send({ method: 'POST', path, headers: place.headers.person ?? {} })
    return { names: { key_id } }
  },
  view_link_not_found: async (_operation, _caller, place) => {
    return { names: { view_id: await newView(place), link_id: UNKNOWN } }
  },
  view_links_off: async (_operation, _caller, place) => ({ names: { view_id: await newView(place) } }),
  view_not_shared: async (_operation, caller, place) => {
    await allowViewLinks(place)
    return { names: { view_id: await newView(place, {}, { caller }) } }
  },
  view_link_limit: async (_operation, _caller, place) => {
    const view_id = await newView(place)
    for (let count = 0; count < 20; count += 1) await newViewLink(place, view_id)
    return { names: { view_id } }
  },
  view_limit: async ({ operationId }, caller, place) => {
    const journey_id = await newJourney(place)
    for (let count = 0; count < 100; count += 1) await newView(place, { journey_id })
    if (operationId === 'createView') return { names: { journey_id } }
    const view_id = await newView(place, { journey_id }, { caller })
    return { names: { view_id }, body: JSON.stringify({ visibility: 'workspace' }) }
  },
  webhook_limit: async (_operation, _caller, place) => {
    for (let count = 0; count < 20; count += 1) await newWebhook(place)
    return {}
  },
  event_removed: async (_operation, _caller, place, { cairn, workspace }) => {
    const webhook_id = await newWebhook(place)
    const row = { delivery_id: newId('msg'), type: 'event.created', subject: newId('evt' as 'msg') }
    const unsent = { customer_id: null, journey_id: null, message: '', created_ms: 0, next_ms: 0 }
    await inStore(cairn.databaseUrl, async (db) => {
      const webhook = { workspace_id: workspace.workspace_id, webhook_id }
      await insertDeliveries(db, webhook, [{ ...row, ...unsent }])
      const told = { status: 'succeeded', message: null, next_ms: null } as const
      await updateDeliveries(db, webhook, [row.delivery_id], told)
    })
    return { names: { webhook_id, delivery_id: row.delivery_id } }
  },
  definition_limit: async ({ operationId }, _caller, place, { cairn, workspace }) => {
    const { workspace_id } = workspace
    if (operationId === 'defineEvent') {
      await inStore(cairn.databaseUrl, (db) => fillDefinitions(db, workspace_id))
      return {}
    }
    const definition_id = await newDefinition(place)
    await inStore(cairn.databaseUrl, (db) => renumberRevision(db, workspace_id, definition_id))
    return { names: { definition_id }, body: JSON.stringify({ description: 'One more' }) }
  },
  origins_for_secret_key: async (operation, _caller, place) => {
    const { key_id } = await newKey(place, { kind: 'secret' })
    const isNew = operation.operationId === 'createServiceKey'
    const key = { ...(isNew && { kind: 'secret', name: 'Website' }) }
    return {
      names: { key_id },
      body: JSON.stringify({ ...key, allowed_origins: ['https://www.example.com'] }),
    }
  },
  rate_limit_too_high: async (operation) => {
    const isNew = operation.operationId === 'createServiceKey'
    const key = { ...(isNew && { kind: 'secret', name: 'Website' }) }
    return { body: JSON.stringify({ ...key, rate_limit: 1_000_000 }) }
  },
  expires_at_in_past: async (operation) => {
    const isNew = operation.operationId === 'createServiceKey'
    const key = { ...(isNew && { kind: 'secret', name: 'Website' }) }
    return { body: JSON.stringify({ ...key, expires_at: '2020-01-01T00:00:00Z' }) }
  },
}

/** Writes as many definitions as a workspace can have. */
async function fillDefinitions(db: Transaction, workspace_id: string) {
  const now_ms = Date.now()
  for (let count = 0; count < 1000; count += 1) {
    await insertDefinition(db, workspace_id, {
      definition_id: newId('def'),
      event_id: `event ${count}`,
      revision: 1,
      description: '',
      mode: 'off',
      variables: { type: 'object' },
      previous_until_ms: null,
      created_ms: now_ms,
      updated_ms: now_ms,
    })
  }
}

/** Gives a definition's only revision the last number that it can have. */
async function renumberRevision(db: Transaction, workspace_id: string, definition_id: string) {
  for (const table of ['event_definitions', 'event_definition_revisions'] as const) {
    await db
      .updateTable(table)
      .set({ revision: 1000 })
      .where('workspace_id', '=', workspace_id)
      .where('definition_id', '=', definition_id)
      .execute()
  }
}

/** What a signed-in person without a key reads. */
const forNoKey = { detail: expect.not.stringMatching(/\b(this|your) key\b/i) }

/** Problems whose cause is inside the server. */
const elsewhere = {
  'malformed.test.ts': ['malformed_request', 'request_timeout', 'expectation_failed', 'headers_too_large'],
  'inner-causes.test.ts': ['rate_limited', 'too_many_attempts', 'internal_error', 'storage_unavailable'],
  'test/operations/workspace-making.test.ts': ['operators_only'],
  'test/operations/webhooks.test.ts': ['encryption_key_missing'],
  'test/storage/standings/journey-reports.test.ts': ['breakdown_too_large', 'strict_order_too_large'],
  'test/durability': ['overloaded', 'storage_full', 'shutting_down'],
}

/** A view that nobody but a person can save. */
function ownView(journey_id: string) {
  return { name: 'Renewal', journey_id, query: {}, visibility: 'own' }
}

/** Saves or changes a view so that it has this query. */
async function viewWith(query: object, operation: ContractOperation, place: Place): Promise<Change> {
  const names = await namesFor(place, operation)
  const given = operation.operationId === 'createView' ? ownView(names.journey_id ?? '') : {}
  return { names, body: JSON.stringify({ ...given, query }) }
}

async function nothingIsKnown(operation: ContractOperation): Promise<Change> {
  const references = namedBy(operation).filter((name) => name === 'token' || name.endsWith('_id'))
  return { names: Object.fromEntries(references.map((name) => [name, UNKNOWN])) }
}

/** The largest body that any operation accepts. */
const LARGEST_BYTES = 4 * 1024 * 1024

async function tooLarge(): Promise<Change> {
  return { body: JSON.stringify({ name: 'x'.repeat(LARGEST_BYTES) }) }
}

type Row = [name: string, ContractOperation, Caller, ShownProblem]

/** Every operation that shows the problem, with everybody who can cause it there. */
function showing(name: string): Row[] {
  return operations.flatMap((operation) =>
    shownProblems(operation)
      .filter((problem) => problem.name === name)
      .flatMap((problem) =>
        causersOf(operation, name).map(
          (caller): Row => [`${operation.operationId} by ${caller}`, operation, caller, problem],
        ),
      ),
  )
}

function causersOf(operation: ContractOperation, name: string): Caller[] {
  switch (name) {
    // The credential in the request decides, not who is allowed.
    case 'own_view_by_key':
    case 'no_session':
    case 'session_required':
    case 'secret_key_required':
    case 'origin_not_allowed':
      return ['key']
    case 'foreign_origin':
      return callersOf(operation).filter((caller) => caller !== 'key')
    case 'role_not_allowed':
      return operation.roles?.includes('viewer') ? [] : ['person']
    case 'view_limit':
      // A key has no view of its own to give to the workspace.
      return operation.operationId === 'updateView' ? ['person'] : callersOf(operation)
    case 'workspace_required':
    case 'not_a_member':
      return ['person']
    default:
      return callersOf(operation)
  }
}

/** Causes without a part of the engine run on one engine, and against a deployment, whose engine is unknown. */
const isFirstEngine = !isInside || engine === 'sqlite'

describe.each([...(isFirstEngine ? Object.entries(requestCauses) : []), ...Object.entries(outsideCauses)])(
  'every operation that declares %s answers it for its cause',
  (name, cause) => {
    it.each(showing(name))('%s', async (_name, operation, caller, { status, code }) => {
      const place = await newPlace(target)
      const reply = await sendTo(place, operation, caller, await cause(operation, caller, place))
      const problem = await reply.json()
      // A deployment sees the test's address each time, and an earlier run may have used up its guesses.
      const isHeldBack = !isInside && caller === 'nobody' && problem.code === 'too_many_attempts'
      if (!isHeldBack) expect([reply.status, problem.code]).toEqual([status, code])
      if (caller === 'person') expect(problem).toMatchObject(forNoKey)
    })
  },
)

describe.runIf(isInside).each(Object.entries(insideCauses))(
  'every operation that declares %s answers it for its cause',
  (name, cause) => {
    it.each(showing(name))('%s', async (_name, operation, caller, { status, code }) => {
      const place = await newPlace(target)
      if (!place.inside) throw new Error('a deployment has no inside')
      const change = await cause(operation, caller, place, place.inside)
      const reply = await sendTo(place, operation, caller, change)
      const problem = await reply.json()
      expect([reply.status, problem.code]).toEqual([status, code])
      if (caller === 'person') expect(problem).toMatchObject(forNoKey)
    })
  },
)

it('no operation declares a problem whose cause is unknown to this test', () => {
  const shown = operations.flatMap((operation) => shownProblems(operation).map(({ name }) => name))
  const known = [requestCauses, outsideCauses, insideCauses]
    .flatMap(Object.keys)
    .concat(...Object.values(elsewhere))
  expect([...new Set(shown)].sort()).toEqual(known.sort())
})
