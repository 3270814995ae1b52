// engines: sqlite (a browser sees only the API, which is tested on both engines)

import { readFile } from 'node:fs/promises'
import type { Locator, Page } from 'playwright-core'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Schemas } from '../../client/person.ts'
import type { Cairn, Workspace } from '../fixtures/cairn.ts'
import { initialize } from '../fixtures/customer.ts'
import { ownedWorkspace } from '../fixtures/owned-workspace.ts'
import { type SignedUp, signUp } from '../fixtures/people.ts'
import {
  countDrawn,
  goBackAndStay,
  hasFocus,
  holdRequests,
  inspectScreen,
  inspectState,
  loseResponses,
  openAdministration,
  tabTo,
} from './administration.ts'
import { heading, query, screenPath } from './screens.ts'

const steps = [
  { event_id: 'signed_up', name: 'Signed up' },
  { event_id: 'plan_chosen', name: 'Chose a plan' },
]

let cairn: Cairn
let workspace: Workspace
let owner: SignedUp

beforeEach(async () => {
  ;({ cairn, workspace, owner } = await ownedWorkspace())
  const { client, journey_id } = workspace
  await client.updateJourney({ path: { journey_id }, body: { steps } })
  const customer_id = await initialize(workspace, 'user-1')
  await client.createEvent({ body: { journey_id, customer_id, event_id: 'signed_up' } })
})

/** Allows links to views, and opens those of a new view. */
async function openViewLinks(
  refusals: string[] = [],
  person = owner,
): Promise<{ page: Page; dialog: Locator }> {
  const api = owner.client(workspace.workspace_id)
  await api.updateWorkspace({ body: { view_links: 'on' } })
  await save({ name: 'Accounts' })
  const page = await open('journeys', person, refusals)
  await page.getByRole('table', { name: 'Journeys' }).getByRole('link', { name: 'Onboarding' }).click()
  const dialog = await openViews(page)
  await dialog.getByRole('button', { name: 'Actions for Accounts' }).click()
  await page.getByRole('menuitem', { name: 'Links for people without an account…' }).click()
  await dialog.getByText('There are no links.').waitFor()
  return { page, dialog }
}

/** Opens a screen of the workspace, as its owner unless another person is given. */
async function open(screen: string, person = owner, refusals: string[] = []): Promise<Page> {
  const path = screenPath(workspace, screen)
  return await openAdministration({ cairn, path, signedIn: person.headers, refusals })
}

async function views(): Promise<Schemas['View'][]> {
  return (await owner.client(workspace.workspace_id).listViews()).data?.data ?? []
}

async function save(view: Partial<Schemas['ViewCreation']>, person = owner): Promise<Schemas['View']> {
  const { journey_id } = workspace
  const body = { name: 'Accounts', journey_id, query: {}, visibility: 'workspace' as const, ...view }
  const { data } = await person.client(workspace.workspace_id).createView({ body })
  if (!data) throw new Error('no view was saved')
  return data
}

