// engines: sqlite (a browser sees only the API, which is tested on both engines)

import { describe, expect } from 'vitest'
import { hasFocus, inspectState } from './administration.ts'
import { it } from './it.ts'
import { chooseFromWorkspaceMenu, screenPath } from './screens.ts'

describe('The menu of a workspace', () => {
  it('can be reached to its end beside many other workspaces', async ({ workspace, owner, open }) => {
    const api = owner.client(workspace.workspace_id)
    for (let count = 0; count < 12; count++) {
      const name = `Workspace ${count} of ${owner.person_id}`
      expect(await api.createWorkspace({ body: { name } })).toHaveProperty('data')
    }
    const page = await open('journeys', { viewport: { width: 1280, height: 720 } })
    await chooseFromWorkspaceMenu(page, 'Create workspace…')
    await page.getByRole('dialog', { name: 'Create workspace' }).waitFor()
  })

  it.for(['Create workspace', 'Rename workspace'])(
    'opens a dialog that keeps a name after a click beside it: %s',
    async (title, { open }) => {
      const page = await open('journeys')
      await chooseFromWorkspaceMenu(page, `${title}…`)
      const dialog = page.getByRole('dialog', { name: title })
      const name = dialog.getByRole('textbox', { name: 'Name' })
      await name.fill('Acme')
      await page.mouse.click(5, 5)
      await name.press('End')
      await page.keyboard.type(' Ltd')
      expect(await name.inputValue()).toBe('Acme Ltd')
      await dialog.getByRole('button', { name: 'Cancel' }).click()
      await dialog.waitFor({ state: 'hidden' })
    },
  )

  it('shows the whole outline of the item that has the focus', async ({ open }) => {
    const page = await open('journeys')
    await page.getByRole('button', { name: /^Workspace / }).press('Enter')
    const item = page.getByRole('menu').getByRole('menuitem').first()
    await expect.poll(() => hasFocus(item)).toBe(true)
    const clipped = await item.evaluate((item) => {
      const { outlineOffset, outlineWidth } = getComputedStyle(item)
      const around = Number.parseFloat(outlineOffset) + Number.parseFloat(outlineWidth)
      const list = item.parentElement?.getBoundingClientRect() ?? new DOMRect()
      return item.getBoundingClientRect().left - around < list.left
    })
    expect(clipped).toBe(false)
  })

  it('says what happens to events without a definition, and an owner changes it there', async ({
    cairn,
    workspace,
    owner,
    open,
  }) => {
    const page = await open('journeys')
    await chooseFromWorkspaceMenu(page, 'Events without a definition…')
    const dialog = page.getByRole('dialog', { name: 'Events without a definition' })
    await expect.poll(() => dialog.getByRole('radio', { name: 'Allow' }).isChecked()).toBe(true)
    await inspectState(page, 'unknown-events')
    await dialog.getByRole('radio', { name: 'Reject' }).check()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText('setting saved').waitFor()
    await dialog.waitFor({ state: 'hidden' })
    const { data } = await owner.client(workspace.workspace_id).getWorkspace()
    expect(data?.unknown_events).toBe('reject')
    await page.goto(`${cairn.url}/admin${screenPath(workspace, 'audit-log')}`)
    await page.getByText('changed what happens to events without a definition').waitFor()
  })

  it('says what publishable keys can do, and an owner changes it there', async ({
    cairn,
    workspace,
    owner,
    open,
  }) => {
    const page = await open('journeys')
    await chooseFromWorkspaceMenu(page, 'Customer protection…')
    const dialog = page.getByRole('dialog', { name: 'Customer protection' })
    const protection = dialog.getByRole('switch', { name: 'Protect customers from publishable keys' })
    await dialog.getByText('Anyone can read a publishable key in your page').waitFor()
    await protection.waitFor()
    expect(await protection.isChecked()).toBe(true)
    await inspectState(page, 'workspace-protection')

    await protection.press('Space')
    await page.getByText('Protection turned off.').waitFor()
    expect(await protection.isChecked()).toBe(false)
    const { data } = await owner.client().getWorkspace()
    expect(data?.protect_customers).toBe(false)

    await page.goto(`${cairn.url}/admin${screenPath(workspace, 'audit-log')}`)
    await page.getByText('turned off customer protection').waitFor()
  })
})
