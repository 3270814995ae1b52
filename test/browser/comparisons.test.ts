// engines: sqlite (a browser sees only the API, which is tested on both engines)

import { readFile } from 'node:fs/promises'
import type { Locator, Page } from 'playwright-core'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { durationText } from '../../admin/parts/instants/duration-text.ts'
import { shareText } from '../../admin/parts/number-text.ts'
import type { Schemas } from '../../client/person.ts'
import type { Cairn, Workspace } from '../fixtures/cairn.ts'
import { initialize } from '../fixtures/customer.ts'
import { ownedWorkspace } from '../fixtures/owned-workspace.ts'
import { withPatience } from '../fixtures/patience.ts'
import { type SignedUp, signUp } from '../fixtures/people.ts'
import {
  countDrawn,
  hasFocus,
  holdRequests,
  inspectScreen,
  inspectState,
  openAdministration,
  tabTo,
} from './administration.ts'
import { axeViolations } from './axe.ts'
import { heading, screenPath } from './screens.ts'

const hour = 3_600_000
const day = 24 * hour

const steps = [
  { event_id: 'signed_up', name: 'Signed up' },
  { event_id: 'plan_chosen', name: 'Chose a plan' },
  { event_id: 'invited', name: 'Invited a colleague' },
  { event_id: 'paid', name: 'Paid' },
]

/** Of 20 customers, how many reach each step. */
const reached = {
  now: { team: [20, 19, 18, 16], free: [20, 12, 6, 2] },
  before: { team: [20, 14, 8, 5], free: [20, 11, 6, 3] },
} as const

let cairn: Cairn
let workspace: Workspace
let owner: SignedUp

beforeAll(async () => {
  ;({ cairn, workspace, owner } = await ownedWorkspace())
  const { client, journey_id } = workspace
  await client.updateJourney({ path: { journey_id }, body: { steps } })
  const today = new Date()
  const noon_ms = new Date(today.getFullYear(), today.getMonth(), today.getDate(), 12).getTime()
  const events: Schemas['EventCreation'][] = []
  for (const [period, plans] of Object.entries(reached)) {
    for (const [plan, counts] of Object.entries(plans)) {
      for (let index = 0; index < 20; index += 1) {
        const customer_type = index % 2 === 0 ? 'account' : 'contact'
        const name = `${period} ${plan} ${index}`
        const customer_id = await initialize(workspace, name, { customer_name: name, customer_type })
        const entered_ms = noon_ms - (period === 'now' ? 10 + (index % 5) : 40 + (index % 5)) * day
        for (const [step, count] of counts.entries()) {
          if (index >= count) break
          events.push({
            journey_id,
            customer_id,
            event_id: steps[step]?.event_id ?? '',
            occurred_at: new Date(entered_ms + step * (index + 1) * hour).toISOString(),
            custom_variables: { plan, seats: 5 },
          })
        }
      }
    }
  }
  const { data } = await client.createEvents({ body: { events } })
  expect(data?.rejected).toBe(0)
  const report = () => client.getJourneyReport({ path: { journey_id } })
  const isCounted = async () => (await report()).data?.steps.at(-1)?.reached === 26
  await vi.waitUntil(isCounted, withPatience)
})

function open(search = '', options: Partial<Parameters<typeof openAdministration>[0]> = {}): Promise<Page> {
  const path = screenPath(workspace, `journeys/${workspace.journey_id}${search}`)
  return openAdministration({ cairn, signedIn: owner.headers, path, ...options })
}

function parameters(page: Page): [name: string, value: string][] {
  return [...new URL(page.url()).searchParams]
}

function chips(page: Page): Promise<string[]> {
  const texts = page.getByRole('search').getByRole('button', { name: /, remove filter$/ })
  return texts.evaluateAll((all) =>
    all.map((chip) => chip.textContent?.replace(/, remove filter$/, '').trim() ?? ''),
  )
}

/** The visible cells of a table, row by row. */
function cellsOf(table: Locator): Promise<string[][]> {
  return table
    .locator('tbody tr')
    .evaluateAll((rows) =>
      rows.map((row) =>
        Array.from(row.querySelectorAll<HTMLElement>('th, td'), (cell) =>
          cell.checkVisibility() ? cell.innerText.replaceAll(/\s+/g, ' ').trim() : '',
        ).filter(Boolean),
      ),
    )
}

