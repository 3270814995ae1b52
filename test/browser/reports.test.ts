// engines: sqlite (a browser sees only the API, whose numbers storage/standings and operations/reports compare on both engines)

import type { Locator, Page } from 'playwright-core'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { durationOf, durationText, lengthOf } from '../../admin/parts/instants/duration-text.ts'
import { instantText, relativeText } from '../../admin/parts/instants/instant-text.ts'
import { changeText, shareText } from '../../admin/parts/number-text.ts'
import type { Schemas } from '../../client/index.ts'
import type { Cairn, Workspace } from '../fixtures/cairn.ts'
import { withPatience } from '../fixtures/patience.ts'
import { type SignedUp, signUp } from '../fixtures/people.ts'
import { sharedCairn } from '../fixtures/shared-cairn.ts'
import { countDrawn, hasFocus, inspectState, openAdministration } from './administration.ts'
import { heading, screenPath } from './screens.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const now = Date.now()

const steps = [
  { event_id: 'signed_up', name: 'Signed up' },
  { event_id: 'plan_chosen', name: 'Chose a plan' },
  { event_id: 'paid', name: 'Paid' },
]

/** What each customer did, and how long ago. */
const done: Record<string, [event_id: string, ago: number][]> = {
  'Ada Lovelace': [
    ['signed_up', 20 * day],
    ['page_viewed', 19 * day],
    ['plan_chosen', 19 * day - 3 * hour],
    ['paid', 12 * day],
  ],
  'Grace Hopper': [
    ['signed_up', 15 * day],
    ['plan_chosen', 14 * day],
  ],
  'Edsger Dijkstra': [['signed_up', 40 * day]],
  'Barbara Liskov': [['signed_up', 2 * hour]],
  'Donald Knuth': [['paid', 3 * day]],
  'Example GmbH': [
    ['signed_up', 6 * day],
    ['plan_chosen', 6 * day - 90 * minute],
  ],
  'Nobody & Sons GmbH': [],
}

let cairn: Cairn
let workspace: Workspace
let owner: SignedUp

beforeAll(async () => {
  cairn = await sharedCairn()
  workspace = await cairn.workspace()
  owner = await signUp(cairn, workspace, 'owner')
  const { client, journey_id } = workspace
  await client.updateJourney({ path: { journey_id }, body: { steps } })
  for (const [customer_name, events] of Object.entries(done)) {
    const customer_id = await enrol(workspace, customer_name)
    for (const [event_id, ago] of events) {
      const occurred_at = new Date(now - ago).toISOString()
      await client.createEvent({ body: { journey_id, customer_id, event_id, occurred_at } })
    }
  }
})

async function enrol({ client, journey_id }: Workspace, customer_name: string): Promise<string> {
  const customer_type = customer_name.endsWith('GmbH') ? 'account' : 'contact'
  const body = { journey_id, customer_name, customer_type, client_customer_id: customer_name } as const
  const { data, error } = await client.initializeCustomer({ body })
  if (error) throw new Error(error.detail)
  return data.customer_id
}

function open(screen: string, of = workspace, signedIn = owner.headers): Promise<Page> {
  return openAdministration({ cairn, signedIn, path: screenPath(of, screen) })
}

function openReport(search = ''): Promise<Page> {
  return open(`journeys/${workspace.journey_id}${search}`)
}

function stepTable(page: Page): Locator {
  return page.getByRole('table', { name: 'Steps' })
}

/** The visible cells of a table, row by row, as a person reads them. */
function cellsOf(table: Locator): Promise<string[][]> {
  return table.locator('tbody tr').evaluateAll((rows) =>
    rows.map((row) =>
      Array.from(row.querySelectorAll<HTMLElement>('th, td'))
        .filter((cell) => cell.checkVisibility())
        .map((cell) => cell.innerText.replaceAll(/\s+/g, ' ').trim()),
    ),
  )
}

function query(page: Page): Record<string, string> {
  return Object.fromEntries(new URL(page.url()).searchParams)
}

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

  it('is marked as outdated while it is recomputed', async () => {
    const page = await openReport()
    await stepTable(page).waitFor()
    let recomputing: Schemas['Recomputing'] = { done: 640, total: 1200 }
    // With seven customers recomputing ends too soon to be seen, so the server's answers are replaced by earlier ones.
    await page.route('**/report*', async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, json: { ...(await response.json()), recomputing } })
    })
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

