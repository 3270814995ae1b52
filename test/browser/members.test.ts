// engines: sqlite (a browser sees only the API, which is tested on both engines)

import type { Locator, Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { abilityOf } from '../../admin/members/role.ts'
import { problems } from '../../server/problems.ts'
import type { Workspace } from '../fixtures/cairn.ts'
import { operations, type Role } from '../fixtures/contract/document.ts'
import { addMember, newEmail, newMember, type Person, type SignedUp } from '../fixtures/people.ts'
import { type Change, choose, erasedCustomer, webhookScreen } from './changes.ts'
import { chooseAction, it, memberRow } from './members.ts'
import { chooseFromWorkspaceMenu, comeBackTo, field, heading, screenPath, tableRows } from './screens.ts'

function roleField(page: Page, { name }: Pick<Person, 'name'>): Locator {
  return page.getByRole('combobox', { name: `Role of ${name}` })
}

async function chooseRole(page: Page, person: Pick<Person, 'name'>, role: string) {
  await roleField(page, person).click()
  await page.getByRole('option', { name: role }).click()
}

describe('Two tabs in two workspaces', () => {
  it('do not mix', async ({ cairn, open, owner, workspace }) => {
    const other = await cairn.workspace()
    await addMember(cairn, other, owner, 'owner')
    const one = await open('journeys')
    const two = await one.context().newPage()
    await two.goto(`${cairn.url}/admin${screenPath(other, 'journeys')}`)
    const tabs = [
      { page: one, name: 'Renewal', of: workspace },
      { page: two, name: 'Evaluation', of: other },
    ]
    for (const { page } of tabs) await page.getByRole('table', { name: 'Journeys' }).waitFor()

    for (const { page, name } of tabs) {
      await page.getByRole('button', { name: 'Create journey' }).click()
      await field(page.getByRole('dialog'), 'Name').fill(name)
    }
    for (const { page, name } of tabs) {
      await field(page.getByRole('dialog'), 'Name').press('Enter')
      await heading(page, name).waitFor()
    }

    for (const { page, name, of } of tabs) {
      await comeBackTo(page)
      await page.getByRole('link', { name: 'All journeys' }).click()
      const names = page.getByRole('table', { name: 'Journeys' }).getByRole('row').getByRole('link')
      await expect
        .poll(async () => (await names.allInnerTexts()).toSorted())
        .toEqual([name, 'Onboarding'].toSorted())
      expect(new URL(page.url()).pathname).toBe(`/admin${screenPath(of, 'journeys')}`)
      const { data } = await of.client.listJourneys()
      expect(data?.data.map(({ name }) => name)).toEqual([name, 'Onboarding'])
    }
  })
})

/** Enters a name of a journey, and saves it once its page, returned to after a change, has read the session again. */
async function saveAfter(page: Page, change: () => Promise<unknown>) {
  await field(page, 'Name').fill('Onboarding, by Ada')
  await change()
  const read = page.waitForResponse('**/v1/session')
  await comeBackTo(page)
  await (await read).finished()
  await page.getByRole('button', { name: 'Save changes' }).click()
}

describe('A role', () => {
  it('is described as the contract says what it allows', () => {
    /** The changes that these roles can make, and no other. */
    const changesOf = (...roles: Role[]) =>
      operations
        .filter((operation) => operation.method !== 'GET' && operation.roles?.join() === roles.join())
        .map(({ operationId }) => operationId)
        .sort()
    expect(abilityOf).toEqual({
      owner: 'can change everything, including who is an owner',
      admin: 'can change everything except owners and the workspace itself, and cannot remove journeys',
      viewer: 'can view journeys, customers and events, and save views, but not change anything else',
    })
    expect(changesOf('owner')).toEqual([
      'archiveWorkspace',
      'createWorkspace',
      'removeJourney',
      'removeWorkspace',
      'restoreWorkspace',
      'updateWorkspace',
    ])
    expect(changesOf('owner', 'admin', 'viewer')).toEqual(['createView', 'removeView', 'updateView'])
    const reads = ['listJourneys', 'getJourney', 'listCustomers', 'getCustomer', 'listEvents']
    const forViewers = operations.filter(({ roles }) => roles?.includes('viewer'))
    expect(forViewers.map(({ operationId }) => operationId)).toEqual(expect.arrayContaining(reads))
  })

  it('that grows takes effect at the next request of the member', async ({ member, open }) => {
    const ada = await member('Ada Lovelace', 'viewer')
    const hers = await open('journeys', { signedIn: ada.headers })
    await hers.getByRole('table', { name: 'Journeys' }).waitFor()
    expect(await hers.getByRole('button', { name: 'Create journey' }).count()).toBe(0)

    const page = await open('members')
    await chooseRole(page, ada, 'Admin')
    await expect.poll(() => roleField(page, ada).inputValue()).toBe('Admin')
    await expect.poll(() => ada.fetch('GET /audit-log').then(({ status }) => status)).toBe(200)

    await comeBackTo(hers)
    await hers.getByRole('button', { name: 'Create journey' }).click()
    await field(hers.getByRole('dialog'), 'Name').fill('Renewal')
    await field(hers.getByRole('dialog'), 'Name').press('Enter')
    await heading(hers, 'Renewal').waitFor()
  })

  it('that shrinks refuses what is saved from an open page, and says what to do', async ({
    member,
    open,
    workspace,
  }) => {
    const ada = await member('Ada Lovelace', 'admin')
    const hers = await open(`journeys/${workspace.journey_id}/settings`, {
      signedIn: ada.headers,
      refusals: ['403 PATCH /v1/journeys/{id}'],
    })
    await field(hers, 'Name').fill('Onboarding, by Ada')

    const page = await open('members')
    await chooseRole(page, ada, 'Viewer')
    await expect.poll(() => ada.fetch('GET /audit-log').then(({ status }) => status)).toBe(403)
    await hers.getByRole('button', { name: 'Save changes' }).click()

    const alert = hers.getByRole('alert', { name: 'Your role does not allow this' })
    await alert
      .getByText('Ask an owner or an admin of the workspace to do it, or to change your role.')
      .waitFor()
    expect(await field(hers, 'Name').inputValue()).toBe('Onboarding, by Ada')
    const { data } = await workspace.client.getJourney({ path: { journey_id: workspace.journey_id } })
    expect(data?.name).toBe('Onboarding')
  })

  it('that shrinks takes the buttons away with the first refusal, which stays in its dialog', async ({
    member,
    open,
    owner,
  }) => {
    const ada = await member('Ada Lovelace', 'admin')
    const hers = await open('members', { signedIn: ada.headers, refusals: ['403 POST /v1/invitations'] })
    const invite = hers.getByRole('button', { name: 'Invite member' })
    await invite.click()
    const { person_id } = ada
    await owner.client().updateMember({ path: { person_id }, body: { role: 'viewer' } })

    const dialog = hers.getByRole('dialog', { name: 'Invite member' })
    await field(dialog, 'Email').fill(newEmail())
    await dialog.getByRole('button', { name: 'Create invitation link' }).click()
    await dialog.getByRole('alert', { name: 'Your role does not allow this' }).waitFor()
    await hers
      .getByRole('button', { name: 'Invite member', includeHidden: true })
      .waitFor({ state: 'detached' })
    await dialog.getByRole('alert', { name: 'Your role does not allow this' }).waitFor()
  })

  it.for<Change & { request: string }>([
    { ...erasedCustomer, request: 'DELETE /v1/customers/{id}' },
    {
      change: 'an archived journey',
      screen: ({ workspace: { journey_id } }) => `journeys/${journey_id}/settings`,
      ask: (page) => page.getByRole('button', { name: 'Archive Onboarding' }).click(),
      button: 'Archive journey',
      request: 'POST /v1/journeys/{id}/archive',
    },
    {
      change: 'a removed webhook',
      screen: webhookScreen,
      ask: choose('Remove…'),
      button: 'Remove webhook',
      request: 'DELETE /v1/webhooks/{id}',
    },
    {
      change: 'a renamed workspace',
      screen: () => 'journeys',
      ask: async (page) => {
        await chooseFromWorkspaceMenu(page, 'Rename workspace…')
        await page.getByRole('dialog').getByRole('textbox').fill('Example Ltd')
      },
      button: 'Rename',
      request: 'PATCH /v1/workspace',
    },
  ])(
    'that shrinks says that $change was refused where its dialog goes',
    async (change, { member, open, owner, workspace }) => {
      const ada = await member('Ada Lovelace', 'owner')
      const hers = await open(await change.screen({ workspace, owner }), {
        signedIn: ada.headers,
        refusals: [`403 ${change.request}`],
      })
      await change.ask(hers, { workspace, owner })
      const { person_id } = ada
      await owner.client().updateMember({ path: { person_id }, body: { role: 'viewer' } })

      await hers.getByRole('dialog').getByRole('button', { name: change.button, exact: true }).click()
      await hers
        .getByRole('alert')
        .getByText('You are now a viewer of this workspace. What your role does not allow was not changed.')
        .waitFor()
      await hers.getByRole('dialog').waitFor({ state: 'detached' })
    },
  )

  it('that shrinks takes no unsaved changes away when its member returns to the tab', async ({
    member,
    open,
    owner,
    workspace,
  }) => {
    const ada = await member('Ada Lovelace', 'admin')
    const hers = await open(`journeys/${workspace.journey_id}/settings`, {
      signedIn: ada.headers,
      refusals: ['403 PATCH /v1/journeys/{id}'],
    })
    const { person_id } = ada
    await saveAfter(hers, () =>
      owner.client().updateMember({ path: { person_id }, body: { role: 'viewer' } }),
    )
    await hers.getByRole('alert', { name: 'Your role does not allow this' }).waitFor()
    expect(await field(hers, 'Name').inputValue()).toBe('Onboarding, by Ada')

    await hers.getByRole('link', { name: 'Journeys', exact: true }).click()
    await hers.getByRole('button', { name: 'Leave without saving' }).click()
    await hers.getByRole('table', { name: 'Journeys' }).waitFor()
    await hers.getByRole('button', { name: 'Create journey' }).waitFor({ state: 'detached' })
  })

  it('that is lost takes no unsaved changes away when its person returns to the tab', async ({
    member,
    open,
    owner,
    workspace,
  }) => {
    const ada = await member('Ada Lovelace', 'admin')
    const hers = await open(`journeys/${workspace.journey_id}/settings`, {
      signedIn: ada.headers,
      refusals: ['403 GET /v1/journeys/{id}'],
    })
    const { person_id } = ada
    await saveAfter(hers, () => owner.client().removeMember({ path: { person_id } }))
    const alert = hers.getByRole('alert').filter({ hasText: problems.not_a_member.title }).first()
    await alert.getByText('Ask an owner or an admin of it for an invitation.').waitFor()
    expect(await field(hers, 'Name').inputValue()).toBe('Onboarding, by Ada')

    await hers.getByRole('link', { name: 'Journeys', exact: true }).click()
    await hers.getByRole('button', { name: 'Leave without saving' }).click()
    await heading(hers, 'Workspace not found').waitFor()
  })

  it('that shrinks explains who can read the audit log where it was just shown', async ({
    member,
    open,
    owner,
  }) => {
    const ada = await member('Ada Lovelace', 'admin')
    const hers = await open('audit-log', { signedIn: ada.headers, refusals: ['403 GET /v1/audit-log'] })
    await hers.getByRole('list', { name: 'Entries' }).waitFor()
    const { person_id } = ada
    await owner.client().updateMember({ path: { person_id }, body: { role: 'viewer' } })
    await hers.getByRole('combobox', { name: 'Area' }).click()
    await hers.getByRole('option', { name: 'Journeys' }).click()
    await hers.getByRole('heading', { name: 'For owners and admins' }).waitFor()
  })

  it('of one’s own is given up only after a confirmation', async ({ member, open }) => {
    const ada = await member('Ada Lovelace', 'owner')
    const page = await open('members', { signedIn: ada.headers })
    await chooseRole(page, ada, 'Viewer')
    const dialog = page.getByRole('dialog', { name: 'Change your role to viewer?' })
    await dialog.getByText('You cannot undo this yourself').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'hidden' })
    expect(await roleField(page, ada).inputValue()).toBe('Owner')

    await chooseRole(page, ada, 'Viewer')
    await dialog.getByRole('button', { name: 'Change role' }).click()
    await memberRow(page, ada).getByText('Viewer', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Invite' }).waitFor({ state: 'hidden' })
  })
})