async function reportOf(page: Page): Promise<Schemas['JourneyReport']> {
  const { last: _, ...query } = Object.fromEntries(parameters(page))
  const { client, journey_id } = workspace
  const { data, error } = await client.getJourneyReport({ path: { journey_id }, query })
  if (error) throw new Error(error.detail)
  return data
}

const groups = (page: Page) => page.getByRole('table', { name: 'Groups', exact: true })
const finding = (page: Page, name: RegExp) =>
  page.getByRole('region', { name }).locator('figcaption p').first().textContent()

describe('a breakdown', () => {
  it('is chosen from what events have had, and answers which plan converts better', async () => {
    const page = await open()
    await page.getByRole('button', { name: 'Break down', exact: true }).click()
    const choice = page.getByRole('combobox', { name: 'Break down by' })
    await expect.poll(() => hasFocus(choice)).toBe(true)
    await choice.getByRole('option', { name: 'plan (free, team)' }).waitFor({ state: 'attached' })
    await choice.selectOption('plan (free, team)')
    await page.getByRole('combobox', { name: 'Value at' }).waitFor()
    await inspectState(page, 'report-breakdown-fields')
    await page.keyboard.press('Escape')
    await groups(page).waitFor()
    expect(parameters(page)).toEqual([['breakdown', 'variable:plan']])
    await expect.poll(() => chips(page)).toEqual(['by plan'])
    const team = '“team” converts 40 points better at step 4 (Paid) than “free”: 53% against 13%.'
    expect(await finding(page, /^Funnel by/)).toContain(team)
    await page.getByRole('img', { name: team }).waitFor()

    const report = await reportOf(page)
    const numbers = report.groups?.map(({ group, enrolled, steps }) => [
      `${group.value} ${enrolled} customers`,
      ...steps.map(({ of_enrolled, reached }) => `${shareText(of_enrolled)} (${reached})`),
    ])
    const shown = async () =>
      (await cellsOf(groups(page))).map(([name, ...cells]) => [
        name,
        ...cells.map((cell) => /^\S+ \(\d+\)/.exec(cell)?.[0]),
      ])
    expect(await shown()).toEqual(numbers)
    await page.reload()
    await expect.poll(shown).toEqual(numbers)
    await page.getByRole('table', { name: 'Times by group' }).waitFor()
    const trend = page.getByRole('region', { name: 'Conversion over time' })
    await trend.getByText(/^Share of customers who reached “Paid”, by plan and by the/).waitFor()
    await expect.poll(countDrawn(trend, trend.locator('.recharts-line'))).toBeGreaterThan(0)
    await inspectScreen(page, 'report-breakdown')
    await page.getByRole('button', { name: /^by plan.*remove filter$/ }).click()
    await groups(page).waitFor({ state: 'detached' })
    expect(parameters(page)).toEqual([])
  })

  it('shows each group beside the others, and beside the compared period', async () => {
    const page = await open('?last=30&breakdown=variable:plan&compare=previous_period&last_step=2')
    await expect
      .poll(() => cellsOf(groups(page)))
      .toEqual([
        [
          'free 20 customers',
          '100% (20) 0 points, within chance compared period 100% (20): 0 points, within chance',
          '60% (12) -35 points 60% of previous step compared period 55% (11): +5 points, within chance',
        ],
        [
          'team 20 customers',
          '100% (20) 0 points, within chance compared period 100% (20): 0 points, within chance',
          '95% (19) +35 points 95% of previous step compared period 70% (14): +25 points',
        ],
      ])
  })

  it('says where contacts drop compared with accounts, and how long a plan takes', async () => {
    const page = await open('?breakdown=customer_type&to_step=3')
    await groups(page).waitFor()
    expect(await finding(page, /^Funnel by customer type/)).toMatch(/^Within chance: no group differs/)
    const { client, journey_id } = workspace
    const query = { breakdown: 'variable:plan', step: 3 }
    const { data } = await client.getJourneyStepTimes({ path: { journey_id }, query })
    await page.getByRole('button', { name: 'Break down', exact: true }).click()
    await page.getByRole('combobox', { name: 'Break down by' }).selectOption('Another variable…')
    await page
      .getByRole('textbox', { name: 'Variable' })
      .or(page.getByRole('searchbox', { name: 'Variable' }))
      .fill('plan')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Escape')
    const times = page.getByRole('table', { name: 'Times by group' })
    await expect
      .poll(() => cellsOf(times))
      .toEqual(
        data?.groups?.map(({ group, times: { n, median_ms, p90_ms } }) => [
          String(group.value),
          String(n),
          durationText(median_ms ?? 0),
          durationText(p90_ms ?? 0),
        ]),
      )
  })

  it('that is too large says what to do', async () => {
    const problem = {
      type: '/docs/problems#breakdown_too_large',
      title: 'There is too much to break down',
      status: 409,
      detail:
        'Ask again, which goes on from what has been read, or for a shorter period or a variable with fewer values.',
      code: 'breakdown_too_large',
      request_id: '4bf92f3577b34da6a3ce929d0e0e4736',
    }
    const page = await open('?breakdown=variable:user', {
      refusals: ['409 GET /v1/journeys/{id}/report'],
      prepare: (page) =>
        page.route(/\/report\?.*breakdown/, (route) =>
          route.fulfill({ status: 409, contentType: 'application/problem+json', json: problem }),
        ),
    })
    const alert = page.getByRole('alert')
    await alert.getByText(problem.detail).waitFor()
    await page.getByRole('button', { name: /^by user.*remove filter$/ }).click()
    await page.getByRole('table', { name: 'Steps' }).waitFor()
    expect(await alert.count()).toBe(0)
  })
})

