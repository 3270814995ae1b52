// engines: sqlite, postgres

import { randomUUID } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { components } from '../../generated/contract.ts'
import { DAY_MS, HOUR_MS } from '../../server/domain/durations.ts'
import { tokenDigest } from '../../server/domain/tokens.ts'
import { openStorage } from '../../server/storage/open.ts'
import { BreakdownTooLarge } from '../../server/storage/standings/variable-labels.ts'
import { type Cairn, startCairn, type Workspace } from '../fixtures/cairn.ts'
import { newAddress } from '../fixtures/contract/target.ts'
import { initialize } from '../fixtures/customer.ts'
import { browser, OWN_PAGE, type SignedUp, signUp } from '../fixtures/people.ts'
import { storedText } from '../fixtures/store.ts'
import { codeOf } from './code-of.ts'

type Schemas = components['schemas']

const START_MS = Date.now()

let now = START_MS
let cairn: Cairn
let workspace: Workspace
let owner: SignedUp
/** The headers of somebody with the link and no session. */
let guest: Record<string, string>

/** The workspaces in whose queues reports were read, and what the next one waits for. */
const computing: { workspaces: string[]; hold: (() => Promise<void>) | undefined } = {
  workspaces: [],
  hold: undefined,
}

beforeAll(async () => {
  cairn = await startCairn({ now: () => now, trustedProxies: ['127.0.0.1'], open: openObserved })
  return cairn.stop
})

/** Opens a store whose reports are counted, and wait if a test says so. */
const openObserved: typeof openStorage = async (options) => {
  const storage = await openStorage(options)
  const { standings } = storage
  const report = standings.report.bind(standings)
  standings.report = async (workspaceId, journeyId, filter, reading) => {
    const { hold } = computing
    computing.hold = undefined
    computing.workspaces.push(reading.workspaceId)
    await hold?.()
    return await report(workspaceId, journeyId, filter, reading)
  }
  return storage
}

beforeEach(async () => {
  now = START_MS
  computing.workspaces = []
  guest = { ...OWN_PAGE, 'x-forwarded-for': newAddress() }
  workspace = await cairn.workspace()
  owner = await signUp(cairn, workspace, 'owner')
  await owner.client().updateWorkspace({ body: { view_links: 'on' } })
  const { client, journey_id } = workspace
  const steps = [
    { event_id: 'signed_up', name: 'Signed up' },
    { event_id: 'plan_chosen', name: 'Chose a plan' },
  ]
  await client.updateJourney({ path: { journey_id }, body: { steps } })
})

async function save(query: Schemas['ViewQuery'] = {}, visibility: 'own' | 'workspace' = 'workspace') {
  const body = { name: 'Teams', journey_id: workspace.journey_id, query, visibility }
  const { data } = await owner.client().createView({ body })
  return { view_id: data?.view_id ?? '' }
}

async function linkTo(path: { view_id: string }, valid_days?: number) {
  const body = valid_days === undefined ? {} : { valid_days }
  const { data } = await owner.client().createViewLink({ path, body })
  return { ...path, link_id: data?.link_id ?? '', token: data?.token ?? '', expires_at: data?.expires_at }
}

async function read(token: string, headers = guest) {
  const { data, error, response } = await browser(cairn, headers).client().readSharedView({ body: { token } })
  return { data, code: error?.code, status: response.status }
}

/** Waits until what the link shows, which is kept for some seconds, has this value. */
async function untilShown(
  token: string,
  shown: (view: Schemas['SharedView'] | undefined) => unknown,
  value: number,
) {
  await expect
    .poll(async () => {
      now += 15_000
      return shown((await read(token)).data)
    })
    .toBe(value)
}

type Sent = { custom_variables?: Record<string, unknown>; occurred_at?: string }

async function enter(name: string, events: string[], sent: Sent = {}) {
  const { client, journey_id } = workspace
  const customer_id = await initialize(workspace, name)
  for (const event_id of events) {
    await client.createEvent({ body: { journey_id, customer_id, event_id, ...sent } })
  }
  return customer_id
}

