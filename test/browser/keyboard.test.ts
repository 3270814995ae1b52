// engines: sqlite (a browser sees only the API, which is tested on both engines)

import { describe, expect } from 'vitest'
import { hasFocus, hasFocusWithin, openAdministration, tabTo } from './administration.ts'
import { choose } from './changes.ts'
import { it } from './it.ts'
import { heading, screenPath, tableRows } from './screens.ts'

describe('The keyboard alone', () => {
  it('skips the navigation', async ({ open }) => {
    const page = await open('journeys')
    await tableRows(page, 'Journeys').first().waitFor()
    await page.keyboard.press('Tab')
    const skip = page.getByRole('link', { name: 'Skip to content' })
    expect(await hasFocus(skip)).toBe(true)
    expect((await skip.boundingBox())?.y).toBeGreaterThan(0)
    await page.keyboard.press('Enter')
    expect(await hasFocus(page.getByRole('main'))).toBe(true)
    await page.keyboard.press('Tab')
    expect(await hasFocus(page.getByRole('button', { name: 'Create journey' }))).toBe(true)
  })

  it('signs in: the first field has the focus, also after a redirect', async ({ cairn, workspace }) => {
    for (const path of ['/sign-in', '/', screenPath(workspace, 'keys')]) {
      const page = await openAdministration({ cairn, path, refusals: ['401 GET /v1/session'] })
      await heading(page, 'Sign in').waitFor()
      await expect.poll(() => hasFocus(page.getByRole('textbox', { name: 'Email' }))).toBe(true)
      await page.getByText('Forgot your password?').waitFor()
    }
  })

  it('navigates, and moves the focus to the heading', async ({ open }) => {
    const page = await open('journeys')
    await tableRows(page, 'Journeys').first().waitFor()
    await tabTo(page, page.getByRole('link', { name: 'Customers' }))
    await page.keyboard.press('Enter')
    await heading(page, 'Customers').waitFor()
    await expect.poll(() => hasFocus(heading(page, 'Customers'))).toBe(true)
    expect(await page.getByRole('link', { name: 'Customers' }).getAttribute('aria-current')).toBe('page')
    await page.keyboard.press('Tab')
    expect(await hasFocus(page.getByRole('button', { name: 'Export' }))).toBe(true)
    await page.keyboard.press('Tab')
    expect(await hasFocus(page.getByRole('searchbox', { name: 'Search customers' }))).toBe(true)
  })

  it('opens a menu, moves in it, chooses and closes it', async ({ open }) => {
    const page = await open('journeys')
    await tableRows(page, 'Journeys').first().waitFor()
    const button = page.getByRole('button', { name: 'Color scheme' })
    const html = page.locator('html')
    const menu = page.getByRole('menu')
    await tabTo(page, button)
    await page.keyboard.press('Enter')
    await menu.waitFor()
    await expect.poll(() => hasFocusWithin(menu)).toBe(true)
    await page.keyboard.press('Escape')
    await menu.waitFor({ state: 'hidden' })
    await expect.poll(() => hasFocus(button)).toBe(true)

    const dark = page.getByRole('menuitemradio', { name: 'Dark' })
    await expect
      .poll(async () => {
        // A key pressed while the menu is still closing opens nothing; a user would press it again.
        if (!(await menu.isVisible())) await page.keyboard.press('Enter')
        else if (!(await hasFocus(dark))) await page.keyboard.press('ArrowDown')
        return await hasFocus(dark)
      })
      .toBe(true)
    await page.keyboard.press('Enter')
    await menu.waitFor({ state: 'hidden' })
    expect(await html.getAttribute('data-mantine-color-scheme')).toBe('dark')
    await expect.poll(() => hasFocus(button)).toBe(true)
  })

  it('stays in a dialog, and returns the focus to what opened it', async ({ open }) => {
    const page = await open('members')
    await tableRows(page, 'Members').first().waitFor()
    const opener = page.getByRole('button', { name: 'Invite' })
    await tabTo(page, opener)
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Invite member' })
    await expect.poll(() => hasFocus(dialog.getByRole('textbox', { name: 'Email' }))).toBe(true)
    const within = () => hasFocusWithin(dialog)
    for (const key of ['Tab', 'Shift+Tab']) {
      for (let presses = 0; presses < 8; presses++) {
        await page.keyboard.press(key)
        expect(await within(), `${key} ${presses}`).toBe(true)
      }
    }
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
    await expect.poll(() => hasFocus(opener)).toBe(true)
  })

  it('tries a change that failed again: the focus stays on its button', async ({ open }) => {
    const page = await open('keys', { refusals: ['net::ERR_FAILED POST /v1/service-keys/{id}/revoke'] })
    await page.route('**/revoke', (route) => route.abort(), { times: 1 })
    await choose('Revoke')(page)
    const dialog = page.getByRole('dialog')
    const button = dialog.getByRole('button', { name: 'Revoke key' })
    await expect.poll(() => hasFocusWithin(dialog)).toBe(true)
    await tabTo(page, button)
    await page.keyboard.press('Enter')
    await dialog.getByRole('alert').waitFor()
    await expect.poll(() => hasFocus(button)).toBe(true)
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'hidden' })
  })

  it('saves a form: the focus stays on its button', async ({ open }) => {
    const page = await open('account')
    await page.getByRole('textbox', { name: 'Name' }).fill('Ada Lovelace')
    const button = page.getByRole('button', { name: 'Change name' })
    await tabTo(page, button)
    await page.keyboard.press('Enter')
    await page.getByText('Name changed.').waitFor()
    await expect.poll(() => hasFocus(button)).toBe(true)
  })

  it('opens the details of an event', async ({ client, event, open }) => {
    await client.createEvent({ body: event })
    const page = await open('events')
    await tableRows(page, 'Events').first().waitFor()
    const row = page.getByRole('button', { name: /^signed_up/ }).first()
    await tabTo(page, row)
    await page.keyboard.press('Enter')
    const details = page.getByRole('dialog')
    await details.getByText('Custom variables', { exact: true }).waitFor()
    await expect.poll(() => hasFocusWithin(details)).toBe(true)
    await page.keyboard.press('Escape')
    await details.waitFor({ state: 'hidden' })
    await expect.poll(() => hasFocus(row)).toBe(true)
  })
})