describe('a comparison', () => {
  it('is chosen by keyboard, and says whether this period is better or within chance', async () => {
    const page = await open()
    const button = page.getByRole('button', { name: 'Compare', exact: true })
    await button.waitFor()
    await tabTo(page, button)
    await page.keyboard.press('Enter')
    const choice = page.getByRole('combobox', { name: 'Compare with' })
    await expect.poll(() => hasFocus(choice)).toBe(true)
    await page.keyboard.press('ArrowDown')
    await expect
      .poll(() => parameters(page))
      .toEqual([
        ['compare', 'previous_period'],
        ['last', '30'],
      ])
    const table = page.getByRole('table', { name: 'Both periods' })
    await table.waitFor()
    await inspectState(page, 'report-comparison-fields')
    await page.keyboard.press('Escape')
    await expect.poll(() => hasFocus(button)).toBe(true)
    await expect.poll(() => chips(page)).toEqual(['compared with previous period'])
    await expect
      .poll(() => cellsOf(table))
      .toEqual([
        ['Entered', '40', '40', '–'],
        ['1. Signed up', '100% 40', '100% 40', '0 points, within chance 95%: -9 to +9'],
        ['2. Chose a plan', '78% 31', '63% 25', '+15 points, within chance 95%: -5 to +34'],
        ['3. Invited a colleague', '60% 24', '35% 14', '+25 points 95%: +3 to +44'],
        ['4. Paid', '45% 18', '20% 8', '+25 points 95%: +4 to +43'],
      ])
    expect(await finding(page, /^Compared with/)).toBe(
      'This period converts 25 points better at step 4 (Paid) than the compared period: 45% against 20%. Most of it appears at step 2 (Chose a plan).',
    )
    await page
      .getByRole('region', { name: /^Compared with/ })
      .locator('.recharts-line')
      .first()
      .waitFor()
    await inspectScreen(page, 'report-comparison')
    await page.getByText('Customers of the later period have had less time').waitFor()
    await page.goto(`${page.url()}&window=P7D&variables=plan:free`)
    await expect.poll(() => finding(page, /^Compared with/)).toMatch(/^Within chance: the two periods/)
    expect(await page.getByText('Customers of the later period have had less time').count()).toBe(0)
    expect(await page.getByText('still in progress').count()).toBe(0)
    await page.goto(page.url().replace('window=P7D', 'window=P3650D'))
    await page.getByText('Some customers of this period are still in progress').waitFor()
  })

  it.each([
    [
      'Compared',
      '?compare=custom&compare_from=2026-02-01T00:00:00Z&compare_to=2026-01-02T00:00:00Z',
      'Compare',
    ],
    ['Entered', '?entered_from=2026-02-01T00:00:00Z&entered_to=2026-01-02T00:00:00Z', /^1 Feb 2026, /],
  ])('that begins after its end says so at the field: %s', async (by, search, button) => {
    const page = await open(search)
    await page.getByRole('button', { name: button, exact: true }).first().click()
    const to = page.getByRole('textbox', { name: `${by} before` })
    await to.waitFor()
    await expect.poll(() => to.getAttribute('aria-invalid')).toBe('true')
    await page.getByText('Enter a time after the start').waitFor()
    await to.fill('1 Mar 2026')
    await to.press('Enter')
    await page.getByText('Enter a time after the start').waitFor({ state: 'detached' })
  })

  it('with a period of its own asks for both ends', async () => {
    const page = await open('?compare=custom')
    await page.getByText('Choose the period to compare with, with its start and end').waitFor()
    await page.getByRole('button', { name: 'Compare', exact: true }).click()
    const from = page.getByRole('textbox', { name: 'Compared from' })
    await from.fill('2 Jan 2026')
    await from.press('Enter')
    const to = page.getByRole('textbox', { name: 'Compared before' })
    await to.fill('1 Feb 2026')
    await to.press('Enter')
    await page.getByRole('heading', { name: 'Compared with 2 Jan 2026 – 31 Jan 2026' }).waitFor()
    expect(await to.getAttribute('aria-invalid')).not.toBe('true')
    expect(await finding(page, /^Compared with/)).toMatch(/^Nobody entered in the compared period/)
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: /^compared with .*, remove filter$/ }).click()
    await expect.poll(() => parameters(page)).toEqual([])
  })

  it.each([
    [1, '% of entered 100%'],
    [2, '% of first 100%'],
  ])('of step %i alone is a bar per period, with its base', async (step, shown) => {
    const page = await open(`?last=30&compare=previous_period&first_step=${step}&last_step=${step}`)
    const region = page.getByRole('region', { name: /^Compared with/ })
    const bars = region.locator('.recharts-bar-rectangle path')
    await expect.poll(countDrawn(region, bars)).toBe(2)
    const tooltip = async () => {
      await page.mouse.move(0, 0)
      await bars.first().hover()
      return (await region.locator('.mantine-ChartTooltip-tooltipItem').first().innerText()).replace(
        /\s+/g,
        ' ',
      )
    }
    await expect.poll(tooltip).toBe(shown)
  })

  it('is named by its days, also where one of them begins at one o’clock', async () => {
    const page = await open(
      '?compare=custom&compare_from=2026-03-08T05:00:00.000Z&compare_to=2026-03-15T04:00:00.000Z',
      { timezoneId: 'America/Havana' },
    )
    await page.getByRole('heading', { name: 'Compared with 8 Mar 2026 – 14 Mar 2026' }).waitFor()
  })
})

