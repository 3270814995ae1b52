// engines: sqlite (a browser sees only the API, whose numbers storage/standings and operations/reports compare on both engines)

import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { durationText } from '../../admin/parts/instants/duration-text.ts'
import { instantText } from '../../admin/parts/instants/instant-text.ts'
import { shareText } from '../../admin/parts/number-text.ts'
import type { Schemas } from '../../client/index.ts'
import type { Cairn, Workspace } from '../fixtures/cairn.ts'
import { withPatience } from '../fixtures/patience.ts'
import { type SignedUp, signUp } from '../fixtures/people.ts'
import { hasFocus, inspectState, openAdministration } from './administration.ts'
import {
  cellsOf,
  day,
  done,
  enrol,
  hour,
  now,
  type ReportedJourney,
  reportedJourney,
  steps,
  stepTable,
} from './reported-journey.ts'
import { comeBackTo, heading, query, screenPath } from './screens.ts'

let cairn: Cairn
let workspace: Workspace
let owner: SignedUp
let open: ReportedJourney['open']
let openReport: ReportedJourney['openReport']

beforeAll(async () => {
  ;({ cairn, workspace, owner, open, openReport } = await reportedJourney())
})

/** The report that the API returns for the filters in the address. */
async function reportOf(page: Page, of = workspace): Promise<Schemas['JourneyReport']> {
  const { client, journey_id } = of
  const { data, error } = await client.getJourneyReport({ path: { journey_id }, query: query(page) })
  if (error) throw new Error(error.detail)
  return data
}

/** The cells that a table must show for a report. */
function expectedCells({ enrolled, steps }: Schemas['JourneyReport']): string[][] {
  const share = (part: number | null) => (part === null ? '–' : shareText(part))
  const customers = (count: number) => `${count} ${count === 1 ? 'customer' : 'customers'}`
  const lost = ({ step, of_previous, not_reached, waiting, dropped }: Schemas['JourneyReportStep']) => {
    if (not_reached === 0) return 'No drop-off'
    const who = `${customers(not_reached)} (${share(1 - (of_previous ?? 0))}) ${not_reached === 1 ? 'has' : 'have'}`
    if (step === 1) return `${who} not started`
    if (waiting === null || dropped === null) return `${who} not continued`
    return `${who} not continued: ${customers(dropped)} dropped off, ${customers(waiting)} in progress`
  }
  return [
    ['Entered', String(enrolled), '', '100%', '–', '–'],
    ...steps.flatMap((step) => [
      [lost(step)],
      [
        `${step.step}. ${step.name} ${step.event_id}`,
        String(step.reached),
        '',
        share(step.of_enrolled),
        share(step.of_previous),
        step.times.median_ms === null || step.times.p90_ms === null
          ? '–'
          : `median ${durationText(step.times.median_ms)} 90% within ${durationText(step.times.p90_ms)}`,
      ],
    ]),
  ]
}