describe('a link to a view', () => {
  it('shows its numbers to somebody without an account, and nothing that names a customer', async () => {
    const customer_id = await enter('user-1', ['signed_up'])
    const { token } = await linkTo(await save({ chart: 'trend', by: 'month', time_zone: 'Europe/Berlin' }))
    await untilShown(token, (view) => view?.report.enrolled, 1)
    const { data } = await read(token)
    expect(data).toMatchObject({
      name: 'Teams',
      journey_name: 'Onboarding',
      query: { chart: 'trend', by: 'month' },
      report: { enrolled: 1, steps: [{ name: 'Signed up' }, { name: 'Chose a plan' }] },
      trend: { cohorts: expect.any(Array) },
    })
    expect(data?.step_times).toBeUndefined()
    const text = JSON.stringify(data)
    for (const secret of [customer_id, 'user-1', workspace.workspace_id, workspace.secret_key, owner.name]) {
      expect(text).not.toContain(secret)
    }
    const times = await linkTo(await save({ chart: 'step_times', step: 2, last_days: 7, window: 'P1D' }))
    const shown = await read(times.token)
    expect(shown.data?.step_times).toMatchObject({ step: 2, times: { n: 0 } })
    expect(shown.data?.trend).toBeUndefined()
  })

  it('shows the view as it is now', async () => {
    const view = await save()
    const { token } = await linkTo(view)
    expect((await read(token)).data?.name).toBe('Teams')
    await owner.client().updateView({ path: view, body: { name: 'Accounts', query: { last_days: 7 } } })
    expect((await read(token)).data).toMatchObject({ name: 'Accounts', query: { last_days: 7 } })
    await owner.client().updateView({ path: view, body: { query: { last_days: 30 } } })
    expect((await read(token)).data?.query).toEqual({ last_days: 30 })
  })

  it('shows the same part, groups, filters and comparison as the report', async () => {
    const before = { occurred_at: new Date(START_MS - 10 * DAY_MS).toISOString() }
    const sent = [
      ['team-1', ['signed_up', 'plan_chosen'], { custom_variables: { plan: 'team', region: 'eu' } }],
      ['free-1', ['signed_up'], { custom_variables: { plan: 'free', region: 'eu' } }],
      ['free-2', ['signed_up'], { custom_variables: { plan: 'free', region: 'eu' }, ...before }],
      ['elsewhere', ['signed_up'], { custom_variables: { plan: 'team', region: 'us' } }],
      ['not-started', [], {}],
    ] satisfies [string, string[], Sent][]
    for (const [name, events, given] of sent) await enter(name, events, given)
    const shared = {
      first_step: 1,
      last_step: 2,
      breakdown: 'variable:plan',
      touch: 'first',
      variables: ['region:eu'],
    } satisfies Schemas['ViewQuery']
    const compare = 'previous_period'
    const query = { ...shared, last_days: 7, compare } satisfies Schemas['ViewQuery']
    const { token } = await linkTo(await save({ ...query, chart: 'trend', by: 'day' }))
    const times = await linkTo(await save({ ...query, chart: 'step_times', step: 2 }))
    const today_ms = START_MS - (START_MS % DAY_MS)
    const { client, journey_id } = workspace
    const entered = {
      entered_from: new Date(today_ms - 6 * DAY_MS).toISOString(),
      entered_to: new Date(today_ms + DAY_MS).toISOString(),
    }
    const report = async () => {
      const query = { ...shared, ...entered, compare } as const
      return (await client.getJourneyReport({ path: { journey_id }, query })).data
    }
    await expect.poll(async () => (await report())?.comparison?.enrolled).toBe(1)
    await expect.poll(async () => (await report())?.enrolled).toBe(2)
    const { as_of: _, ...expected } = (await report()) ?? {}
    const { data } = await read(token)
    expect(data?.report).toMatchObject(expected)
    expect(data?.report.groups?.map(({ group, steps }) => [group.value, steps.at(-1)?.reached])).toEqual([
      ['free', 0],
      ['team', 1],
    ])
    expect(data?.trend?.groups?.map(({ group }) => group.value)).toEqual(['free', 'team'])
    expect((await read(times.token)).data?.step_times?.groups).toMatchObject([
      { group: { value: 'team' }, times: { n: 1 } },
    ])
  })

  it('shows the times to the second step of its part, unless it is about another one', async () => {
    const { client, journey_id } = workspace
    const steps = ['signed_up', 'plan_chosen', 'paid'].map((event_id) => ({ event_id, name: event_id }))
    await client.updateJourney({ path: { journey_id }, body: { steps } })
    // Without a customer the numbers are those of the new steps at once.
    const shown: [Schemas['ViewQuery'], number][] = [
      [{}, 2],
      [{ step: 3 }, 3],
      [{ first_step: 2 }, 3],
      [{ first_step: 3 }, 3],
      [{ first_step: 2, step: 1 }, 3],
    ]
    for (const [query, step] of shown) {
      const { token } = await linkTo(await save({ ...query, chart: 'step_times' }))
      await untilShown(token, (view) => view?.step_times?.step, step)
    }
  })

  it('shows longer periods than those of the view if there were too many', async () => {
    const entered_from = new Date(START_MS - 150 * DAY_MS).toISOString()
    const lengths = async (query: Schemas['ViewQuery']) => {
      const { token } = await linkTo(await save({ ...query, chart: 'trend' }))
      const { data } = await read(token)
      expect(data?.report.enrolled).toBe(0)
      return data?.trend?.cohorts
        .slice(0, 2)
        .map(({ starts_at, ends_at }) => (Date.parse(ends_at) - Date.parse(starts_at)) / DAY_MS)
    }
    expect(await lengths({ entered_from })).toEqual([1, 1])
    expect(await lengths({ entered_from, breakdown: 'customer_type' })).toEqual([7, 7])
    const years = { entered_from: '2010-01-01T00:00:00Z', entered_to: '2017-01-01T00:00:00Z' }
    expect(await lengths({ ...years, by: 'week', breakdown: 'customer_type' })).toEqual([31, 28])
    expect(await lengths({ entered_from: '1900-01-01T00:00:00Z', by: 'month' })).toBeUndefined()
  })

  it('begins the periods of its trend in the time zone of the view', async () => {
    const entered = { entered_from: '2026-01-07T00:00:00Z', entered_to: '2026-01-08T00:00:00Z' }
    const trend = { chart: 'trend', by: 'week', time_zone: 'Pacific/Kiritimati' } as const
    const { token } = await linkTo(await save({ ...entered, ...trend }))
    // Monday, 14 hours ahead of UTC.
    const week = { starts_at: '2026-01-04T10:00:00.000Z', ends_at: '2026-01-11T10:00:00.000Z' }
    expect((await read(token)).data?.trend?.cohorts).toMatchObject([week])
  })

  it('groups by the event that the view says', async () => {
    const { client, journey_id } = workspace
    const customer_id = await initialize(workspace, 'user-1')
    for (const [event_id, plan] of [
      ['signed_up', 'free'],
      ['plan_chosen', 'team'],
    ] as const) {
      await client.createEvent({ body: { journey_id, customer_id, event_id, custom_variables: { plan } } })
    }
    const { token } = await linkTo(await save({ breakdown: 'variable:plan', touch: 'last' }))
    await untilShown(token, (view) => view?.report.steps.at(-1)?.reached, 1)
    expect((await read(token)).data?.report.groups).toMatchObject([{ group: { value: 'team' }, enrolled: 1 }])
  })

  it('is refused if there is too much to break down', async () => {
    const { token } = await linkTo(await save({ breakdown: 'variable:plan' }))
    // The limits themselves are tested with the standings.
    computing.hold = () => Promise.reject(new BreakdownTooLarge())
    expect(await read(token)).toMatchObject({ status: 409, code: 'breakdown_too_large' })
    expect((await read(token)).status).toBe(200)
  })

  it('counts the steps in the order of the view', async () => {
    const { client, journey_id } = workspace
    const steps = ['signed_up', 'plan_chosen', 'paid'].map((event_id) => ({ event_id, name: event_id }))
    await client.updateJourney({ path: { journey_id }, body: { steps } })
    const customer_id = await initialize(workspace, 'user-1')
    for (const [minute, event_id] of ['signed_up', 'paid', 'plan_chosen'].entries()) {
      const occurred_at = new Date(START_MS - DAY_MS + minute * 60_000).toISOString()
      await client.createEvent({ body: { journey_id, customer_id, event_id, occurred_at } })
    }
    const links = [await linkTo(await save()), await linkTo(await save({ step_order: 'strict' }))]
    const reached = async () => {
      now += 15_000
      const shown = await Promise.all(links.map(({ token }) => read(token)))
      return shown.map(({ data }) => data?.report.steps.map(({ reached }) => reached))
    }
    await expect.poll(reached).toEqual([
      [1, 1, 0],
      [1, 0, 0],
    ])
  })

  it('counts the days of a view in its own time zone', async () => {
    await enter('user-1', ['signed_up'])
    // At every moment it is another day in one of them than in UTC.
    for (const [time_zone, ahead_ms] of [
      ['Pacific/Kiritimati', 14 * HOUR_MS],
      ['Pacific/Pago_Pago', -11 * HOUR_MS],
    ] as const) {
      const { token } = await linkTo(await save({ last_days: 1, time_zone, compare: 'previous_period' }))
      await untilShown(token, (view) => view?.report.enrolled, 1)
      const today_ms = Math.floor((now + ahead_ms) / DAY_MS) * DAY_MS - ahead_ms
      expect((await read(token)).data?.report.comparison).toMatchObject({
        entered_from: new Date(today_ms - DAY_MS).toISOString(),
        entered_to: new Date(today_ms).toISOString(),
      })
    }
  })

  it('is valid for 30 days, or as long as was asked, and not a moment longer', async () => {
    const view = await save()
    const [usual, short] = [await linkTo(view), await linkTo(view, 1)]
    expect(Date.parse(usual.expires_at ?? '')).toBe(START_MS + 30 * DAY_MS)
    now = START_MS + DAY_MS - 1
    expect((await read(short.token)).status).toBe(200)
    now = START_MS + DAY_MS
    expect(await read(short.token)).toMatchObject({ code: 'shared_view_not_found', status: 404 })
    now = START_MS + 30 * DAY_MS - 1
    expect((await read(usual.token)).status).toBe(200)
    now = START_MS + 30 * DAY_MS
    expect((await read(usual.token)).code).toBe('shared_view_not_found')
    const signedIn = await signUp(cairn, workspace, 'owner')
    expect((await signedIn.client().listViewLinks({ path: view })).data).toEqual({ data: [] })
  })

  it.each([
    ['is revoked', ({ view_id, link_id }) => owner.client().revokeViewLink({ path: { view_id, link_id } })],
    ['loses its view', ({ view_id }) => owner.client().removeView({ path: { view_id } })],
    ['is turned off', () => owner.client().updateWorkspace({ body: { view_links: 'off' } })],
    [
      'loses its journey',
      async () => {
        const { journey_id } = workspace
        await workspace.client.archiveJourney({ path: { journey_id } })
        const { data } = await workspace.client.getJourney({ path: { journey_id } })
        await owner.client().removeJourney({ path: { journey_id }, body: { name: data?.name ?? '' } })
      },
    ],
    [
      'loses its workspace',
      async () => {
        await owner.client().archiveWorkspace()
        const { data } = await owner.client().getWorkspace()
        await owner.client().removeWorkspace({ body: { name: data?.name ?? '' } })
      },
    ],
  ] satisfies [string, (link: { view_id: string; link_id: string }) => Promise<unknown>][])(
    'shows nothing from the moment that it %s, with the reply of a wrong one',
    async (_name, end) => {
      const link = await linkTo(await save())
      expect((await read(link.token)).status).toBe(200)
      await end(link)
      const reply = await browser(cairn, guest).fetch('POST /shared-views/read', {
        body: { token: link.token },
      })
      const wrong = await browser(cairn, guest).fetch('POST /shared-views/read', {
        body: { token: `viewlink_${'0'.repeat(43)}` },
      })
      const [{ request_id: _, ...shown }, { request_id: __, ...guessed }] = [
        await reply.json(),
        await wrong.json(),
      ]
      expect(shown).toEqual(guessed)
      expect(shown).toMatchObject({ code: 'shared_view_not_found', status: 404 })
    },
  )

  it('works again when links are turned on again', async () => {
    const { token } = await linkTo(await save())
    await owner.client().updateWorkspace({ body: { view_links: 'off' } })
    expect((await read(token)).status).toBe(404)
    await owner.client().updateWorkspace({ body: { view_links: 'on' } })
    expect((await read(token)).status).toBe(200)
  })

  it('is off in a new workspace, and only for views of the workspace', async () => {
    const path = await save({}, 'own')
    expect(await codeOf(owner.client().createViewLink({ path, body: {} }))).toBe('view_not_shared')
    await owner.client().updateWorkspace({ body: { view_links: 'off' } })
    expect(await codeOf(owner.client().createViewLink({ path, body: {} }))).toBe('view_links_off')
    const other = await cairn.workspace()
    const { data } = await (await signUp(cairn, other, 'owner')).client().getWorkspace()
    expect(data?.view_links).toBe('off')
  })

  it('is made and revoked by owners and admins, and by no key', async () => {
    const path = await save()
    const [admin, viewer] = [
      await signUp(cairn, workspace, 'admin'),
      await signUp(cairn, workspace, 'viewer'),
    ]
    const { data: link } = await admin.client().createViewLink({ path, body: {} })
    expect(link).toMatchObject({ created_by: admin.name })
    const { token: _, ...listed } = link ?? { link_id: '', token: '' }
    expect((await owner.client().listViewLinks({ path })).data).toEqual({ data: [listed] })
    expect(await codeOf(viewer.client().createViewLink({ path, body: {} }))).toBe('role_not_allowed')
    expect(await codeOf(viewer.client().listViewLinks({ path }))).toBe('role_not_allowed')
    const ofLink = { path: { ...path, link_id: listed.link_id } }
    expect(await codeOf(viewer.client().revokeViewLink(ofLink))).toBe('role_not_allowed')
    const byKey = await cairn.fetch(`/views/${path.view_id}/links`, {
      headers: { 'x-service-key': workspace.secret_key },
    })
    expect([byKey.status, (await byKey.json()).code]).toEqual([403, 'session_required'])
    expect((await owner.client().revokeViewLink(ofLink)).response.status).toBe(204)
    expect(await codeOf(owner.client().revokeViewLink(ofLink))).toBe('view_link_not_found')
  })

  it('of another workspace is not found', async () => {
    const link = await linkTo(await save())
    const other = await cairn.workspace()
    const intruder = (await signUp(cairn, other, 'owner')).client()
    await intruder.updateWorkspace({ body: { view_links: 'on' } })
    const path = { view_id: link.view_id, link_id: link.link_id }
    expect(await codeOf(intruder.listViewLinks({ path }))).toBe('view_not_found')
    expect(await codeOf(intruder.createViewLink({ path, body: {} }))).toBe('view_not_found')
    expect(await codeOf(intruder.revokeViewLink({ path }))).toBe('view_not_found')
    expect((await read(link.token)).status).toBe(200)
  })
})

