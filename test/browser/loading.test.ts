// engines: sqlite (a browser sees only the API, which is tested on both engines)

import { describe, expect } from 'vitest'
import { it } from './it.ts'
import { tableRows } from './screens.ts'

declare global {
  /** The sum of all layout shifts of a page. */
  var layoutShift: number
  /** Whether a page has announced that it is loading something. */
  var wasBusy: boolean
}

describe('Loading', () => {
  it.for([
    ['journeys', 'Journeys'],
    ['customers', 'Customers'],
    ['events', 'Events'],
  ] as const)(
    'is announced, and moves nothing on the page: %s',
    async ([screen, name], { client, event, open }) => {
      for (const event_id of ['signed_up', 'a'.repeat(128)]) {
        await client.createEvent({ body: { ...event, event_id } })
      }
      const page = await open(screen, {
        async prepare(page) {
          const session = await page.context().newCDPSession(page)
          await session.send('Network.enable')
          await session.send('Network.emulateNetworkConditions', {
            offline: false,
            latency: 150,
            downloadThroughput: -1,
            uploadThroughput: -1,
          })
          await page.addInitScript(() => {
            globalThis.layoutShift = 0
            new PerformanceObserver((list) => {
              for (const entry of list.getEntries()) {
                if ('value' in entry && typeof entry.value === 'number') globalThis.layoutShift += entry.value
              }
            }).observe({ type: 'layout-shift', buffered: true })
            globalThis.wasBusy = false
            new MutationObserver(() => {
              globalThis.wasBusy ||= document.querySelector('main [aria-busy=true]') !== null
            }).observe(document, { childList: true, subtree: true })
          })
        },
      })
      await tableRows(page, name).first().waitFor()
      await page.waitForLoadState('networkidle')
      expect(await page.evaluate(() => globalThis.wasBusy)).toBe(true)
      expect(await page.evaluate(() => globalThis.layoutShift)).toBeLessThan(0.01)
    },
  )
})
