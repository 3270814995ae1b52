import { randomUUID } from 'node:crypto'
import { setTimeout as nextLook } from 'node:timers/promises'
import { makeSetupLink } from '../../server/setup-link.ts'
import { insertMember } from '../../server/storage/tables/members.ts'
import { updateArchived, workspaceName } from '../../server/storage/tables/workspaces.ts'
import type { Cairn, Workspace } from '../fixtures/cairn.ts'
import {
  type ContractOperation,
  operations,
  type Role,
  resolved,
  type Schema,
} from '../fixtures/contract/document.ts'
import { type RawRequest, type Send, settings, type Target } from '../fixtures/contract/target.ts'
import { inStore } from '../fixtures/in-store.ts'
import { browser, newEmail, newMember, newPerson, OWN_PAGE, type Person, signIn } from '../fixtures/people.ts'

/** The sender of a request: a secret key, a signed-in owner, or a page without a credential. */
export type Caller = 'key' | 'person' | 'nobody'

/** A workspace in a server of the test, where everything can be created. */
export type Inside = {
  cairn: Cairn
  workspace: Workspace
  /** An owner of the workspace. */
  owner: Person
}

/** The server and workspace to which requests go, with the credentials. */
export type Place = {
  send: Send
  /** The headers that authenticate each caller. */
  headers: Partial<Record<Caller, Headers>>
  /** Undefined for a deployment, where a key cannot create people or links. */
  inside: Inside | undefined
}

type Headers = Record<string, string>

/** The identifiers that a request refers to, by the name of the parameter or field. */
export type Names = Record<string, string>

/** Refers to nothing. */
export const UNKNOWN = 'unknown'

/** What a request has instead of what the operation accepts. */
export type Change = { headers?: Headers; names?: Names; type?: string; query?: string; body?: string }

/** Whether the test has started the server, so that people and links can be created. */
export const isInside = settings.baseUrl === undefined

/** Returns who may call an operation. In a deployment no person is known who could sign in. */
export function callersOf({ accepts, path }: Pick<ContractOperation, 'accepts' | 'path'>): Caller[] {
  // A deployment would send messages to a host that it must find.
  if (!isInside && path.startsWith('/webhooks')) return []
  if (accepts.length === 0) return ['nobody']
  const callers: Caller[] = accepts.includes('SecretKey') ? ['key'] : []
  return isInside && accepts.includes('SessionCookie') ? [...callers, 'person'] : callers
}

/** Returns the operations that declare a status, each with every possible caller, as rows of a test table. */
export function declaring(status: string): [name: string, ContractOperation, Caller][] {
  return operations
    .filter((operation) => operation.replies[status])
    .flatMap((operation) =>
      callersOf(operation).map((caller): [string, ContractOperation, Caller] => [
        `${operation.operationId} by ${caller}`,
        operation,
        caller,
      ]),
    )
}

/** Returns a new workspace with a signed-in owner; in a deployment, the workspace of its key. */
export async function newPlace(target: Pick<Target, 'cairn' | 'send'>): Promise<Place> {
  const { cairn, send } = target
  const nobody = OWN_PAGE
  if (!cairn) return { send, inside: undefined, headers: { key: { 'x-service-key': settings.key }, nobody } }
  const workspace = await cairn.workspace()
  const owner = await newMember(cairn, workspace, 'owner')
  const key = { 'x-service-key': workspace.secret_key }
  return {
    send,
    headers: { key, nobody, person: await signIn(cairn, owner) },
    inside: { cairn, workspace, owner },
  }
}

/** Sends a request that the operation accepts, with the given change. */
export async function sendTo(
  place: Place,
  operation: ContractOperation,
  caller: Caller,
  change: Change = {},
): Promise<Response> {
  return await place.send(await requestTo(place, operation, caller, change))
}

/**
 * Builds a request that the operation accepts, with the given change. What it refers to is created unless the change
 * names it.
 */
export async function requestTo(
  place: Place,
  operation: ContractOperation,
  caller: Caller,
  change: Change,
): Promise<RawRequest> {
  const { headers = place.headers[caller] ?? {}, names = {}, type = 'application/json', body } = change
  const { query = smallestQuery(operation) } = change
  const given: Names = { ...(await namesFor(place, operation, names)), ...names }
  if (operation.operationId === 'removeWorkspace' && body === undefined) {
    given.workspace_name = await archivedWorkspace(place)
  }
  return {
    method: operation.method,
    path: pathTo(operation, given) + query,
    headers: { ...headers, ...(operation.body && { 'content-type': type }) },
    body: operation.body && (body ?? JSON.stringify(smallestBody(operation, given))),
  }
}

