// engines: sqlite (a browser sees only the API, which is tested on both engines)

import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { inStore } from '../../server/cli/store.ts'
import { deleteSessionsOf } from '../../server/storage/tables/sessions.ts'
import { type Cairn, startCairn, startCairnForTest, type Workspace } from '../fixtures/cairn.ts'
import { initialize } from '../fixtures/customer.ts'
import {
  newEmail,
  newMember,
  newPerson,
  type Person,
  type SignedUp,
  signIn,
  signUp,
} from '../fixtures/people.ts'
import { inspectState, openAdministration } from './administration.ts'
import { chooseFromPersonMenu, comeBackTo, heading, screenPath, sendSignIn, signInDialog } from './screens.ts'

const hour_ms = 3_600_000

/** The answer to a page that asks who is signed in. */
const nobody = '401 GET /v1/session'

let cairn: Cairn
let workspace: Workspace
let owner: SignedUp

beforeAll(async () => {
  cairn = await startCairn()
})

afterAll(() => cairn?.stop())

beforeEach(async () => {
  workspace = await cairn.workspace()
  owner = await signUp(cairn, workspace, 'owner')
})

/** Ends all sessions of the person without the knowledge of its pages. */
async function endSessions({ person_id }: Pick<Person, 'person_id'>) {
  await inStore(cairn.databaseUrl, (db) => deleteSessionsOf(db, person_id))
}

