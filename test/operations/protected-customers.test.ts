// engines: sqlite, postgres
import { randomUUID } from 'node:crypto'
import { TypeID } from 'typeid-js'
import { describe, expect } from 'vitest'
import { newId } from '../../server/domain/identifiers.ts'
import { newServiceKey } from '../../server/domain/service-keys.ts'
import { insertServiceKey } from '../../server/storage/tables/service-keys.ts'
import type { Cairn, Workspace } from '../fixtures/cairn.ts'
import { initialize } from '../fixtures/customer.ts'
import { inStore } from '../fixtures/in-store.ts'
import { it } from '../fixtures/it.ts'
import { withPatience } from '../fixtures/patience.ts'
import { signUp } from '../fixtures/people.ts'

const NO_CUSTOMER = `cus_${'0'.repeat(26)}`

const named = (client_customer_id: string, customer_name = 'Grace') =>
  ({ client_customer_id, customer_type: 'contact', customer_name }) as const

/** A workspace with a known customer, an erased one, and another journey that nobody has entered. */
async function newScene(cairn: Cairn) {
  const workspace = await cairn.workspace()
  const { client, journey_id, publishable_key } = workspace
  const known = await initialize(workspace, 'known')
  const erased = await initialize(workspace, 'erased')
  await client.eraseCustomer({ path: { customer_id: erased } })
  const other = await client.createJourney({ body: { name: 'Renewal' } })
  const page = cairn.client(publishable_key)
  return { workspace, client, journey_id, other_id: other.data?.journey_id ?? '', known, erased, page }
}

/** Sends a body with the publishable key. @returns the response without what differs between any two responses */
async function asked(
  cairn: Cairn,
  workspace: Pick<Workspace, 'publishable_key'>,
  path: string,
  body: object,
) {
  const headers = { 'x-service-key': workspace.publishable_key, 'content-type': 'application/json' }
  const reply = await cairn.fetch(path, { method: 'POST', headers, body: JSON.stringify(body) })
  const text = (await reply.text()).replaceAll(
    /"(customer_id|message_id|received_at|request_id)":"[^"]*"/g,
    '"$1":""',
  )
  // Each request lowers the remaining rate by the same amount.
  const own = ['x-request-id', 'date', 'ratelimit', 'content-length']
  const told = [...reply.headers].filter(([name]) => !own.includes(name))
  return { status: reply.status, text, said: JSON.parse(text), told, has: [...reply.headers.keys()] }
}

/** A scene with a customer of the other journey only, and an identifier that nobody has. */
async function newCrowd(cairn: Cairn) {
  const scene = await newScene(cairn)
  const elsewhere = await initialize({ ...scene, journey_id: scene.other_id }, 'elsewhere')
  const unknown = scene.known.replace(/.{20}$/, '0'.repeat(20))
  const archive = () => scene.client.archiveJourney({ path: { journey_id: scene.journey_id } })
  return { ...scene, elsewhere, unknown, archive }
}

type SentEvent = {
  journey_id: string
  customer_id: string
  event_id: string
  message_id?: string
  occurred_at?: string
  custom_variables?: { [name: string]: string }
}

const FUTURE = '2090-01-01T00:00:00Z'

/** Each way of sending an event: the path, the body, and where the response contains the code. */
const WAYS = ['', '?dry_run=true'].flatMap((query) => [
  {
    path: `/events/create${query}`,
    bodyOf: (event: SentEvent): object => event,
    codeOf: ({ said }: Answer): string => said.code,
  },
  {
    path: `/events/batch${query}`,
    bodyOf: (event: SentEvent): object => ({ events: [event] }),
    codeOf: ({ said }: Answer): string => said.results[0].problem?.code,
  },
])

type Answer = Awaited<ReturnType<typeof asked>>
type Way = (typeof WAYS)[number]

const isDry = ({ path }: Way) => path.endsWith('?dry_run=true')

