// engines: sqlite (a browser sees only the API, which is tested on both engines)

import type { Request } from 'playwright-core'
import { describe, expect } from 'vitest'
import { type Change, choose, erasedCustomer, webhookScreen } from './changes.ts'
import { it } from './it.ts'
import { chooseFromWorkspaceMenu, heading } from './screens.ts'

/** Each with the method of its request. */
const changes: (Change & { method: string })[] = [
  {
    change: 'a new journey',
    screen: () => 'journeys',
    ask: async (page) => {
      await page.getByRole('button', { name: 'Create journey' }).click()
      await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).fill('Renewal')
    },
    button: 'Create journey',
    method: 'POST',
  },
  {
    change: 'a removed journey',
    screen: async ({ workspace: { client, journey_id } }) => {
      await client.archiveJourney({ path: { journey_id } })
      return `journeys/${journey_id}/settings`
    },
    ask: async (page) => {
      await page.getByRole('button', { name: 'Remove Onboarding' }).click()
      await page.getByRole('dialog').getByRole('textbox').fill('Onboarding')
    },
    button: 'Remove journey',
    method: 'POST',
  },
  { ...erasedCustomer, method: 'DELETE' },
  {
    change: 'a removed webhook',
    screen: webhookScreen,
    ask: choose('Remove…'),
    button: 'Remove webhook',
    method: 'DELETE',
  },
  {
    change: 'a removed definition',
    screen: async ({ workspace, owner }) => {
      const body = { event_id: 'signed_up', variables: { type: 'object' as const } }
      await owner.client(workspace.workspace_id).defineEvent({ body })
      return 'events/definitions'
    },
    ask: async (page) => {
      await page.getByRole('link', { name: 'signed_up', exact: true }).click()
      await choose('Remove definition…')(page)
    },
    button: 'Remove definition',
    method: 'DELETE',
  },
  {
    change: 'a new workspace',
    screen: () => 'journeys',
    ask: async (page) => {
      await chooseFromWorkspaceMenu(page, 'Create workspace')
      await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).fill('Europe')
    },
    button: 'Create workspace',
    method: 'POST',
  },
]

/** Whether a request makes the change, and does not only try it. */
function makes(request: Request, method: string): boolean {
  return request.method() === method && !request.url().includes('dry_run')
}

describe('The response to a change', () => {
  it.for(changes)(
    'does not lead away from a page that was opened meanwhile: $change',
    async ({ screen, ask, button, method }, { workspace, owner, open }) => {
      const of = { workspace, owner }
      const page = await open(await screen(of))
      await ask(page, of)
      const answer = Promise.withResolvers<void>()
      await page.route('**/v1/**', async (route) => {
        if (makes(route.request(), method)) await answer.promise
        await route.fallback()
      })
      const sent = page.waitForRequest((request) => makes(request, method))
      const received = page.waitForResponse((response) => makes(response.request(), method))
      const dialog = page.getByRole('dialog')
      await dialog.getByRole('button', { name: button, exact: true }).click()
      await sent
      await dialog.getByRole('button', { name: 'Cancel' }).click()
      await dialog.waitFor({ state: 'hidden' })
      await page.getByRole('link', { name: 'Service keys' }).click()
      await heading(page, 'Service keys').waitFor()
      const { pathname } = new URL(page.url())
      answer.resolve()
      await (await received).finished()
      await page.evaluate(async () => {
        for (let frame = 0; frame < 10; frame++)
          await new Promise((resolve) => requestAnimationFrame(resolve))
      })
      expect(new URL(page.url()).pathname).toBe(pathname)
    },
  )
})