describe('The report of a journey', () => {
  it('fills while events arrive, from an empty journey on', async () => {
    const empty = await cairn.workspace()
    const hers = await signUp(cairn, empty, 'owner')
    const page = await open(`journeys/${empty.journey_id}`, empty, hers.headers)
    await page.getByRole('heading', { name: 'This journey has no steps yet' }).waitFor()
    await page.getByRole('link', { name: 'Define steps' }).click()
    await page.getByRole('button', { name: 'Add step' }).click()
    await page.keyboard.type('signed_up')
    await page.getByRole('textbox', { name: 'Display name of step 1' }).fill('Signed up')
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByRole('status').getByText('Saved.').waitFor()

    await page.getByRole('link', { name: 'Report', exact: true }).click()
    await page.getByRole('heading', { name: 'No customers have entered this journey yet' }).waitFor()
    await inspectState(page, 'report-nobody')
    const { client, journey_id } = empty
    for (const [index, name] of ['Ada Lovelace', 'Grace Hopper'].entries()) {
      const customer_id = await enrol(empty, name)
      await client.createEvent({ body: { journey_id, customer_id, event_id: 'signed_up' } })
      const counts = async () => (await cellsOf(stepTable(page))).map(([, count]) => count)
      await expect.poll(counts).toEqual([String(index + 1), undefined, String(index + 1)])
    }
  })

  it('has the numbers of the API in every cell while events arrive, in whatever order', async () => {
    const own = await cairn.workspace()
    const hers = await signUp(cairn, own, 'owner')
    const { client, journey_id } = own
    await client.updateJourney({ path: { journey_id }, body: { steps } })
    const customers = await Promise.all(Object.keys(done).map((name) => enrol(own, name)))
    const page = await open(`journeys/${journey_id}?window=P7D`, own, hers.headers)
    await stepTable(page).waitFor()
    // Later steps first: each burst fills steps, moves some to another time, and makes some out of order.
    for (const [index, event_id] of ['paid', 'plan_chosen', 'signed_up', 'paid'].entries()) {
      const events = customers.slice(index).map((customer_id, place) => {
        const occurred_at = new Date(now - ((place % 4) + 1) * 3 * day + index * hour).toISOString()
        return { journey_id, customer_id, event_id, occurred_at }
      })
      await client.createEvents({ body: { events } })
      const sent_ms = Date.now()
      await vi.waitUntil(async () => {
        const { as_of } = await reportOf(page, own)
        return as_of !== null && Date.parse(as_of) >= sent_ms
      }, withPatience)
      const expected = expectedCells(await reportOf(page, own))
      await comeBackTo(page)
      await expect.poll(() => cellsOf(stepTable(page))).toEqual(expected)
    }
    const { steps: counted } = await reportOf(page, own)
    expect(counted.map(({ reached, out_of_order }) => [reached, out_of_order])).toEqual([
      [5, 0],
      [0, 5],
      [0, 7],
    ])
  })

  it.each(['', '?window=P7D', '?customer_type=account', '?window=P7D&customer_type=contact'])(
    'shows the numbers of the API in every cell: %s',
    async (search) => {
      const page = await openReport(search)
      await stepTable(page).waitFor()
      await expect.poll(() => cellsOf(stepTable(page))).toEqual(expectedCells(await reportOf(page)))
    },
  )

  it('shows the largest drop-off, and who completed a step out of order', async () => {
    const page = await openReport()
    await page.getByText('Of 7 customers who entered, 1 (14%) reached the last step, “Paid”.').waitFor()
    await page
      .getByText(
        'Biggest drop-off: between “Chose a plan” and “Paid”, 2 customers (67% of those who got this far).',
      )
      .waitFor()
    // Customers in progress have not dropped off.
    await page.goto(`${page.url()}?window=P14D`)
    await page
      .getByText('Biggest drop-off: before “Signed up”, 2 customers (29% of those who got this far).')
      .waitFor()
    const span = { entered_from: now - 21 * day, entered_to: now - 10 * day }
    const entered = Object.entries(span).map(([name, at_ms]) => [name, new Date(at_ms).toISOString()])
    const [report = ''] = page.url().split('?')
    await page.goto(`${report}?${new URLSearchParams([...entered, ['window', 'P400D']])}`)
    await page.getByText('Nobody has dropped off so far.').waitFor()
    await page.goto(report)
    const outOfOrder = page.getByRole('listitem').filter({ hasText: 'without the steps before it' })
    await expect
      .poll(() => outOfOrder.allInnerTexts())
      .toEqual(['1 customer completed “Paid” without the steps before it'])
    await page.getByText('How customers are counted').click()
    await page.getByText('Each customer counts once.').waitFor()
    await outOfOrder.getByRole('link').click()
    await page.getByRole('link', { name: 'Donald Knuth' }).waitFor()
    expect(query(page)).toEqual({ out_of_order: '3' })
  })

  it('reports events that differ from an unreached step only by case or separators', async () => {
    const workspace = await cairn.workspace()
    const { client, journey_id } = workspace
    const owner = await signUp(cairn, workspace, 'owner')
    await client.updateJourney({ path: { journey_id }, body: { steps } })
    const customer_id = await enrol(workspace, 'Ada Lovelace')
    const send = (event_id: string) => client.createEvent({ body: { journey_id, customer_id, event_id } })
    for (const event_id of ['Signed Up', 'Signed Up', 'plan_chosen', 'Plan-Chosen', 'page_viewed']) {
      await send(event_id)
    }
    const path = screenPath(workspace, `journeys/${journey_id}`)
    const page = await openAdministration({ cairn, signedIn: owner.headers, path })
    const notice = page.getByRole('alert', { name: /^Event names differ from a step/ })
    await notice
      .getByText('expects signed_up and was never reached. This journey received Signed Up: 2 events')
      .waitFor()
    // The other step was named correctly.
    expect(await notice.getByRole('listitem').count()).toBe(1)
    await inspectState(page, 'mistaken-names')
    await notice.getByRole('link', { name: 'Edit steps' }).click()
    await page.getByText('Step 1', { exact: true }).waitFor()

    await send('signed_up')
    await page.goto(`${cairn.url}/admin${path}`)
    await page.getByRole('table', { name: 'Steps' }).waitFor()
    await page.waitForLoadState('networkidle')
    expect(await notice.count()).toBe(0)
  })

  it('keeps its filters in the URL, for reloads and its other pages', async () => {
    const page = await openReport()
    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    await page.getByRole('combobox', { name: 'Customer type' }).selectOption('Contacts')
    await page.getByRole('combobox', { name: 'Conversion window' }).selectOption('Custom…')
    const own = page.getByRole('textbox', { name: 'Custom conversion window' })
    await own.fill('a while')
    await own.press('Enter')
    await page.getByText('Enter a duration such as 36 h or 2d 12h').waitFor()
    await own.fill('36 h')
    await own.press('Enter')
    await page.keyboard.press('Escape')
    await page.getByRole('search').getByText('Custom', { exact: true }).click()
    await page.getByRole('textbox', { name: 'Entered from' }).fill('2 Jan 2026')
    await page.keyboard.press('Enter')
    const set = {
      customer_type: 'contact',
      window: 'PT36H',
      entered_from: new Date(2026, 0, 2).toISOString(),
    }
    await expect.poll(() => query(page)).toEqual(set)
    const expected = expectedCells(await reportOf(page))
    await expect.poll(() => cellsOf(stepTable(page))).toEqual(expected)

    await page.reload()
    await expect.poll(() => cellsOf(stepTable(page))).toEqual(expected)
    const chips = page.getByRole('search').getByRole('button', { name: /, remove filter$/ })
    expect((await chips.allInnerTexts()).map((chip) => chip.split('\n').slice(0, 2))).toEqual([
      ['type', 'contact'],
      ['window', '1d 12h'],
    ])
    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    expect(await own.inputValue()).toBe('1d 12h')
    await page.keyboard.press('Escape')
    await page.getByRole('navigation', { name: 'Journey' }).getByRole('link', { name: 'Customers' }).click()
    await page.getByRole('table', { name: 'Customers in this journey' }).waitFor()
    expect(query(page)).toEqual(set)
    await page.goBack()
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await expect.poll(async () => (await cellsOf(stepTable(page)))[0]?.[1]).toBe('7')
    expect(query(page)).toEqual({})
  })

  it.each([
    ['?last=30', /^Custom$/, { last: '30' }],
    // The second 02:30 of the night in which the clocks go back, to the millisecond; and more than the field shows.
    [
      '?entered_from=2025-10-26T01:30:00.123Z&window=P1DT2H3M',
      /^since 26 Oct 2025, 02:30$/,
      { entered_from: '2025-10-26T01:30:00.123Z', window: 'P1DT2H3M' },
    ],
  ])('keeps a filter as it is if its field is only visited: %s', async (search, range, kept) => {
    const path = screenPath(workspace, `journeys/${workspace.journey_id}${search}`)
    const signedIn = owner.headers
    const page = await openAdministration({ cairn, signedIn, path, timezoneId: 'Europe/Berlin' })
    await page.getByRole('search').getByText(range).click()
    await page.getByRole('textbox', { name: 'Entered from' }).press('Tab')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    if ('window' in kept) await page.getByRole('textbox', { name: 'Custom conversion window' }).press('Tab')
    await page.getByRole('combobox', { name: 'Customer type' }).selectOption('Contacts')
    await expect.poll(() => query(page).customer_type).toBe('contact')
    expect(query(page)).toEqual({ ...kept, customer_type: 'contact' })
  })

  it('keeps its range of days if none of its own is entered instead', async () => {
    const page = await openReport('?last=30')
    const range = page.getByRole('radiogroup', { name: 'Time range' })
    const days = range.getByRole('radio', { name: '30 days' })
    await expect.poll(() => days.isChecked()).toBe(true)
    await range.getByText('Custom', { exact: true }).click()
    const from = page.getByRole('textbox', { name: 'Entered from' })
    await from.waitFor()
    await from.press('Escape')
    await from.waitFor({ state: 'hidden' })
    await expect.poll(() => days.isChecked()).toBe(true)
    await expect.poll(() => hasFocus(days)).toBe(true)
    await range.getByText('Custom', { exact: true }).click()
    await from.fill('26 Oct 2025, 09:30')
    await from.press('Enter')
    await from.press('Escape')
    await page.getByRole('button', { name: 'since 26 Oct 2025, 09:30' }).waitFor()
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await expect.poll(() => range.getByRole('radio', { name: 'All' }).isChecked()).toBe(true)
  })

  it.each([
    ['?last=7', { entered_from: '2026-03-05T05:00:00.000Z' }],
    [
      '?last=7&compare=previous_period',
      {
        entered_from: '2026-03-05T05:00:00.000Z',
        compare: 'previous_period',
        entered_to: '2026-03-12T04:00:00.000Z',
      },
    ],
    // Nobody has said where the period begins that is to be compared.
    [
      '?last=7&entered_to=2026-03-10T04:00:00.000Z&compare=previous_period',
      { entered_to: '2026-03-10T04:00:00.000Z' },
    ],
  ])('is of whole days where the viewer is, up to the end of today: %s', async (search, asked) => {
    const reports: URL[] = []
    await openAdministration({
      cairn,
      signedIn: owner.headers,
      path: screenPath(workspace, `journeys/${workspace.journey_id}${search}`),
      timezoneId: 'America/New_York',
      turnsClock: true,
      async prepare(page) {
        // The clocks went forward three days ago.
        await page.clock.setFixedTime('2026-03-11T12:00:00Z')
        page.on('request', (request) => {
          const url = new URL(request.url())
          if (url.pathname.endsWith('/report')) reports.push(url)
        })
      },
    })
    await expect.poll(() => reports.length).toBeGreaterThan(0)
    expect(Object.fromEntries(reports[0]?.searchParams ?? [])).toEqual(asked)
  })

  it.each(['', '?window=P7D'])('leads from every drop-off to exactly those customers: %s', async (search) => {
    const page = await openReport(search)
    await stepTable(page).waitFor()
    const links = await stepTable(page)
      .getByRole('link')
      .evaluateAll((links) => links.map((link) => [link.textContent, link.getAttribute('href') ?? '']))
    expect(links.length).toBeGreaterThan(2)
    const { client, journey_id } = workspace
    for (const [text = '', href = ''] of links) {
      await page.goto(`${cairn.url}${href}`)
      const { data } = await client.listJourneyCustomers({ path: { journey_id }, query: query(page) })
      const expected = data?.data.map(({ customer_name }) => customer_name) ?? []
      expect(expected).toHaveLength(Number.parseInt(text, 10))
      expect(expected).not.toEqual([])
      const names = () => page.getByRole('table').locator('tbody td a').allInnerTexts()
      await expect.poll(names).toEqual(expected)
      // Each step with its time.
      const times = page.getByRole('table').locator('tbody td:last-child time')
      expect(await times.evaluateAll((times) => times.map((time) => time.getAttribute('datetime')))).toEqual(
        data?.data.flatMap(({ reached_at }) => reached_at),
      )
    }
  })

  it('lists its customers without reading it with their filters, and also if it cannot be read', async () => {
    const asked: string[] = []
    const tooLarge: Schemas['Problem'] = {
      type: '/docs/problems#breakdown_too_large',
      title: 'Too large',
      status: 409,
      detail: 'Choose a shorter period.',
      code: 'breakdown_too_large',
      request_id: 'req_1',
    }
    let refuses = false
    const path = screenPath(
      workspace,
      `journeys/${workspace.journey_id}/customers?customer_type=account&reached=2`,
    )
    const prepare = (page: Page) =>
      page.route('**/v1/journeys/*/report*', async (route) => {
        asked.push(new URL(route.request().url()).search)
        if (refuses)
          await route.fulfill({ status: 409, contentType: 'application/problem+json', json: tooLarge })
        else await route.continue()
      })
    const refusals: string[] = []
    const page = await openAdministration({ cairn, path, signedIn: owner.headers, prepare, refusals })
    const list = page.getByRole('table', { name: 'Customers in this journey' })
    await list.getByText('2. Chose a plan').last().waitFor()
    expect(asked.every((search) => search === '')).toBe(true)
    refuses = true
    refusals.push('409 GET /v1/journeys/{id}/report')
    await page.reload()
    await page.getByRole('alert').first().waitFor()
    await list.getByText('2. Chose a plan').last().waitFor()
    await list.getByRole('link', { name: 'Example GmbH' }).waitFor()
  })

  it('lists its customers with what was asked for in words, and when each entered', async () => {
    const listed = (search: string) => open(`journeys/${workspace.journey_id}/customers?window=P7D&${search}`)
    const page = await listed('reached=1&not_reached=3')
    await page
      .getByText(
        /^Customers who reached “.?Signed up.?” within 7d of their first step and did not reach “.?Paid.?”, newest/,
      )
      .waitFor()
    const table = page.getByRole('table', { name: 'Customers in this journey' })
    await table.waitFor()
    const entered = (await cellsOf(table)).map(([customer, at]) => [customer?.split(' ')[0], at])
    const date = expect.stringMatching(/^\d+ [A-Z][a-z]+ 20\d\d, \d\d:\d\d$/)
    expect(entered).toEqual([
      ['Barbara', '2 hours ago'],
      ['Example', '6 days ago'],
      ['Grace', date],
      ['Ada', date],
      ['Edsger', date],
    ])
    const dropped = await listed('not_reached=2&standing=dropped')
    await dropped
      .getByText(/^Customers who did not reach .* within 7d of their first step and dropped off/)
      .waitFor()
    const chip = dropped.getByRole('search').getByRole('button', { name: /^status/ })
    expect(await chip.innerText()).toMatch(/^status\s+dropped off/)
    const early = await listed('out_of_order=3')
    await early
      .getByText(/^Out of order: .?Paid.?$/)
      .filter({ visible: true })
      .waitFor()
  })

  it('is marked as outdated while it is recomputed', async () => {
    const page = await openReport()
    await stepTable(page).waitFor()
    let recomputing: Schemas['Recomputing'] = { done: 640, total: 1200 }
    // With seven customers recomputing ends too soon to be seen, so the server's answers are replaced by earlier ones.
    await page.route('**/report*', async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, json: { ...(await response.json()), recomputing } })
    })
    await comeBackTo(page)
    const alert = page.getByRole('alert', { name: /^These numbers are outdated/ })
    await alert.getByText('640 of 1,200 customers processed.').waitFor()
    expect(await alert.getByRole('progressbar').getAttribute('aria-valuenow')).toMatch(/^53/)
    await page.getByRole('heading', { name: 'Funnel before the change' }).waitFor()
    await inspectState(page, 'report-recomputing')
    recomputing = null
    await alert.waitFor({ state: 'hidden' })
    await page.getByRole('heading', { name: 'Funnel', exact: true }).waitFor()
  })

  it('says that it is being calculated until it includes anything, and later until when', async () => {
    const page = await openReport()
    await stepTable(page).waitFor()
    const as_of = new Date(now - 3 * day)
    let changes: Partial<Schemas['JourneyReport']> = { as_of: null, enrolled: 0 }
    // A store that is new to reports is read too soon to be seen, so the server's answers are replaced.
    await page.route('**/v1/journeys/*/report*', async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, json: { ...(await response.json()), ...changes } })
    })
    await comeBackTo(page)
    await page.getByRole('alert', { name: 'Calculating the report for the first time' }).waitFor()
    expect(await page.getByText('No customers have entered').count()).toBe(0)
    changes = { as_of: as_of.toISOString() }
    const text = instantText(as_of)
    await page.getByText(`Includes all events received by ${text}.`).waitFor()
  })

  it('says that customers may have lost steps if it begins before events were removed', async () => {
    const page = await openReport()
    await stepTable(page).waitFor()
    const events_since = new Date(now - 10 * day).toISOString()
    let compared: { entered_from: string } | null = null
    await page.route('**/v1/journeys/*/report*', async (route) => {
      const response = await route.fetch()
      const report = (await response.json()) as Schemas['JourneyReport']
      const comparison = report.comparison && { ...report.comparison, ...compared }
      await route.fulfill({ response, json: { ...report, events_since, comparison } })
    })
    await comeBackTo(page)
    const removed = page.getByText(/^Events before .* were removed; customers who entered earlier/)
    await removed.waitFor()
    await page.getByText('7 days', { exact: true }).click()
    await removed.waitFor({ state: 'hidden' })
    const url = new URL(page.url())
    url.searchParams.set('compare', 'previous_period')
    compared = { entered_from: new Date(now - 14 * day).toISOString() }
    await page.goto(url.href)
    await page.getByRole('heading', { name: /^Compared with/ }).waitFor()
    await removed.waitFor()
  })

  it('is recomputed when the steps are changed, and shows who did not reach the new ones', async () => {
    const own = await cairn.workspace()
    const hers = await signUp(cairn, own, 'owner')
    const { client, journey_id } = own
    await client.updateJourney({ path: { journey_id }, body: { steps: steps.slice(0, 1) } })
    const customer_id = await enrol(own, 'Ada Lovelace')
    for (const event_id of ['signed_up', 'paid']) {
      await client.createEvent({ body: { journey_id, customer_id, event_id } })
    }
    const page = await open(`journeys/${journey_id}`, own, hers.headers)
    const names = async () =>
      (await cellsOf(stepTable(page))).map(([name, count]) => count && `${name} ${count}`)
    await expect.poll(names).toEqual(['Entered 1', undefined, '1. Signed up signed_up 1'])
    await client.updateJourney({ path: { journey_id }, body: { steps } })
    await comeBackTo(page)
    await expect
      .poll(names)
      .toEqual([
        'Entered 1',
        undefined,
        '1. Signed up signed_up 1',
        undefined,
        '2. Chose a plan plan_chosen 0',
        undefined,
        '3. Paid paid 0',
      ])
  })
})

