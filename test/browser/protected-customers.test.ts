// engines: sqlite (the interface is the same on either engine)
import { expect, it } from 'vitest'
import { startCairnForTest } from '../fixtures/cairn.ts'
import { signUp } from '../fixtures/people.ts'
import { inspectState, openAdministration } from './administration.ts'
import { screenPath } from './screens.ts'

it('The menu of a workspace says what publishable keys can do, and an owner changes it there', async () => {
  const cairn = await startCairnForTest()
  const workspace = await cairn.workspace()
  const owner = await signUp(cairn, workspace, 'owner')
  const path = screenPath(workspace, 'journeys')
  const page = await openAdministration({ cairn, path, signedIn: owner.headers })
  await page.getByRole('button', { name: /^Workspace / }).click()
  await page.getByRole('menuitem', { name: 'Customer protection…' }).click()
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