describe('Members', () => {
  it('can be searched by a word of the name or the beginning of the email', async ({
    cairn,
    member,
    open,
    owner,
    workspace,
  }) => {
    const ada = await member('Ada Lovelace', 'viewer')
    const page = await open('members')
    await memberRow(page, ada).waitFor()
    const searchField = page.getByRole('searchbox', { name: 'Search members' })
    expect(await searchField.count()).toBe(0)
    for (let count = 2; count <= 10; count++) await newMember(cairn, workspace, 'viewer')
    await page.reload()

    const rows = tableRows(page, 'Members')
    const emails = async () => (await rows.allInnerTexts()).map((text) => /\S+@example.com/.exec(text)?.[0])
    await searchField.fill('love')
    await expect.poll(emails).toEqual([ada.email])
    expect(new URL(page.url()).search).toBe('?search=love')
    await searchField.fill(` ${owner.email} `)
    await expect.poll(emails).toEqual([owner.email])
    await page.reload()
    await expect.poll(emails).toEqual([owner.email])
    await searchField.fill('nobody')
    await page.getByRole('heading', { name: 'No member found' }).waitFor()
    await searchField.fill('')
    await expect.poll(emails).toHaveLength(11)
  })
})

describe('A member', () => {
  it('who is removed is informed at the next request, and whom to ask', async ({ member, open }) => {
    const ada = await member('Ada Lovelace', 'admin')
    const hers = await open('journeys', { signedIn: ada.headers, refusals: ['403 GET /v1/customers'] })
    await hers.getByRole('table', { name: 'Journeys' }).waitFor()
    const page = await open('members')
    await chooseAction(page, ada, 'Remove from workspace…')
    const dialog = page.getByRole('dialog', { name: 'Remove Ada Lovelace?' })
    await dialog.getByText('loses access').waitFor()
    await dialog.getByText('Secret keys and view links that they know keep working').waitFor()
    await dialog.getByRole('button', { name: 'Remove' }).click()
    await memberRow(page, ada).waitFor({ state: 'hidden' })

    await hers.getByRole('link', { name: 'Customers' }).click()
    await heading(hers, 'Workspace not found').waitFor()
    await hers.getByText(`or ${ada.email} is not a member of it`).waitFor()
  })

  it.for<[attempt: string, refusal: string, send: (page: Page, ada: SignedUp) => Promise<void>]>([
    [
      'to remove them',
      '404 DELETE /v1/members/{id}',
      async (page, ada) => {
        await chooseAction(page, ada, 'Remove from workspace…')
        await page.getByRole('dialog').getByRole('button', { name: 'Remove member' }).click()
      },
    ],
    ['to change their role', '404 PATCH /v1/members/{id}', (page, ada) => chooseRole(page, ada, 'Admin')],
    [
      'to reset their password',
      '404 POST /v1/members/{id}/password-link',
      async (page, ada) => {
        await chooseAction(page, ada, 'Create password reset link…')
        await page.getByRole('dialog').getByRole('button', { name: 'Create link' }).click()
      },
    ],
  ])(
    'whom somebody else has removed is no longer listed after an attempt %s, which says so',
    async ([, refusal, attempt], { member, open, owner }) => {
      const ada = await member('Ada Lovelace', 'viewer')
      const page = await open('members', { refusals: [refusal] })
      await memberRow(page, ada).waitFor()
      await owner.client().removeMember({ path: { person_id: ada.person_id } })
      await attempt(page, ada)
      await page.getByText('Ada Lovelace is no longer a member.').waitFor()
      await memberRow(page, ada).waitFor({ state: 'hidden' })
      await page.getByRole('dialog').waitFor({ state: 'hidden' })
    },
  )

  it('leaves by their own choice', async ({ member, open }) => {
    const ada = await member('Ada Lovelace', 'admin')
    const page = await open('members', { signedIn: ada.headers })
    await chooseAction(page, ada, 'Leave workspace…')
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Your own views are deleted; the rest of what you created is kept.').waitFor()
    await dialog.getByRole('button', { name: 'Leave' }).click()
    await heading(page, 'You are not a member of any workspace').waitFor()
  })

  it('who is the last owner can be neither demoted nor removed', async ({ open, owner }) => {
    const page = await open('members', {
      refusals: ['409 PATCH /v1/members/{id}', '409 DELETE /v1/members/{id}'],
    })
    const attempts = [
      { begin: () => chooseRole(page, owner, 'Viewer'), confirm: 'Change role' },
      {
        begin: () => chooseAction(page, owner, 'Leave workspace…'),
        confirm: 'Leave',
      },
    ]
    for (const { begin, confirm } of attempts) {
      await begin()
      const dialog = page.getByRole('dialog')
      await dialog.getByRole('button', { name: confirm }).click()
      const alert = dialog.getByRole('alert', { name: 'The workspace would be left without an owner' })
      await alert.getByText('Make another member an owner first.').waitFor()
      await dialog.getByRole('button', { name: 'Cancel' }).click()
      await dialog.waitFor({ state: 'hidden' })
    }
    expect(await roleField(page, owner).inputValue()).toBe('Owner')
  })
})