describe('A printed report', () => {
  it('says what is chosen, and has nothing to press', async () => {
    const page = await openReport('?entered_from=2026-01-01T00:00:00Z&customer_type=contact')
    await stepTable(page).waitFor()
    await page.getByRole('combobox', { name: 'Steps' }).waitFor()
    await page.emulateMedia({ media: 'print' })
    // Of A4, upright and on its side.
    for (const width of [794, 1123]) {
      await page.setViewportSize({ width, height: 800 })
      for (const part of ['banner', 'navigation'] as const) {
        const visible = page.getByRole(part).filter({ visible: true })
        expect((await visible.allInnerTexts()).join()).toBe(part === 'banner' ? '' : 'Report')
      }
      const choices = page.getByRole('radiogroup')
      await expect.poll(() => choices.allInnerTexts()).toEqual(['Custom', 'Weeks'])
      const filters = page.getByRole('button').filter({ visible: true })
      expect(await filters.allTextContents()).toEqual([
        'since 1 Jan 2026, 00:00',
        'type contact, remove filter',
      ])
    }
    const screenOnly = page.getByText(
      /^(All journeys|How customers are counted|Refreshes every few seconds\.)$/,
    )
    expect(await screenOnly.filter({ visible: true }).allInnerTexts()).toEqual([])
    await page.emulateMedia({ media: 'screen' })
    expect(await screenOnly.filter({ visible: true }).count()).toBe(3)
  })
})

