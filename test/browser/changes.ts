import type { Page } from 'playwright-core'
import type { Workspace } from '../fixtures/cairn.ts'
import { initialize } from '../fixtures/customer.ts'
import type { SignedUp } from '../fixtures/people.ts'
import { newWebhook } from '../fixtures/webhook.ts'

export type Of = { workspace: Workspace; owner: SignedUp }

/** A change that a person makes in a dialog. */
export type Change = {
  change: string
  /** The screen, once there is what is changed. */
  screen: (of: Of) => Promise<string> | string
  /** Opens the dialog of the change, and fills it in. */
  ask: (page: Page, of: Of) => Promise<void>
  /** The button that makes the change. */
  button: string
}

/** The screen of a webhook that nothing is sent to. */
export async function webhookScreen({ workspace, owner }: Of): Promise<string> {
  const body = { url: 'http://127.0.0.1:9/hook', types: ['customer.erased' as const] }
  const { path } = await newWebhook(owner.client(workspace.workspace_id), body)
  return `webhooks/${path.webhook_id}`
}

/** Chooses an action from the first menu. */
export function choose(action: string) {
  return async (page: Page) => {
    await page
      .getByRole('button', { name: /^Actions for/ })
      .first()
      .click()
    await page.getByRole('menuitem', { name: action }).click()
  }
}

export const erasedCustomer: Change = {
  change: 'an erased customer',
  screen: async ({ workspace }) => `customers/${await initialize(workspace, 'user-1')}`,
  ask: async (page) => {
    await choose('Erase')(page)
    await page.getByRole('dialog').getByRole('textbox').fill('Ada Lovelace')
  },
  button: 'Erase customer',
}