describe('A chart', () => {
  /** The files of the chart library that a page has requested. */
  function chartFiles(page: Page): Set<string> {
    const files = new Set<string>()
    page.on('request', (request) => {
      if (/\/charts-[^/]*\.js$/.test(request.url())) files.add(request.url())
    })
    return files
  }

  it('is loaded once it is visible, and not by any page before', async () => {
    const page = await open('overview')
    const files = chartFiles(page)
    await page.setViewportSize({ width: 1280, height: 500 })
    await page.reload()
    await page.getByRole('figure').first().waitFor()
    await page.goto(`${cairn.url}/admin${screenPath(workspace, `journeys/${workspace.journey_id}`)}`)
    await stepTable(page).waitFor()
    await page.waitForLoadState('networkidle')
    expect([...files]).toEqual([])
    await page.getByRole('heading', { name: 'Time between steps' }).scrollIntoViewIfNeeded()
    await page.locator('.recharts-surface').first().waitFor()
    expect(files.size).toBe(1)
  })

  it('is printed, as a table if it was never visible', async () => {
    const path = screenPath(workspace, `journeys/${workspace.journey_id}`)
    const viewport = { width: 1280, height: 500 }
    const page = await openAdministration({ cairn, signedIn: owner.headers, path, viewport })
    await stepTable(page).waitFor()
    const figures = page.getByRole('figure')
    await expect.poll(() => figures.count()).toBeGreaterThan(1)
    /** The size of each figure when the browser prints the page. */
    const printed = async () => {
      await page.evaluate(() => {
        window.addEventListener(
          'beforeprint',
          () => {
            document.body.dataset.printed = Array.from(document.querySelectorAll('figure'), (figure) => {
              if (figure.querySelector('.recharts-surface')) return 'chart'
              return figure.querySelector('tbody tr') ? 'table' : 'nothing'
            }).join()
          },
          { once: true },
        )
      })
      await page.pdf()
      return await page.evaluate(() => document.body.dataset.printed)
    }
    const all = (what: string) => figures.count().then((count) => Array(count).fill(what).join())
    expect(await printed()).toBe(await all('table'))
    expect(await page.locator('figure table').count()).toBe(0)
    await figures.last().scrollIntoViewIfNeeded()
    await expect.poll(() => page.locator('figure .recharts-surface').count()).toBe(await figures.count())
    expect(await printed()).toBe(await all('chart'))
  })

  it.each(['', '?window=P7D'])('of the trend has the numbers of the API in its table: %s', async (search) => {
    const page = await openReport(search)
    const { client, journey_id } = workspace
    const region = page.getByRole('region', { name: 'Conversion over time' })
    await region.getByText('Weeks', { exact: true }).click()
    await region.getByRole('combobox', { name: 'Measure' }).selectOption('Number of customers')
    await region
      .getByText('Customers who entered and who reached each step, by the week they entered.')
      .waitFor()
    await region.getByRole('button', { name: 'Show as table' }).click()
    const time_zone = await page.evaluate(() => Intl.DateTimeFormat().resolvedOptions().timeZone)
    const { data } = await client.getJourneyTrend({
      path: { journey_id },
      query: { by: 'week', time_zone, ...(search && { window: 'P7D' }) },
    })
    const { data: report } = await client.getJourneyReport({ path: { journey_id } })
    const takes_ms = (report?.steps ?? []).reduce((sum_ms, { times }) => sum_ms + (times.p90_ms ?? 0), 0)
    const isOver = ({ complete, ends_at }: Schemas['JourneyCohort']) =>
      complete && (search !== '' || Date.parse(ends_at) + takes_ms <= now)
    const cohorts = data?.cohorts ?? []
    const expected = cohorts
      .slice(cohorts.findIndex(({ enrolled }) => enrolled > 0))
      .map((cohort) => [
        ...[cohort.enrolled, ...cohort.reached].map(String),
        isOver(cohort) ? 'yes' : 'not yet',
      ])
      .toReversed()
    expect(expected.length).toBeGreaterThan(5)
    expect(expected.length).toBeLessThan(cohorts.length)
    const shown = async () => (await cellsOf(region.getByRole('table'))).map(([, ...cells]) => cells)
    await expect.poll(shown).toEqual(expected)
    await page.reload()
    await region.getByText('Customers who entered and who reached each step, by the week').waitFor()
  })

  it.each([
    ['Etc/Unknown', 'because your browser does not know your time zone.', []],
    [
      'Europe/Atlantis',
      'because this server does not know your time zone, Europe/Atlantis.',
      ['409 GET /v1/journeys/{id}/trend'],
    ],
  ])(
    'of the trend starts days in UTC and says so if the time zone is %s',
    async (timeZone, why, refusals) => {
      const path = screenPath(workspace, 'overview')
      const page = await openAdministration({ cairn, signedIn: owner.headers, path, refusals })
      // What Chromium reports if TZ is UTC+3; it then shows all times in UTC.
      await page.addInitScript((timeZone) => {
        const { resolvedOptions } = Intl.DateTimeFormat.prototype
        Intl.DateTimeFormat.prototype.resolvedOptions = function () {
          return { ...resolvedOptions.call(this), timeZone }
        }
      }, timeZone)
      await page.goto(`${cairn.url}/admin${screenPath(workspace, `journeys/${workspace.journey_id}`)}`)
      const region = page.getByRole('region', { name: 'Conversion over time' })
      await region.getByText(`Days are in UTC, ${why}`).waitFor()
      await region.getByText('Days', { exact: true }).click()
      await region.getByRole('button', { name: 'Show as table' }).click()
      const { client, journey_id } = workspace
      const { data } = await client.getJourneyTrend({ path: { journey_id }, query: { time_zone: 'UTC' } })
      const last = new Date(data?.cohorts.at(-1)?.starts_at ?? '')
      const day = last.toLocaleDateString('en-GB', {
        day: 'numeric',
        month: 'short',
        year: 'numeric',
        timeZone: 'UTC',
      })
      await expect.poll(async () => (await cellsOf(region.getByRole('table')))[0]?.[0]).toBe(day)
      await page.getByRole('search').getByText('Custom', { exact: true }).click()
      const known = timeZone === 'Etc/Unknown' ? 'Times are in UTC' : 'Times are in your time zone'
      await page.getByText(known).first().waitFor()
    },
  )

  it('of the trend marks the last cohort that can be compared, and each share with its base', async () => {
    const own = await cairn.workspace()
    const hers = await signUp(cairn, own, 'owner')
    const { client, journey_id } = own
    await client.updateJourney({ path: { journey_id }, body: { steps } })
    const ways = [[20, 18, 15], [20, 18], [20], [1.5]]
    for (const [place, way] of ways.entries()) {
      const customer_id = await enrol(own, `Customer ${place}`)
      for (const [index, ago] of way.entries()) {
        const event_id = steps[index]?.event_id ?? ''
        const occurred_at = new Date(now - ago * day).toISOString()
        await client.createEvent({ body: { journey_id, customer_id, event_id, occurred_at } })
      }
    }
    const page = await open(`journeys/${journey_id}?measure=of_previous&by=day`, own, hers.headers)
    const region = page.getByRole('region', { name: 'Conversion over time' })
    await region.getByText(/“Paid”: 1 \(50%\) of 2 on .*, the most recent comparable cohort/).waitFor()
    await region.getByText(/90% of those who reach “Paid” take up to 5d, so the last \d days may/).waitFor()
    await region.getByText('Hollow points are too recent').waitFor()
    const hollow = region.locator('circle[fill="var(--mantine-color-body)"][r="3"]')
    await expect.poll(countDrawn(region, hollow)).toBeGreaterThan(0)
    await inspectState(page, 'report-trend')
    await region.getByRole('button', { name: 'Show as table' }).click()
    const rows = await cellsOf(region.getByRole('table'))
    expect(rows.at(-1)?.slice(1, 3)).toEqual(['3', '3 (100%)'])
    // Customers who entered since the day before yesterday have hardly had the time to pay.
    expect(rows.slice(0, 3).map((cells) => cells.at(-1))).toEqual(['not yet', 'not yet', 'not yet'])
  })

  it('of the trend has a bar per step if everyone entered in one period', async () => {
    // An instant: the cohorts are those of whole periods, and two days can lie in two weeks.
    const entered_from = now - 20 * day
    const span = { entered_from, entered_to: entered_from + 1 }
    const search = Object.entries(span).map(([name, at_ms]) => [name, new Date(at_ms).toISOString()])
    const page = await openReport(`?by=day&${new URLSearchParams(search)}`)
    const region = page.getByRole('region', { name: 'Conversion over time' })
    await region.getByText(/All customers in this chart entered on /).waitFor()
    await region.getByText('Whole days, even where the chosen time begins or ends within one.').waitFor()
    await expect.poll(countDrawn(region, region.locator('.recharts-bar-rectangle'))).toBe(steps.length)
    await region.getByText('Weeks', { exact: true }).click()
    await region.getByText(/All customers in this chart entered in the week of /).waitFor()
  })

  it('of the trend says how far back it goes, and that nobody entered since then', async () => {
    const own = await cairn.workspace()
    const hers = await signUp(cairn, own, 'owner')
    const { client, journey_id } = own
    await client.updateJourney({ path: { journey_id }, body: { steps } })
    const customer_id = await enrol(own, 'Ada Lovelace')
    const occurred_at = new Date(now - 60 * day).toISOString()
    await client.createEvent({ body: { journey_id, customer_id, event_id: 'signed_up', occurred_at } })
    const page = await open(`journeys/${journey_id}`, own, hers.headers)
    const region = page.getByRole('region', { name: 'Conversion over time' })
    await region.getByText(/All customers in this chart entered in the week of /).waitFor()
    await region.getByText('Whole weeks, the last 27 or fewer.').waitFor()
    await region.getByText('Days', { exact: true }).click()
    await region.getByText('Nobody entered in this time.').waitFor()
    await region.getByText('Whole days, the last 31 or fewer.').waitFor()
  })

  it('of the times has the numbers of the API in its table', async () => {
    const page = await openReport()
    const { client, journey_id } = workspace
    const region = page.getByRole('region', { name: 'Time between steps' })
    await region.getByText(/^Time from “Signed up” to “Chose a plan” of 3 customers: median/).waitFor()
    await region.getByRole('combobox', { name: 'Steps' }).selectOption('Chose a plan → Paid')
    await region.getByText(/^Time from “Chose a plan” to “Paid” of 1 customer:/).waitFor()
    await region.getByRole('button', { name: 'Show as table' }).click()
    const { data } = await client.getJourneyStepTimes({ path: { journey_id }, query: { step: 3 } })
    const shown = async () =>
      (await cellsOf(region.getByRole('table'))).map(([from, , count]) => [from, count])
    await expect
      .poll(shown)
      .toEqual(data?.classes.map(({ from_ms, count }) => [durationText(from_ms), String(count)]))
    await inspectState(page, 'report-tables')
  })

  it('of the times shows no numbers of other steps while its own load', async () => {
    const { promise: isAllowed, resolve: allow } = Promise.withResolvers<void>()
    const page = await openReport()
    await page.route(/\/step-times\?.*step=3/, async (route) => {
      await isAllowed
      await route.continue()
    })
    const region = page.getByRole('region', { name: 'Time between steps' })
    const first = region.getByText(/^Time from “Signed up” to “Chose a plan” of 3 customers: median/)
    await first.waitFor()
    const asked = page.waitForRequest(/\/step-times\?.*step=3/)
    await region.getByRole('combobox', { name: 'Steps' }).selectOption('Chose a plan → Paid')
    await asked
    await first.waitFor({ state: 'detached' })
    expect(await region.getByText(/^Time from /).count()).toBe(0)
    allow()
    await region.getByText(/^Time from “Chose a plan” to “Paid” of 1 customer:/).waitFor()
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

describe('Numbers and times', () => {
  it('are written for people, and never rounded to nothing or to all', () => {
    const shares = [null, 0, 0.0004, 0.004, 0.4583, 0.996, 0.9996, 1].map(shareText)
    expect(shares).toEqual(['–', '0%', '<0.1%', '0.4%', '46%', '99.6%', '>99.9%', '100%'])
    expect([changeText(108, 100), changeText(50, 100), changeText(5, 5), changeText(5, 0)]).toEqual([
      '+8%',
      '-50%',
      'no change',
      undefined,
    ])
    const times = [0, 840, 5200, 12_400, 59_600, 250_000, 2 * hour, 51 * hour + minute, 120 * day + 5 * hour]
    expect(times.map(durationText)).toEqual([
      '0ms',
      '840ms',
      '5.2s',
      '12s',
      '1m',
      '4m 10s',
      '2h',
      '2d 3h',
      '120d',
    ])
  })

  it('are relative in whole days, hours or minutes', () => {
    const wednesday = Date.parse('2026-11-25T10:00:00Z')
    const texts = [
      // The day after tomorrow, and the day before yesterday.
      ['2026-11-27T09:00:00Z', 'in 1 day'],
      ['2026-11-23T11:00:00Z', '1 day ago'],
      ['2026-11-27T10:00:00Z', 'in 2 days'],
      ['2026-11-26T09:59:00Z', 'in 23 hours'],
      ['2026-11-25T10:00:59Z', 'now'],
      ['2026-11-25T09:55:00Z', '5 minutes ago'],
    ] as const
    expect(texts.map(([at]) => relativeText(new Date(at), wednesday))).toEqual(texts.map(([, text]) => text))
  })

  it.each([
    ['36 h', 'PT36H'],
    ['2d 12h', 'P2DT12H'],
    ['2d 12h 30m', 'P2DT12H30M'],
    ['2 weeks', 'P14D'],
    ['90 min', 'PT90M'],
    ['P2W', 'P2W'],
    ['a while', undefined],
    ['0 h', undefined],
  ])('are parsed as people type them: %s', (text, duration) => {
    expect(durationOf(text)).toBe(duration)
    if (duration) expect(lengthOf(duration)).toBeGreaterThan(0)
  })
})