describe('The funnel', () => {
  /** The right edges of the table and of its last visible column. */
  const ends = (page: Page) =>
    stepTable(page).evaluate((table) => {
      const cells = Array.from(table.querySelectorAll('thead th')).filter((cell) => cell.checkVisibility())
      return [table, cells.at(-1)].map((part) => Math.round(part?.getBoundingClientRect().right ?? 0))
    })

  it.each([360, 768, 1440])('has no empty column in a window of %i px', async (width) => {
    const page = await openReport()
    await page.setViewportSize({ width, height: 800 })
    await expect.poll(async () => new Set(await ends(page)).size).toBe(1)
  })

  // At 992 px the navigation takes its place beside it.
  it.each([360, 768, 992, 1200])(
    'breaks no name of a step within a word in a window of %i px',
    async (width) => {
      const page = await openReport()
      await page.setViewportSize({ width, height: 800 })
      const name = stepTable(page).getByText('signed_up', { exact: true })
      expect(await name.evaluate((name) => name.getBoundingClientRect().height)).toBeLessThan(30)
    },
  )

  it.each([360, 768])('has no empty column on paper of %i px, printed from a wide window', async (width) => {
    const path = screenPath(workspace, `journeys/${workspace.journey_id}`)
    // When the browser prints, nothing is told that there is less room.
    const prepare = (page: Page) =>
      page.addInitScript(() => {
        MediaQueryList.prototype.addEventListener = () => {}
      })
    const page = await openAdministration({ cairn, path, signedIn: owner.headers, prepare })
    await stepTable(page).waitFor()
    await page.emulateMedia({ media: 'print' })
    await page.setViewportSize({ width, height: 800 })
    expect(new Set(await ends(page)).size).toBe(1)
  })
})

