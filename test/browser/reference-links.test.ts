// engines: sqlite (a browser sees only the API, which is tested on both engines)

import { describe, expect } from 'vitest'
import { problems } from '../../server/problems.ts'
import { it } from './it.ts'
import { heading } from './screens.ts'

describe('The interface leads into the API reference', () => {
  it.for([
    ['journeys', 'Journeys', 'listJourneys'],
    ['events', 'Events', 'listEvents'],
    ['members', 'Members', 'listMembers'],
  ] as const)('from the screen to its operation: %s', async ([screen, title, operation], { cairn, open }) => {
    const page = await open(screen)
    await heading(page, title).waitFor()
    const [reference] = await Promise.all([
      page.waitForEvent('popup'),
      page.getByRole('link', { name: 'API reference' }).click(),
    ])
    expect(reference.url()).toBe(`${cairn.url}/docs/#operation/${operation}`)
    await reference.locator(`[id="operation/${operation}"]`).waitFor()
  })

  it('from a rejected request to its explanation', async ({ cairn, open }) => {
    const page = await open('members', { refusals: ['409 DELETE /v1/members/{id}'] })
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
