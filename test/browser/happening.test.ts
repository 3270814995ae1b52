// engines: sqlite (a browser sees only the API, which is tested on both engines)

import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Schemas } from '../../client/index.ts'
import { type Cairn, startCairnForTest, type Workspace } from '../fixtures/cairn.ts'
import { initialize } from '../fixtures/customer.ts'
import { jsonLines } from '../fixtures/json-lines.ts'
import { ownedWorkspace } from '../fixtures/owned-workspace.ts'
import { type SignedUp, signUp } from '../fixtures/people.ts'
import { createKey } from '../fixtures/service-keys.ts'
import {
  hasFocus,
  holdRequests,
  inspectState,
  openAdministration,
  tabTo,
  waitWithoutReading,
} from './administration.ts'
import { query, screenPath, tableRows } from './screens.ts'

let cairn: Cairn
let workspace: Workspace
let owner: SignedUp

beforeEach(async () => {
  ;({ cairn, workspace, owner } = await ownedWorkspace())
})

function open(screen: string, refusals: string[] = [], { turnsClock = false } = {}): Promise<Page> {
  const path = screenPath(workspace, screen)
  return openAdministration({ cairn, signedIn: owner.headers, path, refusals, turnsClock })
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
  it('of all time are found from an empty span, and counted', async () => {
    const customer_id = await initialize(workspace, 'user-1')
    await event(customer_id, 'signed_up', { occurred_at: '1999-12-31T09:30:00Z' })
    const page = await open('events?time=occurred')
    await page.getByRole('button', { name: 'Show the last 7 days' }).click()
    await page.getByRole('button', { name: 'Show all events' }).click()
    await expect.poll(() => names(page)).toEqual(['signed_up'])
    const counters = page.getByRole('region', { name: 'Events over time' })
    await counters.getByText('1 created', { exact: true }).waitFor()
  })

  it('are listed while they cannot be counted, which is said', async () => {
    await event(await initialize(workspace, 'user-1'), 'signed_up')
    const received_from = new Date(Date.now() - 3_600_000).toISOString()
    const received_to = new Date(Date.now() + 3_600_000).toISOString()
    const page = await open('keys', ['503 GET /v1/activity'])
    await page.route('**/v1/activity?*', (route) => {
      return route.fulfill({ status: 503, contentType: 'text/plain', body: 'away' })
    })
    const path = screenPath(workspace, `events?${new URLSearchParams({ received_from, received_to })}`)
    await page.goto(`${cairn.url}/admin${path}`)
    const counters = page.getByRole('region', { name: 'Events over time' })
    await counters.getByText('Events cannot be counted at the moment.').waitFor()
    await expect.poll(() => names(page)).toEqual(['signed_up'])
  })

  it('of the last 24 hours are as many in the list as in the chart', async () => {
    const hour = 3_600_000
    const now = Date.now() - (Date.now() % hour) + hour / 2
    let clock = now - 24.3 * hour
    const cairn = await startCairnForTest({ now: () => clock })
    workspace = await cairn.workspace()
    const ada = await initialize(workspace, 'user-1')
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
    const [ada, grace] = [
      await initialize(workspace, 'user-1'),
      await initialize(workspace, 'user-2', { customer_name: 'Grace Hopper' }),
    ]
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

  it('are counted and exported as they are filtered, in the time range that was chosen last', async () => {
    const customer_id = await initialize(workspace, 'user-1')
    await event(customer_id, 'signed_up')
    const { key_id, key } = await createKey(cairn, workspace, 'secret')
    await cairn.fetch('/events/create', {
      method: 'POST',
      headers: { 'x-service-key': key, 'content-type': 'application/json' },
      body: JSON.stringify({ journey_id: workspace.journey_id, customer_id, event_id: 'paid' }),
    })
    const received_from = new Date(Date.now() - 3_600_000).toISOString()
    const page = await open(`events?${new URLSearchParams({ received_from, key_id })}`)
    await expect.poll(() => names(page)).toEqual(['paid'])
    const counters = page.getByRole('region', { name: 'Events over time' })
    await counters.getByText('1 created', { exact: true }).waitFor()

    await page.getByRole('button', { name: 'Export' }).click()
    const saved = page.waitForEvent('download')
    await page.getByRole('menuitem', { name: 'NDJSON' }).click()
    const lines = jsonLines(readFileSync(await (await saved).path(), 'utf8'))
    expect(lines).toMatchObject([{ event_id: 'paid' }, { end: 1, filter: { key_id, received_from } }])

    await page.getByRole('search').getByText('1 h', { exact: true }).click()
    await expect.poll(() => query(page)).toEqual({ last: '1h', key_id })
    await expect.poll(() => names(page)).toEqual(['paid'])
  })

  it('arrive live, wait while someone reads or has paused, and are sampled if there are too many', async () => {
    const id = await initialize(workspace, 'user-1')
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

  it('that arrive while a row has the focus from the keyboard wait, so that it stays where it is', async () => {
    const id = await initialize(workspace, 'user-1')
    await event(id, 'first')
    const page = await open('events')
    const row = page.getByRole('button', { name: /^first of/ })
    await page.getByRole('button', { name: /^Live/ }).focus()
    await tabTo(page, row)
    await event(id, 'second')
    const show = page.getByRole('button', { name: 'Show 1 new event' })
    await show.waitFor()
    expect(await names(page)).toEqual(['first'])
    expect(await hasFocus(row)).toBe(true)
    await show.click()
    await expect.poll(() => names(page)).toEqual(['second', 'first'])

    // No row has the focus any more.
    await event(id, 'third')
    await expect.poll(() => names(page)).toEqual(['third', 'second', 'first'])
  })

  it('have their day from the next day on', async () => {
    await event(await initialize(workspace, 'user-1'), 'signed_up')
    // With an end, so that nothing arrives live.
    const to = new Date(Date.now() + 3_600_000).toISOString()
    const page = await open(`events?received_to=${to}`, [], { turnsClock: true })
    const row = tableRows(page, 'Events')
    await row.waitFor()
    await waitWithoutReading(page, 24 * 3_600_000)
    await row.getByText(/^\d+ [A-Z][a-z]+ *$/).waitFor()
  })

  it('are counted for the last hour, however long the page has been open', async () => {
    await event(await initialize(workspace, 'user-1'), 'signed_up')
    const page = await open('events?last=1h', [], { turnsClock: true })
    const counters = page.getByRole('region', { name: 'Events over time' })
    await counters.getByText('1 created', { exact: true }).waitFor()
    await page.clock.fastForward(2 * 3_600_000)
    await counters.getByText('0 created', { exact: true }).waitFor()
    await counters.getByText('in the last hour').waitFor()
    expect(await counters.getByRole('button', { name: /zoom in$/ }).count()).toBe(60)
    expect(await tableRows(page, 'Events').count()).toBe(1)
  })

  it('are compared with those of the same time a week earlier', async () => {
    const minute = 60_000
    const hour = 60 * minute
    const week = 7 * 24 * hour
    // A store counts since it was made.
    const now = Date.now() - (Date.now() % hour) + week + 48 * hour + hour / 2
    let clock = now - week - 20 * hour
    const cairn = await startCairnForTest({ now: () => clock })
    workspace = await cairn.workspace()
    const ada = await initialize(workspace, 'user-1')
    const sent = [
      [-week - 5 * hour, 1],
      [-week - 40 * minute, 1],
      [-week - 10 * minute, 2],
      // Later than now in its week.
      [-week + 10 * minute, 4],
      [-5 * minute, 6],
    ] as const
    for (const [at, count] of sent) {
      clock = now + at
      for (let index = 0; index < count; index += 1) await event(ada, 'signed_up')
    }
    clock = now
    const { headers } = await signUp(cairn, workspace, 'owner')
    const page = await openAdministration({
      cairn,
      signedIn: headers,
      path: screenPath(workspace, 'overview'),
      turnsClock: true,
      prepare: (page) => page.clock.setFixedTime(now),
    })
    const arrivals = page.getByRole('region', { name: 'Incoming events' })
    await arrivals.getByText('+100%: 3 a week earlier', { exact: true }).waitFor()
    await arrivals.getByText('+50%: 4 a week earlier', { exact: true }).waitFor()
    await arrivals.getByRole('button', { name: 'Show as table' }).click()
    // The hours, the latest first: of this week and of the one before.
    const counts = tableRows(page, 'Events created per hour').locator('td')
    await expect.poll(async () => (await counts.allInnerTexts()).slice(0, 4)).toEqual(['6', '2', '0', '1'])
  })

  it('are said to have arrived as long ago as they have', async () => {
    await event(await initialize(workspace, 'user-1'), 'signed_up')
    const page = await open('overview', [], { turnsClock: true })
    // Too new to be compared.
    await expect.poll(() => page.getByText('No data from a week earlier').count()).toBe(2)
    await page.getByText(/Last event: (now|\d minutes? ago)\./).waitFor()
    await waitWithoutReading(page, 15 * 60_000)
    await page.getByText(/Last event: (1|2)\d minutes ago\./).waitFor()
  })

  it('are not called a sample because many existed before the page was opened', async () => {
    const id = await initialize(workspace, 'user-1')
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
    const customer_id = await initialize(workspace, 'user-1')
    await event(customer_id, 'signed_up')
    const { created_at } = (await workspace.client.getCustomer({ path: { customer_id } })).data ?? {}
    const page = await open('events')
    const release = await holdRequests(page, `**/v1/customers/${customer_id}`)
    await page.goto(`${cairn.url}/admin${screenPath(workspace, `customers/${customer_id}`)}`)
    await page.getByText('Events in all journeys').waitFor()
    const link = page.getByRole('link', { name: 'Show on the Events page' })
    // Since when the customer has events is not known yet.
    expect(await link.count()).toBe(0)
    release()
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
    const customer_id = await initialize(workspace, 'user-1')
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
    const customer_id = await initialize(workspace, 'user-1')
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