describe('A count of hundreds of millions', () => {
  /** The numbers that are broken, or wider than their cell. */
  const broken = (page: Page) =>
    page.locator('td').evaluateAll((cells) =>
      cells.flatMap((cell) => {
        const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT)
        const faults: string[] = []
        for (let text = texts.nextNode(); text; text = texts.nextNode()) {
          for (const { index, 0: number } of (text.textContent ?? '').matchAll(/\d[\d,]+/g)) {
            const range = document.createRange()
            range.setStart(text, index)
            range.setEnd(text, index + number.length)
            const tops = new Set(Array.from(range.getClientRects(), ({ top }) => Math.round(top)))
            const { right } = range.getBoundingClientRect()
            if (tops.size > 1 || right > cell.getBoundingClientRect().right) faults.push(number)
          }
        }
        return faults
      }),
    )

  it('is shown in one piece in a narrow window', async () => {
    const page = await open('account')
    await page.setViewportSize({ width: 360, height: 800 })
    await page.route(/\/v1\/journeys\/[^/]+\/(report|trend|step-times)/, async (route) => {
      const response = await route.fetch()
      const text = await response.text()
      const body = text.replaceAll(
        /"(enrolled|reached|not_reached|count|n)":(\[[\d,]*\]|\d+)/g,
        (_, name, counts) => {
          return `"${name}":${String(counts).replaceAll(/[1-9]\d*/g, (count) => `${Number(count) * 100_000_001}`)}`
        },
      )
      await route.fulfill({ response, body: text && body })
    })
    await page.goto(`${cairn.url}/admin${screenPath(workspace, 'overview')}`)
    const journeys = page.getByRole('table', { name: 'Journeys' })
    await expect.poll(() => cellsOf(journeys)).toEqual([['Onboarding', '700,000,007', '100,000,001 (14%)']])
    expect(await broken(page)).toEqual([])

    await journeys.getByRole('link', { name: 'Onboarding' }).click()
    await stepTable(page).waitFor()
    const charts = page.getByRole('figure')
    await expect.poll(() => charts.count()).toBe(2)
    for (const chart of await charts.all()) await chart.getByRole('button', { name: 'Show as table' }).click()
    await expect.poll(() => charts.getByRole('table').count()).toBe(2)
    expect(await broken(page)).toEqual([])
  })
})

