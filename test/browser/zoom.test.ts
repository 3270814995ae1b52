// engines: sqlite (a browser sees only the API, which is tested on both engines)

import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import type { Workspace } from '../fixtures/cairn.ts'
import { initialize } from '../fixtures/customer.ts'
import { webhookScreen } from './changes.ts'
import { it } from './it.ts'
import { chooseFromWorkspaceMenu } from './screens.ts'

/** What a window of 1280 × 1024 pixels shows at 400 % (WCAG 2.2, 1.4.10). */
const viewport = { width: 320, height: 256 }

async function addSteps({ client, journey_id }: Workspace, events: readonly string[]) {
  const steps = events.map((event_id) => ({ event_id, name: event_id }))
  await client.updateJourney({ path: { journey_id }, body: { steps } })
}

/** Sets the text spacing of WCAG 2.2, 1.4.12, as a style sheet of the reader's own. */
async function widenText(page: Page) {
  await page.evaluate(() => {
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(`
      * { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important; }
      p { margin-bottom: 2em !important; }
    `)
    document.adoptedStyleSheets.push(sheet)
  })
}

describe('At 400 %', () => {
  it.for(['Rename workspace…', 'Archive workspace…', 'Create workspace…'])(
    '%s can be reached',
    async (item, { open }) => {
      const page = await open('keys', { viewport })
      await chooseFromWorkspaceMenu(page, item)
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    },
  )

  it('a report by groups is no wider than the window, also with wide text spacing', async ({
    workspace,
    client,
    open,
  }) => {
    const { journey_id } = workspace
    const events = ['signed_up', 'paid'] as const
    await addSteps(workspace, events)
    const customer_id = await initialize(workspace, 'user-1')
    for (const event_id of events) {
      const custom_variables = { plan: 'team' }
      await client.createEvent({ body: { journey_id, customer_id, event_id, custom_variables } })
    }
    const page = await open(`journeys/${journey_id}?breakdown=variable:plan`, { viewport })
    await page.getByRole('table', { name: 'Times by group' }).getByText('team').waitFor()
    await expect.poll(() => page.locator('[aria-busy=true]').count()).toBe(0)
    const width = () => page.evaluate(() => document.documentElement.scrollWidth)
    expect(await width()).toBe(viewport.width)
    await widenText(page)
    expect(await width()).toBe(viewport.width)
  })

  it('the header is in one line with wide text spacing', async ({ open }) => {
    const page = await open('keys', { viewport: { width: 640, height: 512 } })
    const header = page.getByRole('banner')
    const name = header.getByText('Cairn', { exact: true })
    await name.waitFor()
    await widenText(page)
    const middles = await header
      .locator('img')
      .or(name)
      .evaluateAll((parts) =>
        parts.map((part) => {
          const { top, bottom } = part.getBoundingClientRect()
          return (top + bottom) / 2
        }),
      )
    expect(middles).toHaveLength(2)
    expect(Math.abs((middles[0] ?? 0) - (middles[1] ?? 0))).toBeLessThan(2)
  })

  it('a filter by a variable with a long name is no wider than the window', async ({ workspace, open }) => {
    const { journey_id } = workspace
    await addSteps(workspace, ['signed_up'])
    const name = 'number_of_people_who_were_invited_to_the_workspace'
    const page = await open(`journeys/${journey_id}?variables=${name}:7`, { viewport })
    await page.getByRole('button', { name: `${name} 7 , remove filter` }).waitFor()
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(viewport.width)
  })

  it('the page of a webhook is no wider than the window', async ({ workspace, owner, open }) => {
    const page = await open(await webhookScreen({ workspace, owner }), { viewport })
    await page.getByRole('radiogroup', { name: 'Deliveries to show' }).waitFor()
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(viewport.width)
  })

  it('the periods of a report are all visible with wide text spacing', async ({
    workspace,
    client,
    open,
  }) => {
    const { journey_id } = workspace
    await addSteps(workspace, ['signed_up'])
    const customer_id = await initialize(workspace, 'user-1')
    await client.createEvent({ body: { journey_id, customer_id, event_id: 'signed_up' } })
    const page = await open(`journeys/${journey_id}`, { viewport })
    const periods = page.getByRole('radiogroup', { name: 'Time range' })
    await periods.waitFor()
    await widenText(page)
    const hidden = await periods.evaluate((periods) => periods.scrollWidth - periods.clientWidth)
    expect(hidden).toBe(0)
  })

  it('nothing that gets the focus is under the header', async ({ open }) => {
    const page = await open('webhooks/new', { viewport })
    await page.getByRole('button', { name: 'Create webhook' }).focus()
    const covered: string[] = []
    for (let place = ''; place !== 'outside'; ) {
      await page.keyboard.press('Shift+Tab')
      place = await page.evaluate(() => {
        const focused = document.activeElement
        if (!focused?.closest('main')) return 'outside'
        const header = document.querySelector('header')?.getBoundingClientRect().bottom ?? 0
        const { top } = focused.getBoundingClientRect()
        return top < header ? `${focused.outerHTML} at ${top}` : 'seen'
      })
      if (place.startsWith('<')) covered.push(place)
    }
    expect(covered).toEqual([])
  })
})
