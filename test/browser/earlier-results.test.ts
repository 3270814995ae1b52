// engines: sqlite (a browser sees only the API, which is tested on both engines)

import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Cairn, Workspace } from '../fixtures/cairn.ts'
import { initialize } from '../fixtures/customer.ts'
import { ownedWorkspace } from '../fixtures/owned-workspace.ts'
import type { SignedUp } from '../fixtures/people.ts'
import { holdRequests, openAdministration } from './administration.ts'
import { screenPath } from './screens.ts'

let cairn: Cairn
let workspace: Workspace
let owner: SignedUp

beforeAll(async () => {
  ;({ cairn, workspace, owner } = await ownedWorkspace())
  await initialize(workspace, 'user-1')
  // More than a page.
  for (let n = 0; n < 51; n++) await workspace.client.createJourney({ body: { name: `Onboarding ${n}` } })
})

const lists = [
  { noun: 'journey', screen: 'journeys', url: '**/v1/journeys?*', table: 'Journeys', found: 'Onboarding' },
  { noun: 'key', screen: 'keys', url: '**/v1/service-keys?*', table: 'Service keys', found: 'First' },
  { noun: 'customer', screen: 'customers', url: '**/v1/customers?*', table: 'Customers', found: 'Ada' },
  { noun: 'member', screen: 'members', url: '**/v1/members?*', table: 'Members', found: 'Grace' },
]

function open(screen: string): Promise<Page> {
  return openAdministration({ cairn, signedIn: owner.headers, path: screenPath(workspace, screen) })
}

/** Searches for something else, whose response is held back until the returned function is called. */
async function searchSlowly(page: Page, { noun, url }: (typeof lists)[number]): Promise<() => void> {
  const release = await holdRequests(page, url)
  const sent = page.waitForRequest((request) => request.url().includes('search=nothing'))
  await page.getByRole('searchbox', { name: `Search ${noun}s` }).fill('nothing')
  await sent
  return release
}

describe.for(lists)('While the $noun list of another search loads', (list) => {
  const { noun, screen, table, found } = list
  const none = `No ${noun} found`

  it('the earlier one is shown as such, and cannot be continued', async () => {
    const page = await open(`${screen}?search=${found}`)
    const busy = page.locator('[aria-busy=true]')
    const rows = page.getByRole('table', { name: table })
    await rows.getByText(found).first().waitFor()
    await expect.poll(() => busy.count()).toBe(0)
    const answer = await searchSlowly(page, list)
    await busy.filter({ has: rows }).waitFor()
    expect(await page.getByRole('button', { name: 'Show more' }).count()).toBe(0)
    answer()
    await page.getByRole('heading', { name: none }).waitFor()
  })

  it('nothing says that it is empty because the earlier one was', async () => {
    const page = await open(`${screen}?search=unknown`)
    await page.getByRole('heading', { name: none }).waitFor()
    const answer = await searchSlowly(page, list)
    await page.getByRole('heading', { name: none }).waitFor({ state: 'hidden' })
    answer()
    await page.getByText('“nothing”').waitFor()
  })
})

it.for([
  { screen: 'first-event', name: 'Journey', nothing: 'No active journey with this name' },
  { screen: 'webhooks/new', name: 'Journeys', nothing: 'No journey with this name' },
])(
  'The field $name of $screen says that nothing was found only of what was searched for',
  async ({ screen, name, nothing }) => {
    const page = await open(screen)
    const field = page.getByRole('combobox', { name, exact: true })
    await field.fill('unknown')
    const none = page.getByText(nothing)
    await none.waitFor()
    const release = await holdRequests(page, '**/v1/journeys?*')
    await field.fill('Onboarding 7')
    await page.getByText('Searching…').filter({ visible: true }).waitFor()
    expect(await none.count()).toBe(0)
    release()
    await page.getByRole('option', { name: 'Onboarding 7' }).waitFor()
  },
)

it('The field for the journeys of a webhook says that there are more than it lists', async () => {
  const page = await open('webhooks/new')
  await page.getByRole('combobox', { name: 'Journeys', exact: true }).click()
  await page.getByRole('option', { name: 'More results: type part of the name' }).waitFor()
})