describe('Signing in', () => {
  it('gives the same answer for a wrong password and an unknown email, keeps the input, and accepts the right one', async () => {
    const refusals = [nobody, '401 POST /v1/session']
    const page = await openAdministration({ cairn, path: '/', refusals })
    const said: string[] = []
    const wrong = [
      { email: owner.email, password: 'not my password' },
      { email: newEmail(), password: 'not my password' },
    ]
    for (const [tries, attempt] of wrong.entries()) {
      const refused = page.waitForResponse((response) => response.status() === 401)
      await sendSignIn(page, attempt)
      await refused
      const alert = page.getByRole('alert', { name: 'Email or password is wrong' })
      await alert.waitFor()
      said.push((await alert.innerText()).trim())
      expect(said, `try ${tries}`).toHaveLength(tries + 1)
      expect(await page.getByRole('textbox', { name: 'Email' }).inputValue()).toBe(attempt.email)
      expect(await page.getByLabel(/^Password/).inputValue()).toBe(attempt.password)
    }
    expect(said[0]).toContain('ask an owner or admin for a link')
    expect(said[1]).toBe(said[0])

    await sendSignIn(page, owner)
    await heading(page, 'Send your first event').waitFor()
    expect(new URL(page.url()).pathname).toBe(`/admin${screenPath(workspace, 'first-event')}`)
  })

  it('at the address of a workspace alone opens its overview', async () => {
    // A workspace without events has no overview.
    const customer_id = await initialize(workspace, 'user-1')
    const { client, journey_id } = workspace
    await client.createEvent({ body: { journey_id, customer_id, event_id: 'signed_up' } })
    const path = screenPath(workspace, '')
    const page = await openAdministration({ cairn, signedIn: owner.headers, path })
    await heading(page, 'Overview').waitFor()
    expect(new URL(page.url()).pathname).toBe(`/admin${path}overview`)
  })

  it('on a server without an account says where the setup link is, and asks for nothing', async () => {
    const cairn = await startCairnForTest()
    const page = await openAdministration({ cairn, path: '/', refusals: [nobody] })
    await heading(page, 'This server has not been set up').waitFor()
    await page.getByText('npx cairn setup-link', { exact: true }).waitFor()
    await page.getByText('in the output of its first start').waitFor()
    expect(await page.getByRole('textbox').count()).toBe(0)
    await inspectState(page, 'not-set-up')

    const person = await newPerson(cairn)
    await page.reload()
    await sendSignIn(page, person)
    await heading(page, 'You are not a member of any workspace').waitFor()
  })

  it('reports missing values before it sends anything', async () => {
    const page = await openAdministration({ cairn, path: '/sign-in', refusals: [nobody] })
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('Enter your email').waitFor()
    await page.getByText('Enter your password').waitFor()
  })

  it('says how long to wait after too many attempts, and works again then', async () => {
    let now_ms = Date.now()
    const cairn = await startCairnForTest({ now: () => now_ms })
    const person = await newMember(cairn, await cairn.workspace(), 'viewer')
    // The fifth wrong guess makes the next one wait a second; each further one doubles the wait.
    for (const wait_s of [0, 0, 0, 0, 1, 2, 4]) {
      await expect(signIn(cairn, { ...person, password: 'a wrong guess' })).rejects.toThrow('401')
      if (wait_s < 4) now_ms += wait_s * 1000
    }
    const refusals = [nobody, '429 POST /v1/session']
    const page = await openAdministration({ cairn, path: '/sign-in', refusals })

    await sendSignIn(page, person)
    await page.getByRole('alert', { name: 'Too many attempts' }).waitFor()
    await page.getByRole('button', { name: /^Wait [1-4] seconds?$/ }).waitFor()
    const attempts = () => cairn.log.filter(({ operation }) => operation === 'signIn').length
    const sent = attempts()
    await page.getByLabel(/^Password/).press('Enter')
    now_ms += 4000
    const button = page.getByRole('button', { name: 'Sign in', exact: true })
    await button.waitFor()
    expect(attempts()).toBe(sent)
    expect(await page.getByRole('textbox', { name: 'Email' }).inputValue()).toBe(person.email)
    await button.click()

    await heading(page, 'Send your first event').waitFor()
  })

  it('leads to the requested page, with its query string', async () => {
    const path = screenPath(workspace, 'customers?search=Ada&type=contact')
    const page = await openAdministration({ cairn, path, refusals: [nobody] })

    await heading(page, 'Sign in').waitFor()
    await sendSignIn(page, owner)

    await heading(page, 'Customers').waitFor()
    expect(page.url()).toBe(`${cairn.url}/admin${path}`)
    expect(await page.getByRole('searchbox', { name: 'Search customers' }).inputValue()).toBe('Ada')
  })

  it.each(['//127.0.0.1:9/', '/\\127.0.0.1:9', 'http://127.0.0.1:9/', 'javascript:alert(1)'])(
    'never redirects to another place, such as %s',
    async (elsewhere) => {
      const path = `/sign-in?to=${encodeURIComponent(elsewhere)}`
      const page = await openAdministration({ cairn, path, refusals: [nobody] })
      // The form is there before the page knows that nobody is signed in.
      await page.waitForLoadState('networkidle')
      await sendSignIn(page, owner)
      await heading(page, 'Send your first event').waitFor()
      expect(new URL(page.url()).origin).toBe(cairn.url)
    },
  )

  it('tells a member of no workspace what to do', async () => {
    const person = await newPerson(cairn)
    const page = await openAdministration({ cairn, path: '/', refusals: [nobody] })
    await sendSignIn(page, person)
    await heading(page, 'You are not a member of any workspace').waitFor()
    await page.getByText(`You are signed in as ${person.email}`).waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await heading(page, 'Sign in').waitFor()
  })

  it('reports a workspace that the person does not belong to', async () => {
    const foreign = await cairn.workspace()
    const page = await openAdministration({
      cairn,
      signedIn: owner.headers,
      path: screenPath(foreign, 'journeys'),
    })
    await heading(page, 'Workspace not found').waitFor()
    await page.getByRole('listitem').getByRole('link').click()
    await heading(page, 'Journeys').waitFor()
    expect(new URL(page.url()).pathname).toBe(`/admin${screenPath(workspace, 'journeys')}`)
  })

  it('lets somebody else sign in where a workspace is not theirs', async () => {
    const foreign = await cairn.workspace()
    const page = await openAdministration({
      cairn,
      signedIn: owner.headers,
      path: screenPath(foreign, 'journeys'),
      refusals: [nobody],
    })
    await heading(page, 'Workspace not found').waitFor()
    await page.getByRole('button', { name: 'Sign in as someone else' }).click()
    await heading(page, 'Sign in').waitFor()
    await sendSignIn(page, await signUp(cairn, foreign, 'owner'))
    await page.waitForURL((url) => url.pathname.includes(foreign.workspace_id))
  })
})