describe('a part of the journey and a filter', () => {
  it('leaves what it replaces readable until the new numbers arrive', async () => {
    const page = await open()
    const release = await holdRequests(page, /\/report\?.*step_order=strict/)
    const busy = page.locator('[aria-busy=true]')
    await page.getByRole('table', { name: 'Steps' }).waitFor()
    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    await page.getByRole('checkbox', { name: 'Strict order' }).click()
    await busy.getByRole('table', { name: 'Steps' }).waitFor()
    expect(await axeViolations(page)).toEqual([])
    release()
    await busy.waitFor({ state: 'detached' })
  })

  it('leaves charts grey until those of the new numbers arrive', async () => {
    const page = await open()
    const sections = ['Conversion over time', 'Time between steps'].map((name) =>
      page.getByRole('region', { name }),
    )
    for (const section of sections) await section.getByRole('figure').waitFor()
    const release = await holdRequests(page, /\/(trend|step-times)\?.*step_order=strict/)
    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    await page.getByRole('checkbox', { name: 'Strict order' }).click()
    const busy = () => Promise.all(sections.map((section) => section.getAttribute('aria-busy')))
    await expect.poll(busy).toEqual(['true', 'true'])
    release()
    await expect.poll(busy).toEqual(['false', 'false'])
  })

  it('are chosen by mouse and by keyboard, and go on to the customers', async () => {
    const page = await open()
    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    await page.getByRole('combobox', { name: 'From step' }).selectOption('2. Chose a plan')
    await page.getByRole('combobox', { name: 'To step' }).selectOption('4. Paid')
    const inOrder = page.waitForRequest(/\/report\?.*step_order=strict/)
    await page.getByRole('checkbox', { name: 'Strict order' }).click()
    await inOrder
    const variable = page
      .getByRole('combobox', { name: 'Variable' })
      .or(page.getByRole('textbox', { name: 'Variable' }))
    await tabTo(page, variable)
    await page.keyboard.press('Enter')
    await page.getByText('Enter a name.').waitFor()
    await page.keyboard.type('plan')
    await page.keyboard.press('Tab')
    await page.keyboard.type('team')
    await page.keyboard.press('Enter')
    await page.getByRole('combobox', { name: 'Value at' }).waitFor()
    await inspectState(page, 'report-filter-fields')
    await page.keyboard.press('Escape')
    const set = [
      ['first_step', '2'],
      ['last_step', '4'],
      ['step_order', 'strict'],
      ['variables', 'plan:team'],
    ]
    await expect.poll(() => parameters(page)).toEqual(set)
    await expect
      .poll(() => chips(page))
      .toEqual(['from step 2. Chose a plan', 'to step 4. Paid', 'order strict', 'plan team'])
    const table = page.getByRole('table', { name: 'Steps' })
    const numbers = async () =>
      (await cellsOf(table)).filter((row) => row.length > 1).map(([name, count]) => [name, count])
    const expected = [
      ['2. Chose a plan plan_chosen', '33'],
      ['3. Invited a colleague invited', '26'],
      ['4. Paid paid', '21'],
    ]
    await expect.poll(numbers).toEqual(expected)
    await page
      .getByText('Of 33 customers who reached “Chose a plan”, 21 (64%) reached the last step, “Paid”.')
      .waitFor()
    await page.reload()
    await expect.poll(numbers).toEqual(expected)
    await inspectState(page, 'report-part')
    await page.getByRole('link', { name: '7 customers' }).click()
    await expect.poll(() => page.getByRole('table').locator('tbody td a').count()).toBe(7)
    expect(parameters(page)).toEqual([...set, ['reached', '2'], ['not_reached', '3']])
    await page
      .getByText('Customers who reached “Chose a plan” and did not reach “Invited a colleague”')
      .waitFor()
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await expect.poll(() => parameters(page)).toEqual([])
  })

  it('that cannot be read are reported, each by its name', async () => {
    const page = await open(
      '?breakdown=plan&touch=0&variables=plan&compare=next&first_step=9&variables=seats:5',
    )
    const alert = page.getByRole('alert', { name: '5 filters in the address are invalid and were ignored' })
    const names = async () =>
      (await alert.getByRole('listitem').allInnerTexts()).map((text) => text.split(' ')[0]).toSorted()
    await expect.poll(names).toEqual(['breakdown', 'compare', 'first_step', 'touch', 'variables'])
    await expect.poll(() => chips(page)).toEqual(['seats 5'])
    await alert.getByRole('button', { name: 'Remove invalid filters' }).click()
    await alert.waitFor({ state: 'detached' })
  })

  it('whose last step is before its first says so', async () => {
    const page = await open('?first_step=3&last_step=2')
    await page.getByText('its last step is before its first one').waitFor()
  })
})