/** Returns the required query parameters, with the contract's examples. */
function smallestQuery({ parameters }: ContractOperation): string {
  const required = parameters.filter((parameter) => parameter.in === 'query' && parameter.required)
  const query = required.map(({ name, example }) => `${name}=${encodeURIComponent(String(example))}`)
  return query.length > 0 ? `?${query.join('&')}` : ''
}

/** Returns the path of an operation with its identifiers. */
export function pathTo({ path }: ContractOperation, names: Record<string, unknown>): string {
  return path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(names[name])))
}

/** Creates what the operation refers to. @param known what need not be created */
export async function namesFor(
  place: Place,
  operation: ContractOperation,
  known: Names = {},
): Promise<Names> {
  const names: Names = { ...known }
  for (const name of namedBy(operation)) {
    names[name] ??= (await makers[name]?.(place, operation, names)) ?? UNKNOWN
  }
  return names
}

/** Returns the operation's parameters and fields that refer to something, those that others depend on first. */
export function namedBy({ parameters, body }: ContractOperation): string[] {
  const fields = new Set([...parameters.map(({ name }) => name), ...fieldsOf(body?.schema ?? {})])
  return Object.keys(makers).filter((name) => fields.has(name))
}

/** @param outer the references that led here: a schema may contain itself */
function fieldsOf(schema: Schema, outer: readonly string[] = []): string[] {
  if (schema.$ref && outer.includes(schema.$ref)) return []
  const within = schema.$ref ? [...outer, schema.$ref] : outer
  const { properties = {}, items } = resolved(schema)
  if (items) return fieldsOf(items, within)
  return Object.entries(properties).flatMap(([name, field]) => [name, ...fieldsOf(field, within)])
}

type Maker = (place: Place, operation: ContractOperation, names: Names) => Promise<string | undefined>

/** Creates what requests refer to; undefined if that is not possible from outside. */
const makers: Record<string, Maker> = {
  journey_id: (place, { operationId }) =>
    operationId === 'removeJourney' ? newArchivedJourney(place) : newJourney(place),
  customer_id: async (place, _operation, { journey_id }) => {
    return await newCustomer(place, journey_id ?? (await newJourney(place)))
  },
  refusal_id: newRefusal,
  definition_id: newDefinition,
  webhook_id: newWebhook,
  view_id: async (place, operation, names) => {
    if (operation.operationId === 'createViewLink') await allowViewLinks(place)
    return await newView(place, names)
  },
  link_id: async (place, _operation, { view_id }) => (await newViewLink(place, view_id)).link_id,
  delivery_id: async (place, _operation, { webhook_id }) => await newDelivery(place, webhook_id ?? ''),
  person_id: async ({ inside }) =>
    inside && (await newMember(inside.cairn, inside.workspace, 'viewer')).person_id,
  session_id: async (place) => place.inside && (await newSession(place.inside)),
  invitation_id: async (place) => place.inside && (await newInvitation(place)).invitation_id,
  key_id: async (place) => place.inside && (await newKey(place)).key_id,
  token: async (place, { operationId }) => {
    if (!place.inside) return undefined
    if (operationId === 'joinWorkspace') {
      const another = await newPlace({ cairn: place.inside.cairn, send: place.send })
      return (await newInvitation(another, { email: place.inside.owner.email })).token
    }
    if (operationId === 'readSharedView') return (await newViewLink(place)).token
    if (operationId === 'findSetupLink' || operationId === 'setUp') return await newSetupToken(place.inside)
    if (operationId === 'findPasswordLink' || operationId === 'resetPassword')
      return await newPasswordToken(place)
    return (await newInvitation(place)).token
  },
  email: async ({ inside }, { operationId }) =>
    inside && operationId === 'signIn' ? inside.owner.email : newEmail(),
  password: async ({ inside }, { operationId }) =>
    inside && operationId === 'signIn' ? inside.owner.password : 'enigma-is-a-machine',
  current_password: async ({ inside }) => inside?.owner.password,
}

/** Name of an archived journey. */
const ARCHIVED = 'Contract test, archived'

async function newArchivedJourney(place: Place): Promise<string> {
  const journey_id = await newJourney(place, ARCHIVED)
  await made(place, `POST /journeys/${journey_id}/archive`, 'key')
  return journey_id
}