describe('Signing out', () => {
  // This Chromium keeps no pages in its back/forward cache, so the test sends pages the events of browsers that do.
  it('leaves no page that a browser could keep and show again', async () => {
    const path = screenPath(workspace, 'members')
    const page = await openAdministration({ cairn, signedIn: owner.headers, path, refusals: [nobody] })
    await page.getByRole('table', { name: 'Members' }).getByText(owner.email).waitFor()
    await page.evaluate(() => {
      addEventListener('pagehide', () => sessionStorage.setItem('left', document.body.innerText))
    })
    // The next page asks whose session it is, and shows its form meanwhile.
    const refused = page.waitForResponse((reply) => reply.status() === 401)
    await chooseFromPersonMenu(page, owner, 'Sign out')
    await heading(page, 'Sign in').waitFor()
    await refused
    expect(await page.evaluate(() => sessionStorage.getItem('left'))).toBe('')
  })

  it('applies elsewhere too: a restored page is read again', async () => {
    const path = screenPath(workspace, 'members')
    const page = await openAdministration({ cairn, signedIn: owner.headers, path, refusals: [nobody] })
    await page.getByRole('table', { name: 'Members' }).getByText(owner.email).waitFor()
    await endSessions(owner)
    await page.evaluate(() => dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })))
    await heading(page, 'Sign in').waitFor()
    expect(await page.getByText(owner.email).count()).toBe(0)
  })

  it('asks first if something would be lost, and once', async () => {
    const page = await openAdministration({
      cairn,
      signedIn: owner.headers,
      path: screenPath(workspace, `journeys/${workspace.journey_id}/settings`),
      refusals: [nobody],
    })
    const description = page.getByLabel('Description')
    await description.fill('Not saved yet')
    const questions: string[] = []
    let answer: 'accept' | 'dismiss' = 'dismiss'
    page.on('dialog', async (dialog) => {
      questions.push(dialog.type())
      await dialog[answer]()
    })
    await chooseFromPersonMenu(page, owner, 'Sign out')
    expect(questions).toEqual(['confirm'])
    expect(await description.inputValue()).toBe('Not saved yet')
    expect((await owner.fetch('GET /session')).status).toBe(200)

    answer = 'accept'
    await chooseFromPersonMenu(page, owner, 'Sign out')
    await heading(page, 'Sign in').waitFor()
    expect(questions).toEqual(['confirm', 'confirm'])
    expect((await owner.fetch('GET /session')).status).toBe(401)
  })

  it('ends the session, and leaves nothing behind the Back button', async () => {
    const page = await openAdministration({
      cairn,
      signedIn: owner.headers,
      path: screenPath(workspace, 'members'),
      refusals: [nobody],
    })
    await page.getByRole('table', { name: 'Members' }).getByText(owner.email).waitFor()

    await chooseFromPersonMenu(page, owner, 'Sign out')
    await heading(page, 'Sign in').waitFor()
    expect((await owner.fetch('GET /session')).status).toBe(401)

    await page.goBack()
    await heading(page, 'Sign in').waitFor()
    expect(await page.getByText(owner.email).count()).toBe(0)
  })

  it('everywhere asks in every other browser at its next request', async () => {
    const here = await openAdministration({
      cairn,
      signedIn: owner.headers,
      path: screenPath(workspace, 'account'),
      refusals: [nobody],
    })
    const there = await openAdministration({
      cairn,
      signedIn: await signIn(cairn, owner),
      path: screenPath(workspace, 'journeys'),
      refusals: ['401 GET /v1/customers'],
    })
    await there.getByRole('table', { name: 'Journeys' }).waitFor()

    await here.getByRole('button', { name: 'Sign out everywhere' }).click()
    await here
      .getByRole('dialog', { name: 'Sign out everywhere?' })
      .getByRole('button', { name: 'Sign out' })
      .click()
    await heading(here, 'Sign in').waitFor()

    await there.getByRole('link', { name: 'Customers' }).click()
    await signInDialog(there).waitFor()
  })
})