describe('a view of a breakdown', () => {
  const search =
    '?last=30&breakdown=variable%3Aplan&variables=seats%3A5&variables=plan%3Ateam&compare=previous_period&first_step=2'

  it('keeps all that is chosen, for a colleague and for people without an account', async () => {
    await owner.client().updateWorkspace({ body: { view_links: 'on' } })
    const page = await open(search)
    await groups(page).waitFor()
    const before = await cellsOf(groups(page))
    await page.getByRole('button', { name: 'Views', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Views of this journey' })
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Plans')
    await dialog.getByRole('combobox', { name: 'Visible to' }).selectOption('Everybody in the workspace')
    await dialog.getByRole('button', { name: 'Save view' }).click()
    await page.getByText('View: Plans').waitFor()
    expect(await page.getByText('changed since it was opened').count()).toBe(0)
    const [view] = (await owner.client().listViews()).data?.data ?? []
    expect(view?.query).toMatchObject({
      last_days: 30,
      first_step: 2,
      breakdown: 'variable:plan',
      variables: ['seats:5', 'plan:team'],
      compare: 'previous_period',
    })

    const path = { view_id: view?.view_id ?? '' }
    const colleague = await openAdministration({
      cairn,
      signedIn: (await signUp(cairn, workspace, 'viewer')).headers,
      path: screenPath(workspace, `views/${path.view_id}`),
    })
    await expect.poll(() => cellsOf(groups(colleague))).toEqual(before)
    await colleague.getByText('View: Plans').waitFor()

    const { data: link } = await owner.client().createViewLink({ path, body: {} })
    const guest = await openAdministration({ cairn, path: `/shared#token=${link?.token}` })
    await heading(guest, 'Plans').waitFor()
    await guest.getByText('seats is 5 · plan is team · by plan · compared with the period before').waitFor()
    await expect.poll(() => cellsOf(groups(guest))).toEqual(before)
    await guest.getByRole('heading', { name: /^Compared with/ }).waitFor()
    // Nobody enters at a later step: those who reached it are counted.
    const [first] = await cellsOf(guest.getByRole('table', { name: 'Both periods' }))
    expect(first?.[0]).toBe('2. Chose a plan')
    await inspectState(guest, 'shared-view-comparison')
  })
})

describe('what is compared', () => {
  /** The lines of the table that is saved at a place. */
  async function csvOf(place: Locator): Promise<string[]> {
    await place.getByRole('button', { name: 'Save', exact: true }).first().click()
    const download = place.page().waitForEvent('download')
    await place.page().getByRole('menuitem', { name: 'Table as CSV' }).click()
    return (await readFile(await (await download).path(), 'utf8')).split('\r\n')
  }

  it('is saved as CSV', async () => {
    const page = await open('?last=30&breakdown=variable:plan&compare=previous_period&to_step=4')
    const compared = await csvOf(page.getByRole('region', { name: /^Compared with/ }))
    expect(compared[0]).toMatch(
      /^\ufeffStep,This period,"This period, share",.* – .*,Difference,95% interval$/,
    )
    expect(compared.at(-2)).toBe("4. Paid,18,45%,8,20%,'+25 points,'+4 to +43")
    const groups = await csvOf(page.getByRole('region', { name: /^Funnel by/ }))
    expect(groups[0]).toMatch(
      /^\ufeffplan,Entered,1\. Signed up,Against others,95% interval,Compared period,/,
    )
    expect(groups.find((line) => line.startsWith('team'))).toMatch(/^team,20,20 \(100%\),/)
    const times = await csvOf(page.getByText(/^Time from .* by plan$/).locator('..'))
    expect(times.map((line) => line.split(',')[0])).toEqual(['\ufeffplan', 'team', 'free', ''])
  })

  it('is saved with those who dropped off and those in progress if there is a conversion window', async () => {
    // Half a day from the ages of all customers, whatever the time of day.
    const page = await open('?last=30&window=P12DT12H')
    const funnel = await csvOf(page.getByRole('region', { name: 'Funnel', exact: true }))
    expect(funnel[0]).toMatch(/,Not continued,Dropped off,In progress,Median,90% within$/)
    expect(funnel.slice(2, 4)).toEqual([
      expect.stringMatching(/^1\. Signed up,signed_up,40,100%,100%,0,–,–,/),
      expect.stringMatching(/^2\. Chose a plan,plan_chosen,31,78%,78%,9,5,4,/),
    ])
  })

  it('is saved without those who entered if it begins at a later step', async () => {
    const page = await open('?first_step=2&last=30&by=month&breakdown=customer_type')
    // What loads later moves what is clicked.
    await page.getByText(/^Time from .* by customer type$/).waitFor()
    const groups = await csvOf(page.getByRole('region', { name: /^Funnel by/ }))
    expect(groups[0]).toMatch(/^\ufeffcustomer type,2\. Chose a plan,Against others,/i)
    const funnel = await csvOf(page.getByRole('region', { name: 'Funnel', exact: true }))
    expect(funnel[0]).toMatch(/^\ufeffStep,Event,Customers,% of first,% of previous,Not continued,/)
    expect(funnel[1]).toMatch(/^2\. Chose a plan,plan_chosen,31,100%,100%,–,/)
    expect(funnel[2]).toMatch(/^3\. Invited a colleague,invited,24,77%,77%,7,/)
    const whole = await open('?first_step=2&by=month&measure=count')
    const trend = whole.getByRole('region', { name: 'Conversion over time' })
    await trend.getByText(/^Customers who reached each step, by the month they entered/).waitFor()
    const measure = trend.getByRole('combobox', { name: 'Measure' })
    await measure.getByRole('option', { name: '% of first' }).waitFor({ state: 'attached' })
    expect((await csvOf(trend))[0]).toMatch(/^\ufeffMonth,Chose a plan,/)
  })
})