/** Sends each event each way, and expects the same response to all of them. */
async function expectOneAnswer(
  cairn: Cairn,
  workspace: Workspace,
  events: SentEvent[],
  { code, ways = WAYS }: { code: string | undefined; ways?: Way[] },
) {
  for (const { path, bodyOf, codeOf } of ways) {
    const answers: Answer[] = []
    for (const event of events) answers.push(await asked(cairn, workspace, path, bodyOf(event)))
    const [first] = answers
    if (!first) throw new Error('no event was sent')
    expect(codeOf(first), path).toBe(code)
    expect(answers, path).toEqual(answers.map(() => first))
  }
}

async function protect(cairn: Cairn, { workspace_id }: { workspace_id: string }, protect_customers: boolean) {
  const owner = await signUp(cairn, { workspace_id }, 'owner')
  return await owner.client(workspace_id).updateWorkspace({ body: { protect_customers } })
}

describe('a publishable key in a workspace that protects its customers', () => {
  it('registers a new customer and finds a known one with the same response', async ({ cairn }) => {
    const { workspace, client, journey_id, known, page } = await newScene(cairn)
    const answers = [
      await asked(cairn, workspace, '/customers/initialize', { ...named('new'), journey_id }),
      await asked(cairn, workspace, '/customers/initialize', { ...named('new'), journey_id }),
      await asked(cairn, workspace, '/customers/initialize', { ...named('known'), journey_id }),
    ]
    expect(answers[0]).toMatchObject({ status: 200, said: { created: false } })
    expect(answers).toEqual([answers[0], answers[0], answers[0]])
    const again = await page.initializeCustomer({ body: { ...named('known'), journey_id } })
    expect(again.data?.customer_id).toBe(known)
    const listed = await client.listCustomers()
    expect(listed.data?.data.map(({ customer_name }) => customer_name)).toEqual(['Grace', 'Ada Lovelace'])
  })

  it('waits as long for a known customer as a commit takes for a new one', async ({ cairn }) => {
    const { journey_id, page } = await newScene(cairn)
    const body = { ...named('known'), journey_id }
    const times: number[] = []
    for (let call = 0; call < 10; call += 1) {
      const began_ms = performance.now()
      await page.initializeCustomer({ body })
      times.push(performance.now() - began_ms)
    }
    // A timer of 25 ms may end a millisecond early.
    expect(Math.min(...times)).toBeGreaterThan(23)
  })

  it('enrols a known customer in another journey, and renames nobody, also by concurrent calls', async ({
    cairn,
  }) => {
    const { client, other_id, known, page } = await newScene(cairn)
    const names = Array.from({ length: 20 }, (_, index) => `Grace ${index}`)
    const bodies = names.flatMap((name) => [
      { ...named('known', name), journey_id: other_id },
      { ...named('new', name), journey_id: other_id },
    ])
    const answers = await Promise.all(bodies.map((body) => page.initializeCustomer({ body })))
    expect(new Set(answers.map(({ response, data }) => [response.status, data?.created].join()))).toEqual(
      new Set(['200,false']),
    )
    expect(new Set(answers.map(({ data }) => data?.customer_id)).size).toBe(2)
    const customer = async (customer_id: string) => (await client.getCustomer({ path: { customer_id } })).data
    expect((await customer(known))?.customer_name).toBe('Ada Lovelace')
    const event = { journey_id: other_id, customer_id: known, event_id: 'signed_up' }
    expect((await page.createEvent({ body: event })).response.status).toBe(201)

    const made = answers.map(({ data }) => data?.customer_id).find((id) => id !== known) ?? ''
    const first = (await customer(made))?.customer_name
    expect(names).toContain(first)
    await page.initializeCustomer({ body: { ...named('new', 'Somebody else'), journey_id: other_id } })
    expect((await customer(made))?.customer_name).toBe(first)
    await client.initializeCustomer({ body: { ...named('new', 'Grace Hopper'), journey_id: other_id } })
    expect((await customer(made))?.customer_name).toBe('Grace Hopper')
  })

  it('cannot read the time of registration from a new customer_id', async ({ cairn, workspace }) => {
    const { workspace_id } = workspace
    const made_ms = Date.now() - 1_000_000_000
    const set = { created_ms: made_ms, protect_customers: 1 }
    const publishable = newServiceKey('publishable')
    const journey_id = await inStore(cairn.databaseUrl, async (db) => {
      await db.updateTable('workspaces').set(set).where('workspace_id', '=', workspace_id).execute()
      const key = { key_id: `key_${randomUUID()}`, workspace_id, kind: 'publishable', name: 'Page' } as const
      const rules = { allowed_origins: [], rate_limit: null, expires_ms: null, created_ms: made_ms }
      await insertServiceKey(db, { ...key, ...rules, token: publishable })
      const { journey_id } = await db
        .selectFrom('journeys')
        .select('journey_id')
        .where('workspace_id', '=', workspace_id)
        .executeTakeFirstOrThrow()
      return journey_id
    })
    const page = cairn.client(publishable)
    const bodies = Array.from({ length: 100 }, (_, index) => ({ ...named(`user-${index}`), journey_id }))
    const answers = await Promise.all(bodies.map((body) => page.initializeCustomer({ body })))
    const times = answers.map(({ data }) => {
      const digits = TypeID.fromString(data?.customer_id ?? '').toUUID()
      return Number.parseInt(digits.replace('-', '').slice(0, 12), 16)
    })
    for (const ms of times) {
      expect(ms).toBeGreaterThanOrEqual(made_ms)
      expect(ms).toBeLessThanOrEqual(Date.now())
    }
    // Of a hundred random ones a tenth is in the last tenth; the chance that half of them are is 1 in 10^20.
    expect(times.filter((ms) => ms > Date.now() - 100_000_000).length).toBeLessThan(50)
  })

  it('learns nothing about a customer by a dry run', async ({ cairn }) => {
    const { workspace, client, journey_id, other_id, known, erased } = await newScene(cairn)
    const trial = async (names: object) =>
      await asked(cairn, workspace, '/customers/initialize?dry_run=true', { ...names, journey_id })
    const of_new = await trial(named('new'))
    expect(of_new).toMatchObject({ status: 200, said: { created: false, dry_run: true } })
    expect(await trial(named('known'))).toEqual(of_new)
    expect(await trial(named('erased'))).toEqual(of_new)
    const page = cairn.client(workspace.publishable_key)
    const body = { ...named('known'), journey_id }
    const { data } = await page.initializeCustomer({ body, query: { dry_run: true } })
    expect(data?.customer_id).toBe(NO_CUSTOMER)

    const event = (customer_id: string) => ({ journey_id: other_id, customer_id, event_id: 'signed_up' })
    const ids = [known, erased, 'cus_unknown']
    for (const customer_id of ids) {
      expect(await asked(cairn, workspace, '/events/create?dry_run=true', event(customer_id))).toMatchObject({
        status: 201,
        said: { duplicate: false, dry_run: true },
      })
    }
    const events = ids.map(event)
    const many = await page.createEvents({ body: { events }, query: { dry_run: true } })
    expect(many.data).toMatchObject({ created: 3, rejected: 0 })

    // Problems that are not about customers are still reported.
    const future = { ...event(known), occurred_at: '9999-01-01T00:00:00Z' }
    const unknown = { ...event(known), journey_id: 'jrn_unknown' }
    const codes = async (body: typeof future | typeof unknown) =>
      (await page.createEvent({ body, query: { dry_run: true } })).error?.code
    expect([await codes(future), await codes(unknown)]).toEqual([
      'occurred_at_in_future',
      'journey_not_found',
    ])
    await client.archiveJourney({ path: { journey_id } })
    await client.archiveJourney({ path: { journey_id: other_id } })
    expect(await codes(event(known))).toBe('journey_archived')
    expect(await trial(named('erased'))).toMatchObject({ status: 409, said: { code: 'journey_archived' } })
  })

  it('gets the same answer for an erased customer as for an unknown one, and nothing of it is kept', async ({
    cairn,
  }) => {
    const { workspace, client, journey_id, erased } = await newScene(cairn)
    const event = (customer_id: string) => ({ journey_id, customer_id, event_id: 'signed_up' })
    const unknown = `cus_${erased.slice('cus_'.length).split('').toReversed().join('').replace(/^./, '0')}`
    const of_unknown = await asked(cairn, workspace, '/events/create', event(unknown))
    expect(of_unknown).toMatchObject({ status: 404, said: { code: 'customer_not_found' } })
    expect(await asked(cairn, workspace, '/events/create', event(erased))).toEqual(of_unknown)
    const { said } = await asked(cairn, workspace, '/events/batch', {
      events: [event(erased), event(unknown)],
    })
    expect(said.results[0]).toEqual(said.results[1])
    await expect.poll(async () => (await client.listRefusals()).data?.data.length, withPatience).toBe(2)
    const kept = await client.listRefusals({ query: { customer_id: erased } })
    expect(kept.data?.data).toEqual([])
  })

  it('finds an archived journey closed for every customer, and nothing about an erased customer is kept', async ({
    cairn,
  }) => {
    const { workspace, client, journey_id, known, erased, elsewhere, unknown, archive } =
      await newCrowd(cairn)
    await archive()
    const event = { journey_id, event_id: 'signed_up' }
    const ids = [known, erased, elsewhere, unknown]
    await expectOneAnswer(
      cairn,
      workspace,
      ids.map((customer_id) => ({ ...event, customer_id })),
      { code: 'journey_archived' },
    )
    for (const query of ['', '?dry_run=true']) {
      const answers: Answer[] = []
      for (const name of ['known', 'erased', 'elsewhere', 'nobody']) {
        answers.push(
          await asked(cairn, workspace, `/customers/initialize${query}`, { ...named(name), journey_id }),
        )
      }
      expect(answers[0]).toMatchObject({ status: 409, said: { code: 'journey_archived' } })
      expect(answers).toEqual(answers.map(() => answers[0]))
    }
    // By each of three ways, for all except the erased one.
    const refusals = async () => (await client.listRefusals()).data?.data ?? []
    await expect.poll(async () => (await refusals()).length, withPatience).toBe(9)
    const kept = JSON.stringify(await refusals())
    expect(kept).toMatch(/\belsewhere\b/)
    expect(kept).not.toMatch(new RegExp(`\\berased\\b|${erased}`))
  })

  it.for<[learns: string, sent: Partial<SentEvent>, code: string, ways?: Way[]]>([
    ['a time in the future', { occurred_at: FUTURE }, 'occurred_at_in_future'],
    ['an event that is not as defined', { event_id: 'plan_chosen' }, 'event_not_as_defined'],
    [
      'an event that is not as defined and has a known message_id',
      { event_id: 'plan_chosen', message_id: 'message-1' },
      'event_not_as_defined',
    ],
    [
      'an event that is too large',
      { custom_variables: { text: 'x'.repeat(64 * 1024) } },
      'event_too_large',
      WAYS.filter(({ path }) => path.startsWith('/events/batch')),
    ],
  ])('learns of %s before anything about the customer', async ([, sent, code, ways = WAYS], { cairn }) => {
    const { workspace, client, journey_id, known, erased, elsewhere, unknown } = await newCrowd(cairn)
    const variables = { type: 'object' as const, properties: { plan: {} }, required: ['plan'] }
    await client.defineEvent({ body: { event_id: 'plan_chosen', mode: 'enforce', variables } })
    const ofKnown = { journey_id, customer_id: known, event_id: 'plan_chosen', message_id: 'message-1' }
    const stored = await client.createEvent({ body: { ...ofKnown, custom_variables: { plan: 'team' } } })
    expect(stored.response.status).toBe(201)
    const events = [known, erased, elsewhere, unknown].map((customer_id) => {
      return { journey_id, customer_id, event_id: 'signed_up', ...sent }
    })
    await expectOneAnswer(cairn, workspace, events, { code, ways })
  })

  it('gets one refusal for a customer who is unknown, erased or in another journey', async ({ cairn }) => {
    const { workspace, client, journey_id, erased, elsewhere, unknown } = await newCrowd(cairn)
    const event = { journey_id, event_id: 'signed_up' }
    const ids = [erased, elsewhere, unknown]
    const events = ids.map((customer_id) => ({ ...event, customer_id }))
    await expectOneAnswer(cairn, workspace, events, {
      code: 'customer_not_found',
      ways: WAYS.filter((way) => !isDry(way)),
    })
    const codes = async () =>
      ((await client.listRefusals()).data?.data ?? []).map(({ code }) => code).toSorted()
    await expect
      .poll(codes, withPatience)
      .toEqual([
        'customer_not_found',
        'customer_not_found',
        'customer_not_in_journey',
        'customer_not_in_journey',
      ])
  })

  it.for([
    { refused: 'in an archived journey', code: 'journey_archived' },
    { refused: 'for its time', code: 'occurred_at_in_future' },
  ])(
    'does not learn from an event that is refused $refused whether its message_id is stored',
    async ({ code }, { cairn }) => {
      const { workspace, client, journey_id, known, archive } = await newCrowd(cairn)
      const event = { journey_id, customer_id: known, event_id: 'signed_up' }
      await client.createEvent({ body: { ...event, message_id: 'stored' } })
      if (code === 'journey_archived') await archive()
      const sent = {
        ...event,
        event_id: 'guessed',
        ...(code === 'occurred_at_in_future' && { occurred_at: FUTURE }),
      }
      const events = ['stored', 'new'].map((message_id) => ({ ...sent, message_id }))
      await expectOneAnswer(cairn, workspace, events, { code })
    },
  )

  it('gets one refusal for its customer and for its message_id, and a resend is recognized', async ({
    cairn,
  }) => {
    const { workspace, client, journey_id, known, erased, elsewhere, unknown, page, archive } =
      await newCrowd(cairn)
    const event = { journey_id, customer_id: known, event_id: 'signed_up', message_id: 'stored' }
    const first = await page.createEvent({ body: event })
    const outside = [erased, elsewhere, unknown].map((customer_id) => ({ ...event, customer_id }))
    const events = [
      { ...event, event_id: 'guessed' },
      ...outside,
      ...outside.map((event) => ({ ...event, message_id: 'new' })),
    ]
    await expectOneAnswer(cairn, workspace, events, {
      code: 'customer_not_found',
      ways: WAYS.filter((way) => !isDry(way)),
    })
    const secret = await client.createEvent({ body: { ...event, event_id: 'guessed' } })
    expect(secret.error?.code).toBe('message_id_conflict')
    await archive()
    const again = await page.createEvent({ body: event })
    expect(again.data).toMatchObject({ id: first.data?.id, duplicate: true })
  })

  it('learns of no message_id from a dry run, even next to one with a secret key', async ({ cairn }) => {
    const { workspace, client, journey_id, known, unknown, page } = await newCrowd(cairn)
    const event = { journey_id, customer_id: known, event_id: 'signed_up', message_id: 'stored' }
    await client.createEvent({ body: event })
    const fresh = { ...event, message_id: 'new' }
    const events = [event, { ...event, event_id: 'guessed' }, { ...event, customer_id: unknown }, fresh]
    await expectOneAnswer(cairn, workspace, events, { code: undefined, ways: WAYS.filter(isDry) })
    const query = { dry_run: true }
    const answers = await Promise.all(
      Array.from({ length: 10 }, async () => [
        (await client.createEvent({ body: event, query })).response.status,
        (await page.createEvent({ body: event, query })).response.status,
      ]),
    )
    expect(new Set(answers.map(String))).toEqual(new Set(['200,201']))

    const batch = { events: [fresh, fresh, { ...fresh, event_id: 'guessed' }] }
    for (const query of [{ dry_run: true }, {}]) {
      const { data } = await page.createEvents({ body: batch, query })
      const results = data?.results.map(({ status, problem }) => problem?.code ?? status)
      expect(results).toEqual(['created', 'duplicate', 'customer_not_found'])
    }
  })

  it('cannot register an erased customer: a 2xx means stored', async ({ cairn }) => {
    const { client, journey_id, page } = await newScene(cairn)
    const { error } = await page.initializeCustomer({ body: { ...named('erased'), journey_id } })
    expect(error).toMatchObject({ status: 410, code: 'customer_erased' })
    expect((await client.listCustomers()).data?.data).toHaveLength(1)
  })

  it('differs from a secret key, which renames and learns the outcome', async ({ cairn }) => {
    const { client, journey_id, known, erased } = await newScene(cairn)
    const made = await client.initializeCustomer({ body: { ...named('new'), journey_id } })
    expect([made.response.status, made.data?.created]).toEqual([201, true])
    await client.initializeCustomer({ body: { ...named('known'), journey_id } })
    const customer = await client.getCustomer({ path: { customer_id: known } })
    expect(customer.data?.customer_name).toBe('Grace')
    const event = { journey_id, customer_id: erased, event_id: 'signed_up' }
    expect((await client.createEvent({ body: event })).error?.code).toBe('customer_erased')
  })
})

