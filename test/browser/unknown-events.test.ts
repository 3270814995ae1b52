// engines: sqlite (a browser sees only the API, which is tested on both engines)

import { expect, it } from 'vitest'
import { signUp } from '../fixtures/people.ts'
import { sharedCairn } from '../fixtures/shared-cairn.ts'
import { inspectState, openAdministration } from './administration.ts'
import { screenPath } from './screens.ts'

it('The menu of a workspace says what happens to events without a definition, and an owner changes it there', async () => {
  const cairn = await sharedCairn()
  const workspace = await cairn.workspace()
  const owner = await signUp(cairn, workspace, 'owner')
  const path = screenPath(workspace, 'journeys')
  const page = await openAdministration({ cairn, path, signedIn: owner.headers })
  await page.getByRole('button', { name: /^Workspace / }).click()
  await page.getByRole('menuitem', { name: 'Events without a definition…' }).click()
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
