// engines: sqlite (a browser sees only the API, which is tested on both engines)

import { randomUUID } from 'node:crypto'
import type { Locator, Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { problems } from '../../server/problems.ts'
import { startCairnForTest } from '../fixtures/cairn.ts'
import { browser, signIn, signUp } from '../fixtures/people.ts'
import { openAdministration } from './administration.ts'
import { it as base } from './it.ts'
import { heading, screenPath } from './screens.ts'

const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1'

/** `it` of a screen, and `phone`, on which the owner is signed in too. */
const it = base.extend('phone', async ({ cairn, owner }) => {
  return browser(cairn, await signIn(cairn, owner, IPHONE))
})

function sessions(page: Page): Locator {
  return page.getByRole('list', { name: 'Your sessions' }).getByRole('listitem')
}

describe('The account', () => {
  it('lists a person’s own sessions, and ends each except the current one', async ({
    open,
    owner,
    phone,
  }) => {
    const page = await open('account')
    const onPhone = sessions(page).filter({ hasText: 'Safari on iPhone' })
    await onPhone.waitFor()
    expect(await sessions(page).count()).toBe(2)
    const own = sessions(page).filter({ hasText: 'Current' })
    expect(await own.count()).toBe(1)
    expect(await own.getByRole('button').count()).toBe(0)

    await onPhone.getByRole('button', { name: 'End session in Safari on iPhone' }).click()
    await onPhone.waitFor({ state: 'hidden' })
    expect((await phone.fetch('GET /session')).status).toBe(401)
    expect((await owner.fetch('GET /session')).status).toBe(200)
  })

  it('no longer lists the sessions that a new password has ended', async ({ open, owner, phone }) => {
    const page = await open('account')
    const onPhone = sessions(page).filter({ hasText: 'Safari on iPhone' })
    await onPhone.waitFor()
    await page.getByLabel('Current password').fill(owner.password)
    await page.getByLabel('New password').fill('a far longer password')
    await page.getByRole('button', { name: 'Change password' }).click()
    await page.getByText('Password changed').waitFor()
    await onPhone.waitFor({ state: 'hidden' })
    expect((await phone.fetch('GET /session')).status).toBe(401)
    await sessions(page).filter({ hasText: 'Current' }).waitFor()
  })

  it('says what keeps a session alive: requests, also those of a page that updates itself', async ({
    open,
  }) => {
    const page = await open('account')
    await page.getByText('A session ends 12 hours after its last request').waitFor()
    await page.getByText('Pages that update themselves send requests while they are visible.').waitFor()
  })

  it('says how long to wait after too many wrong passwords', async () => {
    const cairn = await startCairnForTest()
    const home = await cairn.workspace()
    const person = await signUp(cairn, home, 'viewer')
    const page = await openAdministration({
      cairn,
      path: screenPath(home, 'account'),
      signedIn: person.headers,
      refusals: ['409 POST /v1/session/password', '429 POST /v1/session/password'],
    })
    await page.getByLabel('New password').fill('a far longer password')
    const alert = page.getByRole('alert', { name: 'Too many attempts' })
    await expect
      .poll(async () => {
        await page.getByLabel('Current password').fill('a wrong guess')
        await page.getByRole('button', { name: 'Change password' }).click()
        await page.getByText('Wrong password').or(alert).waitFor()
        return await alert.isVisible()
      })
      .toBe(true)
    await alert.getByText(/^Try again in \d+ seconds?\.$/).waitFor()
  })

  it('says how long to wait for whatever reason the server names in Retry-After', async ({ open }) => {
    const expected = {
      rate_limited: 'Try again in 7 seconds.',
      too_many_attempts: 'Try again in 7 seconds.',
      overloaded: 'Nothing was stored. Try again in 7 seconds.',
      storage_unavailable: 'Nothing was acknowledged. Try again in 7 seconds.',
      shutting_down: 'Nothing was stored. Try again in 7 seconds.',
    }
    const waiting = Object.entries(problems).filter(([, { detail }]) => detail.includes('Retry-After'))
    expect(waiting.map(([code]) => code)).toEqual(Object.keys(expected))
    const refusals = ['429 POST /v1/session/name', '503 POST /v1/session/name']
    const page = await open('account', { refusals })
    await page.getByRole('textbox', { name: 'Name' }).fill('Grace Hopper')
    const shown: Record<string, string | null> = {}
    for (const [code, problem] of waiting) {
      const body = JSON.stringify({ ...problem, code, type: '/docs', request_id: 'req_1' })
      await page.route('**/v1/session/name', (route) =>
        route.fulfill({
          status: problem.status,
          contentType: 'application/problem+json',
          headers: { 'retry-after': '7' },
          body,
        }),
      )
      await page.getByRole('button', { name: 'Change name' }).click()
      const alert = page.getByRole('alert', { name: problem.title })
      await alert.getByRole('link', { name: `About ${code}` }).waitFor()
      shown[code] = await alert.getByRole('paragraph').first().textContent()
    }
    expect(shown).toEqual(expected)
  })

  it('accepts that a session has ended in the meantime', async ({ open, phone }) => {
    const page = await open('account', { refusals: ['404 DELETE /v1/sessions/{id}'] })
    const onPhone = sessions(page).filter({ hasText: 'Safari on iPhone' })
    await onPhone.waitFor()
    await phone.fetch('DELETE /session')
    await onPhone.getByRole('button').click()
    await onPhone.waitFor({ state: 'hidden' })
  })

  it('changes the person’s name, on the page and for others', async ({ open, owner }) => {
    const page = await open('account')
    const name = page.getByRole('textbox', { name: 'Name' })
    expect(await name.inputValue()).toBe(owner.name)
    // It is in its field only, not repeated next to it.
    expect(await page.getByRole('main').getByText(owner.name, { exact: true }).count()).toBe(0)
    await name.fill(' ')
    await page.getByRole('button', { name: 'Change name' }).click()
    await page.getByText('Use at least one visible character').waitFor()
    await name.fill('Grace Murray Hopper')
    await name.press('Enter')
    await page.getByRole('status').filter({ hasText: 'Name changed.' }).waitFor()
    await page.getByRole('button', { name: 'Grace Murray Hopper, account and sign out' }).waitFor()
    const { data } = await owner.client().listMembers()
    expect(data?.data).toMatchObject([{ name: 'Grace Murray Hopper' }])
  })
})

describe('The workspace switch', () => {
  const menu = (page: Page) => page.getByRole('button', { name: /^Workspace / })

  it('lets an owner create a workspace, and opens it', async ({ open, owner, workspace }) => {
    const page = await open('journeys', { refusals: ['409 POST /v1/workspaces'] })
    await menu(page).click()
    await page.getByRole('menuitem', { name: 'Create workspace…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Create workspace' })
    const taken = (await owner.client().getSession()).data?.workspaces[0]?.name ?? ''
    await dialog.getByRole('textbox', { name: 'Name' }).fill(taken)
    await dialog.getByRole('button', { name: 'Create workspace' }).click()
    await dialog.getByText('A workspace with this name already exists').waitFor()
    const name = randomUUID()
    await dialog.getByRole('textbox', { name: 'Name' }).fill(name)
    await dialog.getByRole('button', { name: 'Create workspace' }).click()
    await page.getByRole('button', { name: `Workspace ${name}` }).waitFor()
    await heading(page, 'Journeys').waitFor()
    expect(page.url()).not.toContain(workspace.workspace_id)
    await menu(page).click()
    await page.getByRole('menuitem', { name: taken }).click()
    await page.getByRole('button', { name: `Workspace ${taken}` }).waitFor()
  })

  it('lets an owner rename the workspace', async ({ open, owner }) => {
    const page = await open('journeys')
    await menu(page).click()
    await page.getByRole('menuitem', { name: 'Rename workspace…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Rename workspace' })
    const field = dialog.getByRole('textbox', { name: 'Name' })
    expect(await field.inputValue()).toBe((await owner.client().getSession()).data?.workspaces[0]?.name)
    const name = randomUUID()
    await field.fill(name)
    await field.press('Enter')
    await page.getByRole('button', { name: `Workspace ${name}` }).waitFor()
    expect((await owner.client().getSession()).data?.workspaces).toMatchObject([{ name }])
  })

  it('is only a name for a member of one workspace who is not an owner', async ({
    cairn,
    open,
    workspace,
  }) => {
    const viewer = await signUp(cairn, workspace, 'viewer')
    const page = await open('journeys', { signedIn: viewer.headers })
    await heading(page, 'Journeys').waitFor()
    expect(await menu(page).count()).toBe(0)
  })

  it('does not offer to create a workspace if only operators may', async () => {
    const at = await startCairnForTest({ accounts: 'operator' })
    const home = await at.workspace()
    const { headers } = await signUp(at, home, 'owner')
    const page = await openAdministration({
      cairn: at,
      signedIn: headers,
      path: screenPath(home, 'journeys'),
    })
    await menu(page).click()
    await page.getByRole('menuitem', { name: 'Rename workspace…' }).waitFor()
    expect(await page.getByRole('menuitem', { name: 'Create workspace…' }).count()).toBe(0)
  })
})
