// engines: sqlite (a browser sees only the API, which is tested on both engines)

import type { Page, Route } from 'playwright-core'
import { describe } from 'vitest'
import type { Cairn, Workspace } from '../fixtures/cairn.ts'
import { it } from '../fixtures/it.ts'
import type { SignedUp } from '../fixtures/people.ts'
import { openAdministration } from './administration.ts'
import { heading, screenPath } from './screens.ts'

type Of = { cairn: Cairn; workspace: Workspace; owner: SignedUp }

/** Opens the report of a journey without steps. @param onPart gets the request for the code of what replaces its numbers */
function openReport(
  { cairn, workspace, owner }: Of,
  onPart: (route: Route) => unknown,
  refusals: string[] = [],
): Promise<Page> {
  return openAdministration({
    cairn,
    path: screenPath(workspace, `journeys/${workspace.journey_id}`),
    signedIn: owner.headers,
    refusals,
    async prepare(page) {
      await page.route('**/assets/no-numbers-*.js', onPart)
      await page.addInitScript(() => {
        const setTimer = globalThis.setTimeout
        globalThis.hasTimers = true
        globalThis.setTimeout = ((...timer: Parameters<typeof setTimer>) =>
          globalThis.hasTimers ? setTimer(...timer) : 0) as typeof setTimer
      })
    },
  })
}

declare global {
  /** Whether the page can wait for a time. */
  var hasTimers: boolean
}

describe('a part of a page whose code is loaded when it is shown', () => {
  it('is shown once it is loaded, however short its placeholder was there', async ({
    cairn,
    workspace,
    owner,
  }) => {
    const requested = Promise.withResolvers<Route>()
    const page = await openReport({ cairn, workspace, owner }, requested.resolve)
    const part = await requested.promise
    await page.getByRole('status').filter({ hasText: 'Loading' }).waitFor({ state: 'attached' })
    await page.evaluate(() => {
      globalThis.hasTimers = false
    })
    await part.continue()
    await heading(page, 'Onboarding').waitFor()
    await page.getByRole('heading', { name: 'This journey has no steps yet' }).waitFor()
  })

  it('is not silently missing if it cannot be loaded', async ({ cairn, workspace, owner }) => {
    const refused = 'net::ERR_FAILED GET /admin/assets/{file}'
    const page = await openReport({ cairn, workspace, owner }, (route) => route.abort(), [refused])
    await heading(page, 'This page could not be loaded').waitFor()
    await page.getByRole('button', { name: 'Reload page' }).waitFor()
  })
})
