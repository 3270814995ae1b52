// engines: sqlite (a browser sees only the API, which is tested on both engines)

import type { Locator, Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { initialize } from '../fixtures/customer.ts'
import { newEmail, signIn } from '../fixtures/people.ts'
import { hasFocus, hasFocusWithin, openAdministration } from './administration.ts'
import { it } from './members.ts'
import { heading, tableRows } from './screens.ts'

/** Without a mouse. A menu or dialog that has just opened takes the focus, and would take it from its button. */
async function press(...buttons: Locator[]): Promise<void> {
  for (const button of buttons) {
    await button.waitFor()
    const layer = button.locator('xpath=ancestor::*[@role="menu" or @role="dialog"][1]')
    if ((await layer.count()) > 0) await expect.poll(() => hasFocusWithin(layer)).toBe(true)
    await button.press('Enter')
  }
}

const actions = (place: Page | Locator, name: string) =>
  place.getByRole('button', { name: `Actions for ${name}` })

const item = (place: Page | Locator, name: string) => place.getByRole('menuitem', { name })

const confirm = (page: Page, name: string) => page.getByRole('dialog').getByRole('button', { name })

const expectFocus = (element: Locator) => expect.poll(() => hasFocus(element)).toBe(true)

describe('The focus stays in its place when what has it is removed', () => {
  it('journeys: in the next row', async ({ workspace, owner, open }) => {
    const api = owner.client(workspace.workspace_id)
    for (const name of ['Second', 'Third']) await api.createJourney({ body: { name } })
    const page = await open('journeys')
    await press(actions(page, 'Second'), item(page, 'Archive'), confirm(page, 'Archive'))
    await expectFocus(tableRows(page, 'Journeys').filter({ hasText: 'Onboarding' }))
  })

  it('members: in the previous row, after the last one', async ({ member, open }) => {
    for (const name of ['Ada Lovelace', 'Alan Turing']) await member(name, 'viewer')
    const page = await open('members')
    await press(actions(page, 'Alan Turing'), item(page, 'Remove'), confirm(page, 'Remove member'))
    await expectFocus(tableRows(page, 'Members').filter({ hasText: 'Ada Lovelace' }))
  })

  it('invitations: at the heading, after the only one', async ({ workspace, owner, open }) => {
    const invite = (email: string) =>
      owner.client(workspace.workspace_id).createInvitation({ body: { email, role: 'viewer' } })
    for (const email of ['ada@example.com', 'alan@example.com']) await invite(email)
    const page = await open('members')
    const revoke = page.getByRole('button', { name: /^Revoke invitation of/ })
    await press(revoke.first(), confirm(page, 'Revoke'))
    await expectFocus(tableRows(page, 'Pending invitations'))
    await press(revoke, confirm(page, 'Revoke'))
    await expectFocus(heading(page, 'Members'))
  })

  it('sessions: in the next item', async ({ cairn, owner, open }) => {
    await signIn(cairn, owner)
    const page = await open('account')
    const sessions = page.getByRole('list', { name: 'Your sessions' }).getByRole('listitem')
    await press(page.getByRole('button', { name: /^End session in/ }).first())
    await expect.poll(() => sessions.count()).toBe(1)
    await expectFocus(sessions.last())
  })

  it('views and their links: in the next item, or at the dialog', async ({ workspace, owner, open }) => {
    const { journey_id } = workspace
    const api = owner.client(workspace.workspace_id)
    await api.updateJourney({ path: { journey_id }, body: { steps: [{ event_id: 'paid', name: 'Paid' }] } })
    await api.updateWorkspace({ body: { view_links: 'on' } })
    await initialize(workspace, 'user-1')
    for (const name of ['Accounts', 'Contacts']) {
      const body = { name, journey_id, query: {}, visibility: 'workspace' as const }
      const { data } = await api.createView({ body })
      await api.createViewLink({ path: { view_id: data?.view_id ?? '' }, body: {} })
    }
    const page = await open(`journeys/${journey_id}`)
    await press(page.getByRole('button', { name: 'Views', exact: true }))
    const dialog = page.getByRole('dialog')
    await press(actions(dialog, 'Accounts'), item(dialog, 'Links'))
    await expectFocus(dialog)
    await press(dialog.getByRole('button', { name: 'Revoke' }))
    await dialog.getByText('There are no links.').waitFor()
    await expectFocus(dialog)
    await press(dialog.getByRole('button', { name: 'Back' }))
    await press(actions(dialog, 'Accounts'), item(dialog, 'Remove'), confirm(page, 'Remove'))
    await dialog.getByText('Accounts').waitFor({ state: 'hidden' })
    await expectFocus(dialog)
  })

  it('customers: in the first row that was read when more are shown', async ({ workspace, open }) => {
    for (let count = 0; count < 120; count += 1) await initialize(workspace, `user-${count}`)
    const page = await open('customers')
    const rows = tableRows(page, 'Customers')
    await rows.last().waitFor()
    const shown = await rows.count()
    await press(page.getByRole('button', { name: 'Show more' }))
    await expectFocus(rows.nth(shown))
  })

  it.for(['/password', '/invitation', '/w/{workspace_id}/customers'])(
    'an alert: at the heading, after “Try again” on %s',
    async (path, { cairn, workspace, owner, member }) => {
      const { person_id } = await member('Ada Lovelace', 'viewer')
      const api = owner.client(workspace.workspace_id)
      const { data: password } = await api.createPasswordLink({ path: { person_id } })
      const { data: invitation } = await api.createInvitation({ body: { email: newEmail(), role: 'viewer' } })
      const token = { '/password': password?.token, '/invitation': invitation?.token }[path]
      const read = token
        ? `POST /v1${path}${path === '/password' ? '-links' : 's'}/look-up`
        : 'GET /v1/customers'
      let isReachable = false
      const page = await openAdministration({
        cairn,
        path: path.replace('{workspace_id}', workspace.workspace_id) + (token ? `#token=${token}` : ''),
        signedIn: owner.headers,
        refusals: [`net::ERR_FAILED ${read}`],
        prepare: (page) =>
          page.route(`**${read.split(' ')[1]}*`, (route) => (isReachable ? route.fallback() : route.abort())),
      })
      const button = page.getByRole('alert').getByRole('button', { name: 'Try again' })
      await button.waitFor()
      isReachable = true
      await press(button)
      await expectFocus(page.getByRole('heading', { level: 1 }))
    },
  )
})