describe('An admin', () => {
  it('cannot manage or add owners', async ({ member, open, owner }) => {
    const ada = await member('Ada Lovelace', 'admin')
    const alan = await member('Alan Turing', 'viewer')
    const page = await open('members', { signedIn: ada.headers })

    await memberRow(page, owner).getByText('Owner', { exact: true }).waitFor()
    expect(await memberRow(page, owner).getByRole('combobox').count()).toBe(0)
    expect(await memberRow(page, owner).getByRole('button').count()).toBe(0)
    await roleField(page, alan).click()
    expect(await page.getByRole('option').allInnerTexts()).toEqual(['Admin', 'Viewer'])
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Invite' }).click()
    await page.getByRole('dialog').getByRole('combobox', { name: 'Role' }).click()
    await page.getByRole('option', { name: 'Viewer' }).waitFor()
    expect(await page.getByRole('option').allInnerTexts()).toEqual(['Admin', 'Viewer'])
  })

  it('is refused if a member has become an owner in the meantime', async ({ member, open, owner }) => {
    const ada = await member('Ada Lovelace', 'admin')
    const alan = await member('Alan Turing', 'viewer')
    const page = await open('members', { signedIn: ada.headers, refusals: ['403 DELETE /v1/members/{id}'] })
    await roleField(page, alan).waitFor()
    const { person_id } = alan
    await owner.client().updateMember({ path: { person_id }, body: { role: 'owner' } })

    await chooseAction(page, alan, 'Remove from workspace…')
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Remove' }).click()
    await dialog.getByRole('alert').getByText('only owners manage owners').waitFor()
  })
})