/** Archives the workspace directly in the store. @returns its name */
export async function archivedWorkspace({ inside }: Pick<Place, 'inside'>): Promise<string> {
  if (!inside) throw new Error('a deployment has no inside')
  const { cairn, workspace } = inside
  return await inStore(cairn.databaseUrl, async (db) => {
    await updateArchived(db, workspace.workspace_id, Date.now())
    return await workspaceName(db, workspace.workspace_id)
  })
}

/** Creates a journey. */
export async function newJourney(place: Place, name = `Contract test ${randomUUID()}`): Promise<string> {
  const body = { name }
  return (await made<{ journey_id: string }>(place, 'POST /journeys', 'key', body)).journey_id
}

/** Creates a customer in the journey. */
export async function newCustomer(place: Place, journey_id: string): Promise<string> {
  const names = { client_customer_id: randomUUID(), customer_name: 'Contract test' }
  const body = { ...names, journey_id, customer_type: 'contact' }
  return (await made<{ customer_id: string }>(place, 'POST /customers/initialize', 'key', body)).customer_id
}

/** Creates a refusal. */
async function newRefusal({ send, headers }: Place): Promise<string> {
  const key = headers.key ?? {}
  const body = JSON.stringify({ journey_id: UNKNOWN, customer_id: UNKNOWN, event_id: 'signed_up' })
  const sent = { ...key, 'content-type': 'application/json' }
  await send({ method: 'POST', path: '/events/create', headers: sent, body })
  const listed = await send({ method: 'GET', path: '/refusals?limit=1', headers: key })
  return (await listed.json()).data[0].refusal_id
}

/** Defines an event. */
export async function newDefinition(place: Place): Promise<string> {
  const body = { event_id: `Contract test ${randomUUID()}` }
  const { definition } = await made<{ definition: { definition_id: string } }>(
    place,
    'POST /event-definitions',
    'key',
    body,
  )
  return definition.definition_id
}

/** Creates a webhook that nobody receives. */
export async function newWebhook(place: Place): Promise<string> {
  const body = { url: WEBHOOK_URL, types: ['customer.created'] }
  const { webhook } = await made<{ webhook: { webhook_id: string } }>(place, 'POST /webhooks', 'key', body)
  return webhook.webhook_id
}

/** Saves a view of a new journey, for the workspace or of the owner's own. */
export async function newView(
  place: Place,
  { journey_id: given }: Names = {},
  { caller = 'key', query = {} }: { caller?: Caller; query?: object } = {},
): Promise<string> {
  const journey_id = given ?? (await newJourney(place))
  const visibility = caller === 'key' ? 'workspace' : 'own'
  const body = { name: 'Contract test', journey_id, query, visibility }
  return (await made<{ view_id: string }>(place, 'POST /views', caller, body)).view_id
}

/** Turns on links to views. */
export async function allowViewLinks(place: Pick<Place, 'send' | 'headers'>): Promise<void> {
  await made(place, 'PATCH /workspace', 'person', { view_links: 'on' })
}

/** Creates a link to a view of the workspace. */
export async function newViewLink(
  place: Place,
  view_id?: string,
): Promise<{ link_id: string; token: string }> {
  await allowViewLinks(place)
  return await made(place, `POST /views/${view_id ?? (await newView(place))}/links`, 'person', {})
}

/** The servers of the tests find every host at this machine, where nothing listens on this port. */
const WEBHOOK_URL = 'https://hooks.example.com/contract-test'

/** Creates a customer, and returns the message to a webhook about it. */
async function newDelivery(place: Place, webhook_id: string): Promise<string> {
  await newCustomer(place, await newJourney(place))
  const headers = place.headers.key ?? {}
  for (;;) {
    const listed = await place.send({ method: 'GET', path: `/webhooks/${webhook_id}/deliveries`, headers })
    const { data } = await listed.json()
    if (data?.length !== 0) return data?.[0].delivery_id
    await nextLook(20)
  }
}

/** Creates a service key. */
export async function newKey(
  place: Pick<Place, 'send' | 'headers'>,
  options: { kind?: 'secret'; allowed_origins?: string[] } = {},
): Promise<{ key_id: string; token: string }> {
  return await made(place, 'POST /service-keys', 'person', {
    kind: 'publishable',
    name: 'Website',
    ...options,
  })
}

/** Creates an invitation. */
export async function newInvitation(
  place: Pick<Place, 'send' | 'headers'>,
  { email = newEmail(), role = 'viewer' }: { email?: string; role?: Role } = {},
): Promise<{ invitation_id: string; token: string }> {
  return await made(place, 'POST /invitations', 'person', { email, role })
}

