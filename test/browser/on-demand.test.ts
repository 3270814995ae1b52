// engines: sqlite (a browser sees only the API, which is tested on both engines)

import type { Page, Route } from 'playwright-core'
import { describe } from 'vitest'
import { it } from './it.ts'
import { heading } from './screens.ts'

/** @param onPart gets the request for the code of what replaces the numbers of a journey without steps */
function watchPart(onPart: (route: Route) => unknown) {
  return async (page: Page) => {
    await page.route('**/assets/no-numbers-*.js', onPart)
    await page.addInitScript(() => {
      const setTimer = globalThis.setTimeout
      globalThis.hasTimers = true
      globalThis.setTimeout = ((...timer: Parameters<typeof setTimer>) =>
        globalThis.hasTimers ? setTimer(...timer) : 0) as typeof setTimer
    })
  }
}

declare global {
  /** Whether the page can wait for a time. */
  var hasTimers: boolean
}

describe('a part of a page whose code is loaded when it is shown', () => {
  it('is shown once it is loaded, however short its placeholder was there', async ({ workspace, open }) => {
    const requested = Promise.withResolvers<Route>()
    const prepare = watchPart(requested.resolve)
    const page = await open(`journeys/${workspace.journey_id}`, { prepare })
    const part = await requested.promise
    await page.getByRole('status').filter({ hasText: 'Loading' }).waitFor({ state: 'attached' })
    await page.evaluate(() => {
      globalThis.hasTimers = false
    })
    await part.continue()
    await heading(page, 'Onboarding').waitFor()
    await page.getByRole('heading', { name: 'This journey has no steps yet' }).waitFor()
  })

  it('is not silently missing if it cannot be loaded', async ({ workspace, open }) => {
    const refusals = ['net::ERR_FAILED GET /admin/assets/{file}']
    const prepare = watchPart((route) => route.abort())
    const page = await open(`journeys/${workspace.journey_id}`, { prepare, refusals })
    await heading(page, 'This page could not be loaded').waitFor()
    await page.getByRole('button', { name: 'Reload page' }).waitFor()
  })
})
