// engines: sqlite (a browser sees only the API, whose numbers storage/standings and operations/reports compare on both engines)

import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { durationText } from '../../admin/parts/instants/duration-text.ts'
import type { Schemas } from '../../client/index.ts'
import type { Cairn, Workspace } from '../fixtures/cairn.ts'
import { type SignedUp, signUp } from '../fixtures/people.ts'
import { countDrawn, holdRequests, inspectState, openAdministration } from './administration.ts'
import {
  cellsOf,
  day,
  enrol,
  now,
  type ReportedJourney,
  reportedJourney,
  steps,
  stepTable,
} from './reported-journey.ts'
import { screenPath } from './screens.ts'

let cairn: Cairn
let workspace: Workspace
let owner: SignedUp
let open: ReportedJourney['open']
let openReport: ReportedJourney['openReport']

beforeAll(async () => {
  ;({ cairn, workspace, owner, open, openReport } = await reportedJourney())
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

  it.each([
    ['overview', 'figure'],
    ['events', 'region'],
  ] as const)('of %s ends now, on paper at the time itself', async (screen, role) => {
    const page = await open(screen)
    const now = page.getByRole(role, { name: /^Events/ }).getByText('now', { exact: true })
    await now.waitFor()
    const axis = now.locator('../..')
    await page.emulateMedia({ media: 'print' })
    const time = String.raw`\d+ \w+ \d{4}, \d\d:\d\d`
    // Its beginning is known once the events were counted.
    await expect.poll(() => axis.ariaSnapshot()).toMatch(new RegExp(`${time} ${time}$`))
    expect(await now.isVisible()).toBe(false)
  })

  it('has a label at each line of its scale', async () => {
    const page = await openReport()
    const region = page.getByRole('region', { name: 'Time between steps' })
    await expect.poll(countDrawn(region, region.locator('.recharts-bar-rectangle path'))).toBeGreaterThan(0)
    const places = await page.locator('.recharts-surface:has(.recharts-yAxis)').evaluateAll((charts) =>
      charts.map((chart) => {
        const middles = (selector: string) =>
          Array.from(chart.querySelectorAll(selector), (part) => {
            const { top, bottom } = part.getBoundingClientRect()
            return Math.round((top + bottom) / 2)
          }).sort((a, b) => a - b)
        return {
          lines: middles('.recharts-cartesian-grid-horizontal line'),
          labels: middles('.recharts-yAxis-tick-labels .recharts-cartesian-axis-tick-value'),
        }
      }),
    )
    expect(places.length).toBe(2)
    for (const { lines, labels } of places) {
      expect(labels.length).toBe(lines.length)
      for (const [index, line] of lines.entries())
        expect(Math.abs((labels[index] ?? 0) - line)).toBeLessThan(4)
    }
  })

  it('has whole labels at its scale beyond a million', async () => {
    const page = await open('overview')
    await page.route('**/step-times?*', async (route) => {
      const response = await route.fetch()
      const times = (await response.json()) as Schemas['JourneyStepTimes']
      const classes = times.classes.map((times) => ({ ...times, count: times.count * 2_500_000 }))
      await route.fulfill({ response, json: { ...times, classes } })
    })
    await page.goto(`${cairn.url}/admin${screenPath(workspace, `journeys/${workspace.journey_id}`)}`)
    const region = page.getByRole('region', { name: 'Time between steps' })
    const labels = region.locator('.recharts-yAxis-tick-labels text')
    await expect.poll(countDrawn(region, labels)).toBeGreaterThan(2)
    const shown = await labels.evaluateAll((labels) =>
      labels.map((label) => {
        const left = label.closest('svg')?.getBoundingClientRect().left ?? 0
        return label.getBoundingClientRect().left < left ? 'cut off' : label.textContent
      }),
    )
    expect(shown[0]).toBe('0')
    expect(shown.at(-1)).toMatch(/^[\d.]+M$/)
    expect(shown).not.toContain('cut off')
  })

  it('shows that it is shown as a table, also in forced colors', async () => {
    const page = await openReport()
    const region = page.getByRole('region', { name: 'Time between steps' })
    const button = region.getByRole('button', { name: 'Show as table' })
    await button.waitFor()
    for (const forcedColors of ['none', 'active'] as const) {
      await page.emulateMedia({ forcedColors })
      const background = () => button.evaluate((button) => getComputedStyle(button).backgroundColor)
      const before = await background()
      await button.click()
      // As it is without the pointer.
      await page.mouse.move(0, 0)
      await region.getByRole('table').first().waitFor()
      expect(await background()).not.toBe(before)
      await button.click()
      await page.mouse.move(0, 0)
      await expect.poll(background).toBe(before)
    }
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

  it('is printed whole on narrower paper, and nothing covers it', async () => {
    const page = await openReport()
    const region = page.getByRole('region', { name: 'Time between steps' })
    await expect.poll(countDrawn(region, region.locator('.recharts-bar-rectangle path'))).toBeGreaterThan(0)
    const charts = page.locator('figure [role=img]:has(.recharts-surface)')
    await expect.poll(() => charts.count()).toBe(2)
    await page.emulateMedia({ media: 'print' })
    // In one task, as the browser does it: nothing is told that there is less room.
    const widths = await page.evaluate(() => {
      document.body.style.width = '700px'
      return Array.from(document.querySelectorAll('figure [role=img]:has(.recharts-surface)'), (figure) => ({
        figure: Math.round(figure.getBoundingClientRect().width),
        chart: Math.round(figure.querySelector('.recharts-surface')?.getBoundingClientRect().width ?? 0),
      }))
    })
    for (const { figure, chart } of widths) {
      expect(figure).toBeLessThan(700)
      expect(chart).toBe(figure)
    }
    await page.setViewportSize({ width: 794, height: 1123 })
    const fixed = await page.locator('body *').evaluateAll((elements) =>
      elements
        .filter((element) => element.checkVisibility() && getComputedStyle(element).position === 'fixed')
        .filter(({ clientHeight }) => clientHeight > 0)
        .map(({ outerHTML }) => outerHTML),
    )
    expect(fixed).toEqual([])
    expect(await page.getByRole('button', { name: 'Show as table' }).count()).toBe(0)
    const bar = page.locator('.bar').first()
    expect(await bar.evaluate((bar) => getComputedStyle(bar).printColorAdjust)).toBe('exact')
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
      // Where a day that begins in UTC has not begun yet.
      const timezoneId = 'America/New_York'
      const page = await openAdministration({ cairn, signedIn: owner.headers, path, refusals, timezoneId })
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

  it('of steps with long names names each', async () => {
    const own = await cairn.workspace()
    const hers = await signUp(cairn, own, 'owner')
    const { client, journey_id } = own
    const steps = ['a', 'b', 'c'].map((event_id) => ({ event_id, name: `${event_id} ${'long'.repeat(30)}` }))
    await client.updateJourney({ path: { journey_id }, body: { steps } })
    const customer_id = await enrol(own, 'Ada Lovelace')
    await client.createEvent({ body: { journey_id, customer_id, event_id: 'a' } })
    const page = await open(`journeys/${journey_id}`, own, hers.headers)
    const region = page.getByRole('region', { name: 'Conversion over time' })
    const labels = region.locator('.recharts-xAxis-tick-labels text')
    await expect.poll(countDrawn(region, labels)).toBe(steps.length)
    expect(await labels.allTextContents()).toEqual(steps.map(({ name }) => `${name.slice(0, 23)}…`))
  })

  it('of steps with long names shows their numbers under the pointer', async () => {
    const own = await cairn.workspace()
    const hers = await signUp(cairn, own, 'owner')
    const { client, journey_id } = own
    const steps = ['a', 'b'].map((event_id) => ({ event_id, name: `${event_id}${' long'.repeat(39)}` }))
    await client.updateJourney({ path: { journey_id }, body: { steps } })
    for (const ago of [0, 10]) {
      const customer_id = await enrol(own, `Customer ${ago}`)
      const occurred_at = new Date(now - ago * day).toISOString()
      await client.createEvent({ body: { journey_id, customer_id, event_id: 'a', occurred_at } })
    }
    const page = await open(`journeys/${journey_id}?by=week`, own, hers.headers)
    const region = page.getByRole('region', { name: 'Conversion over time' })
    const chart = region.locator('.recharts-wrapper')
    for (const width of [320, 1440]) {
      await page.setViewportSize({ width, height: 900 })
      await expect.poll(countDrawn(region, chart)).toBe(1)
      // A customer entered in the first week and in the last.
      for (const side of [0.25, 0.95]) {
        /** Where the numbers under the pointer are. The chart may move until everything above it has loaded. */
        const place = async () => {
          const { width: drawn = 0, height = 0 } = (await chart.boundingBox()) ?? {}
          await page.mouse.move(0, 0)
          await chart.hover({ position: { x: drawn * side, y: height / 2 } })
          return await chart.evaluate((chart) => {
            const tooltip = chart.querySelector('.recharts-tooltip-wrapper')
            if (!tooltip?.checkVisibility({ visibilityProperty: true })) return 'not shown'
            const [inner, outer] = [tooltip.getBoundingClientRect(), chart.getBoundingClientRect()]
            if (inner.left < outer.left || inner.right > outer.right) return 'cut off'
            const numbers = tooltip.querySelectorAll('.mantine-ChartTooltip-tooltipItemData')
            return Array.from(numbers, ({ textContent, clientHeight }) => [textContent, clientHeight < 30])
          })
        }
        await expect.poll(place).toEqual([
          ['100%', true],
          ['0%', true],
        ])
      }
    }
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
    const page = await openReport()
    const release = await holdRequests(page, /\/step-times\?.*step=3/)
    const region = page.getByRole('region', { name: 'Time between steps' })
    const first = region.getByText(/^Time from “Signed up” to “Chose a plan” of 3 customers: median/)
    await first.waitFor()
    const asked = page.waitForRequest(/\/step-times\?.*step=3/)
    await region.getByRole('combobox', { name: 'Steps' }).selectOption('Chose a plan → Paid')
    await asked
    await first.waitFor({ state: 'detached' })
    expect(await region.getByText(/^Time from /).count()).toBe(0)
    release()
    await region.getByText(/^Time from “Chose a plan” to “Paid” of 1 customer:/).waitFor()
  })
})