describe('a token', () => {
  it('is in no log, and in the store as a digest alone', async () => {
    const link = await linkTo(await save())
    await read(link.token)
    const { data } = await owner.client().listAuditLog({ query: { area: 'views' } })
    expect(data?.data[0]).toMatchObject({
      action: 'view_link_created',
      subject: { kind: 'view', id: link.view_id },
      after: { link_id: link.link_id, expires_at: link.expires_at },
    })
    const stored = await storedText(cairn.databaseUrl)
    expect(stored).toContain(tokenDigest(link.token))
    for (const text of [stored, JSON.stringify(cairn.log), JSON.stringify(data)]) {
      expect(text).not.toContain(link.token)
    }
    await owner.client().revokeViewLink({ path: { view_id: link.view_id, link_id: link.link_id } })
    await owner.client().updateWorkspace({ body: { view_links: 'off' } })
    const done = async (subject_id: string) =>
      (await owner.client().listAuditLog({ query: { subject_id } })).data?.data ?? []
    expect(await done(link.view_id)).toContainEqual(
      expect.objectContaining({
        action: 'view_link_revoked',
        before: { link_id: link.link_id, expires_at: link.expires_at },
      }),
    )
    const off = { before: { view_links: 'on' }, after: { view_links: 'off' } }
    expect(await done(workspace.workspace_id)).toContainEqual(
      expect.objectContaining({ action: 'workspace_view_links_changed', ...off }),
    )
  })

  it('cannot be guessed at will, and a known one is read meanwhile from elsewhere', async () => {
    const { token } = await linkTo(await save())
    const codes = new Set<string | undefined>()
    for (let count = 0; count < 40; count += 1) codes.add((await read(`viewlink_${randomUUID()}`)).code)
    expect([...codes].sort()).toEqual(['shared_view_not_found', 'too_many_attempts'])
    expect((await read(token, { ...OWN_PAGE, 'x-forwarded-for': newAddress() })).status).toBe(200)
    // Also from the same network, once it has led to a view: readers of one office must not lock each other out.
    expect((await read(token)).status).toBe(200)
  })

  it('is refused from a page of another site', async () => {
    const { token } = await linkTo(await save())
    const foreign = { ...guest, 'sec-fetch-site': 'cross-site', origin: 'https://elsewhere.example.com' }
    expect((await read(token, foreign)).code).toBe('foreign_origin')
  })
})