describe('A session that ends in the middle of work', () => {
  const refusals = () => ['401 GET /v1/journeys/{id}']

  /** Opens the journey and changes its form; returns the values that must be there in the end. */
  async function editJourney(page: Page) {
    const written = {
      name: 'Onboarding, rewritten',
      description: 'From the first visit\nto the first invoice',
      step: { event_id: 'signed_up', name: 'Signed up' },
    }
    await page.getByRole('textbox', { name: 'Name' }).first().fill(written.name)
    await page.getByLabel('Description').fill(written.description)
    await page.getByRole('button', { name: 'Add step' }).click()
    await page.getByRole('combobox', { name: 'event_id of step 1' }).fill(written.step.event_id)
    await page.getByLabel('Display name of step 1').fill(written.step.name)
    return written
  }

  async function expectInForm(page: Page, written: Awaited<ReturnType<typeof editJourney>>) {
    expect({
      name: await page.getByLabel('Name').and(page.locator('input')).first().inputValue(),
      description: await page.getByLabel('Description').inputValue(),
      step: {
        event_id: await page.getByRole('combobox', { name: 'event_id of step 1' }).inputValue(),
        name: await page.getByLabel('Display name of step 1').inputValue(),
      },
    }).toEqual(written)
  }

  it('asks to sign in again, keeps the form, and then saves it', async () => {
    const page = await openAdministration({
      cairn,
      signedIn: owner.headers,
      path: screenPath(workspace, `journeys/${workspace.journey_id}/settings`),
      refusals: [...refusals(), '401 POST /v1/session'],
    })
    const written = await editJourney(page)
    await endSessions(owner)

    await page.getByRole('button', { name: 'Save changes' }).click()
    const dialog = signInDialog(page)
    await dialog.waitFor()
    await page.keyboard.press('Escape')
    await expectInForm(page, written)
    expect(await dialog.getByRole('textbox', { name: 'Email' }).inputValue()).toBe(owner.email)
    await sendSignIn(dialog, { ...owner, password: 'not my password' })
    await dialog.getByRole('alert', { name: 'Email or password is wrong' }).waitFor()
    await sendSignIn(dialog, owner)
    await dialog.waitFor({ state: 'hidden' })

    await expectInForm(page, written)
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByText('Saved.', { exact: true }).waitFor()
    const { data } = await workspace.client.getJourney({ path: { journey_id: workspace.journey_id } })
    const { step, ...rest } = written
    expect(data).toMatchObject({ ...rest, steps: [step] })
  })

  it('asks above an open dialog, and leaves that one unchanged', async () => {
    let now_ms = Date.now()
    const cairn = await startCairnForTest({ now: () => now_ms })
    const workspace = await cairn.workspace()
    const owner = await signUp(cairn, workspace, 'owner')
    const page = await openAdministration({
      cairn,
      signedIn: owner.headers,
      path: screenPath(workspace, 'members'),
      refusals: ['401 POST /v1/invitations'],
    })
    await page.getByRole('button', { name: 'Invite' }).click()
    const invitation = page.getByRole('dialog', { name: 'Invite member' })
    await invitation.getByLabel('Email').fill('ada@example.com')
    now_ms += 12 * hour_ms

    await invitation.getByRole('button', { name: 'Create invitation link' }).click()
    await signInDialog(page)
      .getByLabel(/^Password/)
      .press('Escape')
    await sendSignIn(signInDialog(page), owner)
    await signInDialog(page).waitFor({ state: 'hidden' })

    expect(await invitation.getByLabel('Email').inputValue()).toBe('ada@example.com')
    await invitation.getByRole('button', { name: 'Create invitation link' }).click()
    await page.getByRole('dialog', { name: 'Invitation for ada@example.com' }).waitFor()
  })

  it('asks above an open event, which keeps its keys for later', async () => {
    const customer_id = await initialize(workspace, 'user-1')
    const { client, journey_id } = workspace
    for (const event_id of ['signed_up', 'activated']) {
      await client.createEvent({ body: { journey_id, customer_id, event_id } })
    }
    const page = await openAdministration({
      cairn,
      signedIn: owner.headers,
      path: screenPath(workspace, 'events'),
      refusals: [nobody],
    })
    await page.getByRole('button', { name: /^activated of/ }).click()
    const details = page.getByRole('dialog', { name: 'activated' })
    await details.waitFor()
    const { search } = new URL(page.url())
    await endSessions(owner)
    await comeBackTo(page)
    const password = signInDialog(page).getByLabel(/^Password/)
    await password.pressSequentially('jk')
    expect(await password.inputValue()).toBe('jk')
    await signInDialog(page).getByRole('button', { name: 'Sign in', exact: true }).press('j')
    await sendSignIn(signInDialog(page), owner)
    await signInDialog(page).waitFor({ state: 'hidden' })
    expect(new URL(page.url()).search).toBe(search)
    await details.waitFor()
    await page.keyboard.press('j')
    await page.getByRole('dialog', { name: 'signed_up' }).waitFor()
  })

  it('reads what it could not read, once the person has signed in again', async () => {
    const refusals = ['401 GET /v1/customers']
    const page = await openAdministration({
      cairn,
      signedIn: owner.headers,
      path: screenPath(workspace, 'journeys'),
      refusals,
    })
    await page.getByRole('table', { name: 'Journeys' }).waitFor()
    await endSessions(owner)

    await page.getByRole('link', { name: 'Customers' }).click()
    await sendSignIn(signInDialog(page), owner)

    await page.getByRole('heading', { name: 'No customers yet' }).waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
  })

  it('gives another person a page of their own', async () => {
    const other = await newMember(cairn, workspace, 'admin')
    const page = await openAdministration({
      cairn,
      signedIn: owner.headers,
      path: screenPath(workspace, `journeys/${workspace.journey_id}/settings`),
      refusals: [...refusals(), nobody],
    })
    const written = await editJourney(page)
    await endSessions(owner)
    await page.getByRole('button', { name: 'Save changes' }).click()

    const someoneElse = signInDialog(page).getByRole('button', { name: 'Sign in as someone else' })
    page.once('dialog', (dialog) => dialog.dismiss())
    await someoneElse.click()
    await expectInForm(page, written)
    page.once('dialog', (dialog) => dialog.accept())
    await someoneElse.click()
    await heading(page, 'Sign in').waitFor()
    await sendSignIn(page, other)

    await heading(page, 'Send your first event').waitFor()
    await page.getByRole('combobox', { name: 'Journey' }).waitFor()
    expect(await page.getByText(written.name).count()).toBe(0)
  })
})

