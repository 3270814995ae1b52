// engines: sqlite (a browser sees only the API, which is tested on both engines)

import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import type { Workspace } from '../fixtures/cairn.ts'
import type { SignedUp } from '../fixtures/people.ts'
import { it } from './it.ts'

type Of = { workspace: Workspace; owner: SignedUp }

type Change = {
  change: string
  /** The screen, once there is what is changed. */
  screen: (of: Of) => Promise<string> | string
  /** Opens the dialog of the change. */
  ask: (page: Page) => Promise<void>
  button: string
  /** The request of the change. */
  request: string
}

const changes: Change[] = [
  {
    change: 'to disable a webhook',
    screen: webhookScreen,
    ask: choose('Disable…'),
    button: 'Disable',
    request: 'PATCH /v1/webhooks/{id}',
  },
  {
    change: 'to rotate a secret',
    screen: webhookScreen,
    ask: choose('Rotate secret…'),
    button: 'Rotate secret',
    request: 'POST /v1/webhooks/{id}/rotate',
  },
  {
    change: 'to remove a webhook',
    screen: webhookScreen,
    ask: choose('Remove…'),
    button: 'Remove webhook',
    request: 'DELETE /v1/webhooks/{id}',
  },
  {
    change: 'to remove a definition',
    screen: async ({ workspace, owner }) => {
      const body = { event_id: 'signed_up', variables: { type: 'object' as const } }
      const { data } = await owner.client(workspace.workspace_id).defineEvent({ body })
      return `events/definitions/${data?.definition.definition_id}`
    },
    ask: choose('Remove definition…'),
    button: 'Remove definition',
    request: 'DELETE /v1/event-definitions/{id}',
  },
  {
    change: 'to keep events for fewer days',
    screen: ({ workspace: { journey_id } }) => `journeys/${journey_id}/settings`,
    ask: async (page) => {
      await page.getByRole('textbox', { name: 'Keep events for (days)' }).fill('5')
      await page.getByRole('button', { name: 'Save retention' }).click()
    },
    button: 'Keep for 5 days',
    request: 'PATCH /v1/journeys/{id}',
  },
  {
    change: 'to sign out everywhere',
    screen: () => 'account',
    ask: (page) => page.getByRole('button', { name: 'Sign out everywhere' }).click(),
    button: 'Sign out everywhere',
    request: 'DELETE /v1/sessions',
  },
]

async function webhookScreen({ workspace, owner }: Of): Promise<string> {
  const body = { url: 'http://127.0.0.1:9/hook', types: ['customer.erased' as const] }
  const { data } = await owner.client(workspace.workspace_id).createWebhook({ body })
  return `webhooks/${data?.webhook.webhook_id}`
}

/** Chooses an action from the first menu. */
function choose(action: string) {
  return async (page: Page) => {
    await page
      .getByRole('button', { name: /^Actions for/ })
      .first()
      .click()
    await page.getByRole('menuitem', { name: action }).click()
  }
}

describe('A question that is asked again', () => {
  it.for(changes)(
    'shows no error of an earlier attempt: $change',
    async ({ screen, ask, button, request }, { workspace, owner, open }) => {
      const [method = ''] = request.split(' ')
      const refusals = [`net::ERR_FAILED ${request}`]
      const page = await open(await screen({ workspace, owner }), { refusals })
      await page.route('**/v1/**', async (route) => {
        if (route.request().method() === method && !route.request().url().includes('dry_run'))
          await route.abort()
        else await route.fallback()
      })
      await ask(page)
      const dialog = page.getByRole('dialog')
      const error = dialog.getByRole('alert', { name: 'Cannot reach Cairn' })
      await dialog.getByRole('button', { name: button, exact: true }).click()
      await error.waitFor()
      await dialog.getByRole('button', { name: 'Cancel' }).click()
      await dialog.waitFor({ state: 'hidden' })
      await ask(page)
      await dialog.getByRole('button', { name: button, exact: true }).waitFor()
      expect(await error.count()).toBe(0)
    },
  )
})