describe('The name of a journey', () => {
  it('of one usual word is in one line of a narrow overview', async () => {
    const page = await open('overview')
    await page.setViewportSize({ width: 360, height: 800 })
    const name = page.getByRole('table', { name: 'Journeys' }).getByRole('link', { name: 'Onboarding' })
    expect(await name.evaluate((link) => link.getClientRects().length)).toBe(1)
  })
})

describe('What cannot be copied', () => {
  it('is reported', async () => {
    const page = await openReport()
    await page.evaluate(() => {
      navigator.clipboard.writeText = () => Promise.reject(new Error('not allowed'))
      document.execCommand = () => false
    })
    const region = page.getByRole('region', { name: 'Time between steps' })
    await region.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Copy as text' }).click()
    await page.getByRole('alert').getByText('Could not copy this.').waitFor()
    await inspectState(page, 'report-not-copied')
  })
})

describe('The overview', () => {
  it('shows whether data arrives, how far customers come and what was rejected, with the numbers of the API', async () => {
    const { client, journey_id } = workspace
    const unknown = 'cus_00000000000000000000000000'
    await client.createEvent({ body: { journey_id, customer_id: unknown, event_id: 'signed_up' } })
    const page = await open('overview')
    const arrivals = page.getByRole('region', { name: 'Incoming events' })
    await arrivals.getByText(/^Events are arriving\./).waitFor()
    const stored = Object.values(done).flat().length
    // Everything that this file has sent to this workspace.
    const { data } = await client.getActivity({ query: { by: 'hour' } })
    expect(data?.total).toMatchObject({ created: stored, rejected: 1 })
    await expect.poll(() => arrivals.getByText(`${stored} events created`, { exact: true }).count()).toBe(2)
    await arrivals.getByRole('button', { name: 'Show as table' }).click()
    const hours = await cellsOf(arrivals.getByRole('table'))
    expect(hours).toHaveLength(24)
    expect(hours.reduce((sum, [, count]) => sum + Number(count), 0)).toBe(stored)

    const journeys = page.getByRole('table', { name: 'Journeys' })
    await expect.poll(() => cellsOf(journeys)).toEqual([['Onboarding', '7', '1 (14%)', '']])
    const refused = page.getByRole('table', { name: 'Rejected by key' })
    const key = `First secret key …${workspace.secret_key.slice(-4)}`
    await expect
      .poll(async () => (await cellsOf(refused)).map((row) => row.slice(0, 2)))
      .toEqual([[key, '1 event']])
    await journeys.getByRole('link', { name: 'Onboarding' }).click()
    await stepTable(page).waitFor()
  })
})

