// engines: sqlite (a browser sees only the API, which is tested on both engines)

import type { Locator, Page } from 'playwright-core'
import { beforeEach, describe, expect, it } from 'vitest'
import type { PersonClient, Schemas } from '../../client/person.ts'
import { problems } from '../../server/problems.ts'
import { sqlitePath } from '../../server/storage/sqlite/store-files.ts'
import type { Cairn, Workspace } from '../fixtures/cairn.ts'
import { initialize } from '../fixtures/customer.ts'
import { connect } from '../fixtures/file-store.ts'
import { ownedWorkspace } from '../fixtures/owned-workspace.ts'
import { type SignedUp, signUp } from '../fixtures/people.ts'
import { hasFocus, holdRequests, inspectState, loseResponses, openAdministration } from './administration.ts'
import { comeBackTo, heading, screenPath, sendSignIn } from './screens.ts'

const steps = [
  { event_id: 'signed_up', name: 'Signed up' },
  { event_id: 'invited', name: 'Invited a colleague' },
  { event_id: 'paid', name: 'Paid' },
]

let cairn: Cairn
let workspace: Workspace
let owner: SignedUp
let api: PersonClient

beforeEach(async () => {
  ;({ cairn, workspace, owner } = await ownedWorkspace())
  api = owner.client(workspace.workspace_id)
})

/** Opens a page of the workspace, as its owner unless another person is given. */
function open(screen: string, { person = owner, ...options }: OpenOptions = {}): Promise<Page> {
  return openAdministration({
    cairn,
    path: screenPath(workspace, screen),
    signedIn: person.headers,
    ...options,
  })
}

type OpenOptions = {
  person?: SignedUp
  refusals?: string[]
  reducedMotion?: 'reduce' | 'no-preference'
  turnsClock?: boolean
}

/** Chooses to archive the journey of the list. */
async function archive(page: Page) {
  await page.getByRole('button', { name: 'Actions for Onboarding' }).click()
  await page.getByRole('menuitem', { name: 'Archive' }).click()
}

/** Opens the form of a journey with three steps. */
async function openJourney(options: OpenOptions = {}): Promise<{ page: Page; journey_id: string }> {
  const { journey_id } = workspace
  await api.updateJourney({ path: { journey_id }, body: { steps } })
  const page = await open(`journeys/${journey_id}/settings`, options)
  await heading(page, 'Onboarding').waitFor()
  return { page, journey_id }
}

async function storedJourney(journey_id = workspace.journey_id): Promise<Schemas['Journey'] | undefined> {
  return (await api.getJourney({ path: { journey_id } })).data
}

async function storedEventIds(): Promise<string[] | undefined> {
  return (await storedJourney())?.steps.map(({ event_id }) => event_id)
}

async function save(page: Page) {
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByRole('status').getByText('Saved.').waitFor()
}

function description(page: Page): Locator {
  return page.getByRole('textbox', { name: 'Description' })
}

