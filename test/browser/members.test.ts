// engines: sqlite (a browser sees only the API, which is tested on both engines)

import type { Locator, Page } from 'playwright-core'
import { beforeEach, describe, expect, it } from 'vitest'
import { problems } from '../../server/problems.ts'
import type { Cairn, Workspace } from '../fixtures/cairn.ts'
import {
  addMember,
  browser,
  newEmail,
  newMember,
  newPerson,
  type Person,
  type SignedUp,
  signIn,
  signUp,
} from '../fixtures/people.ts'
import { sharedCairn } from '../fixtures/shared-cairn.ts'
import { goBack, goBackAndStay, openAdministration } from './administration.ts'
import { comeBackTo, heading, screenPath, sendSignIn, tableRows } from './screens.ts'

const nobody = '401 GET /v1/session'

let cairn: Cairn
let workspace: Workspace
/** Grace Hopper. */
let owner: SignedUp

beforeEach(async () => {
  cairn = await sharedCairn()
  workspace = await cairn.workspace()
  owner = await signUp(cairn, workspace, 'owner')
})

/** A signed-in member of the workspace. */
async function member(name: string, role: 'owner' | 'admin' | 'viewer'): Promise<SignedUp> {
  const person = await newPerson(cairn, { name })
  await addMember(cairn, workspace, person, role)
  return { ...person, ...browser(cairn, await signIn(cairn, person)) }
}

async function open(
  { headers }: Pick<SignedUp, 'headers'>,
  screen: string,
  refusals: string[] = [],
): Promise<Page> {
  const path = screenPath(workspace, screen)
  return await openAdministration({ cairn, signedIn: headers, path, refusals })
}

async function nameOf({ workspace_id }: Pick<Workspace, 'workspace_id'>, of = owner): Promise<string> {
  const { data } = await of.client().getSession()
  return data?.workspaces.find((workspace) => workspace.workspace_id === workspace_id)?.name ?? ''
}

function rowOf(page: Page, { email }: Pick<Person, 'email'>): Locator {
  return page.getByRole('table', { name: 'Members' }).getByRole('row').filter({ hasText: email })
}

function roleField(page: Page, { name }: Pick<Person, 'name'>): Locator {
  return page.getByRole('combobox', { name: `Role of ${name}` })
}

async function chooseRole(page: Page, person: Pick<Person, 'name'>, role: string) {
  await roleField(page, person).click()
  await page.getByRole('option', { name: role }).click()
}

/** Chooses from the menu of a member. */
async function chooseAction(page: Page, { name }: Pick<Person, 'name'>, action: string) {
  await page.getByRole('button', { name: `Actions for ${name}` }).click()
  await page.getByRole('menuitem', { name: action }).click()
}

/** Creates an invitation through the API. @returns the path of the link */
async function invite(email: string): Promise<string> {
  const body = { email, role: 'viewer' } as const
  const { data } = await owner.client(workspace.workspace_id).createInvitation({ body })
  return `/invitation#token=${data?.token}`
}

function field(place: Page | Locator, name: string): Locator {
  return place.getByRole('textbox', { name, exact: true })
}

