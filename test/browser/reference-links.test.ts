// engines: sqlite (a browser sees only the API, which is tested on both engines)

import { beforeAll, describe, expect, it } from 'vitest'
import { problems } from '../../server/problems.ts'
import type { Cairn, Workspace } from '../fixtures/cairn.ts'
import { type SignedUp, signUp } from '../fixtures/people.ts'
import { sharedCairn } from '../fixtures/shared-cairn.ts'
import { openAdministration } from './administration.ts'
import { heading, screenPath } from './screens.ts'

let cairn: Cairn
let workspace: Workspace
let owner: SignedUp

beforeAll(async () => {
  cairn = await sharedCairn()
  workspace = await cairn.workspace()
  owner = await signUp(cairn, workspace, 'owner')
})

describe('The interface leads into the API reference', () => {
  it.each([
    ['journeys', 'Journeys', 'listJourneys'],
    ['events', 'Events', 'listEvents'],
    ['members', 'Members', 'listMembers'],
  ])('from the screen to its operation: %s', async (screen, title, operation) => {
    const path = screenPath(workspace, screen)
    const page = await openAdministration({ cairn, signedIn: owner.headers, path })
    await heading(page, title).waitFor()
    const [reference] = await Promise.all([
      page.waitForEvent('popup'),
      page.getByRole('link', { name: 'API reference' }).click(),
    ])
    expect(reference.url()).toBe(`${cairn.url}/docs/#operation/${operation}`)
    await reference.locator(`[id="operation/${operation}"]`).waitFor()
  })

  it('from a rejected request to its explanation', async () => {
    const path = screenPath(workspace, 'members')
    const refusals = ['409 DELETE /v1/members/{id}']
    const page = await openAdministration({ cairn, signedIn: owner.headers, path, refusals })
    await page.getByRole('button', { name: 'Actions for' }).click()
    await page.getByRole('menuitem', { name: 'Leave workspace…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Leave' }).click()
    const [explained] = await Promise.all([
      page.waitForEvent('popup'),
      dialog.getByRole('link', { name: 'About last_owner' }).click(),
    ])
    const target = explained.locator(':target')
    await target.getByText(problems.last_owner.title).waitFor()
    expect(explained.url()).toBe(`${cairn.url}/docs/problems#last_owner`)
    await expect.poll(async () => (await target.boundingBox())?.y).toBeLessThan(200)
    // The page behind it keeps what was entered.
    await dialog.getByRole('alert').waitFor()
  })
})
