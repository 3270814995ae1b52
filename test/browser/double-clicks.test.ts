// engines: sqlite (a browser sees only the API, which is tested on both engines)

import { describe, expect } from 'vitest'
import { newEmail } from '../fixtures/people.ts'
import { clickRepeatedly } from './administration.ts'
import { type Change, choose, erasedCustomer, webhookScreen } from './changes.ts'
import { it } from './it.ts'
import { chooseFromWorkspaceMenu } from './screens.ts'

const changes: (Omit<Change, 'ask'> & Partial<Change>)[] = [
  { change: 'a rotated key', screen: () => 'keys', ask: choose('Rotate'), button: 'Rotate key' },
  { change: 'a revoked key', screen: () => 'keys', ask: choose('Revoke'), button: 'Revoke key' },
  {
    change: 'a rotated secret',
    screen: webhookScreen,
    ask: choose('Rotate secret…'),
    button: 'Rotate secret',
  },
  {
    change: 'an invitation',
    screen: () => 'members',
    ask: async (page) => {
      await page.getByRole('button', { name: 'Invite member' }).click()
      await page.getByRole('dialog').getByRole('textbox', { name: 'Email' }).fill(newEmail())
    },
    button: 'Create invitation link',
  },
  {
    change: 'a new workspace',
    screen: () => 'journeys',
    ask: async (page, { workspace }) => {
      await chooseFromWorkspaceMenu(page, 'Create workspace')
      await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).fill(workspace.journey_id)
    },
    button: 'Create workspace',
  },
  {
    change: 'the key for a first event',
    screen: async ({ workspace, owner }) => {
      const api = owner.client(workspace.workspace_id)
      for (const { key_id } of (await api.listServiceKeys()).data?.data ?? []) {
        await api.revokeServiceKey({ path: { key_id } })
      }
      return `first-event?journey=${workspace.journey_id}`
    },
    button: 'Create key',
  },
  erasedCustomer,
]

describe('A double click', () => {
  it.for(changes)(
    'makes one change: $change',
    async ({ screen, ask, button }, { workspace, owner, open }) => {
      const of = { workspace, owner }
      // With the transition in which a dialog closes.
      const page = await open(await screen(of), { reducedMotion: 'no-preference' })
      await ask?.(page, of)
      const sent: string[] = []
      page.on('request', (request) => {
        if (request.method() !== 'GET') sent.push(request.url())
      })
      await clickRepeatedly(page.getByRole('button', { name: button, exact: true }))
      expect(sent).toHaveLength(1)
    },
  )
})