describe('the journeys', () => {
  it('start with creating one, which opens and is in the list', async () => {
    const page = await open('journeys')
    await heading(page, 'Journeys').waitFor()
    await page.getByRole('button', { name: 'Create journey' }).click()
    const dialog = page.getByRole('dialog', { name: 'Create journey' })
    await dialog.getByText('A journey is a funnel: a path that your customers take').waitFor()
    await dialog.getByText('A customer is a contact (a person) or an account').waitFor()
    await dialog.getByRole('button', { name: 'Create journey' }).click()
    await dialog.getByText('Enter a name.').waitFor()
    await inspectState(page, 'journey-new')
    await dialog.getByRole('textbox', { name: 'Description' }).fill('From trial to contract.')
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Renewal')
    await dialog.getByRole('textbox', { name: 'Name' }).press('Enter')

    await heading(page, 'Renewal').waitFor()
    const journey_id = page.url().split('/').at(-2) ?? ''
    expect(await storedJourney(journey_id)).toMatchObject({
      name: 'Renewal',
      description: 'From trial to contract.',
      steps: [],
      status: 'active',
    })
    await page.getByRole('link', { name: 'All journeys' }).click()
    await page.getByRole('link', { name: 'Renewal' }).waitFor()
    expect(await page.getByRole('table').getByRole('link').allTextContents()).toEqual([
      'Renewal',
      'Onboarding',
    ])
  })

  it('are created once, even if Enter is pressed again while the page of the new one loads', async () => {
    const page = await open('journeys')
    await page.getByRole('button', { name: 'Create journey' }).click()
    const name = page.getByRole('dialog').getByRole('textbox', { name: 'Name' })
    await name.fill('Renewal')
    const release = await holdRequests(page, '**/admin/assets/journey-settings-*')
    await name.press('Enter')
    await page.getByRole('link', { name: 'Renewal', includeHidden: true }).waitFor()
    await name.press('Enter')
    release()
    await heading(page, 'Renewal').waitFor()
    const { data } = await api.listJourneys({ query: { search: 'Renewal' } })
    expect(data?.data).toHaveLength(1)
  })

  it('are said to be possibly created if the response is lost, and are listed at once', async () => {
    const page = await open('journeys', { refusals: ['net::ERR_FAILED POST /v1/journeys'] })
    await loseResponses(page, '**/v1/journeys')
    await page.getByRole('button', { name: 'Create journey' }).click()
    const dialog = page.getByRole('dialog', { name: 'Create journey' })
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Renewal')
    await dialog.getByRole('button', { name: 'Create journey' }).click()
    await dialog.getByText('The journey may have been created all the same.').waitFor()
    await page.getByRole('link', { name: 'Renewal', includeHidden: true }).waitFor()
  })

  it('offer their journey_id to copy', async () => {
    const page = await open('journeys')
    await page.getByRole('button', { name: 'Copy journey_id of Onboarding' }).click()
    await page.getByRole('status').getByText('Copied').waitFor()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(workspace.journey_id)
  })

  it('have pages whose titles differ, so that their browser tabs do', async () => {
    const { page } = await openJourney()
    for (const part of ['Report', 'Customers', 'Settings']) {
      await page.getByRole('navigation', { name: 'Journey' }).getByRole('link', { name: part }).click()
      await expect.poll(() => page.title()).toMatch(new RegExp(`^${part} · Onboarding · `))
    }
  })

  it('are never restored by the confirmation to archive, if somebody else was first', async () => {
    const page = await open(`journeys/${workspace.journey_id}/settings`)
    await page.getByRole('button', { name: 'Archive Onboarding' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Archive Onboarding?').waitFor()
    await api.archiveJourney({ path: { journey_id: workspace.journey_id } })
    await comeBackTo(page)
    await page.getByText('This journey is archived').waitFor()
    await dialog.getByRole('button', { name: /journey$/ }).click()
    await dialog.waitFor({ state: 'hidden' })
    expect((await storedJourney())?.status).toBe('archived')
  })

  it('are archived and restored, after an explanation', async () => {
    const page = await open('journeys')
    await archive(page)
    const archiving = page.getByRole('dialog', { name: 'Archive Onboarding?' })
    await archiving.getByText('requests to it are rejected').waitFor()
    await inspectState(page, 'journey-archive')
    await archiving.getByRole('button', { name: 'Cancel' }).click()
    expect((await storedJourney())?.status).toBe('active')

    await archive(page)
    await archiving.getByRole('button', { name: 'Archive journey' }).click()
    await page.getByRole('heading', { name: 'No active journeys' }).waitFor()
    await expect(initialize(workspace, 'user-1')).rejects.toThrow('Restore the journey')
    await inspectState(page, 'journeys-none')

    await filterBy(page, 'Archived')
    await page.getByRole('link', { name: 'Onboarding' }).click()
    await page.getByText('This journey is archived').waitFor()
    await page.getByRole('navigation', { name: 'Journey' }).getByRole('link', { name: 'Customers' }).click()
    await page.getByText('No customers have entered this journey yet').waitFor()
    await page.getByText('No customers can enter while the journey is archived.').waitFor()
    expect(await page.getByRole('link', { name: 'Send your first event' }).count()).toBe(0)
    await page.getByRole('link', { name: 'Settings' }).click()
    await page.getByRole('button', { name: 'Restore Onboarding' }).click()
    await page.getByRole('button', { name: 'Restore journey' }).click()
    await page.getByRole('button', { name: 'Archive Onboarding' }).waitFor()
    expect((await storedJourney())?.status).toBe('active')
    await initialize(workspace, 'user-1')
  })

  it('are searched by words of their names and by journey_id, and have one line each', async () => {
    for (let number = 1; number <= 60; number++) {
      await api.createJourney({ body: { name: `Journey number ${number}` } })
    }
    const page = await open('journeys')
    const shown = () => page.getByRole('table').getByRole('link').allTextContents()
    await expect.poll(async () => (await shown()).length).toBe(50)
    const rows = page.getByRole('table').locator('tbody tr')
    expect((await rows.first().boundingBox())?.height).toBeLessThan(50)

    const search = page.getByRole('searchbox', { name: 'Search journeys' })
    await search.fill('num 7')
    await expect.poll(shown).toEqual(['Journey number 7'])
    await search.fill(workspace.journey_id)
    await expect.poll(shown).toEqual(['Onboarding'])
    await page.reload()
    await expect.poll(shown).toEqual(['Onboarding'])
    await search.fill('nothing like it')
    await page.getByRole('heading', { name: 'No journey found' }).waitFor()
  })

  it('with invisible names are shown by their identifiers, and can be opened', async () => {
    const { journey_id } = workspace
    const names = connect(sqlitePath(cairn.databaseUrl)).prepare(
      'UPDATE journeys SET name = ? WHERE journey_id = ?',
    )
    names.run(' \u200b\u3164', journey_id)
    const page = await open('journeys')
    await page.getByRole('link', { name: `(no visible name) ${journey_id}` }).click()
    await heading(page, '(no visible name)').waitFor()
  })

  it('keep the filter in the URL, for reloads, links and Back', async () => {
    const { data: old } = await api.createJourney({ body: { name: 'Old way' } })
    await api.archiveJourney({ path: { journey_id: old?.journey_id ?? '' } })
    const page = await open('journeys?status=archived')
    const shown = () => page.getByRole('table').getByRole('link').allTextContents()
    await expect.poll(shown).toEqual(['Old way'])
    await filterBy(page, 'All')
    await expect.poll(shown).toEqual(['Old way', 'Onboarding'])
    await page.reload()
    await expect.poll(shown).toEqual(['Old way', 'Onboarding'])

    await page.getByRole('link', { name: 'Onboarding' }).click()
    await heading(page, 'Onboarding').waitFor()
    await page.goBack()
    await expect.poll(shown).toEqual(['Old way', 'Onboarding'])
    await page.goBack()
    await expect.poll(shown).toEqual(['Old way'])
    await page.goForward()
    await expect.poll(shown).toEqual(['Old way', 'Onboarding'])
  })

  it('are shown page by page', async () => {
    for (let number = 1; number <= 50; number++) {
      await api.createJourney({ body: { name: `Journey ${number}` } })
    }
    const page = await open('journeys')
    const rows = page.getByRole('table').getByRole('link')
    await expect.poll(() => rows.count()).toBe(50)
    await page.getByRole('button', { name: 'Show more' }).click()
    await expect.poll(() => rows.count()).toBe(51)
    expect(await page.getByRole('button', { name: 'Show more' }).count()).toBe(0)
  })

  it('are not reported as missing before they are loaded', async () => {
    const page = await open('journeys?status=archived')
    await page.getByRole('heading', { name: 'No archived journeys' }).waitFor()
    const release = await holdRequests(page, '**/v1/journeys*')
    await page.reload()
    await page.locator('[aria-busy=true]').waitFor()
    expect(await page.getByText('No archived journeys').count()).toBe(0)
    release()
    await page.getByText('No archived journeys').waitFor()
  })

  it('can be read but not changed by a viewer', async () => {
    const person = await signUp(cairn, workspace, 'viewer')
    const { page } = await openJourney({ person })
    await page.getByText('Invited a colleague').waitFor()
    await page.getByText('An owner or admin of the workspace can change this journey.').waitFor()
    await inspectState(page, 'journey-viewer')
    for (const path of ['', '/journeys']) {
      if (path) await page.getByRole('link', { name: 'All journeys' }).click()
      await page.getByText('Onboarding').first().waitFor()
      expect(await page.getByRole('button', { name: /Archive|Save|Create|Add|Move/ }).count()).toBe(0)
      expect(await page.getByRole('textbox').count()).toBe(0)
    }
    const { error } = await person
      .client(workspace.workspace_id)
      .archiveJourney({ path: { journey_id: workspace.journey_id } })
    expect(error?.code).toBe('role_not_allowed')
  })
})

describe('a journey', () => {
  it('opens at its URL, after signing in if necessary', async () => {
    const path = screenPath(workspace, `journeys/${workspace.journey_id}`)
    const page = await openAdministration({ cairn, path, refusals: ['401 GET /v1/session'] })
    await sendSignIn(page, owner)
    await heading(page, 'Onboarding').waitFor()
    expect(page.url()).toBe(`${cairn.url}/admin${path}`)
  })

  it('that does not exist is reported', async () => {
    const page = await open('journeys/jrn_00000000000000000000000000', {
      refusals: ['404 GET /v1/journeys/{id}'],
    })
    await page.getByText('Journey not found').waitFor()
    await inspectState(page, 'journey-missing')
    await page.getByRole('link', { name: 'All journeys' }).click()
    await heading(page, 'Journeys').waitFor()
  })

  it('is stored as it was typed', async () => {
    const page = await open(`journeys/${workspace.journey_id}/settings`)
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Überfahrt <b>1</b> 🚢')
    await description(page).fill('First line\nSecond line')
    for (const [index, { event_id, name }] of steps.entries()) {
      await page.getByRole('button', { name: 'Add step' }).click()
      // The new step has the focus.
      await page.keyboard.type(event_id)
      await page.getByRole('textbox', { name: `Display name of step ${index + 1}` }).fill(name)
    }
    await page.getByText('Unsaved changes.').waitFor()
    await save(page)

    const expected = { name: 'Überfahrt <b>1</b> 🚢', description: 'First line\nSecond line', steps }
    expect(await storedJourney()).toMatchObject(expected)
    await heading(page, expected.name).waitFor()
    await page.reload()
    await expect.poll(() => description(page).inputValue()).toBe(expected.description)
    await expect.poll(() => page.getByRole('listitem').count()).toBe(3)
    await page.getByRole('button', { name: 'Remove Invited a colleague' }).click()
    await save(page)
    expect(await storedEventIds()).toEqual(['signed_up', 'paid'])
  })

  it.each(['reduce', 'no-preference'] as const)(
    'moves a step by mouse, with prefers-reduced-motion: %s',
    async (reducedMotion) => {
      const { page } = await openJourney({ reducedMotion })
      // So high that the page does not scroll by itself, as it does near the edges of the window.
      await page.setViewportSize({ width: 1440, height: 1600 })
      await drag(page, 'Drag Paid', 'Drag Signed up', 'Moved to step 1 of 3.')
      await page.getByRole('button', { name: 'Move Paid up' }).and(page.locator('[aria-disabled]')).waitFor()
      await save(page)
      expect(await storedEventIds()).toEqual(['paid', 'signed_up', 'invited'])

      await drag(page, 'Drag Paid', 'Drag Invited a colleague', 'Moved to step 3 of 3.')
      await page
        .getByRole('button', { name: 'Move Paid down' })
        .and(page.locator('[aria-disabled]'))
        .waitFor()
      await save(page)
      expect(await storedEventIds()).toEqual(['signed_up', 'invited', 'paid'])
    },
  )

  it('moves a step by keyboard', async () => {
    const { page } = await openJourney()
    const said = (text: string) => page.getByText(text).waitFor({ state: 'attached' })
    await page.getByRole('button', { name: 'Drag Signed up' }).focus()
    await page.keyboard.press('Space')
    await said('Grabbed Signed up, step 1 of 3.')
    await page.keyboard.press('ArrowDown')
    await said('Moved to step 2 of 3.')
    await page.keyboard.press('ArrowDown')
    await said('Moved to step 3 of 3.')
    await page.keyboard.press('Space')
    await said('Signed up is now step 3 of 3.')
    await save(page)
    expect(await storedEventIds()).toEqual(['invited', 'paid', 'signed_up'])

    await page.getByRole('button', { name: 'Drag Signed up' }).focus()
    await page.keyboard.press('Space')
    await said('Grabbed Signed up, step 3 of 3.')
    await page.keyboard.press('ArrowUp')
    await said('Moved to step 2 of 3.')
    await page.keyboard.press('Escape')
    await said('Canceled. Signed up is still step 3.')
    await page.getByRole('status').getByText('Saved.').waitFor()
  })

  it('returns a step to its place also if its transition never ends', async () => {
    const { page } = await openJourney()
    // As if it was canceled, which a browser does under load.
    await page.evaluate(() =>
      addEventListener('transitionend', (event) => event.isTrusted && event.stopImmediatePropagation(), true),
    )
    await page.getByRole('button', { name: 'Drag Signed up' }).focus()
    await page.keyboard.press('Space')
    await page.getByText('Grabbed Signed up, step 1 of 3.').waitFor({ state: 'attached' })
    await page.keyboard.press('ArrowDown')
    await page.getByText('Moved to step 2 of 3.').waitFor({ state: 'attached' })
    await page.keyboard.press('Escape')
    await page.getByText('Canceled. Signed up is still step 1.').waitFor({ state: 'attached' })
  })

  it('moves a step by its buttons, which keep the focus', async () => {
    const { page } = await openJourney()
    await page.getByRole('button', { name: 'Move Paid up' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('status').getByText('Paid is now step 2 of 3.').waitFor({ state: 'attached' })
    await page.keyboard.press('Enter')
    await page.getByRole('status').getByText('Paid is now step 1 of 3.').waitFor({ state: 'attached' })
    // It has nowhere to go.
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Move Signed up down' }).click()
    await save(page)
    expect(await storedEventIds()).toEqual(['paid', 'invited', 'signed_up'])
  })

  it('reports at the step that its event is already used, and saves nothing', async () => {
    const { page } = await openJourney()
    const before = await storedJourney()
    const field = page.getByRole('combobox', { name: 'event_id of step 3' })
    await field.fill('signed_up')
    await page.getByRole('button', { name: 'Save changes' }).click()

    await page.getByText('Step 1 already has this event_id').waitFor()
    expect(await field.getAttribute('aria-invalid')).toBe('true')
    await expect.poll(() => hasFocus(field)).toBe(true)
    expect(await storedJourney()).toEqual(before)
    await inspectState(page, 'journey-step-not-unique')

    await field.fill('contract_signed')
    await save(page)
    expect(await storedEventIds()).toEqual(['signed_up', 'invited', 'contract_signed'])
  })

  it('offers received events with the time since the last one, which goes on', async () => {
    const { client, journey_id } = workspace
    const customer_id = await initialize(workspace, 'user-1')
    await client.createEvent({ body: { journey_id, customer_id, event_id: 'plan_chosen' } })
    const { page } = await openJourney({ turnsClock: true })
    await page.getByRole('combobox', { name: 'event_id of step 3' }).fill('plan')
    const option = page.getByRole('option', { name: /^plan_chosen/ })
    await option.getByText(/1 event, last (now|\d minutes? ago)/).waitFor()
    await page.route('**/v1/**', () => {})
    await page.clock.fastForward(15 * 60_000)
    await option.getByText(/1 event, last (1|2)\d minutes ago/).waitFor()
  })

  it('reports missing values at each step', async () => {
    const { page } = await openJourney()
    // Lower than the form. The save bar covers no step while nothing is edited, and never the focused one.
    await page.setViewportSize({ width: 1280, height: 500 })
    const topOf = async (name: string) => (await page.getByRole('button', { name }).boundingBox())?.y ?? 0
    expect(await topOf('Save changes')).toBeGreaterThan(await topOf('Add step'))
    await page.getByRole('textbox', { name: 'Display name of step 1' }).fill('First')
    await page.getByRole('button', { name: 'Discard changes' }).waitFor()
    for (const step of [1, 2, 3]) {
      const field = page.getByRole('textbox', { name: `Display name of step ${step}` })
      await field.focus()
      const isOnTop = await field.evaluate((field) => {
        const { left, bottom } = field.getBoundingClientRect()
        return document.elementFromPoint(left + 5, bottom - 2) === field
      })
      expect(isOnTop, `step ${step}`).toBe(true)
    }
    await page.setViewportSize({ width: 1440, height: 900 })
    await page.getByRole('textbox', { name: 'Display name of step 1' }).fill('x'.repeat(255))
    await page.getByRole('combobox', { name: 'event_id of step 2' }).fill('')
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByText('Enter the event_id that reaches this step.').waitFor()
    await inspectState(page, 'journey-faults')
  })
})

describe('unsaved changes of a journey', () => {
  it('are not discarded without a question, by a link or Back', async () => {
    const page = await open('journeys')
    await page.getByRole('link', { name: 'Onboarding' }).click()
    await page.getByRole('link', { name: 'Settings' }).click()
    await description(page).fill('Not saved yet')
    const question = page.getByRole('dialog', { name: 'Leave without saving?' })
    await page.getByRole('link', { name: 'All journeys' }).click()
    await question.waitFor()
    await inspectState(page, 'journey-leave')
    await question.getByRole('button', { name: 'Cancel' }).click()
    await question.waitFor({ state: 'hidden' })
    expect(await description(page).inputValue()).toBe('Not saved yet')

    await page.goBack()
    await question.getByRole('button', { name: 'Cancel' }).click()
    await question.waitFor({ state: 'hidden' })
    expect(page.url()).toContain(`/journeys/${workspace.journey_id}`)
    await page.goBack()
    await question.getByRole('button', { name: 'Leave without saving' }).click()
    await page.getByRole('heading', { name: 'This journey has no steps yet' }).waitFor()
    expect((await storedJourney())?.description).toBe('')
  })

  it('are not discarded without a question, by a reload', async () => {
    const { page } = await openJourney()
    await description(page).fill('Not saved yet')
    const asked = page.waitForEvent('dialog')
    // It ends when the question is answered.
    const reload = page.evaluate(() => location.reload())
    const question = await asked
    expect(question.type()).toBe('beforeunload')
    await question.dismiss()
    await reload
    expect(await description(page).inputValue()).toBe('Not saved yet')
    await page.getByRole('button', { name: 'Discard changes' }).click()
    await page.getByText('No changes.').waitFor()
    expect(await description(page).inputValue()).toBe('')
    await page.reload()
    await page.getByText('No changes.').waitFor()
  })

  it('are kept where the server refuses them', async () => {
    const admin = await signUp(cairn, workspace, 'admin')
    const { page } = await openJourney({ person: admin, refusals: ['403 PATCH /v1/journeys/{id}'] })
    await description(page).fill('Not saved yet')
    const path = { person_id: admin.person_id }
    await api.updateMember({ path, body: { role: 'viewer' } })
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByRole('alert').getByText(problems.role_not_allowed.title).waitFor()
    expect(await description(page).inputValue()).toBe('Not saved yet')
    await inspectState(page, 'journey-refused')

    await api.updateMember({ path, body: { role: 'admin' } })
    await save(page)
    expect((await storedJourney())?.description).toBe('Not saved yet')
  })

  it('are kept if the journey is changed in another tab, and overwrite it only on request', async () => {
    const { page: here } = await openJourney()
    const there = await here.context().newPage()
    await there.goto(here.url())
    await description(here).fill('Of this tab')
    await there.getByRole('textbox', { name: 'Name', exact: true }).fill('Welcome')
    await there.getByRole('button', { name: 'Remove Paid' }).click()
    await save(there)

    await comeBackTo(here)
    const question = here.getByRole('alert').filter({ hasText: 'This journey was changed elsewhere' })
    await question.getByText('name and steps').waitFor()
    expect(await description(here).inputValue()).toBe('Of this tab')
    await inspectState(here, 'journey-changed-elsewhere')
    // Nothing is saved before that is decided.
    await here.getByRole('button', { name: 'Save changes' }).click()
    const keep = question.getByRole('button', { name: 'Keep my changes' })
    await expect.poll(() => hasFocus(keep)).toBe(true)
    expect((await storedJourney())?.description).toBe('')
    await keep.click()
    await heading(here, 'Welcome').waitFor()
    await save(here)
    expect(await storedJourney()).toMatchObject({
      name: 'Welcome',
      description: 'Of this tab',
      steps: steps.slice(0, 2),
    })
  })

  it('are not taken for those of somebody else if the response to their save is lost', async () => {
    const refusals = ['net::ERR_FAILED PATCH /v1/journeys/{id}']
    const { page } = await openJourney({ refusals })
    await loseResponses(page, '**/v1/journeys/*', 'PATCH')
    await description(page).fill('Of this tab')
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByRole('status').filter({ hasText: 'No changes.' }).waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
    expect(await description(page).inputValue()).toBe('Of this tab')
  })

  it('overwrite nothing that this tab has not shown yet', async () => {
    const { page: here, journey_id } = await openJourney()
    await api.updateJourney({ path: { journey_id }, body: { description: 'Of somebody else' } })
    await description(here).fill('Of this tab')
    await here.getByRole('button', { name: 'Save changes' }).click()

    await here.getByText('This journey was changed elsewhere').waitFor()
    expect((await storedJourney())?.description).toBe('Of somebody else')
    await here.getByRole('button', { name: 'Discard my changes' }).click()
    await expect.poll(() => description(here).inputValue()).toBe('Of somebody else')

    await api.updateJourney({ path: { journey_id }, body: { description: 'Once more' } })
    await description(here).fill('Of this tab')
    await here.getByRole('button', { name: 'Save changes' }).click()
    await here.getByRole('button', { name: 'Keep my changes' }).click()
    await save(here)
    expect((await storedJourney())?.description).toBe('Of this tab')
  })
})

describe('two tabs', () => {
  it('agree on a journey that nobody is editing', async () => {
    const { page: here } = await openJourney()
    const there = await here.context().newPage()
    await there.goto(here.url())
    await there.getByRole('textbox', { name: 'Name', exact: true }).fill('Welcome')
    await save(there)
    await there.getByRole('button', { name: 'Archive Welcome' }).click()
    await there.getByRole('button', { name: 'Archive journey' }).click()
    await there.getByText('This journey is archived').waitFor()

    await comeBackTo(here)
    await heading(here, 'Welcome').waitFor()
    await here.getByText('This journey is archived').waitFor()
    expect(await here.getByRole('textbox', { name: 'Name', exact: true }).inputValue()).toBe('Welcome')
    await here.getByText('No changes.').waitFor()
  })
})

async function filterBy(page: Page, name: string) {
  await page.getByRole('radiogroup', { name: 'Journeys to show' }).getByText(name, { exact: true }).click()
}

/** Drags one handle onto another with the mouse, until the page announces where the step would be. */
async function drag(page: Page, handle: string, target: string, announcement: string) {
  const from = await page.getByRole('button', { name: handle }).boundingBox()
  const to = await page.getByRole('button', { name: target }).boundingBox()
  if (!from || !to) throw new Error('there is nothing to drag')
  const center = (box: typeof from) => [box.x + box.width / 2, box.y + box.height / 2] as const
  await page.mouse.move(...center(from))
  await page.mouse.down()
  await page.mouse.move(...center(to), { steps: 20 })
  await page.getByText(announcement).waitFor({ state: 'attached' })
  await page.mouse.up()
}
