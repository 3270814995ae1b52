// engines: sqlite (a browser sees only the API, which is tested on both engines)

import type { Locator, Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { sqlitePath } from '../../server/storage/sqlite/store-files.ts'
import { startCairnForTest } from '../fixtures/cairn.ts'
import { initialize } from '../fixtures/customer.ts'
import { connect } from '../fixtures/file-store.ts'
import { newEmail } from '../fixtures/people.ts'
import { openAdministration } from './administration.ts'
import { it as base } from './it.ts'
import { field, heading, screenPath } from './screens.ts'

/** A name of invisible characters. */
const invisible = '\u200b \u2060'
const rule = 'Use at least one visible character.'

const column = {
  workspaces: 'workspace_id',
  service_keys: 'key_id',
  journeys: 'journey_id',
  people: 'person_id',
}

/** `it` of a screen, and `hideName` makes a name invisible, as was possible before the API required visible names. */
const it = base.extend('hideName', ({ cairn }) => (table: keyof typeof column, id: string) => {
  const store = connect(sqlitePath(cairn.databaseUrl))
  store.prepare(`UPDATE ${table} SET name = ? WHERE ${column[table]} = ?`).run(invisible, id)
})

describe('A name of 200 characters without a space', () => {
  const long = 'W'.repeat(200)

  it('widens no screen', async ({ open, owner, workspace }) => {
    const { journey_id, workspace_id } = workspace
    const api = owner.client(workspace_id)
    await api.updateWorkspace({ body: { name: `${long}${workspace_id}` } })
    await api.updateJourney({ path: { journey_id }, body: { name: long } })
    const customer_id = await initialize(workspace, 'user-1')
    await workspace.client.createEvent({ body: { journey_id, customer_id, event_id: 'signed_up' } })
    const { data } = await api.defineEvent({
      body: { event_id: 'signed_up', description: long, variables: { type: 'object' } },
    })
    for (const [screen, shown] of [
      ['overview', /^Incoming events and conversion in W/],
      [`events/definitions/${data?.definition.definition_id}`, long],
      [`first-event?journey=${journey_id}`, /^View events of W/],
      [`members?search=${long}`, /^No member has a name/],
      ['account', /^Role in W/],
    ] as const) {
      const page = await open(screen)
      await page.getByText(shown).first().waitFor()
      const { width } = page.viewportSize() ?? {}
      expect(await page.evaluate(() => document.documentElement.scrollWidth), screen).toBe(width)
    }
  })

  it('widens no dialog', async ({ open, workspace }) => {
    const { journey_id } = workspace
    await workspace.client.updateJourney({ path: { journey_id }, body: { name: long } })
    const page = await open('journeys')
    await page.getByRole('button', { name: `Actions for ${long}` }).click()
    await page.getByRole('menuitem', { name: 'Archive' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Archive journey' }).waitFor()
    expect(await dialog.evaluate((dialog) => dialog.scrollWidth - dialog.clientWidth)).toBe(0)
  })
})

describe('A value that nobody can see', () => {
  it('is a group whose name says which characters it has', async ({ open, workspace }) => {
    const { client, journey_id } = workspace
    await client.updateJourney({
      path: { journey_id },
      body: { steps: [{ event_id: 'signed_up', name: 'Signed up' }] },
    })
    for (const plan of [invisible, ' ', 'team', 'team ']) {
      const customer_id = await initialize(workspace, `user-${plan}`)
      const custom_variables = { plan }
      await client.createEvent({ body: { journey_id, customer_id, event_id: 'signed_up', custom_variables } })
    }
    const page = await open(`journeys/${journey_id}?breakdown=variable:plan`)
    const groups = page.getByRole('table', { name: 'Groups' }).getByRole('rowheader')
    await expect
      .poll(async () => (await groups.allInnerTexts()).map((text) => text.split('\n')[0]).sort())
      .toEqual(['"team "', 'Invisible text (U+0020)', 'Invisible text (U+200B U+0020 U+2060)', 'team'])
  })
})

describe('A name that nobody can see', () => {
  // A request would be refused, which no test in this file expects.
  it('is recognized before it is sent, in every form', async ({ cairn, open, workspace }) => {
    const page = await open('journeys')
    const dialog = page.getByRole('dialog')
    const refused = async (name: Locator, submit: string, place: Page | Locator = dialog) => {
      await name.fill(invisible)
      await place.getByRole('button', { name: submit, exact: true }).click()
      await place.getByText(rule).waitFor()
    }
    const inDialog = async (submit: string) => {
      await refused(field(dialog, 'Name'), submit)
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'hidden' })
    }
    await page.getByRole('button', { name: 'Create journey' }).click()
    await inDialog('Create journey')
    for (const [item, submit] of [
      ['Create workspace…', 'Create workspace'],
      ['Rename workspace…', 'Rename'],
    ] as const) {
      await page.getByRole('button', { name: /^Workspace / }).click()
      await page.getByRole('menuitem', { name: item }).click()
      await inDialog(submit)
    }

    await page.getByRole('link', { name: 'Service keys' }).click()
    await page.getByRole('button', { name: 'Create key' }).click()
    await inDialog('Create key')

    await page.goto(`${cairn.url}/admin${screenPath(workspace, 'account')}`)
    await refused(field(page, 'Name'), 'Change name', page)

    await page.goto(`${cairn.url}/admin${screenPath(workspace, `journeys/${workspace.journey_id}/settings`)}`)
    await page.getByRole('button', { name: 'Add step' }).click()
    await page.getByRole('combobox', { name: 'event_id of step 1' }).fill(invisible)
    await refused(field(page, 'Display name of step 1'), 'Save changes', page)
    // An event_id may be anything.
    expect(await page.getByText(rule).count()).toBe(1)
    await field(page, 'Display name of step 1').fill('Signed up')
    await refused(field(page, 'Name'), 'Save changes', page)
  })

  it('is reported to people who join or set up, too', async ({ cairn, owner }) => {
    const body = { email: newEmail(), role: 'viewer' } as const
    const { data } = await owner.client().createInvitation({ body })
    const path = `/invitation#token=${data?.token}`
    const guest = await openAdministration({ cairn, path, refusals: ['401 GET /v1/session'] })
    await field(guest, 'Your name').fill(invisible)
    await guest.getByRole('button', { name: 'Create account and join' }).click()
    await guest.getByText(rule).waitFor()

    const fresh = await startCairnForTest()
    const setup = await openAdministration({
      cairn: fresh,
      path: `/setup${new URL(fresh.setupLink ?? '').hash}`,
    })
    for (const name of ['Your name', 'Workspace name', 'First journey (optional)']) {
      await field(setup, name).fill(invisible)
    }
    await setup.getByRole('button', { name: 'Set up' }).click()
    await expect.poll(() => setup.getByText(rule).count()).toBe(3)
  })

  it('that is older than this rule is shown as something to read and to click', async ({
    hideName,
    open,
    owner,
    workspace,
  }) => {
    const { data } = await owner.client().createServiceKey({ body: { kind: 'secret', name: 'Importer' } })
    const { key_id = '', last_four = '' } = data ?? {}
    hideName('service_keys', key_id)
    hideName('workspaces', workspace.workspace_id)
    hideName('people', owner.person_id)
    const name = '(no visible name)'
    const page = await open('members')
    await page.getByRole('table', { name: 'Members' }).getByText(name).waitFor()
    await page.getByRole('combobox', { name: `Role of ${name} ${owner.email}` }).waitFor()
    expect(await page.title()).toBe(`Members · ${name} · Cairn`)
    await page.getByRole('button', { name: `Actions for ${name} ${owner.email}` }).click()
    await page.getByRole('menuitem', { name: 'Leave workspace…' }).click()
    await page
      .getByRole('dialog', { name: `Leave ${name}?` })
      .getByRole('button', { name: 'Cancel' })
      .click()
    await page.getByRole('button', { name: `${name} ${owner.email}, account and sign out` }).click()
    await page.getByRole('menu').getByText(name, { exact: true }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: `Workspace ${name}, switch, manage or create workspaces` }).click()
    await page.getByRole('menuitem', { name: `${name} ${workspace.workspace_id}` }).waitFor()
    await page.keyboard.press('Escape')

    await page.getByRole('link', { name: 'Service keys' }).click()
    for (const action of ['Rotate', 'Revoke', 'Edit']) {
      await page.getByRole('button', { name: `Actions for ${name} …${last_four}` }).click()
      await page.getByRole('menuitem', { name: action }).click()
      const dialog = page.getByRole('dialog', { name: `${action} ${name} …${last_four}` })
      await dialog.waitFor()
      if (action === 'Edit') continue
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'hidden' })
    }
  })

  it('that is older than this rule may stay when something else is changed', async ({
    cairn,
    hideName,
    open,
    owner,
    workspace,
  }) => {
    const { data } = await owner.client().createServiceKey({ body: { kind: 'secret', name: 'Importer' } })
    const { key_id = '', last_four = '' } = data ?? {}
    hideName('service_keys', key_id)
    hideName('journeys', workspace.journey_id)
    const page = await open('keys')
    await page.getByRole('button', { name: new RegExp(`^Actions for .*…${last_four}$`) }).click()
    await page.getByRole('menuitem', { name: 'Edit' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('combobox', { name: 'Rate limit' }).click()
    await page.getByRole('option', { name: 'No limit' }).click()
    await dialog.getByRole('button', { name: 'Save changes' }).click()
    await dialog.waitFor({ state: 'hidden' })

    await page.goto(`${cairn.url}/admin${screenPath(workspace, `journeys/${workspace.journey_id}/settings`)}`)
    await heading(page, '(no visible name)').waitFor()
    await field(page, 'Description').fill('The first weeks')
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByRole('status').filter({ hasText: 'Saved.' }).waitFor()
    const { data: journey } = await workspace.client.getJourney({
      path: { journey_id: workspace.journey_id },
    })
    expect(journey).toMatchObject({ name: invisible, description: 'The first weeks' })
  })
})
