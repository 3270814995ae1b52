// engines: sqlite (a browser sees only the API, which is tested on both engines)

import type { Page } from 'playwright-core'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Schemas } from '../../client/index.ts'
import { type Cairn, startCairnForTest, type Workspace } from '../fixtures/cairn.ts'
import { type SignedUp, signUp } from '../fixtures/people.ts'
import { sharedCairn } from '../fixtures/shared-cairn.ts'
import { hasFocus, inspectState, openAdministration } from './administration.ts'
import { comeBackTo, heading, query, screenPath, tableRows } from './screens.ts'

let cairn: Cairn
let workspace: Workspace
let owner: SignedUp

beforeEach(async () => {
  cairn = await sharedCairn()
  workspace = await cairn.workspace()
  owner = await signUp(cairn, workspace, 'owner')
})

function open(screen: string, refusals: string[] = [], { turnsClock = false } = {}): Promise<Page> {
  const path = screenPath(workspace, screen)
  return openAdministration({ cairn, signedIn: owner.headers, path, refusals, turnsClock })
}

/** Turns the clock of the page forward, which reads nothing more. */
async function waitWithoutReading(page: Page, ms: number) {
  await page.route('**/v1/**', () => {})
  await page.clock.fastForward(ms)
}

/** Registers a customer. @returns its `customer_id` */
async function customer(customer_name: string, client_customer_id: string): Promise<string> {
  const { client, journey_id } = workspace
  const body = { journey_id, customer_name, client_customer_id, customer_type: 'contact' } as const
  const { data } = await client.initializeCustomer({ body })
  return data?.customer_id ?? ''
}

/** Creates another journey. @returns its `journey_id` */
async function newJourney(name: string): Promise<string> {
  const { data } = await workspace.client.createJourney({ body: { name } })
  return data?.journey_id ?? ''
}

/** Sends an event. @returns its id */
async function event(customer_id: string, event_id: string, more: Partial<Schemas['EventCreation']> = {}) {
  const { client, journey_id } = workspace
  const { data } = await client.createEvent({ body: { journey_id, customer_id, event_id, ...more } })
  return data?.id ?? ''
}

/** The cells of the events, after the time. */
async function lines(page: Page): Promise<string[][]> {
  const rows = tableRows(page, 'Events')
  return rows.evaluateAll((rows) =>
    rows.map((row) =>
      Array.from(row.querySelectorAll('td'), (cell) => cell.innerText.split('\n')[0] ?? '').slice(1),
    ),
  )
}

const names = async (page: Page) => (await lines(page)).map(([name]) => name)