describe('many readers of a link', () => {
  it('get the numbers of one computation for 15 seconds', async () => {
    const { token } = await linkTo(await save())
    const first = await read(token)
    expect(first.data?.report.enrolled).toBe(0)
    await enter('user-1', ['signed_up'])
    // The report itself knows of the customer long before.
    const { journey_id } = workspace
    const report = () => workspace.client.getJourneyReport({ path: { journey_id } })
    await expect.poll(async () => (await report()).data?.enrolled).toBe(1)
    now += 14_999
    expect((await read(token)).data).toEqual(first.data)
    now += 1
    expect((await read(token)).data?.report.enrolled).toBe(1)
  })

  it('at the same time get the numbers of one computation, in the queue of its workspace', async () => {
    const [{ token }, other] = [await linkTo(await save()), await linkTo(await save())]
    const held = Promise.withResolvers<void>()
    computing.hold = () => held.promise
    const disconnecting = new AbortController()
    const { signal } = disconnecting
    const headers = { ...guest, 'content-type': 'application/json' }
    const request = { method: 'POST', headers, body: JSON.stringify({ token }), signal }
    const first = cairn.fetch('/shared-views/read', request).catch(({ name }) => name)
    await expect.poll(() => computing.workspaces.length).toBe(1)
    disconnecting.abort()
    expect(await first).toBe('AbortError')
    const others = Array.from({ length: 30 }, () => read(token))
    await read(other.token)
    held.resolve()
    for (const { status } of await Promise.all(others)) expect(status).toBe(200)
    expect(computing.workspaces).toEqual([workspace.workspace_id, workspace.workspace_id])
  })

  it('get the numbers of the next computation if one fails', async () => {
    const { token } = await linkTo(await save())
    computing.hold = () => Promise.reject(new Error('unreadable'))
    expect((await read(token)).status).toBe(500)
    expect((await read(token)).status).toBe(200)
  })
})
