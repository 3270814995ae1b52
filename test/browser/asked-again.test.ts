// engines: sqlite (a browser sees only the API, which is tested on both engines)

import { describe, expect } from 'vitest'
import { type Change, choose, webhookScreen } from './changes.ts'
import { it } from './it.ts'

/** Each with its request. */
const changes: (Change & { request: string })[] = [
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

describe('A question that is asked again', () => {
  it.for(changes)(
    'shows no error of an earlier attempt: $change',
    async ({ screen, ask, button, request }, { workspace, owner, open }) => {
      const [method = ''] = request.split(' ')
      const refusals = [`net::ERR_FAILED ${request}`]
      const of = { workspace, owner }
      const page = await open(await screen(of), { refusals })
      await page.route('**/v1/**', async (route) => {
        if (route.request().method() === method && !route.request().url().includes('dry_run'))
          await route.abort()
        else await route.fallback()
      })
      await ask(page, of)
      const dialog = page.getByRole('dialog')
      const error = dialog.getByRole('alert', { name: 'Cannot reach Cairn' })
      await dialog.getByRole('button', { name: button, exact: true }).click()
      await error.waitFor()
      await dialog.getByRole('button', { name: 'Cancel' }).click()
      await dialog.waitFor({ state: 'hidden' })
      await ask(page, of)
      await dialog.getByRole('button', { name: button, exact: true }).waitFor()
      expect(await error.count()).toBe(0)
    },
  )
})