describe('Events', () => {
  it('of the last 24 hours are as many in the list as in the chart', async () => {
    const hour = 3_600_000
    const now = Date.now() - (Date.now() % hour) + hour / 2
    let clock = now - 24.3 * hour
    const cairn = await startCairnForTest({ now: () => clock })
    workspace = await cairn.workspace()
    const ada = await customer('Ada Lovelace', 'user-1')
    await event(ada, 'too_early')
    clock = now - 23 * hour
    await event(ada, 'signed_up')
    clock = now
    const { headers } = await signUp(cairn, workspace, 'owner')
    const page = await openAdministration({
      cairn,
      signedIn: headers,
      path: screenPath(workspace, 'events'),
      turnsClock: true,
      prepare: (page) => page.clock.setFixedTime(now),
    })
    await page.getByText('1 created', { exact: true }).waitFor()
    await expect.poll(() => names(page)).toEqual(['signed_up'])
  })

  it('have one line each, can be filtered by chips in the URL, and open next to the list at their own URL', async () => {
    const { client, journey_id } = workspace
    const steps = [{ event_id: 'signed_up', name: 'Signed up' }]
    await client.updateJourney({ path: { journey_id }, body: { steps } })
    const [ada, grace] = [await customer('Ada Lovelace', 'user-1'), await customer('Grace Hopper', 'user-2')]
    const begun_ms = Date.now()
    const occurred_at = new Date(begun_ms - 90_000).toISOString()
    const first = await event(ada, 'signed_up', { occurred_at, custom_variables: { plan: 'pro', seats: 12 } })
    await event(grace, 'signed_up', { custom_variables: { plan: 'team', address: { city: 'Praha' } } })
    await event(grace, 'renewed')
    const page = await open('events')
    await expect
      .poll(() => lines(page))
      .toEqual([
        ['renewed', 'Grace Hopper user-2', 'Onboarding', ''],
        ['Signed up', 'Grace Hopper user-2', 'Onboarding', 'plan team · address {"city":"Praha"}'],
        ['Signed up', 'Ada Lovelace user-1', 'Onboarding', 'plan pro · seats 12'],
      ])
    await page.getByText('3 created', { exact: true }).waitFor()

    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    const journeys = page.getByRole('combobox', { name: 'Journey' })
    await expect.poll(() => hasFocus(journeys)).toBe(true)
    // The list would hide the fields below.
    expect(await journeys.getAttribute('aria-expanded')).toBe('false')
    await page.getByRole('searchbox', { name: 'event_id' }).fill('signed_up')
    await expect.poll(() => names(page)).toEqual(['Signed up', 'Signed up'])
    await page.getByRole('combobox', { name: 'Customer' }).fill('user-1')
    await page.getByRole('option', { name: 'Ada Lovelace (contact user-1)' }).click()
    await expect.poll(() => names(page)).toEqual(['Signed up'])
    expect(query(page)).toEqual({ event_id: 'signed_up', customer_id: ada })
    await page.keyboard.press('Escape')
    await page.reload()
    await page.getByRole('button', { name: /^event signed_up/ }).click()
    await page.getByRole('button', { name: /^customer Ada Lovelace \(contact user-1\)/ }).click()
    await expect.poll(() => names(page)).toHaveLength(3)
    expect(query(page)).toEqual({})

    await page.getByRole('button', { name: /^renewed of/ }).click()
    const drawer = page.getByRole('dialog')
    await drawer.getByText('at the time of receipt').waitFor()
    await page.keyboard.press('j')
    await drawer.getByText('"Praha"').waitFor()
    await page.keyboard.press('ArrowDown')
    await drawer.getByText('before it was received').waitFor()
    expect(query(page)).toEqual({ event: first })
    await inspectState(page, 'event-drawer')
    // Regardless of the list: the link's event is the one that opens.
    await page.goto(`${cairn.url}/admin${screenPath(workspace, `events?event_id=renewed&event=${first}`)}`)
    await drawer.getByText('"pro"').waitFor()
    await page.goBack()
    await drawer.getByRole('button', { name: 'Filter by this plan' }).click()
    await page.getByText('1 of 3 loaded events match').waitFor()
    await expect.poll(() => names(page)).toEqual(['Signed up'])
    expect(query(page)).toEqual({ variable: 'plan=pro' })
    await page.getByRole('button', { name: 'Export' }).click()
    await page.getByText('Exports do not apply the filter variable plan=pro').waitFor()
    await page.keyboard.press('Escape')
    const counters = page.getByRole('region', { name: 'Events over time' })
    await counters.getByText('not filtered by variable').waitFor()

    const parts = page.locator('.histogram button')
    const [last, before] = [parts.last(), parts.nth(-4)]
    await last.hover()
    await page.mouse.down()
    await before.hover()
    await page.mouse.up()
    await expect.poll(() => query(page)).toMatchObject({ received_to: expect.any(String) })
    const { received_from, received_to } = query(page)
    // Each part of a day is an hour.
    expect(Date.parse(received_to ?? '') - Date.parse(received_from ?? '')).toBe(4 * 3_600_000)
    await page.getByRole('button', { name: 'Zoom out' }).click()
    expect(query(page)).toEqual({ variable: 'plan=pro' })

    await page.getByRole('button', { name: /^signed_up of/ }).click()
    await drawer.getByRole('button', { name: 'Filter by this key' }).click()
    await expect
      .poll(() => query(page))
      .toEqual({ variable: 'plan=pro', key_id: expect.stringMatching(/^key_/) })
    await page.getByRole('button', { name: /^key .+ …/ }).click()
    expect(query(page)).toEqual({ variable: 'plan=pro' })

    const aMinuteAgo = encodeURIComponent(new Date(begun_ms - 60_000).toISOString())
    await page.goto(`${cairn.url}/admin${screenPath(workspace, `events?received_to=${aMinuteAgo}`)}`)
    await page.getByRole('heading', { name: 'No events in this time range' }).waitFor()
    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    await page.getByText('Occurred', { exact: true }).click()
    await expect.poll(() => names(page)).toEqual(['Signed up'])
    await page.getByRole('columnheader', { name: 'Occurred' }).waitFor()
  })

  it('arrive live, wait while someone reads or has paused, and are sampled if there are too many', async () => {
    const id = await customer('Ada Lovelace', 'user-1')
    const page = await open('events')
    await page.getByRole('heading', { name: 'No events yet' }).waitFor()
    await event(id, 'first')
    await expect.poll(() => names(page)).toEqual(['first'])
    await page.getByRole('button', { name: /^Live/ }).click()
    await event(id, 'second')
    await page.getByRole('button', { name: 'Resume (1 new)' }).waitFor()
    expect(await names(page)).toEqual(['first'])
    await page.getByRole('button', { name: 'Resume (1 new)' }).click()
    await expect.poll(() => names(page)).toEqual(['second', 'first'])

    await page.getByRole('button', { name: /^first of/ }).press('Enter')
    await page.getByRole('dialog').getByText('None', { exact: true }).waitFor()
    await event(id, 'third')
    await page.keyboard.press('Escape')
    await expect.poll(async () => (await names(page)).includes('third') || (await waiting(page))).toBe(true)
    expect(await page.getByText('Showing a sample').count()).toBe(0)

    const { client, journey_id } = workspace
    const events = Array.from({ length: 1000 }, () => ({ journey_id, customer_id: id, event_id: 'burst' }))
    const notice = page.getByText('Showing a sample')
    const rows = tableRows(page, 'Events')
    // Repeats until the page's next poll.
    while (!(await notice.isVisible())) await client.createEvents({ body: { events } })
    await page.getByText(/0 rejected since/).waitFor()
    await notice.waitFor({ state: 'hidden' })
    const again = page.getByRole('button', { name: 'Reload list' })
    if (await again.isVisible()) {
      await again.click()
      await again.waitFor({ state: 'hidden' })
    }
    expect(await rows.count()).toBeGreaterThan(0)
    await event(id, 'last')
    await expect.poll(async () => (await names(page))[0]).toBe('last')
  })

  it('have their day from the next day on', async () => {
    await event(await customer('Ada Lovelace', 'user-1'), 'signed_up')
    // With an end, so that nothing arrives live.
    const to = new Date(Date.now() + 3_600_000).toISOString()
    const page = await open(`events?received_to=${to}`, [], { turnsClock: true })
    const row = tableRows(page, 'Events')
    await row.waitFor()
    await waitWithoutReading(page, 24 * 3_600_000)
    await row.getByText(/^\d+ [A-Z][a-z]+ *$/).waitFor()
  })

  it('are said to have arrived as long ago as they have', async () => {
    await event(await customer('Ada Lovelace', 'user-1'), 'signed_up')
    const page = await open('overview', [], { turnsClock: true })
    await page.getByText(/Last event: (now|\d minutes? ago)\./).waitFor()
    await waitWithoutReading(page, 15 * 60_000)
    await page.getByText(/Last event: (1|2)\d minutes ago\./).waitFor()
  })

  it('are not called a sample because many existed before the page was opened', async () => {
    const id = await customer('Ada Lovelace', 'user-1')
    const { client, journey_id } = workspace
    const events = Array.from({ length: 1000 }, () => ({ journey_id, customer_id: id, event_id: 'imported' }))
    for (let batch = 0; batch < 3; batch += 1) await client.createEvents({ body: { events } })
    const page = await open('events')
    await expect.poll(() => names(page)).toHaveLength(50)
    await event(id, 'after')
    // The second poll shows that nothing is missed.
    await expect.poll(async () => (await names(page))[0]).toBe('after')
    await event(id, 'later')
    await expect.poll(async () => (await names(page))[0]).toBe('later')
    expect(await names(page)).toHaveLength(52)
    expect(await page.getByText('Showing a sample').count()).toBe(0)
    expect(await page.getByText('Some events are missing').count()).toBe(0)
  })
})