describe('An invitation', () => {
  it('shows its link once, and with it a new person becomes a member', async () => {
    const email = newEmail()
    const page = await open(owner, 'members')
    await page.getByRole('button', { name: 'Invite' }).click()
    const dialog = page.getByRole('dialog')
    await field(dialog, 'Email').fill(email)
    await dialog.getByRole('combobox', { name: 'Role' }).click()
    await page.getByRole('option', { name: 'Admin' }).click()
    await field(dialog, 'Email').press('Enter')

    const made = page.getByRole('dialog', { name: `Invitation for ${email}` })
    const link = await field(made, 'Invitation link').inputValue()
    expect(link).toMatch(`${cairn.url}/admin/invitation#token=invitation_`)
    await made.getByRole('button', { name: 'Copy invitation link' }).click()
    await made.getByRole('status').filter({ hasText: 'Copied' }).waitFor()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(link)
    await page.keyboard.press('Escape')
    expect(await field(made, 'Invitation link').inputValue()).toBe(link)
    await made.getByRole('button', { name: 'Done' }).click()
    const invitations = page.getByRole('table', { name: 'Pending invitations' })
    await invitations.getByText(email, { exact: true }).waitFor()
    await made.waitFor({ state: 'hidden' })
    expect(await page.content()).not.toContain(link.split('_')[1])

    const guest = await openAdministration({
      cairn,
      path: link.replace(`${cairn.url}/admin`, ''),
      refusals: [nobody],
    })
    await heading(guest, `Join ${await nameOf(workspace)}`).waitFor()
    await guest.getByText('As an admin, you').waitFor()
    expect(guest.url()).toBe(`${cairn.url}/admin/invitation`)
    expect(await field(guest, 'Email').inputValue()).toBe(email)
    await guest.getByRole('button', { name: 'Create account and join' }).click()
    await guest.getByText('Enter your name').waitFor()
    await field(guest, 'Your name').fill('Ada Lovelace')
    await guest.getByLabel(/^Password/).fill('an engine of numbers')
    await guest.getByRole('button', { name: 'Create account and join' }).click()
    await heading(guest, 'Journeys').waitFor()
    await guest.getByRole('link', { name: 'Members' }).click()
    await rowOf(guest, { email }).getByText('(you)').waitFor()
    await rowOf(guest, owner).waitFor()

    await comeBackTo(page)
    await rowOf(page, { email }).getByText('Ada Lovelace').waitFor()
    await page.getByText('No pending invitations.').waitFor()
  })

  it('adds a signed-in person to a second workspace, which the menu offers', async () => {
    const other = await cairn.workspace()
    const person = await signUp(cairn, other, 'owner')
    const path = await invite(person.email.toUpperCase())
    const page = await openAdministration({ cairn, signedIn: person.headers, path })
    const [first, second] = [await nameOf(other, person), await nameOf(workspace)]

    await page.getByText(`You are signed in as ${person.name}`).waitFor()
    await page.getByRole('button', { name: 'Join' }).click()
    await heading(page, 'Journeys').waitFor()
    expect(new URL(page.url()).pathname).toBe(`/admin${screenPath(workspace, 'journeys')}`)
    expect(await page.getByRole('button', { name: 'Create journey' }).count()).toBe(0)

    await page.getByRole('button', { name: `Workspace ${second}, switch workspace` }).click()
    await page.getByRole('menuitem', { name: first }).click()
    await heading(page, 'Send your first event').waitFor()
    expect(new URL(page.url()).pathname).toBe(`/admin${screenPath(other, 'first-event')}`)
    await page
      .getByRole('button', { name: `Workspace ${first}, switch, manage or create workspaces` })
      .waitFor()
  })

  it('accepts a person who signs in for it, and nobody else', async () => {
    const person = await newPerson(cairn, { name: 'Alan Turing' })
    const path = await invite(person.email)
    const page = await openAdministration({ cairn, signedIn: owner.headers, path })

    await page.getByText('but the invitation is for another account').waitFor()
    expect(await field(page, 'Email').inputValue()).toBe(person.email)
    await page.getByLabel(/^Password/).fill(person.password)
    await page.getByRole('button', { name: 'Sign in and join' }).click()

    await heading(page, 'Journeys').waitFor()
    await page.getByRole('button', { name: 'Alan Turing, account and sign out' }).waitFor()
  })

  it('does not reveal whether its email has an account, until a password is given', async () => {
    const person = await newPerson(cairn, { name: 'Alan Turing' })
    const page = await openAdministration({
      cairn,
      path: await invite(person.email),
      refusals: [nobody, '401 POST /v1/invitations/accept'],
    })
    await field(page, 'Your name').fill('Mallory')
    await page.getByLabel(/^Password/).fill('an engine of numbers')
    await page.getByRole('button', { name: 'Create account and join' }).click()
    await page.getByRole('alert', { name: 'The account was not created' }).waitFor()

    await page.getByRole('button', { name: 'I already have an account' }).click()
    await page.getByText('Sign in to join').waitFor()
    await page.getByRole('button', { name: 'Create a new account' }).click()
    await page.getByRole('button', { name: 'I already have an account' }).click()
    await page.getByLabel(/^Password/).fill(person.password)
    await page.getByRole('button', { name: 'Sign in and join' }).click()
    await heading(page, 'Journeys').waitFor()
    await page.getByRole('button', { name: 'Alan Turing, account and sign out' }).waitFor()
  })

  it('reports that a used link is no longer valid, even on an open page', async () => {
    const path = await invite(newEmail())
    const late = await openAdministration({
      cairn,
      path,
      refusals: [nobody, '404 POST /v1/invitations/accept'],
    })
    const page = await openAdministration({ cairn, path, refusals: [nobody] })
    for (const guest of [late, page]) {
      await field(guest, 'Your name').fill('Ada Lovelace')
      await guest.getByLabel(/^Password/).fill('an engine of numbers')
    }
    await page.getByRole('button', { name: 'Create account and join' }).click()
    await heading(page, 'Journeys').waitFor()

    await late.getByRole('button', { name: 'Create account and join' }).click()
    await late.getByRole('alert', { name: 'The link is not valid' }).waitFor()
    expect(await field(late, 'Your name').inputValue()).toBe('Ada Lovelace')

    const refusals = [nobody, '404 POST /v1/invitations/look-up']
    const again = await openAdministration({ cairn, path, refusals })
    await heading(again, 'This invitation is not valid').waitFor()
    await again.getByText('ask an owner or admin of the workspace for a new one').waitFor()
  })

  it('is revoked after a confirmation, and its link stops working', async () => {
    const email = newEmail()
    const path = await invite(email)
    const page = await open(owner, 'members')
    await page.getByRole('button', { name: `Revoke invitation of ${email}` }).click()
    const dialog = page.getByRole('dialog', { name: 'Revoke invitation?' })
    await dialog.getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('No pending invitations.').waitFor()

    const refusals = [nobody, '404 POST /v1/invitations/look-up']
    await heading(
      await openAdministration({ cairn, path, refusals }),
      'This invitation is not valid',
    ).waitFor()
  })

  it('that somebody else has revoked is no longer listed after an attempt, which says why it failed', async () => {
    const email = newEmail()
    const { data } = await owner
      .client(workspace.workspace_id)
      .createInvitation({ body: { email, role: 'viewer' } })
    const page = await open(owner, 'members', ['404 DELETE /v1/invitations/{id}'])
    await page.getByRole('button', { name: `Revoke invitation of ${email}` }).click()
    const path = { invitation_id: data?.invitation_id ?? '' }
    await owner.client().revokeInvitation({ path })
    const dialog = page.getByRole('dialog', { name: 'Revoke invitation?' })
    await dialog.getByRole('button', { name: 'Revoke' }).click()
    await dialog.getByRole('alert').waitFor()
    await page.getByText('No pending invitations.').waitFor()
    await dialog.getByRole('alert').waitFor()
  })

  it('whose link was not copied is not left without a question', async () => {
    const email = newEmail()
    const page = await open(owner, 'journeys')
    await page.getByRole('link', { name: 'Members' }).click()
    await page.getByRole('button', { name: 'Invite' }).click()
    const dialog = page.getByRole('dialog', { name: 'Invite member' })
    await field(dialog, 'Email').fill(email)
    await field(dialog, 'Email').press('Enter')
    const made = page.getByRole('dialog', { name: `Invitation for ${email}` })
    const link = await field(made, 'Invitation link').inputValue()
    await goBackAndStay(page, 'Leave without copying the link?')
    expect(await field(made, 'Invitation link').inputValue()).toBe(link)
    await made.getByRole('button', { name: 'Copy invitation link' }).click()
    await made.getByRole('status').filter({ hasText: 'Copied' }).waitFor()
    await goBack(page)
    await heading(page, 'Journeys').waitFor()
  })

  it('of a member is refused with what to do instead', async () => {
    const page = await open(owner, 'members', ['409 POST /v1/invitations'])
    await page.getByRole('button', { name: 'Invite' }).click()
    const dialog = page.getByRole('dialog')
    await field(dialog, 'Email').fill(owner.email)
    await dialog.getByRole('button', { name: 'Create invitation link' }).click()
    const alert = dialog.getByRole('alert', { name: 'The person is already a member' })
    await alert.getByText('Change the role of the member instead.').waitFor()
    expect(await field(dialog, 'Email').inputValue()).toBe(owner.email)
  })
})

