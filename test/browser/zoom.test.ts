// engines: sqlite (a browser sees only the API, which is tested on both engines)

import type { Page } from 'playwright-core'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Cairn, Workspace } from '../fixtures/cairn.ts'
import { initialize } from '../fixtures/customer.ts'
import { type SignedUp, signUp } from '../fixtures/people.ts'
import { sharedCairn } from '../fixtures/shared-cairn.ts'
import { openAdministration } from './administration.ts'
import { screenPath } from './screens.ts'

/** What a window of 1280 × 1024 pixels shows at 400 % (WCAG 2.2, 1.4.10). */
const viewport = { width: 320, height: 256 }

let cairn: Cairn
let workspace: Workspace
let owner: SignedUp

beforeEach(async () => {
  cairn = await sharedCairn()
  workspace = await cairn.workspace()
  owner = await signUp(cairn, workspace, 'owner')
})

function open(screen: string): Promise<Page> {
  const path = screenPath(workspace, screen)
  return openAdministration({ cairn, signedIn: owner.headers, path, viewport })
}

describe('At 400 %', () => {
  it.for(['Rename workspace…', 'Archive workspace…', 'Create workspace…'])(
    '%s can be reached',
    async (item) => {
      const page = await open('keys')
      await page.getByRole('button', { name: /^Workspace / }).click()
      await page.getByRole('menuitem', { name: item }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    },
  )

  it('a report by groups is no wider than the window', async () => {
    const { client, journey_id } = workspace
    const events = ['signed_up', 'paid'] as const
    await client.updateJourney({
      path: { journey_id },
      body: { steps: events.map((event_id) => ({ event_id, name: event_id })) },
    })
    const customer_id = await initialize(workspace, 'user-1')
    for (const event_id of events) {
      const custom_variables = { plan: 'team' }
      await client.createEvent({ body: { journey_id, customer_id, event_id, custom_variables } })
    }
    const page = await open(`journeys/${journey_id}?breakdown=variable:plan`)
    await page.getByRole('table', { name: 'Times by group' }).getByText('team').waitFor()
    await expect.poll(() => page.locator('[aria-busy=true]').count()).toBe(0)
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(viewport.width)
  })
})