describe('A link to events', () => {
  it('selects as long a time as the place shows that it is in', async () => {
    const customer_id = await customer('Ada Lovelace', 'user-1')
    await event(customer_id, 'signed_up')
    const { created_at } = (await workspace.client.getCustomer({ path: { customer_id } })).data ?? {}
    const page = await open('events')
    const shown = Promise.withResolvers<void>()
    await page.route(`**/v1/customers/${customer_id}`, async (route) => {
      await shown.promise
      await route.continue()
    })
    await page.goto(`${cairn.url}/admin${screenPath(workspace, `customers/${customer_id}`)}`)
    await page.getByText('Events in all journeys').waitFor()
    const link = page.getByRole('link', { name: 'Show on the Events page' })
    // Since when the customer has events is not known yet.
    expect(await link.count()).toBe(0)
    shown.resolve()
    await link.click()
    await expect.poll(() => names(page)).toEqual(['signed_up'])
    expect(query(page)).toEqual({ customer_id, received_from: created_at })

    await page.goto(`${cairn.url}/admin${screenPath(workspace, 'events/definitions')}`)
    await page.getByRole('link', { name: 'signed_up', exact: true }).click()
    await expect.poll(() => names(page)).toEqual(['signed_up'])
    expect(query(page)).toEqual({ event_id: 'signed_up', last: '7d' })

    const body = { event_id: 'signed_up', variables: { type: 'object' as const } }
    const api = owner.client(workspace.workspace_id)
    const definition_id = (await api.defineEvent({ body })).data?.definition.definition_id ?? ''
    const firstDay = async () => {
      const { data } = await api.listDefinitionViolations({ path: { definition_id }, query: { days: 30 } })
      return data?.days[0]?.day
    }
    // Midnight (UTC) may come in between.
    const before = await firstDay()
    await page.goto(`${cairn.url}/admin${screenPath(workspace, `events/definitions/${definition_id}`)}`)
    await page.getByText('in the last 30 days').waitFor()
    await page.getByRole('link', { name: 'Show events with this name' }).click()
    await expect.poll(() => names(page)).toEqual(['signed_up'])
    const { event_id, received_from } = query(page)
    expect(event_id).toBe('signed_up')
    expect([before, await firstDay()]).toContain(received_from)
  })
})

