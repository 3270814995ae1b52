// engines: sqlite (a browser sees only the API, which is tested on both engines)

import { describe, expect } from 'vitest'
import { addMember, signIn } from '../fixtures/people.ts'
import { goBackAndStay, holdRequests, loseFirstResponse, openAdministration } from './administration.ts'
import { chooseAction, it } from './members.ts'
import { field, heading, sendSignIn } from './screens.ts'

const nobody = '401 GET /v1/session'

describe('A member who forgot the password', () => {
  it('gets a new one by a link that is shown once, and is signed in with it', async ({
    cairn,
    member,
    open,
  }) => {
    const ada = await member('Ada Lovelace', 'viewer')
    const page = await open('members')
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

  it('gets a link that is not lost while it is being created', async ({ member, open }) => {
    const ada = await member('Ada Lovelace', 'viewer')
    const page = await open('journeys')
    await page.getByRole('link', { name: 'Members' }).click()
    const release = await holdRequests(page, '**/password-link')
    await chooseAction(page, ada, 'Create password reset link…')
    const asked = page.getByRole('dialog', { name: 'Reset password of Ada Lovelace?' })
    await asked.getByRole('button', { name: 'Create link' }).click()
    await expect.poll(() => asked.getByRole('button', { name: 'Cancel' }).isDisabled()).toBe(true)
    await page.keyboard.press('Escape')
    await goBackAndStay(page, 'Leave before the link is shown?')
    release()
    const made = page.getByRole('dialog', { name: `Password reset link for ${ada.email}` })
    expect(await field(made, 'Password reset link').inputValue()).toMatch(/#token=password_/)
    await goBackAndStay(page, 'Leave without copying the link?')
  })

  it('is told what to do if the link is not valid, or has expired in the meantime', async ({
    cairn,
    member,
    owner,
  }) => {
    const refusals = ['404 POST /v1/password-links/look-up']
    const gone = await openAdministration({ cairn, path: '/password#token=password_gone', refusals })
    await heading(gone, 'This link is not valid').waitFor()
    await gone.getByRole('link', { name: 'sign in' }).waitFor()
    const tooLong = await openAdministration({
      cairn,
      path: `/password#token=${'x'.repeat(256)}`,
      refusals: ['400 POST /v1/password-links/look-up'],
    })
    await heading(tooLong, 'This link is not valid').waitFor()
    const cut = await openAdministration({ cairn, path: '/password#token=%zz', refusals })
    await heading(cut, 'This link is not valid').waitFor()
    const empty = await openAdministration({ cairn, path: '/password#token=' })
    await empty.getByText('The address is missing its token').waitFor()

    const ada = await member('Ada Lovelace', 'viewer')
    const { data } = await owner.client().createPasswordLink({ path: { person_id: ada.person_id } })
    const path = `/password#token=${data?.token}`
    const page = await openAdministration({ cairn, path, refusals: ['404 POST /v1/password-links/use'] })
    await page.getByLabel(/^New password/).fill('an engine of numbers')
    await owner.client().createPasswordLink({ path: { person_id: ada.person_id } })
    await page.getByRole('button', { name: 'Set password' }).click()
    await page.getByRole('alert').filter({ hasText: 'the password was not changed' }).waitFor()
  })

  it('is not told that the password is unchanged if only the response was lost', async ({
    cairn,
    member,
    owner,
  }) => {
    const ada = await member('Ada Lovelace', 'viewer')
    const { data } = await owner.client().createPasswordLink({ path: { person_id: ada.person_id } })
    const use = 'POST /v1/password-links/use'
    const refusals = [`net::ERR_FAILED ${use}`, `404 ${use}`, nobody]
    const page = await openAdministration({ cairn, path: `/password#token=${data?.token}`, refusals })
    await loseFirstResponse(page, '**/v1/password-links/use')
    await page.getByLabel(/^New password/).fill('an engine of numbers')
    await page.getByRole('button', { name: 'Set password' }).click()
    await page.getByText('Cannot reach Cairn').waitFor()
    await page.getByRole('button', { name: 'Set password' }).click()
    await page.getByRole('alert').getByRole('link', { name: 'sign in' }).click()
    await sendSignIn(page, { ...ada, password: 'an engine of numbers' })
    await heading(page, 'Send your first event').waitFor()
  })

  it('is helped by an operator if workspaces have different owners', async ({ cairn, member, open }) => {
    const ada = await member('Ada Lovelace', 'viewer')
    await addMember(cairn, await cairn.workspace(), ada, 'viewer')
    const page = await open('members', { refusals: ['409 POST /v1/members/{id}/password-link'] })
    await chooseAction(page, ada, 'Create password reset link…')
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Create link' }).click()
    await dialog.getByRole('alert').getByText('cairn member set-password').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'hidden' })
  })
})