/** Creates another session of the owner. @returns its `session_id` */
async function newSession({ cairn, owner }: Inside): Promise<string> {
  const { client } = browser(cairn, await signIn(cairn, owner))
  const { data } = await client().listSessions()
  return data?.data.find(({ current }) => current)?.session_id ?? ''
}

/** Returns the token of a password link of a member. @param person_id by default a new viewer */
export async function newPasswordToken(place: Place, person_id?: string): Promise<string> {
  if (!place.inside) throw new Error('a deployment has no inside')
  const { cairn, workspace } = place.inside
  const path = `/members/${person_id ?? (await newMember(cairn, workspace, 'viewer')).person_id}/password-link`
  return (await made<{ token: string }>(place, `POST ${path}`, 'person')).token
}

/** Returns the token of the only valid setup link. @param workspace_id null: the link creates a workspace */
export async function newSetupToken(
  { cairn }: Pick<Inside, 'cairn'>,
  workspace_id: string | null = null,
): Promise<string> {
  const now_ms = Date.now()
  const { person_id } = await newPerson(cairn)
  const url = await inStore(cairn.databaseUrl, async (db) => {
    // A link that creates a workspace is refused if there is one without members.
    const empty = db
      .selectFrom('workspaces')
      .select('workspace_id')
      .where('workspace_id', 'not in', db.selectFrom('members').select('workspace_id'))
    for (const row of workspace_id === null ? await empty.execute() : []) {
      await insertMember(db, { ...row, person_id, role: 'owner', joined_ms: now_ms })
    }
    return await makeSetupLink(db, { workspace_id, baseUrl: cairn.url, now_ms })
  })
  return url.replace(/^.*#token=/, '')
}

async function made<Body>(
  place: Pick<Place, 'send' | 'headers'>,
  line: string,
  caller: Caller,
  body?: object,
): Promise<Body> {
  const [method = '', path = ''] = line.split(' ')
  const headers = { ...place.headers[caller], ...(body && { 'content-type': 'application/json' }) }
  const reply = await place.send({ method, path, headers, body: body && JSON.stringify(body) })
  if (!reply.ok) throw new Error(`${line} answered ${reply.status}: ${await reply.text()}`)
  return await reply.json()
}

function smallestBody({ operationId }: ContractOperation, names: Names): unknown {
  const { journey_id, customer_id, token, email, password, current_password } = names
  const customer = { client_customer_id: 'user-1', customer_type: 'contact', customer_name: 'Ada' }
  const bodies: Record<string, object> = {
    initializeCustomer: { ...customer, journey_id },
    createEvent: { journey_id, customer_id, event_id: 'signed_up' },
    createEvents: { events: [{ journey_id, customer_id, event_id: 'signed_up' }] },
    replayRefusals: { refusal_id: names.refusal_id },
    createJourney: { name: 'Renewal' },
    updateJourney: { name: 'Renewal' },
    removeJourney: { name: ARCHIVED },
    defineEvent: { event_id: randomUUID() },
    updateEventDefinition: { mode: 'off' },
    createWebhook: { url: WEBHOOK_URL, types: ['customer.created'] },
    updateWebhook: { description: 'Renewal' },
    createView: { name: 'Renewal', journey_id, query: {}, visibility: 'workspace' },
    updateView: { name: 'Renewal' },
    createViewLink: {},
    readSharedView: { token },
    replayWebhook: { from: '2026-11-20T08:00:00Z' },
    findSetupLink: { token },
    setUp: { token, name: 'Ada', email, password, workspace_name: randomUUID() },
    signIn: { email, password },
    changeName: { name: 'Ada' },
    createWorkspace: { name: randomUUID() },
    updateWorkspace: { name: randomUUID() },
    removeWorkspace: { name: names.workspace_name },
    changePassword: { current_password, new_password: 'a-moth-in-relay-70' },
    updateMember: { role: 'admin' },
    createInvitation: { email, role: 'viewer' },
    findInvitation: { token },
    acceptInvitation: { token, name: 'Ada', password },
    joinWorkspace: { token },
    findPasswordLink: { token },
    resetPassword: { token, password },
    createServiceKey: { kind: 'publishable', name: 'Website' },
    updateServiceKey: { name: 'Shop' },
    rotateServiceKey: { grace_seconds: 0 },
  }
  return bodies[operationId]
}