describe('An event that could not be loaded', () => {
  it('is reported where it was to be shown, and is shown after another try', async () => {
    const customer_id = await customer('Ada Lovelace', 'user-1')
    const id = await event(customer_id, 'signed_up')
    const page = await open('events', ['500 GET /v1/events'])
    let isBroken = true
    await page.route(/\/v1\/events\?id=/, (route) =>
      isBroken ? route.fulfill({ status: 500, body: '' }) : route.continue(),
    )
    await page.goto(`${cairn.url}/admin${screenPath(workspace, `events?event_id=renewed&event=${id}`)}`)
    const drawer = page.getByRole('dialog')
    await drawer.getByText('The response did not come from Cairn').waitFor()
    isBroken = false
    await drawer.getByRole('button', { name: 'Try again' }).click()
    await drawer.getByText('at the time of receipt').waitFor()
  })
})

describe('More events than the screen keeps of those that arrive', () => {
  it('are said to be missing, and are all listed after a reload, page by page', async () => {
    const customer_id = await customer('Ada Lovelace', 'user-1')
    const { client, journey_id } = workspace
    await event(customer_id, 'before')
    const page = await open('events')
    await expect.poll(() => names(page)).toEqual(['before'])
    const rows = tableRows(page, 'Events')
    const missing = page.getByText('Some events are missing from this list')
    const events = Array.from({ length: 400 }, () => ({ journey_id, customer_id, event_id: 'arrived' }))

    for (const shown of [401, 801]) {
      await client.createEvents({ body: { events } })
      await expect.poll(() => rows.count()).toBe(shown)
    }
    expect(await missing.count()).toBe(0)
    await client.createEvents({ body: { events } })
    await missing.waitFor()
    await expect.poll(() => rows.count()).toBe(1001)

    await page.getByRole('button', { name: 'Reload list' }).click()
    await missing.waitFor({ state: 'hidden' })
    await expect.poll(() => rows.count()).toBe(50)
    for (let listed = 100; listed <= 1250; listed += 50) {
      await page.getByRole('button', { name: 'Show more' }).click()
      await expect.poll(() => rows.count()).toBe(Math.min(listed, 1201))
    }
    expect((await names(page)).at(-1)).toBe('before')
    expect(await page.getByRole('button', { name: 'Show more' }).count()).toBe(0)
  })
})

function waiting(page: Page): Promise<boolean> {
  return page.getByRole('button', { name: 'Show 1 new event' }).isVisible()
}