describe('Two tabs', () => {
  it('agree that one has signed out', async () => {
    const one = await openAdministration({
      cairn,
      signedIn: owner.headers,
      path: screenPath(workspace, 'journeys'),
      refusals: [nobody, '401 GET /v1/members', '401 GET /v1/invitations'],
    })
    const other = await one.context().newPage()
    await other.goto(one.url())
    await heading(other, 'Journeys').waitFor()

    await chooseFromPersonMenu(one, owner, 'Sign out')
    await heading(one, 'Sign in').waitFor()
    await other.getByRole('link', { name: 'Members' }).click()
    const dialog = signInDialog(other)
    await sendSignIn(dialog, owner)

    await dialog.waitFor({ state: 'hidden' })
    await other.getByRole('table', { name: 'Members' }).getByText(owner.email).waitFor()
  })

  it('show nothing of one person to another who signs in meanwhile', async () => {
    const admin = await newMember(cairn, workspace, 'admin')
    const one = await openAdministration({
      cairn,
      signedIn: owner.headers,
      path: screenPath(workspace, 'account'),
      refusals: [nobody],
    })
    await one.getByText(owner.email).waitFor()
    await one.getByLabel('Current password').fill(owner.password)
    const other = await one.context().newPage()
    await other.goto(`${cairn.url}/admin/`)
    await chooseFromPersonMenu(other, owner, 'Sign out')
    await sendSignIn(other, admin)
    await heading(other, 'Send your first event').waitFor()

    await comeBackTo(one)

    await one.getByText(admin.email).waitFor()
    expect(await one.getByText(owner.email).count()).toBe(0)
    expect(await one.getByLabel('Current password').inputValue()).toBe('')
  })
})

describe('The own password', () => {
  it('is changed by a person who knows it, and ends the other sessions', async () => {
    const refusals = ['409 POST /v1/session/password']
    const page = await openAdministration({
      cairn,
      signedIn: owner.headers,
      path: screenPath(workspace, 'account'),
      refusals,
    })
    const elsewhere = await openAdministration({
      cairn,
      signedIn: await signIn(cairn, owner),
      path: screenPath(workspace, 'journeys'),
      refusals: ['401 GET /v1/customers', '401 POST /v1/session'],
    })
    await elsewhere.getByRole('table', { name: 'Journeys' }).waitFor()
    const password = 'a far longer password'
    const current = page.getByLabel('Current password')
    const fresh = page.getByLabel('New password')
    const change = page.getByRole('button', { name: 'Change password' })

    await current.fill('not my password')
    await fresh.fill('too short')
    await change.click()
    await page.getByText('Use at least 12 characters').waitFor()
    await fresh.fill(password)
    await change.click()
    await page.getByText('Wrong password').waitFor()
    expect(await current.getAttribute('aria-invalid')).toBe('true')
    expect(await fresh.inputValue()).toBe(password)

    await current.fill(owner.password)
    await change.click()
    await page.getByText('Password changed').waitFor()
    expect(await current.inputValue()).toBe('')
    expect((await owner.fetch('GET /session')).status).toBe(200)

    await elsewhere.getByRole('link', { name: 'Customers' }).click()
    const dialog = signInDialog(elsewhere)
    await sendSignIn(dialog, owner)
    await dialog.getByRole('alert', { name: 'Email or password is wrong' }).waitFor()
    await sendSignIn(dialog, { ...owner, password })
    await elsewhere.getByRole('heading', { name: 'No customers yet' }).waitFor()
  })
})
