// engines: sqlite (a browser sees only the API, which is tested on both engines)

import type { Locator, Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { it } from './it.ts'
import { tableRows } from './screens.ts'

declare global {
  /** The color scheme that a page had when its body began. */
  var schemeOfBody: string | null
  /** That of the text when a page was printed. */
  var colorOnPaper: string | undefined
}

function background(element: Locator): Promise<string> {
  return element.evaluate((element) => getComputedStyle(element).backgroundColor)
}

describe('The color scheme', () => {
  it('follows the system until one is chosen, and is remembered', async ({ open }) => {
    const page = await open('journeys')
    await tableRows(page, 'Journeys').first().waitFor()
    const scheme = () => page.locator('html').getAttribute('data-mantine-color-scheme')
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    const choose = async (name: string) => {
      await page.getByRole('button', { name: 'Color scheme' }).click()
      await page.getByRole('menuitemradio', { name }).click()
    }
    expect(await scheme()).toBe('light')
    const light = await ground()
    await page.emulateMedia({ colorScheme: 'dark' })
    await expect.poll(scheme).toBe('dark')
    expect(await ground()).not.toBe(light)
    await choose('Light')
    await expect.poll(scheme).toBe('light')
    await page.reload()
    await tableRows(page, 'Journeys').first().waitFor()
    expect([await scheme(), await ground()]).toEqual(['light', light])
    await choose('System')
    await expect.poll(scheme).toBe('dark')
  })

  it('of a system that forces its own colors shows bars, and what is chosen', async ({
    client,
    event,
    open,
  }) => {
    await client.createEvent({ body: event })
    const page = await open('overview')
    await page.emulateMedia({ forcedColors: 'active' })
    const ground = await background(page.locator('body'))
    const bar = page.getByRole('main').locator('.bar').first()
    await bar.waitFor({ state: 'attached' })
    expect(await background(bar)).not.toBe(ground)

    await page.getByRole('link', { name: 'Journeys', exact: true }).click()
    const status = tableRows(page, 'Journeys').getByText('Active').filter({ visible: true }).first()
    const dot = await status.evaluate(
      (status) => getComputedStyle(status.parentElement ?? status, '::before').backgroundColor,
    )
    expect(dot).not.toBe(ground)

    await page.getByRole('link', { name: 'Service keys' }).click()
    await tableRows(page, 'Service keys').first().waitFor()
    const links = page.getByRole('navigation', { name: 'Workspace' })
    const filter = page.getByRole('radiogroup', { name: 'Keys to show' })
    expect(await background(links.getByRole('link', { name: 'Service keys' }))).not.toBe(
      await background(links.getByRole('link', { name: 'Journeys' })),
    )
    expect(
      await background(filter.getByText('Active', { exact: true }).locator('xpath=ancestor::label')),
    ).not.toBe(await background(filter.getByText('All', { exact: true }).locator('xpath=ancestor::label')))
  })

  it('of a system that forces its own colors shows what is checked, switched and marked', async ({
    open,
  }) => {
    const page = await open('events/definitions/new')
    await page.emulateMedia({ forcedColors: 'active' })
    const ground = await background(page.locator('body'))
    const chosen = page.getByRole('radio', { name: 'Warn' })
    await chosen.waitFor()
    expect(await background(chosen)).not.toBe(await background(page.getByRole('radio', { name: 'Off' })))
    expect(await background(page.locator('.mantine-Switch-track').first())).not.toBe(ground)

    await page.getByRole('link', { name: 'Webhooks' }).click()
    await page.getByRole('link', { name: 'Create webhook' }).first().click()
    const box = page.getByRole('checkbox', { name: 'Events', exact: true })
    await box.uncheck()
    const unchecked = await background(box)
    await box.check()
    await expect.poll(() => background(box)).not.toBe(unchecked)
    await page.getByRole('combobox', { name: 'Journeys' }).click()
    await page.getByRole('option').first().waitFor()
    await page.keyboard.press('ArrowDown')
    await expect.poll(() => background(page.locator('[data-combobox-selected]'))).not.toBe(ground)
  })

  it('is light on paper', async ({ open }) => {
    const page = await open('journeys', { colorScheme: 'dark' })
    await tableRows(page, 'Journeys').first().waitFor()
    const text = () => page.evaluate(() => getComputedStyle(document.body).color)
    const onScreen = await text()
    await page.evaluate(() => {
      addEventListener('beforeprint', () => {
        globalThis.colorOnPaper = getComputedStyle(document.body).color
      })
    })
    await page.pdf()
    await expect.poll(text).toBe(onScreen)
    await page.emulateMedia({ colorScheme: 'light' })
    await expect.poll(text).not.toBe(onScreen)
    expect(await page.evaluate(() => globalThis.colorOnPaper)).toBe(await text())
  })

  it('is there before the first paint', async ({ open }) => {
    const prepare = (page: Page) =>
      page.addInitScript(() => {
        // Nothing is drawn before there is a body.
        const observer = new MutationObserver(() => {
          if (!document.body) return
          globalThis.schemeOfBody = document.documentElement.getAttribute('data-mantine-color-scheme')
          observer.disconnect()
        })
        observer.observe(document, { childList: true, subtree: true })
      })
    const page = await open('journeys', { colorScheme: 'dark', prepare })
    await tableRows(page, 'Journeys').first().waitFor()
    expect(await page.evaluate(() => globalThis.schemeOfBody)).toBe('dark')
  })
})