describe('What was refused', () => {
  it('is shown without searching, grouped by cause, and is sent again once that is fixed', async () => {
    const { client, journey_id, secret_key } = workspace
    const id = await customer('Ada Lovelace', 'user-1')
    await event(id, 'signed_up')
    const path = { journey_id }
    await client.archiveJourney({ path })
    const sent = { journey_id, customer_id: id, event_id: 'plan_chosen' }
    for (let count = 0; count < 12; count += 1) await client.createEvent({ body: sent })
    const headers = { 'x-service-key': secret_key, 'content-type': 'application/json' }
    await cairn.fetch('/events/create', {
      method: 'POST',
      headers,
      body: JSON.stringify({ ...sent, evnt_id: 'x' }),
    })

    const page = await open('overview')
    const key = `First secret key …${secret_key.slice(-4)}`
    const notice = page.getByRole('alert')
    await notice.getByText(/^13 rejected since \d\d:00: 12 events, 1 request$/).waitFor()
    await notice.getByText(/^Rejection rate: 92% of 13 received events\./).waitFor()
    await notice.getByText(`journey_archived from key ${key} since`).waitFor()
    await page.getByRole('link', { name: /^Events 13 rejected since/ }).waitFor()
    await inspectState(page, 'refused-notice')
    await notice.getByRole('link', { name: 'View rejected requests' }).click()
    await heading(page, 'Rejected requests').waitFor()

    const shape = page.getByRole('button', { name: /^invalid_request \/evnt_id from key/ })
    await shape.getByText('is not a field of the contract').waitFor()
    await shape.click()
    await page.getByText('Fix the sender as the error describes').waitFor()
    await page.getByText('"evnt_id"').waitFor()
    expect(await page.getByRole('button', { name: 'Preview replay' }).count()).toBe(0)
    const archived = page.getByRole('button', { name: /^journey_archived from key.*12×/ })
    await archived.click()
    const again = page.getByRole('button', { name: 'Preview again' })
    await page.getByRole('button', { name: 'Preview replay' }).click()
    await page.getByText('12 would be rejected again: journey_archived (12).').waitFor()
    await client.restoreJourney({ path })
    await again.click()
    await page.getByText('12 would be stored.').waitFor()
    await page.getByRole('button', { name: 'Replay 12 requests' }).click()
    await page.getByText('12 stored.').waitFor()
    const stored = await client.listEvents({ query: { event_id: 'plan_chosen' } })
    expect(stored.data?.data).toHaveLength(12)

    await page.getByRole('table', { name: 'Rejected requests' }).getByRole('button').first().click()
    const drawer = page.getByRole('dialog')
    await drawer.getByText(/^stored/).waitFor()
    await drawer.getByRole('button', { name: 'Preview replay' }).click()
    await drawer.getByText('1 would be duplicate.').waitFor()
    const latest = query(page).refusal
    expect(latest).toMatch(/^rfs_/)
    await page.keyboard.press('j')
    await drawer.getByRole('button', { name: 'Previous', disabled: false }).waitFor()
    expect(query(page).refusal).not.toBe(latest)
    await page.keyboard.press('ArrowUp')
    await expect.poll(() => query(page).refusal).toBe(latest)
    await inspectState(page, 'refusal-drawer')
  })

  it('has its day from the next day on', async () => {
    const { client, journey_id } = workspace
    const customer_id = await customer('Ada Lovelace', 'user-1')
    await client.archiveJourney({ path: { journey_id } })
    await client.createEvent({ body: { journey_id, customer_id, event_id: 'signed_up' } })
    const page = await open('events/refused', [], { turnsClock: true })
    const group = page.getByRole('button', { name: /^journey_archived from key/ })
    await group.waitFor()
    await waitWithoutReading(page, 24 * 3_600_000)
    await group.getByText(/since \d+ [A-Z][a-z]+, \d\d:\d\d/).waitFor()
    await group.getByText(/last received \d+ [A-Z][a-z]+, \d\d:\d\d/).waitFor()
  })

  it('is not denied, nor counted, for a span whose numbers are still loading', async () => {
    const { client, journey_id } = workspace
    const customer_id = await customer('Ada Lovelace', 'user-1')
    await client.archiveJourney({ path: { journey_id } })
    await client.createEvent({ body: { journey_id, customer_id, event_id: 'signed_up' } })
    const page = await open('events/refused?code=customer_not_found')
    const denied = page.getByRole('heading', { name: 'No rejected requests' })
    await denied.waitFor()
    const counters = page.getByRole('region', { name: 'Events over time' })
    await counters.getByText('1 rejected', { exact: true }).waitFor()
    await page.route(/\/v1\/(activity|refusals\/summary)/, () => {})
    await page.getByText('7 d', { exact: true }).click()
    await counters.getByText('in the last 7 days').waitFor()
    await counters.getByText('… rejected', { exact: true }).waitFor()
    await denied.waitFor({ state: 'detached' })
  })

  it('is sent again as the preview has counted it, whatever arrives or is filtered after that', async () => {
    const { client, journey_id } = workspace
    const id = await customer('Ada Lovelace', 'user-1')
    const path = { journey_id }
    const refuse = async (event_id: string) => {
      await client.archiveJourney({ path })
      await event(id, event_id)
      await client.restoreJourney({ path })
    }
    await refuse('plan_chosen')
    await refuse('renewed')
    const page = await open('events/refused')
    await page.getByRole('button', { name: /^journey_archived from key.*2×/ }).click()
    const preview = page.getByRole('button', { name: 'Preview replay' })
    await preview.click()
    await page.getByText('2 would be stored.').waitFor()

    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    await page.getByRole('searchbox', { name: 'event_id' }).fill('renewed')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: /^journey_archived from key.*1×/ }).waitFor()
    expect(await page.getByRole('button', { name: 'Replay 2 requests' }).count()).toBe(0)
    await preview.click()
    await page.getByText('1 would be stored.').waitFor()

    await refuse('renewed')
    await comeBackTo(page)
    await page.getByRole('button', { name: /^journey_archived from key.*2×/ }).waitFor()
    await page.getByRole('button', { name: 'Replay 1 request' }).click()
    await page.getByText(/^\d stored\.$/).waitFor()
    await page.getByText('1 stored.').waitFor()
    const stored = await client.listEvents({ query: { journey_id } })
    expect(stored.data?.data).toHaveLength(1)

    await page.getByRole('button', { name: /^event renewed/ }).click()
    await page.getByRole('button', { name: /^journey_archived from key.*3×/ }).waitFor()
    await preview.click()
    await page.getByText('2 would be stored, 1 would be duplicate.').waitFor()
  })

  it('is sent again in part if that fails half-way, which the screen says, and can be continued', async () => {
    const { client, journey_id } = workspace
    const id = await customer('Ada Lovelace', 'user-1')
    await client.archiveJourney({ path: { journey_id } })
    for (let count = 0; count < 3; count += 1) await event(id, 'plan_chosen')
    await client.restoreJourney({ path: { journey_id } })
    const page = await open('events/refused', ['500 POST /v1/refusals/replay'])
    let pages = 0
    let isBroken = true
    await page.route(/\/v1\/refusals\/replay\?limit=500(?!.*dry_run)/, (route) => {
      pages += 1
      if (isBroken && pages > 2) return route.fulfill({ status: 500, body: '' })
      return route.continue({ url: route.request().url().replace('limit=500', 'limit=1') })
    })
    await page.getByRole('button', { name: /^journey_archived from key.*3×/ }).click()
    await page.getByRole('button', { name: 'Preview replay' }).click()
    await page.getByRole('button', { name: 'Replay 3 requests' }).click()
    await page.getByText('Before this error: 2 stored.').waitFor()
    expect((await client.listEvents()).data?.data).toHaveLength(2)

    isBroken = false
    await page.getByRole('button', { name: 'Preview again' }).click()
    await page.getByText('1 would be stored, 2 would be duplicate.').waitFor()
    await page.getByRole('button', { name: 'Replay 1 request' }).click()
    await page.getByText('1 stored, 2 duplicate.').waitFor()
    expect((await client.listEvents()).data?.data).toHaveLength(3)
  })

  it('is listed by its field, and sent again with all of its code and key, which the screen says', async () => {
    const { workspace_id } = workspace
    const integer = { type: 'integer' } as const
    await owner.client(workspace_id).defineEvent({
      body: {
        event_id: 'plan_chosen',
        mode: 'enforce',
        variables: { type: 'object', properties: { plan: integer, plan_name: integer } },
      },
    })
    const id = await customer('Ada Lovelace', 'user-1')
    for (const name of ['plan', 'plan', 'plan_name', 'plan_name', 'plan_name']) {
      await event(id, 'plan_chosen', { custom_variables: { [name]: 'pro' } })
    }
    const page = await open('events/refused')
    await page.getByRole('button', { name: /^event_not_as_defined \/custom_variables\/plan from/ }).click()
    const listed = tableRows(page, 'Rejected requests')
    await listed.first().waitFor()
    expect(await listed.count()).toBe(2)
    await page.getByText('Replays every request with this code and key, whatever its field.').waitFor()
    await page.getByRole('button', { name: 'Preview replay' }).click()
    await page.getByText('5 would be rejected again: event_not_as_defined (5).').waitFor()
    await inspectState(page, 'refusals-by-field')
  })

  it('is counted equally on every screen: events, requests and registrations each by its own name', async () => {
    const { client, journey_id, secret_key } = workspace
    const ada = await customer('Ada Lovelace', 'user-1')
    const sent = { journey_id, customer_id: ada, event_id: 'signed_up' }
    const unknown = { ...sent, customer_id: 'cus_unknown' }
    const resent = { ...sent, message_id: 'm-1' }
    const events = [sent, { ...sent, message_id: 'm-2' }, resent, resent, resent, unknown, unknown]
    await client.createEvents({ body: { events } })
    await client.createEvent({ body: resent })
    await client.createEvent({ body: unknown })
    const headers = { 'x-service-key': secret_key, 'content-type': 'application/json' }
    const post = (path: string, body: object) =>
      cairn.fetch(path, { method: 'POST', headers, body: JSON.stringify(body) })
    for (let count = 0; count < 31; count += 1) await post('/events/create', { ...sent, evnt_id: 'x' })
    await post('/events/batch', { events: [sent, { ...sent, customVariables: {} }] })
    const person = {
      journey_id,
      client_customer_id: 'user-2',
      customer_name: 'Grace',
      customer_type: 'person',
    }
    for (let count = 0; count < 4; count += 1) await post('/customers/initialize', person)

    const activity = (await client.getActivity()).data?.total
    const kinds = async () => (await client.getRefusalSummary({ query: { periods: 1 } })).data?.kinds
    expect(activity).toEqual({ created: 3, duplicate: 3, rejected: 3 })
    await expect.poll(kinds).toEqual({ events: 3, requests: 32, customers: 4 })

    const page = await open('overview')
    const arrivals = page.getByRole('region', { name: 'Incoming events' })
    await arrivals.getByText(/^Events are arriving, but most are rejected\./).waitFor()
    // Of the last hour and of the last day.
    const counts = '9 received, 3 duplicates, 3 rejected'
    await expect.poll(() => arrivals.getByText('3 events created', { exact: true }).count()).toBe(2)
    await expect.poll(() => arrivals.getByText(counts, { exact: true }).count()).toBe(2)
    const whole = '32 requests, 4 registrations rejected'
    await expect.poll(() => arrivals.getByText(whole, { exact: true }).count()).toBe(2)
    const all = '3 events, 32 requests, 4 registrations'
    await page
      .getByRole('alert')
      .getByText(new RegExp(`^39 rejected since \\d\\d:00: ${all}$`))
      .waitFor()
    await page.getByText('Rejection rate: 33% of 9 received events').waitFor()
    await page.getByRole('link', { name: /^Events 39 rejected since/ }).waitFor()
    const refused = page.getByRole('region', { name: 'Rejected requests' })
    await refused.getByText(`In the last 24 hours: ${all}.`).waitFor()
    await refused.getByRole('cell', { name: all, exact: true }).waitFor()
    await inspectState(page, 'overview-rejected')

    for (const screen of ['events', 'events/refused']) {
      await page.goto(`${cairn.url}/admin${screenPath(workspace, screen)}`)
      const over = page.getByRole('region', { name: 'Events over time' })
      const legend = [
        '3 created',
        '3 duplicate',
        '3 rejected',
        '32 requests rejected',
        '4 registrations rejected',
      ]
      for (const text of legend) await over.getByText(text, { exact: true }).waitFor()
    }
  })

  it('is counted in the singular if there is one', async () => {
    const { journey_id, secret_key } = workspace
    const headers = { 'x-service-key': secret_key, 'content-type': 'application/json' }
    for (const path of ['/events/create', '/customers/initialize']) {
      await cairn.fetch(path, { method: 'POST', headers, body: JSON.stringify({ journey_id }) })
    }
    const page = await open('events')
    const over = page.getByRole('region', { name: 'Events over time' })
    for (const noun of ['request', 'registration']) {
      await over.getByText(`1 ${noun} rejected`, { exact: true }).waitFor()
      await over.getByRole('button', { name: new RegExp(`, 1 ${noun} rejected`) }).waitFor()
    }
  })

  it('shows each of ten mistakes of an application, what was sent and what to do', async () => {
    const { client, journey_id, secret_key } = workspace
    const ada = await customer('Ada Lovelace', 'user-1')
    const [other, over] = [await newJourney('Renewal'), await newJourney('Beta')]
    await client.initializeCustomer({
      body: {
        journey_id: over,
        customer_name: 'Ada',
        client_customer_id: 'user-1',
        customer_type: 'contact',
      },
    })
    await client.archiveJourney({ path: { journey_id: over } })
    await event(ada, 'signed_up', { message_id: 'sign-up-1' })
    // Not ASCII, so that there are more bytes than characters.
    const custom_variables = { city: 'Zürich' }
    const sent = { journey_id, customer_id: ada, event_id: 'signed_up', custom_variables }
    const names = { journey_id, client_customer_id: 'user-2', customer_name: 'Zoë' }
    const ahead = new Date(Date.now() + 2 * 3_600_000).toISOString()
    const large = { ...sent, custom_variables: { page: 'x'.repeat(70_000) } }
    const requests: [path: string, body: object][] = [
      ['/events/create', { ...sent, customer_id: 'user-1' }],
      ['/events/create', { ...sent, journey_id: other }],
      ['/events/create', { ...sent, journey_id: 'Onboarding' }],
      ['/events/create', { ...sent, journey_id: over }],
      ['/events/create', { ...sent, occurred_at: ahead }],
      ['/events/create', { ...sent, event_id: 'plan_chosen', message_id: 'sign-up-1' }],
      ['/events/create', { ...sent, customVariables: { plan: 'pro' } }],
      ['/events/create', { ...sent, occurred_at: '2026-11-20 09:00:00' }],
      ['/customers/initialize', { ...names, customer_type: 'person' }],
      ['/events/batch', { events: [large] }],
    ]
    const headers = { 'x-service-key': secret_key, 'content-type': 'application/json' }
    for (const [path, body] of requests) {
      await cairn.fetch(path, { method: 'POST', headers, body: JSON.stringify(body) })
    }

    const page = await open('events/refused')
    const whole = /^Request body$/
    const found: [group: RegExp, sent: string, cure: string, kept?: RegExp][] = [
      [/^customer_not_found from key/, '"user-1"', 'send the customer_id that it returns'],
      [/^customer_not_in_journey from key/, `"${other}"`, 'is not enrolled in this journey'],
      [/^journey_not_found from key/, '"Onboarding"', 'Copy it from the journey’s page'],
      [/^journey_archived from key/, `"${over}"`, 'Restore it on its settings page'],
      [/^occurred_at_in_future from key/, `"${ahead}"`, 'Correct the clock'],
      [/^message_id_conflict from key/, '"sign-up-1"', 'give a new event a new message_id'],
      [/^invalid_request \/customVariables from key/, '"pro"', 'does not match the contract'],
      [/^invalid_request \/occurred_at from key/, '"2026-11-20 09:00:00"', 'does not match the contract'],
      [/^invalid_request \/customer_type from key/, '"person"', 'does not match the contract'],
      [
        /^event_too_large from key/,
        '"signed_up"',
        'An event can have up to 64 KiB',
        /^Request body \(16,384 of 70,\d{3} bytes\)$/,
      ],
    ]
    for (const [name, sent, cure, kept = whole] of found) {
      const group = page.getByRole('button', { name })
      await group.click()
      const line = page.getByRole('listitem').filter({ has: group })
      await line.getByText(cure).waitFor()
      await line.getByText(sent).first().waitFor()
      await line.getByText(kept).waitFor()
      await group.click()
    }
    expect(await page.getByRole('button', { name: / from key / }).count()).toBe(found.length)
  })

  it('is not shown to viewers, who learn who can see it', async () => {
    owner = await signUp(cairn, workspace, 'viewer')
    const page = await open('events/refused')
    await page.getByRole('heading', { name: 'For owners and admins' }).waitFor()
  })
})