describe('A viewer', () => {
  const change =
    /create(?!d)|save|archive|restore|edit|rotate|revoke|invite|remove|leave the workspace|add|move|make|drag|role of/i

  /** The screens of a workspace, each with a sign that it has loaded. */
  const screens = ({
    journey_id,
  }: Workspace): { path: string; read: (page: Page) => Locator; changes: boolean }[] => {
    const table = (name: string) => (page: Page) => page.getByRole('table', { name })
    return [
      { path: 'journeys', read: table('Journeys'), changes: true },
      {
        path: `journeys/${journey_id}/settings`,
        read: (page) => page.getByRole('heading', { name: 'Steps' }),
        changes: true,
      },
      { path: 'keys', read: (page) => page.getByText('First secret key'), changes: true },
      { path: 'members', read: table('Members'), changes: true },
      {
        path: 'first-event',
        read: (page) => page.getByRole('combobox', { name: 'Publishable key' }),
        changes: false,
      },
      {
        path: 'customers',
        read: (page) => page.getByRole('heading', { name: 'No customers yet' }),
        changes: false,
      },
      {
        path: 'events',
        read: (page) => page.getByRole('heading', { name: 'No events yet' }),
        changes: false,
      },
    ]
  }

  async function changesOn(page: Page): Promise<string[]> {
    const controls = page.getByRole('main').locator('button, input, textarea, [role=button]')
    const names = await controls.evaluateAll((found) =>
      found.map((control) => control.getAttribute('aria-label') ?? control.textContent ?? ''),
    )
    return names.filter((name) => change.test(name))
  }

  it('sees no button that changes anything, unlike an owner', async ({ cairn, member, open, workspace }) => {
    const ada = await member('Ada Lovelace', 'viewer')
    const hers = await open('journeys', { signedIn: ada.headers })
    const page = await open('journeys')
    for (const { path, read, changes } of screens(workspace)) {
      for (const each of [hers, page]) {
        await each.goto(`${cairn.url}/admin${screenPath(workspace, path)}`)
        await read(each).waitFor()
      }
      expect(await changesOn(hers), path).toEqual([])
      expect((await changesOn(page)).length > 0, path).toBe(changes)
    }
  })

  it('sees no audit log, and at its URL who can read it', async ({ member, open }) => {
    const ada = await member('Ada Lovelace', 'viewer')
    const page = await open('audit-log', { signedIn: ada.headers })
    await page.getByRole('heading', { name: 'For owners and admins' }).waitFor()
    await page.getByRole('link', { name: 'Members' }).waitFor()
    expect(await page.getByRole('link', { name: 'Audit log' }).count()).toBe(0)
  })
})