async function openViews(page: Page) {
  await page.getByRole('button', { name: 'Views', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Views of this journey' })
  await dialog.getByRole('button', { name: 'Save view' }).waitFor()
  return dialog
}

describe('the dialog of views', () => {
  it('has the form to save another one in reach below many', async () => {
    for (let count = 0; count < 20; count++) await save({ name: `View ${count}` })
    const page = await open(`journeys/${workspace.journey_id}`)
    await page.setViewportSize({ width: 360, height: 800 })
    const dialog = await openViews(page)
    const views = dialog.getByRole('list', { name: 'Views' })
    await views.getByText('View 19', { exact: true }).waitFor()
    const name = dialog.getByRole('textbox', { name: 'Name' })
    expect(await name.evaluate((name) => name.getBoundingClientRect().bottom < innerHeight)).toBe(true)
    for (let count = 0; count < 20; count++) {
      const link = views.getByRole('link', { name: `View ${count}`, exact: true })
      await link.focus()
      // Not clipped by the list, with its outline.
      const room = await link.evaluate((link) => {
        const list = link.closest('ul')?.getBoundingClientRect()
        const own = link.getBoundingClientRect()
        if (!list) return undefined
        return Math.min(own.top - list.top, list.bottom - own.bottom, own.left - list.left)
      })
      expect(room).toBeGreaterThanOrEqual(3)
    }
  })
})

describe('a report', () => {
  it('is saved as a view, which shows a colleague the same', async () => {
    const page = await open(
      `journeys/${workspace.journey_id}?last=30&customer_type=contact&window=P7D&by=week&to_step=1`,
    )
    const dialog = await openViews(page)
    await dialog.getByText('No views yet.').waitFor()
    await dialog.getByRole('button', { name: 'Save view' }).click()
    await dialog.getByText('Enter a name.').waitFor()
    await inspectState(page, 'views-none')
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Weekly conversion')
    await dialog.getByRole('combobox', { name: 'Chart' }).selectOption('Conversion over time')
    await dialog.getByRole('combobox', { name: 'Visible to' }).selectOption('Everybody in the workspace')
    await dialog.getByRole('button', { name: 'Save view' }).click()
    await dialog.waitFor({ state: 'hidden' })
    await page.getByText('View: Weekly conversion').waitFor()
    // The step of another chart is no part of it.
    expect(await page.getByText('changed since it was opened').count()).toBe(0)
    const [view] = await views()
    expect(view).toMatchObject({
      name: 'Weekly conversion',
      visibility: 'workspace',
      query: { chart: 'trend', last_days: 30, customer_type: 'contact', window: 'P7D', by: 'week' },
    })

    const colleague = await open(`views/${view?.view_id}`, await signUp(cairn, workspace, 'viewer'))
    await colleague.getByText('View: Weekly conversion').waitFor()
    const { view: _, ...shown } = query(colleague)
    expect(shown).toEqual({ last: '30', customer_type: 'contact', window: 'P7D', by: 'week' })
    await colleague.getByRole('table', { name: 'Steps' }).waitFor()
    await colleague.getByText('90 days', { exact: true }).click()
    await colleague.getByText('changed since it was opened').waitFor()
    const theirs = await openViews(colleague)
    await theirs.getByRole('link', { name: 'Weekly conversion' }).waitFor()
    // A viewer saves for nobody else, and changes nothing of others.
    expect(await theirs.getByRole('combobox', { name: 'Visible to' }).count()).toBe(0)
    expect(await theirs.getByRole('button', { name: /^Actions for/ }).count()).toBe(0)
    await theirs.getByRole('link', { name: 'Weekly conversion' }).click()
    await theirs.waitFor({ state: 'hidden' })
    await expect.poll(() => query(colleague).last).toBe('30')
  })
})

describe('a view', () => {
  it('is said to be possibly saved if the response is lost, and is listed at once', async () => {
    const refusals = ['net::ERR_FAILED POST /v1/views']
    const page = await open(`journeys/${workspace.journey_id}`, owner, refusals)
    await loseResponses(page, '**/v1/views')
    const dialog = await openViews(page)
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Accounts')
    await dialog.getByRole('button', { name: 'Save view' }).click()
    await dialog.getByText('The view may have been saved all the same.').waitFor()
    await dialog.getByRole('list', { name: 'Views' }).getByRole('link', { name: 'Accounts' }).waitFor()
  })

  it('that was removed meanwhile is said to be gone when it is given to the workspace', async () => {
    const { view_id } = await save({ visibility: 'own' })
    const refusals = ['404 PATCH /v1/views/{id}']
    const page = await open(`journeys/${workspace.journey_id}`, owner, refusals)
    const dialog = await openViews(page)
    await dialog.getByRole('button', { name: 'Actions for Accounts' }).click()
    await owner.client(workspace.workspace_id).removeView({ path: { view_id } })
    await page.getByRole('menuitem', { name: 'Share with the workspace' }).click()
    await page.getByText('The view “Accounts” no longer exists.').waitFor()
    await dialog.getByText('No views yet.').waitFor()
  })

  it('that is saved once its dialog is closed leaves the filters alone that were chosen meanwhile', async () => {
    const page = await open(`journeys/${workspace.journey_id}?last=30`)
    const dialog = await openViews(page)
    const release = await holdRequests(page, '**/v1/views', 'POST')
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Accounts')
    await dialog.getByRole('button', { name: 'Save view' }).click()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
    await page.getByText('90 days', { exact: true }).click()
    await expect.poll(() => query(page)).toEqual({ last: '90' })
    release()
    await page.getByText('View saved').waitFor()
    expect(query(page)).toEqual({ last: '90' })
  })

  it('is opened, renamed, given to the workspace and removed by keyboard', async () => {
    const { view_id } = await save({ name: 'Mine', visibility: 'own', query: { last_days: 14 } })
    const page = await open(`journeys/${workspace.journey_id}`)
    const button = page.getByRole('button', { name: 'Views', exact: true })
    await button.waitFor()
    await tabTo(page, button)
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Views of this journey' })
    const menu = dialog.getByRole('button', { name: 'Actions for Mine' })
    await menu.waitFor()
    await inspectState(page, 'views-listed')
    await tabTo(page, menu)
    await page.keyboard.press('Enter')
    const rename = page.getByRole('menuitem', { name: 'Rename…' })
    await rename.waitFor()
    // Some time after it is shown.
    await expect.poll(() => hasFocus(rename)).toBe(true)
    await page.keyboard.press('Enter')
    const name = dialog.getByRole('textbox', { name: 'Name' })
    await name.fill('Fortnight')
    await page.keyboard.press('Enter')
    await dialog.getByRole('link', { name: 'Fortnight' }).waitFor()

    await dialog.getByRole('button', { name: 'Actions for Fortnight' }).click()
    await page.getByRole('menuitem', { name: 'Share with the workspace' }).click()
    await expect
      .poll(async () => (await views())[0])
      .toMatchObject({ name: 'Fortnight', visibility: 'workspace' })
    await dialog.getByText('Funnel · last 14 days', { exact: true }).waitFor()
    await dialog.getByRole('link', { name: 'Fortnight' }).click()
    await expect.poll(() => query(page)).toEqual({ last: '14', view: view_id })
    await expect.poll(() => page.getByRole('radio', { name: '14 days' }).isChecked()).toBe(true)

    const again = await openViews(page)
    await again.getByRole('button', { name: 'Actions for Fortnight' }).click()
    await page.getByRole('menuitem', { name: 'Remove…' }).click()
    await again.getByText('for everybody in the workspace').waitFor()
    await inspectState(page, 'views-removal')
    await again.getByRole('button', { name: 'Remove' }).click()
    await again.getByText('No views yet.').waitFor()
    expect(await views()).toEqual([])
  })

  it('is replaced by the report that is shown', async () => {
    await save({ name: 'Accounts', query: { last_days: 7, customer_type: 'account' } })
    const page = await open(`journeys/${workspace.journey_id}?last=90`)
    const dialog = await openViews(page)
    await dialog.getByRole('button', { name: 'Actions for Accounts' }).click()
    await page.getByRole('menuitem', { name: 'Replace with this report…' }).click()
    await dialog.getByText('for everybody in the workspace').waitFor()
    await inspectState(page, 'views-replacement')
    expect((await views())[0]?.query.last_days).toBe(7)
    await dialog.getByRole('button', { name: 'Replace' }).click()
    await expect.poll(async () => (await views())[0]?.query.last_days).toBe(90)
    expect((await views())[0]?.query.customer_type).toBeUndefined()
  })

  it('is replaced by a report in a time zone that the server does not know', async () => {
    const { view_id } = await save({ name: 'Accounts', query: { last_days: 7 } })
    const refusals = ['409 PATCH /v1/views/{id}']
    const page = await open(`journeys/${workspace.journey_id}?last=90`, owner, refusals)
    await page.route(`**/v1/views/${view_id}`, async (route) => {
      const body = route.request().postDataJSON() as Schemas['ViewUpdate']
      if (body.query?.time_zone === undefined) return await route.continue()
      const query = { ...body.query, time_zone: 'Mars/Olympus_Mons' }
      await route.continue({ postData: JSON.stringify({ query }) })
    })
    const dialog = await openViews(page)
    await dialog.getByRole('button', { name: 'Actions for Accounts' }).click()
    await page.getByRole('menuitem', { name: 'Replace with this report…' }).click()
    await dialog.getByRole('button', { name: 'Replace' }).click()
    await expect.poll(async () => (await views())[0]?.query).toEqual({ last_days: 90 })
    await page.getByText('View: Accounts').waitFor()
  })

  it('is on the overview, own ones for nobody else', async () => {
    const viewer = await signUp(cairn, workspace, 'viewer')
    await save({ name: 'Shared' })
    await save({ name: 'Only mine', visibility: 'own' }, viewer)
    const page = await open('overview', viewer)
    const list = page.getByRole('region', { name: 'Views' })
    await list.getByRole('link', { name: 'Only mine' }).waitFor()
    const lines = async () =>
      (await list.getByRole('listitem').allInnerTexts()).map((text) => text.split(/\n+/))
    await expect.poll(lines).toEqual([
      ['Only mine', 'Onboarding · Funnel · all time · only you see it'],
      ['Shared', 'Onboarding · Funnel · all time'],
    ])
    await inspectState(page, 'views-on-overview')
    const other = await open('overview')
    await other.getByRole('region', { name: 'Views' }).getByRole('link', { name: 'Shared' }).waitFor()
    expect(await other.getByRole('link', { name: 'Only mine' }).count()).toBe(0)
  })

  it('in the order that reports have by default sets no filter', async () => {
    const { view_id } = await save({ query: { last_days: 90, step_order: 'sequential' } })
    const page = await open(`views/${view_id}`)
    await page.getByText('View: Accounts').waitFor()
    expect(query(page)).toEqual({ last: '90', view: view_id })
    expect(await page.getByText('changed since it was opened').count()).toBe(0)
  })

  it('that was removed says so at its address', async () => {
    const page = await open('views/viw_unknown', owner, ['404 GET /v1/views/viw_unknown'])
    await heading(page, 'View').waitFor()
    await page.getByRole('heading', { name: 'View not found' }).waitFor()
    await inspectState(page, 'view-not-found')
  })
})

describe('a link to a view', () => {
  it('says what its numbers lack, and goes on after an outage', async () => {
    await owner.client(workspace.workspace_id).updateWorkspace({ body: { view_links: 'on' } })
    const { view_id } = await save({ query: { last_days: 30, time_zone: 'Europe/Berlin' } })
    const path = { view_id }
    const { data } = await owner.client(workspace.workspace_id).createViewLink({ path, body: {} })
    const refusals = ['503 POST /v1/shared-views/read']
    const as_of = '2026-01-05T12:00:00Z'
    let isOut = false
    const prepare = async (page: Page) => {
      await page.route('**/v1/shared-views/read', async (route) => {
        if (isOut) return await route.fulfill({ status: 503, contentType: 'text/plain', body: 'away' })
        const response = await route.fetch()
        const view = (await response.json()) as Schemas['SharedView']
        const events_since = new Date(Date.now() - 10 * 86_400_000).toISOString()
        const recomputing = { done: 1, total: 3 }
        const report = { ...view.report, as_of, recomputing, events_since }
        await route.fulfill({ response, json: { ...view, report } })
      })
    }
    const address = `/shared#token=${data?.token}`
    const guest = await openAdministration({ cairn, path: address, refusals, prepare, turnsClock: true })
    const outdated = guest.getByRole('alert', { name: /^These numbers are outdated/ })
    await outdated.getByText('1 of 3 customers processed.').waitFor()
    await guest.getByRole('heading', { name: 'Funnel before the change' }).waitFor()
    await guest.getByText(/^Events before .* were removed/).waitFor()
    await guest.getByText('Includes all events received by 5 Jan 2026').waitFor()
    await guest.getByText('Days begin in the time zone Europe/Berlin. Times are in').waitFor()
    const failed = guest.getByRole('alert', { name: 'The response did not come from Cairn' })
    const passUntil = (shown: () => Promise<boolean>) =>
      expect
        .poll(async () => {
          await guest.clock.fastForward(31_000)
          return await shown()
        })
        .toBe(true)
    isOut = true
    await passUntil(() => failed.isVisible())
    isOut = false
    await passUntil(() => failed.isHidden())
    isOut = true
    await passUntil(() => failed.isVisible())
    isOut = false
    await failed.getByRole('button', { name: 'Try again' }).click()
    await failed.waitFor({ state: 'hidden' })
  })

  /** Saves what a page shows as a view of the workspace, and opens a link to it. */
  async function openedByGuest(page: Page, about: string): Promise<Page> {
    await owner.client(workspace.workspace_id).updateWorkspace({ body: { view_links: 'on' } })
    const dialog = await openViews(page)
    await dialog.getByRole('textbox', { name: 'Name' }).fill(about)
    await dialog.getByRole('combobox', { name: 'Chart' }).selectOption(about)
    await dialog.getByRole('combobox', { name: 'Visible to' }).selectOption('Everybody in the workspace')
    await dialog.getByRole('button', { name: 'Save view' }).click()
    await dialog.waitFor({ state: 'hidden' })
    await page.getByText(`View: ${about}`).waitFor()
    expect(await page.getByText('changed since it was opened').count()).toBe(0)
    const path = { view_id: (await views()).at(-1)?.view_id ?? '' }
    const { data } = await owner.client(workspace.workspace_id).createViewLink({ path, body: {} })
    const guest = await openAdministration({ cairn, path: `/shared#token=${data?.token}` })
    await heading(guest, about).waitFor()
    return guest
  }

  it('shows the periods and the step that the chart of the report has chosen', async () => {
    const { client, journey_id } = workspace
    const more = ['invited', 'paid', 'renewed', 'left'].map((event_id) => ({ event_id, name: event_id }))
    await client.updateJourney({ path: { journey_id }, body: { steps: [...steps, ...more] } })
    const page = await open(`journeys/${journey_id}`)
    const sentence = (page: Page) =>
      page
        .getByRole('region', { name: 'Conversion over time' })
        .getByText(/^Share of customers who reached “left”, by the week they entered/)
    await sentence(page).waitFor()
    const guest = await openedByGuest(page, 'Conversion over time')
    await sentence(guest).waitFor()
    expect(query(page).by).toBe('week')
    expect(await sentence(guest).innerText()).toBe(await sentence(page).innerText())
  })

  it('shows the times to the step that the report does', async () => {
    const { client, journey_id } = workspace
    await client.updateJourney({
      path: { journey_id },
      body: { steps: [...steps, { event_id: 'paid', name: 'Paid' }] },
    })
    const page = await open(`journeys/${journey_id}`)
    const none = 'No customer has moved from “Signed up” to “Chose a plan” yet.'
    await page.getByText(none).waitFor()
    const guest = await openedByGuest(page, 'Time between steps')
    await guest.getByText(none).waitFor()
  })

  it('shows the funnel and longer periods where there are too many for the chart', async () => {
    await owner.client(workspace.workspace_id).updateWorkspace({ body: { view_links: 'on' } })
    const entered_from = new Date(Date.now() - 150 * 86_400_000).toISOString()
    const query = { chart: 'trend', by: 'day', entered_from, breakdown: 'customer_type' } as const
    const [long, longer] = [
      await save({ query }),
      await save({ query: { ...query, entered_from: '1900-01-01T00:00:00Z' } }),
    ]
    const openLink = async (path: { view_id: string }) => {
      const { data } = await owner.client(workspace.workspace_id).createViewLink({ path, body: {} })
      return await openAdministration({ cairn, path: `/shared#token=${data?.token}` })
    }
    const guest = await openLink(long)
    await guest.getByRole('table', { name: 'Steps' }).waitFor()
    await guest.getByText(/by the week they entered/).waitFor()
    const other = await openLink(longer)
    await other.getByRole('table', { name: 'Steps' }).waitFor()
    await other.getByText('The period is too long for a chart').waitFor()
  })

  it('is not lost while it is being created, nor left before it is copied', async () => {
    const { page, dialog } = await openViewLinks()
    const release = await holdRequests(page, '**/links', 'POST')
    await dialog.getByRole('button', { name: 'Create link' }).click()
    await expect.poll(() => dialog.getByRole('button', { name: 'Back' }).isDisabled()).toBe(true)
    await page.keyboard.press('Escape')
    for (const title of ['Leave before the link is shown?', 'Leave without copying the link?']) {
      await goBackAndStay(page, title)
      release()
      const link = dialog.getByRole('textbox', { name: 'Link to the view' })
      expect(await link.inputValue()).toMatch(/#token=viewlink_/)
    }
  })

  it('is said to be possibly created if the response is lost, and is listed at once', async () => {
    const { page, dialog } = await openViewLinks(['net::ERR_FAILED POST /v1/views/{id}/links'])
    await loseResponses(page, '**/links')
    await dialog.getByRole('button', { name: 'Create link' }).click()
    await dialog.getByText('The link may have been created all the same.').waitFor()
    await dialog.getByRole('list', { name: 'Links' }).getByRole('listitem').waitFor()
  })

  it('of a view that was removed meanwhile is refused once, in words for people', async () => {
    const { page, dialog } = await openViewLinks([
      '404 POST /v1/views/{id}/links',
      '404 GET /v1/views/{id}/links',
    ])
    for (const { view_id } of await views()) {
      await owner.client(workspace.workspace_id).removeView({ path: { view_id } })
    }
    const readAgain = page.waitForResponse(
      (response) => response.request().method() === 'GET' && response.status() === 404,
    )
    await dialog.getByRole('button', { name: 'Create link' }).click()
    await readAgain
    await dialog.getByText('It may have been removed.').waitFor()
    expect(await dialog.getByRole('alert').allInnerTexts()).toEqual([
      expect.stringContaining('The view does not exist'),
    ])
    await inspectState(page, 'view-links-gone')
    await dialog.getByRole('button', { name: 'Back' }).click()
    await dialog.getByText('No views yet.').waitFor()
  })

  it('of somebody who has become a viewer meanwhile is refused once', async () => {
    const ada = await signUp(cairn, workspace, 'admin')
    const { page, dialog } = await openViewLinks(
      ['403 POST /v1/views/{id}/links', '403 GET /v1/views/{id}/links'],
      ada,
    )
    const path = { person_id: ada.person_id }
    await owner.client(workspace.workspace_id).updateMember({ path, body: { role: 'viewer' } })
    const readAgain = page.waitForResponse(
      (response) => response.request().method() === 'GET' && response.url().endsWith('/links'),
    )
    await dialog.getByRole('button', { name: 'Create link' }).click()
    await readAgain
    await page.getByRole('alert').getByText('You are now a viewer of this workspace.').waitFor()
    expect(await dialog.getByRole('alert').allInnerTexts()).toEqual([
      expect.stringContaining('Your role does not allow this'),
    ])
  })

  it('is allowed by an owner, created, opened without an account, and revoked', async () => {
    await save({
      name: 'Weekly conversion',
      query: { chart: 'trend', by: 'week', time_zone: 'Europe/Berlin' },
    })
    const page = await open(`journeys/${workspace.journey_id}`, owner, ['409 POST /v1/views/{id}/links'])
    const dialog = await openViews(page)
    const links = async () => {
      await dialog.getByRole('button', { name: 'Actions for Weekly conversion' }).click()
      await page.getByRole('menuitem', { name: 'Links for people without an account…' }).click()
      await dialog.getByText('There are no links.').waitFor()
    }
    await links()
    await dialog.getByRole('button', { name: 'Create link' }).click()
    await dialog.getByText('Links to views are turned off in this workspace.').waitFor()
    await inspectState(page, 'view-links-off')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
    await page
      .getByRole('button', { name: /^Workspace/ })
      .first()
      .click()
    await page.getByRole('menuitem', { name: 'Links to views…' }).click()
    const setting = page.getByRole('dialog', { name: 'Links to views' })
    await setting.getByRole('switch', { name: 'Allow links to views' }).press('Space')
    await page.getByText('Links turned on.').waitFor()
    await inspectState(page, 'view-links-setting')
    await page.keyboard.press('Escape')
    await setting.waitFor({ state: 'hidden' })

    await openViews(page)
    await links()
    await dialog.getByRole('combobox', { name: 'A new link works for' }).selectOption('7 days')
    await dialog.getByRole('button', { name: 'Create link' }).click()
    const link = await dialog.getByRole('textbox', { name: 'Link to the view' }).inputValue()
    expect(link).toMatch(/\/admin\/shared#token=viewlink_[0-9A-Za-z]{43}$/)
    await inspectState(page, 'view-link-created')
    // It cannot be shown again.
    await page.keyboard.press('Escape')
    expect(await dialog.getByRole('button').allInnerTexts()).toEqual(['', 'Done'])
    await dialog.getByRole('button', { name: 'Done' }).click()
    // What was shown once says until when it works, too.
    await dialog.getByRole('textbox', { name: 'Link to the view' }).waitFor({ state: 'hidden' })
    await dialog.getByText(/works until/).waitFor()
    expect(await page.content()).not.toContain(link.split('=')[1])
    await inspectState(page, 'view-links')
    const label = dialog.getByRole('button', { name: 'Revoke' }).getByText('Revoke', { exact: true })
    expect(await label.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0)

    const path = new URL(link).pathname.replace('/admin', '') + new URL(link).hash
    const guest = await openAdministration({ cairn, path })
    await heading(guest, 'Weekly conversion').waitFor()
    await guest.getByText('Onboarding · Conversion over time · all time').waitFor()
    await guest.getByText('Of 1 customer who entered').waitFor()
    await guest.getByRole('heading', { name: 'Conversion over time' }).waitFor()
    // A week begins on Monday where the view counts days, wherever its reader is.
    const [, monday = ''] =
      (await guest.getByText(/in the week of/).textContent())?.match(/week of (.*?),/) ?? []
    expect(new Date(monday).getDay()).toBe(1)
    // Numbers alone: nothing leads to a customer, or anywhere else.
    expect(await guest.getByRole('link').count()).toBe(0)
    expect(await guest.locator('meta[name=robots]').getAttribute('content')).toContain('noindex')
    await inspectScreen(guest, 'shared-view')
    await guest.reload()
    await heading(guest, 'Weekly conversion').waitFor()

    await dialog.getByRole('button', { name: 'Revoke' }).click()
    await dialog.getByText('There are no links.').waitFor()
    const late = await openAdministration({ cairn, path, refusals: ['404 POST /v1/shared-views/read'] })
    await heading(late, 'This link is not valid').waitFor()
    await inspectState(late, 'shared-view-not-valid')
    const answer = await fetch(`${cairn.url}/admin/shared`)
    expect(answer.headers.get('x-robots-tag')).toBe('noindex')
  })
})

describe('what is shown', () => {
  /** Chooses from the menu that saves, and returns the file. */
  async function saved(page: Page, place: Locator, item: string): Promise<{ name: string; bytes: Buffer }> {
    await place.getByRole('button', { name: 'Save', exact: true }).click()
    const download = page.waitForEvent('download')
    await page.getByRole('menuitem', { name: item }).click()
    const file = await download
    return { name: file.suggestedFilename(), bytes: await readFile(await file.path()) }
  }

  it('is saved as CSV with guarded cells, as SVG and as PNG, and copied as text', async () => {
    const { client, journey_id } = workspace
    const guarded = [{ event_id: 'signed_up', name: '=HYPERLINK("http://x","y")' }, ...steps.slice(1)]
    await client.updateJourney({ path: { journey_id }, body: { name: 'Sales: 2026/27', steps: guarded } })
    const page = await open(`journeys/${journey_id}`)
    const funnel = page.getByRole('region', { name: 'Funnel' })
    await funnel.getByText('HYPERLINK').first().waitFor()
    const csv = await saved(page, funnel, 'Table as CSV')
    expect(csv.name).toBe('Sales 2026 27.csv')
    expect(csv.bytes.toString().split('\r\n')).toEqual([
      '\ufeffStep,Event,Customers,% of entered,% of previous,Not continued,Dropped off,In progress,Median,90% within',
      'Entered,,1,100%,–,–,–,–,–,–',
      expect.stringMatching(/^"1\. =HYPERLINK\(""http:\/\/x"",""y""\)",signed_up,1,100%,100%,0,–,–,/),
      '2. Chose a plan,plan_chosen,0,0%,0%,1,–,–,–,–',
      '',
    ])

    const trend = page.getByRole('region', { name: 'Conversion over time' })
    await expect.poll(countDrawn(trend, trend.locator('svg.recharts-surface'))).toBeGreaterThan(0)
    const rows = (await saved(page, trend, 'Table as CSV')).bytes.toString().split('\r\n')
    expect(rows[0]).toBe('\ufeffWeek,Entered,"\'=HYPERLINK(""http://x"",""y"")",Chose a plan,Comparable')
    const svg = await saved(page, trend, 'Chart as SVG')
    expect(svg.name).toMatch(/^Share of customers who reached each step by the .*\.svg$|^Share of .*\.svg$/)
    const text = svg.bytes.toString()
    expect(text).toContain('=HYPERLINK')
    // A file has no style sheets: every color is in it.
    expect(text).not.toMatch(/var\(|class=|<script|<foreignObject/)
    const drawn = await page.evaluate(async (text) => {
      const image = new Image()
      image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`
      await image.decode()
      return image.naturalWidth
    }, text)
    expect(drawn).toBeGreaterThan(300)
    const png = await saved(page, trend, 'Chart as PNG')
    expect(png.bytes.subarray(0, 8).toString('latin1')).toBe('\x89PNG\r\n\x1a\n')
    expect(png.bytes.readUInt32BE(16)).toBeGreaterThan(600)

    // A chart's tooltip stays where the pointer was when the window gets narrower.
    await page.mouse.move(0, 0)
    await inspectState(page, 'journey-with-charts')
    await trend.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Copy as text' }).click()
    await page.getByText('Copied', { exact: true }).waitFor()
    const copied = (await page.evaluate(() => navigator.clipboard.readText())).split('\n')
    expect(copied[0]).toMatch(/^Share of customers who reached each step, by the week they entered\./)
    expect(copied[2]).toBe('Week\tEntered\t\'=HYPERLINK("http://x","y")\tChose a plan\tComparable')
    expect(copied[3]).toMatch(/^\d.*\t1\t1 \(100%\)\t0 \(0%\)\tnot yet$/)

    // A chart that is a table now has no picture.
    await trend.getByRole('button', { name: 'Show as table' }).click()
    await trend.getByRole('button', { name: 'Save', exact: true }).click()
    expect(await page.getByRole('menuitem', { name: 'Chart as PNG' }).isDisabled()).toBe(true)
  })
})
