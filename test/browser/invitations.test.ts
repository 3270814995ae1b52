// engines: sqlite (a browser sees only the API, which is tested on both engines)

import { describe, expect } from 'vitest'
import type { Workspace } from '../fixtures/cairn.ts'
import { newEmail, newPerson, type SignedUp, signUp } from '../fixtures/people.ts'
import {
  goBack,
  goBackAndStay,
  loseFirstResponse,
  openAdministration,
  waitWithoutReading,
} from './administration.ts'
import { it } from './it.ts'
import { memberRow } from './members.ts'
import { comeBackTo, field, heading, screenPath, sendSignIn } from './screens.ts'

const nobody = '401 GET /v1/session'

/** Creates an invitation through the API. @returns the path of the link */
async function invite(owner: SignedUp, email: string): Promise<string> {
  const { data } = await owner.client().createInvitation({ body: { email, role: 'viewer' } })
  return `/invitation#token=${data?.token}`
}

/** Returns the name of a workspace as its member knows it. */
async function nameOf(member: SignedUp, { workspace_id }: Pick<Workspace, 'workspace_id'>): Promise<string> {
  const { data } = await member.client().getSession()
  return data?.workspaces.find((workspace) => workspace.workspace_id === workspace_id)?.name ?? ''
}

describe('An invitation', () => {
  it('shows its link once, and with it a new person becomes a member', async ({
    cairn,
    open,
    owner,
    workspace,
  }) => {
    const email = newEmail()
    const page = await open('members')
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
    await heading(guest, `Join ${await nameOf(owner, workspace)}`).waitFor()
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
    await memberRow(guest, { email }).getByText('(you)').waitFor()
    await memberRow(guest, owner).waitFor()

    await comeBackTo(page)
    await memberRow(page, { email }).getByText('Ada Lovelace').waitFor()
    await page.getByText('No pending invitations.').waitFor()
  })

  it('adds a signed-in person to a second workspace, which the menu offers', async ({
    cairn,
    owner,
    workspace,
  }) => {
    const other = await cairn.workspace()
    const person = await signUp(cairn, other, 'owner')
    const path = await invite(owner, person.email.toUpperCase())
    const page = await openAdministration({ cairn, signedIn: person.headers, path })
    const [first, second] = [await nameOf(person, other), await nameOf(owner, workspace)]

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

  it('accepts a person who signs in for it, and nobody else', async ({ cairn, owner }) => {
    const person = await newPerson(cairn, { name: 'Alan Turing' })
    const path = await invite(owner, person.email)
    const page = await openAdministration({ cairn, signedIn: owner.headers, path })

    await page.getByText('but the invitation is for another account').waitFor()
    expect(await field(page, 'Email').inputValue()).toBe(person.email)
    await page.getByLabel(/^Password/).fill(person.password)
    await page.getByRole('button', { name: 'Sign in and join' }).click()

    await heading(page, 'Journeys').waitFor()
    await page.getByRole('button', { name: 'Alan Turing, account and sign out' }).waitFor()
  })

  it('does not reveal whether its email has an account, until a password is given', async ({
    cairn,
    owner,
  }) => {
    const person = await newPerson(cairn, { name: 'Alan Turing' })
    const page = await openAdministration({
      cairn,
      path: await invite(owner, person.email),
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

  it('reports that a used link is no longer valid, even on an open page', async ({ cairn, owner }) => {
    const path = await invite(owner, newEmail())
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

  it('leads to signing in after an attempt whose response was lost, and once it was used', async ({
    cairn,
    owner,
  }) => {
    const email = newEmail()
    const path = await invite(owner, email)
    const accept = 'POST /v1/invitations/accept'
    const refusals = [nobody, `net::ERR_FAILED ${accept}`, `404 ${accept}`]
    const page = await openAdministration({ cairn, path, refusals })
    const password = 'an engine of numbers'
    await field(page, 'Your name').fill('Ada Lovelace')
    await page.getByLabel(/^Password/).fill(password)
    await loseFirstResponse(page, '**/v1/invitations/accept')
    await page.getByRole('button', { name: 'Create account and join' }).click()
    await page.getByRole('alert', { name: 'Cannot reach Cairn' }).waitFor()
    await page.getByRole('button', { name: 'Create account and join' }).click()
    await page.getByRole('alert', { name: 'The link is not valid' }).waitFor()
    await page.getByRole('link', { name: 'sign in' }).waitFor()

    const lookUp = '404 POST /v1/invitations/look-up'
    const again = await openAdministration({ cairn, path, refusals: [nobody, lookUp] })
    await again.getByRole('link', { name: 'sign in' }).click()
    await sendSignIn(again, { email, password })
    await heading(again, 'Send your first event').waitFor()
  })

  it('is revoked after a confirmation, and its link stops working', async ({ cairn, open, owner }) => {
    const email = newEmail()
    const path = await invite(owner, email)
    const page = await open('members')
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

  it('that expires while it is listed is no longer pending', async ({ open, owner }) => {
    const email = newEmail()
    await invite(owner, email)
    const page = await open('members', { turnsClock: true })
    await page.getByRole('button', { name: `Revoke invitation of ${email}` }).waitFor()
    await waitWithoutReading(page, 366 * 86_400_000)
    await page.getByText('No pending invitations.').waitFor()
  })

  it('that somebody else has revoked is no longer listed after an attempt, which says why it failed', async ({
    open,
    owner,
    workspace,
  }) => {
    const email = newEmail()
    const { data } = await owner
      .client(workspace.workspace_id)
      .createInvitation({ body: { email, role: 'viewer' } })
    const page = await open('members', { refusals: ['404 DELETE /v1/invitations/{id}'] })
    await page.getByRole('button', { name: `Revoke invitation of ${email}` }).click()
    const path = { invitation_id: data?.invitation_id ?? '' }
    await owner.client().revokeInvitation({ path })
    const dialog = page.getByRole('dialog', { name: 'Revoke invitation?' })
    await dialog.getByRole('button', { name: 'Revoke' }).click()
    await dialog.getByRole('alert').waitFor()
    await page.getByText('No pending invitations.').waitFor()
    await dialog.getByRole('alert').waitFor()
  })

  it('whose link was not copied is not left without a question', async ({ open }) => {
    const email = newEmail()
    const page = await open('journeys')
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

  it('keeps its email after a click beside the dialog', async ({ open }) => {
    const page = await open('members')
    await page.getByRole('button', { name: 'Invite' }).click()
    const email = field(page.getByRole('dialog', { name: 'Invite member' }), 'Email')
    await email.fill('grace')
    await page.mouse.click(5, 5)
    await email.press('End')
    await page.keyboard.type('@example.com')
    expect(await email.inputValue()).toBe('grace@example.com')
  })

  it('of a member is refused with what to do instead', async ({ open, owner }) => {
    const page = await open('members', { refusals: ['409 POST /v1/invitations'] })
    await page.getByRole('button', { name: 'Invite' }).click()
    const dialog = page.getByRole('dialog')
    await field(dialog, 'Email').fill(owner.email)
    await dialog.getByRole('button', { name: 'Create invitation link' }).click()
    const alert = dialog.getByRole('alert', { name: 'The person is already a member' })
    await alert.getByText('Change the role of the member instead.').waitFor()
    expect(await field(dialog, 'Email').inputValue()).toBe(owner.email)
  })
})
