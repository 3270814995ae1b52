import { beforeAll, describe, expect, it } from 'vitest'
import { type Cairn, startCairn, type Workspace } from '../cairn.ts'
import { type SignedUp, signUp } from '../people.ts'
import { openAdministration } from './administration.ts'
import { heading, screenPath } from './screens.ts'

let cairn: Cairn
let workspace: Workspace
let owner: SignedUp

beforeAll(async () => {
  cairn = await startCairn()
  workspace = await cairn.workspace()
  owner = await signUp(cairn, workspace, 'owner')
  return cairn.stop
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
})