describe('the setting', () => {
  it('applies at once when it is changed, by owners only, and is in the audit log', async ({ cairn }) => {
    const { workspace, journey_id, known, client, page } = await newScene(cairn)
    const rename = () => page.initializeCustomer({ body: { ...named('known'), journey_id } })
    await rename()
    const admin = await signUp(cairn, workspace, 'admin')
    const refused = await admin.client().updateWorkspace({ body: { protect_customers: false } })
    expect(refused.error?.code).toBe('role_not_allowed')
    expect((await admin.client().getWorkspace()).data?.protect_customers).toBe(true)

    expect((await protect(cairn, workspace, false)).data).toMatchObject({ protect_customers: false })
    expect((await rename()).data).toMatchObject({ created: false })
    const customer = await client.getCustomer({ path: { customer_id: known } })
    expect(customer.data?.customer_name).toBe('Grace')
    const made = await page.initializeCustomer({ body: { ...named('new'), journey_id } })
    expect([made.response.status, made.data?.created]).toEqual([201, true])
    const erased = await page.initializeCustomer({
      body: { ...named('erased'), journey_id },
      query: { dry_run: true },
    })
    expect(erased.response.status).toBe(410)

    await protect(cairn, workspace, true)
    const another = await page.initializeCustomer({ body: { ...named('another'), journey_id } })
    expect([another.response.status, another.data?.created]).toEqual([200, false])
    const log = await admin.client().listAuditLog({ query: { area: 'members' } })
    const changes = log.data?.data.filter(({ action }) => action === 'workspace_protection_changed')
    expect(changes).toMatchObject([
      { before: { protect_customers: false }, after: { protect_customers: true } },
      { before: { protect_customers: true }, after: { protect_customers: false } },
    ])
  })

  it('leaves the order of the rules unchanged for a secret key if it is off', async ({ cairn }) => {
    const { workspace, journey_id, erased, elsewhere, archive } = await newCrowd(cairn)
    await protect(cairn, workspace, false)
    const event = { journey_id, event_id: 'signed_up', occurred_at: FUTURE }
    await expectOneAnswer(cairn, workspace, [{ ...event, customer_id: elsewhere }], {
      code: 'customer_not_in_journey',
    })
    await archive()
    await expectOneAnswer(cairn, workspace, [{ ...event, customer_id: erased }], { code: 'customer_erased' })
    const answer = await asked(cairn, workspace, '/customers/initialize', { ...named('erased'), journey_id })
    expect(answer.said.code).toBe('customer_erased')
  })

  it('is off in a workspace that is older than it, and on in one that an owner creates', async ({
    cairn,
    workspace,
  }) => {
    const { workspace_id } = workspace
    const old = { workspace_id: newId('wsp'), name: randomUUID(), created_ms: Date.now() }
    await inStore(cairn.databaseUrl, async (db) => {
      // As a row from before the column existed.
      await db.insertInto('workspaces').values(old).execute()
    })
    const member = await signUp(cairn, old, 'owner')
    expect((await member.client().getWorkspace()).data?.protect_customers).toBe(false)
    const owner = await signUp(cairn, { workspace_id }, 'owner')
    const made = await owner.client().createWorkspace({ body: { name: randomUUID() } })
    const another = await owner.client(made.data?.workspace_id).getWorkspace()
    expect(another.data?.protect_customers).toBe(true)
  })
})