describe('The page of a customer', () => {
  async function openCustomer(name: string): Promise<Page> {
    const { data } = await workspace.client.listCustomers({ query: { search: name } })
    const page = await open(`customers/${data?.data[0]?.customer_id}`)
    await heading(page, name).waitFor()
    return page
  }

  it('shows its standing in each journey and since when, and how many there are', async () => {
    const page = await openCustomer('Grace Hopper')
    const standing = page.getByRole('list', { name: 'Steps of Onboarding' }).getByRole('listitem')
    await expect
      .poll(async () => (await standing.allInnerTexts()).map((text) => text.split('\n')[0]))
      .toEqual(['1. Signed up', '2. Chose a plan', '3. Paid'])
    const times = standing.locator('time')
    expect(await times.evaluateAll((times) => times.map((time) => time.getAttribute('datetime')))).toEqual([
      new Date(now - 15 * day).toISOString(),
      new Date(now - 14 * day).toISOString(),
    ])
    await page.getByText('2 of 3 steps').waitFor()
    const facts = page.locator('.mantine-DataList-item')
    const shown = async () => (await facts.allInnerTexts()).map((fact) => fact.replaceAll(/\s+/g, ' '))
    await expect.poll(shown).toContain('Events 2')
    expect((await shown()).filter((fact) => /^(First|Last) seen/.test(fact))).toHaveLength(2)
  })

  it('has a line per event that expands by keyboard, and marks those that filled a step', async () => {
    const page = await openCustomer('Ada Lovelace')
    const lines = page.getByRole('region', { name: 'Timeline' }).locator('li > button')
    const marks = async () =>
      (await lines.allInnerTexts()).map(
        (text) => /\S+_\S+|\bpaid\b/.exec(text)?.[0] + (/Step \d/.exec(text)?.[0] ?? ''),
      )
    await expect.poll(marks).toEqual(['paidStep 3', 'plan_chosenStep 2', 'page_viewed', 'signed_upStep 1'])
    for (const line of await lines.all()) {
      expect((await line.boundingBox())?.height).toBeLessThan(45)
    }
    await lines.nth(1).focus()
    await page.keyboard.press('Enter')
    expect(await lines.nth(1).getAttribute('aria-expanded')).toBe('true')
    await page.getByText('Idempotency key (message_id)').waitFor()
    await inspectState(page, 'customer-unfolded')
    await page.keyboard.press('Enter')
    expect(await lines.nth(1).getAttribute('aria-expanded')).toBe('false')

    await page.getByRole('searchbox', { name: 'event_id' }).fill('plan_chosen')
    await expect.poll(marks).toEqual(['plan_chosenStep 2'])
    await page.getByRole('combobox', { name: 'Journey' }).selectOption('Onboarding')
    await expect
      .poll(() => query(page))
      .toEqual({ event_id: 'plan_chosen', journey_id: workspace.journey_id })
    await page.getByRole('searchbox', { name: 'event_id' }).fill('plan')
    await page.getByRole('heading', { name: 'No events match these filters' }).waitFor()
    await page.getByRole('button', { name: 'Show all events' }).click()
    await expect.poll(() => lines.count()).toBe(4)
  })
})

describe('The editor of steps', () => {
  it('suggests received names with their counts, except those of other steps', async () => {
    const page = await open(`journeys/${workspace.journey_id}/settings`)
    await page.getByRole('button', { name: 'Add step' }).click()
    const field = page.getByRole('combobox', { name: 'event_id of step 4' })
    await field.press('ArrowDown')
    const options = page.getByRole('option')
    await expect
      .poll(async () => (await options.allInnerTexts()).map((text) => text.split('\n')))
      .toHaveLength(1)
    expect((await options.innerText()).replace(/, last .*/s, '').split(/\n+/)).toEqual([
      'page_viewed',
      '1 event',
    ])
    await options.click()
    expect(await field.inputValue()).toBe('page_viewed')
  })
})