describe('Two tabs in two workspaces', () => {
  it('do not mix', async () => {
    const other = await cairn.workspace()
    await addMember(cairn, other, owner, 'owner')
    const one = await open(owner, 'journeys')
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

describe('A role', () => {
  it('that grows takes effect at the next request of the member', async () => {
    const ada = await member('Ada Lovelace', 'viewer')
    const hers = await open(ada, 'journeys')
    await hers.getByRole('table', { name: 'Journeys' }).waitFor()
    expect(await hers.getByRole('button', { name: 'Create journey' }).count()).toBe(0)

    const page = await open(owner, 'members')
    await chooseRole(page, ada, 'Admin')
    await expect.poll(() => roleField(page, ada).inputValue()).toBe('Admin')
    await expect.poll(() => ada.fetch('GET /audit-log').then(({ status }) => status)).toBe(200)

    await comeBackTo(hers)
    await hers.getByRole('button', { name: 'Create journey' }).click()
    await field(hers.getByRole('dialog'), 'Name').fill('Renewal')
    await field(hers.getByRole('dialog'), 'Name').press('Enter')
    await heading(hers, 'Renewal').waitFor()
  })

  it('that shrinks refuses what is saved from an open page, and says what to do', async () => {
    const ada = await member('Ada Lovelace', 'admin')
    const hers = await open(ada, `journeys/${workspace.journey_id}/settings`, ['403 PATCH /v1/journeys/{id}'])
    await field(hers, 'Name').fill('Onboarding, by Ada')

    const page = await open(owner, 'members')
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

  it('that shrinks takes the buttons away with the first refusal, which stays in its dialog', async () => {
    const ada = await member('Ada Lovelace', 'admin')
    const hers = await open(ada, 'members', ['403 POST /v1/invitations'])
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

  it('that shrinks takes no unsaved changes away when its member returns to the tab', async () => {
    const ada = await member('Ada Lovelace', 'admin')
    const hers = await open(ada, `journeys/${workspace.journey_id}/settings`, ['403 PATCH /v1/journeys/{id}'])
    await field(hers, 'Name').fill('Onboarding, by Ada')
    const { person_id } = ada
    await owner.client().updateMember({ path: { person_id }, body: { role: 'viewer' } })

    const read = hers.waitForResponse('**/v1/session')
    await comeBackTo(hers)
    await (await read).finished()
    await hers.getByRole('button', { name: 'Save changes' }).click()
    await hers.getByRole('alert', { name: 'Your role does not allow this' }).waitFor()
    expect(await field(hers, 'Name').inputValue()).toBe('Onboarding, by Ada')

    await hers.getByRole('link', { name: 'Journeys', exact: true }).click()
    await hers.getByRole('button', { name: 'Leave without saving' }).click()
    await hers.getByRole('table', { name: 'Journeys' }).waitFor()
    await hers.getByRole('button', { name: 'Create journey' }).waitFor({ state: 'detached' })
  })

  it('that is lost takes no unsaved changes away when its person returns to the tab', async () => {
    const ada = await member('Ada Lovelace', 'admin')
    const hers = await open(ada, `journeys/${workspace.journey_id}/settings`, ['403 GET /v1/journeys/{id}'])
    await field(hers, 'Name').fill('Onboarding, by Ada')
    const { person_id } = ada
    await owner.client().removeMember({ path: { person_id } })

    const read = hers.waitForResponse('**/v1/session')
    await comeBackTo(hers)
    await (await read).finished()
    await hers.getByRole('button', { name: 'Save changes' }).click()
    await hers.getByRole('alert').filter({ hasText: problems.not_a_member.title }).first().waitFor()
    expect(await field(hers, 'Name').inputValue()).toBe('Onboarding, by Ada')

    await hers.getByRole('link', { name: 'Journeys', exact: true }).click()
    await hers.getByRole('button', { name: 'Leave without saving' }).click()
    await heading(hers, 'Workspace not found').waitFor()
  })

  it('that shrinks explains who can read the audit log where it was just shown', async () => {
    const ada = await member('Ada Lovelace', 'admin')
    const hers = await open(ada, 'audit-log', ['403 GET /v1/audit-log'])
    await hers.getByRole('list', { name: 'Entries' }).waitFor()
    const { person_id } = ada
    await owner.client().updateMember({ path: { person_id }, body: { role: 'viewer' } })
    await hers.getByRole('combobox', { name: 'Area' }).click()
    await hers.getByRole('option', { name: 'Journeys' }).click()
    await hers.getByRole('heading', { name: 'For owners and admins' }).waitFor()
  })

  it('of one’s own is given up only after a confirmation', async () => {
    const ada = await member('Ada Lovelace', 'owner')
    const page = await open(ada, 'members', [])
    await chooseRole(page, ada, 'Viewer')
    const dialog = page.getByRole('dialog', { name: 'Change your role to viewer?' })
    await dialog.getByText('You cannot undo this yourself').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'hidden' })
    expect(await roleField(page, ada).inputValue()).toBe('Owner')

    await chooseRole(page, ada, 'Viewer')
    await dialog.getByRole('button', { name: 'Change role' }).click()
    await rowOf(page, ada).getByText('Viewer', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Invite' }).waitFor({ state: 'hidden' })
  })
})

describe('Members', () => {
  it('can be searched by a word of the name or the beginning of the email', async () => {
    const ada = await member('Ada Lovelace', 'viewer')
    const page = await open(owner, 'members')
    await rowOf(page, ada).waitFor()
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
  it('who is removed is informed at the next request, and whom to ask', async () => {
    const ada = await member('Ada Lovelace', 'admin')
    const hers = await open(ada, 'journeys', ['403 GET /v1/customers'])
    await hers.getByRole('table', { name: 'Journeys' }).waitFor()
    const page = await open(owner, 'members')
    await chooseAction(page, ada, 'Remove from workspace…')
    const dialog = page.getByRole('dialog', { name: 'Remove Ada Lovelace?' })
    await dialog.getByText('loses access').waitFor()
    await dialog.getByText('Secret keys and view links that they know keep working').waitFor()
    await dialog.getByRole('button', { name: 'Remove' }).click()
    await rowOf(page, ada).waitFor({ state: 'hidden' })

    await hers.getByRole('link', { name: 'Customers' }).click()
    await heading(hers, 'Workspace not found').waitFor()
    await hers.getByText(`or ${ada.email} is not a member of it`).waitFor()
  })

  it.each<[attempt: string, refusal: string, send: (page: Page, ada: SignedUp) => Promise<void>]>([
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
    async (_, refusal, attempt) => {
      const ada = await member('Ada Lovelace', 'viewer')
      const page = await open(owner, 'members', [refusal])
      await rowOf(page, ada).waitFor()
      await owner.client().removeMember({ path: { person_id: ada.person_id } })
      await attempt(page, ada)
      await page.getByText('Ada Lovelace is no longer a member.').waitFor()
      await rowOf(page, ada).waitFor({ state: 'hidden' })
      await page.getByRole('dialog').waitFor({ state: 'hidden' })
    },
  )

  it('leaves by their own choice', async () => {
    const ada = await member('Ada Lovelace', 'admin')
    const page = await open(ada, 'members')
    await chooseAction(page, ada, 'Leave workspace…')
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Your own views are deleted; the rest of what you created is kept.').waitFor()
    await dialog.getByRole('button', { name: 'Leave' }).click()
    await heading(page, 'You are not a member of any workspace').waitFor()
  })

  it('who is the last owner can be neither demoted nor removed', async () => {
    const page = await open(owner, 'members', ['409 PATCH /v1/members/{id}', '409 DELETE /v1/members/{id}'])
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

describe('A member who forgot the password', () => {
  it('gets a new one by a link that is shown once, and is signed in with it', async () => {
    const ada = await member('Ada Lovelace', 'viewer')
    const page = await open(owner, 'members')
    await chooseAction(page, ada, 'Create password reset link…')
    const asked = page.getByRole('dialog', { name: 'Reset password of Ada Lovelace?' })
    await asked.getByText('ends all their sessions').waitFor()
    await asked.getByRole('button', { name: 'Create link' }).click()
    const made = page.getByRole('dialog', { name: `Password reset link for ${ada.email}` })
    const link = await field(made, 'Password reset link').inputValue()
    expect(link).toMatch(`${cairn.url}/admin/password#token=password_`)
    await made.getByRole('button', { name: 'Copy password reset link' }).click()
    await made.getByRole('status').filter({ hasText: 'Copied' }).waitFor()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(link)
    await page.keyboard.press('Escape')
    await made.getByRole('button', { name: 'Done' }).click()
    await made.waitFor({ state: 'hidden' })
    expect(await page.content()).not.toContain(link.split('_')[1])

    const guest = await openAdministration({
      cairn,
      path: link.replace(`${cairn.url}/admin`, ''),
    })
    await heading(guest, 'Reset password').waitFor()
    await guest.getByText('For the account of Ada Lovelace').waitFor()
    expect(guest.url()).toBe(`${cairn.url}/admin/password`)
    expect(await field(guest, 'Email').inputValue()).toBe(ada.email)
    await guest.getByLabel(/^New password/).fill('too short')
    await guest.getByRole('button', { name: 'Set password' }).click()
    await guest.getByText('Use at least 12 characters').waitFor()
    await guest.getByLabel(/^New password/).fill('an engine of numbers')
    await guest.getByRole('button', { name: 'Set password' }).click()
    await heading(guest, 'Send your first event').waitFor()
    expect((await ada.fetch('GET /session')).status).toBe(401)
    await expect(signIn(cairn, { ...ada, password: 'an engine of numbers' })).resolves.toBeDefined()
  })

  it('gets a link that is not lost while it is being created', async () => {
    const ada = await member('Ada Lovelace', 'viewer')
    const page = await open(owner, 'journeys')
    await page.getByRole('link', { name: 'Members' }).click()
    const answered = Promise.withResolvers<void>()
    await page.route('**/password-link', async (route) => {
      await answered.promise
      await route.continue()
    })
    await chooseAction(page, ada, 'Create password reset link…')
    const asked = page.getByRole('dialog', { name: 'Reset password of Ada Lovelace?' })
    await asked.getByRole('button', { name: 'Create link' }).click()
    await expect.poll(() => asked.getByRole('button', { name: 'Cancel' }).isDisabled()).toBe(true)
    await page.keyboard.press('Escape')
    await goBackAndStay(page, 'Leave before the link is shown?')
    answered.resolve()
    const made = page.getByRole('dialog', { name: `Password reset link for ${ada.email}` })
    expect(await field(made, 'Password reset link').inputValue()).toMatch(/#token=password_/)
    await goBackAndStay(page, 'Leave without copying the link?')
  })

  it('is told what to do if the link is not valid, or has expired in the meantime', async () => {
    const refusals = ['404 POST /v1/password-links/look-up']
    const gone = await openAdministration({ cairn, path: '/password#token=password_gone', refusals })
    await heading(gone, 'This link is not valid').waitFor()

    const ada = await member('Ada Lovelace', 'viewer')
    const { data } = await owner.client().createPasswordLink({ path: { person_id: ada.person_id } })
    const path = `/password#token=${data?.token}`
    const page = await openAdministration({ cairn, path, refusals: ['404 POST /v1/password-links/use'] })
    await page.getByLabel(/^New password/).fill('an engine of numbers')
    await owner.client().createPasswordLink({ path: { person_id: ada.person_id } })
    await page.getByRole('button', { name: 'Set password' }).click()
    await page.getByRole('alert').filter({ hasText: 'the password was not changed' }).waitFor()
  })

  it('is not told that the password is unchanged if only the response was lost', async () => {
    const ada = await member('Ada Lovelace', 'viewer')
    const { data } = await owner.client().createPasswordLink({ path: { person_id: ada.person_id } })
    const use = 'POST /v1/password-links/use'
    const refusals = [`net::ERR_FAILED ${use}`, `404 ${use}`, nobody]
    const page = await openAdministration({ cairn, path: `/password#token=${data?.token}`, refusals })
    await page.route(
      '**/v1/password-links/use',
      async (route) => {
        await route.fetch()
        // The one of the response, which the browser shall not get.
        await page.context().clearCookies()
        await route.abort()
      },
      { times: 1 },
    )
    await page.getByLabel(/^New password/).fill('an engine of numbers')
    await page.getByRole('button', { name: 'Set password' }).click()
    await page.getByText('Cannot reach Cairn').waitFor()
    await page.getByRole('button', { name: 'Set password' }).click()
    await page.getByRole('alert').getByRole('link', { name: 'sign in' }).click()
    await sendSignIn(page, { ...ada, password: 'an engine of numbers' })
    await heading(page, 'Send your first event').waitFor()
  })

  it('is helped by an operator if workspaces have different owners', async () => {
    const ada = await member('Ada Lovelace', 'viewer')
    await addMember(cairn, await cairn.workspace(), ada, 'viewer')
    const page = await open(owner, 'members', ['409 POST /v1/members/{id}/password-link'])
    await chooseAction(page, ada, 'Create password reset link…')
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Create link' }).click()
    await dialog.getByRole('alert').getByText('cairn member set-password').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'hidden' })
  })
})

describe('An admin', () => {
  it('cannot manage or add owners', async () => {
    const ada = await member('Ada Lovelace', 'admin')
    const alan = await member('Alan Turing', 'viewer')
    const page = await open(ada, 'members')

    await rowOf(page, owner).getByText('Owner', { exact: true }).waitFor()
    expect(await rowOf(page, owner).getByRole('combobox').count()).toBe(0)
    expect(await rowOf(page, owner).getByRole('button').count()).toBe(0)
    await roleField(page, alan).click()
    expect(await page.getByRole('option').allInnerTexts()).toEqual(['Admin', 'Viewer'])
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Invite' }).click()
    await page.getByRole('dialog').getByRole('combobox', { name: 'Role' }).click()
    await page.getByRole('option', { name: 'Viewer' }).waitFor()
    expect(await page.getByRole('option').allInnerTexts()).toEqual(['Admin', 'Viewer'])
  })

  it('is refused if a member has become an owner in the meantime', async () => {
    const ada = await member('Ada Lovelace', 'admin')
    const alan = await member('Alan Turing', 'viewer')
    const page = await open(ada, 'members', ['403 DELETE /v1/members/{id}'])
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
  const screens = (): { path: string; read: (page: Page) => Locator; changes: boolean }[] => {
    const table = (name: string) => (page: Page) => page.getByRole('table', { name })
    return [
      { path: 'journeys', read: table('Journeys'), changes: true },
      {
        path: `journeys/${workspace.journey_id}/settings`,
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

  it('sees no button that changes anything, unlike an owner', async () => {
    const ada = await member('Ada Lovelace', 'viewer')
    const hers = await open(ada, 'journeys')
    const page = await open(owner, 'journeys')
    for (const { path, read, changes } of screens()) {
      for (const each of [hers, page]) {
        await each.goto(`${cairn.url}/admin${screenPath(workspace, path)}`)
        await read(each).waitFor()
      }
      expect(await changesOn(hers), path).toEqual([])
      expect((await changesOn(page)).length > 0, path).toBe(changes)
    }
  })

  it('sees no audit log, and at its URL who can read it', async () => {
    const ada = await member('Ada Lovelace', 'viewer')
    const page = await open(ada, 'audit-log')
    await page.getByRole('heading', { name: 'For owners and admins' }).waitFor()
    await page.getByRole('link', { name: 'Members' }).waitFor()
    expect(await page.getByRole('link', { name: 'Audit log' }).count()).toBe(0)
  })
})
