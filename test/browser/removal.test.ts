// engines: sqlite (a browser sees only the API, which is tested on both engines)

import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { PersonClient } from '../../client/person.ts'
import { DAY_MS } from '../../server/domain/durations.ts'
import { type Cairn, startCairn, type Workspace } from '../fixtures/cairn.ts'
import { initialize } from '../fixtures/customer.ts'
import { addMember, newMember, type SignedUp, signIn, signUp } from '../fixtures/people.ts'
import { holdRequests, inspectState, openAdministration } from './administration.ts'
import { comeBackTo, heading, screenPath } from './screens.ts'

let cairn: Cairn
let workspace: Workspace
let owner: SignedUp
let api: PersonClient
/** The server's clock. */
let now_ms = Date.now()

beforeAll(async () => {
  cairn = await startCairn({ now: () => now_ms })
  return cairn.stop
})

/** Three events from ten days ago, and a current one. */
beforeEach(async () => {
  now_ms = Date.now() - 10 * DAY_MS
  workspace = await cairn.workspace()
  const { client, journey_id } = workspace
  const customer_id = await initialize(workspace, 'user-1')
  const create = async () => {
    const { error } = await client.createEvent({ body: { journey_id, customer_id, event_id: 'signed_up' } })
    expect(error).toBe(undefined)
  }
  for (let made = 0; made < 3; made += 1) await create()
  now_ms = Date.now()
  await create()
  owner = await signUp(cairn, workspace, 'owner')
  api = owner.client(workspace.workspace_id)
})

const open = (screen: string, signedIn = owner.headers, refusals: string[] = []) =>
  openAdministration({ cairn, path: screenPath(workspace, screen), signedIn, refusals })

const stored = async () => (await api.listEvents()).data?.data.length

describe('Events', () => {
  it('are kept as long as the workspace says where their journey says nothing, as its form tells', async () => {
    const page = await open(`journeys/${workspace.journey_id}/settings`)
    await page.getByText('Leave empty to keep events forever.').waitFor()
    await api.updateWorkspace({ body: { retention_days: 20 } })
    await page.reload()
    await page.getByText('Leave empty to use the period of the workspace, 20 days.').waitFor()
    expect(await page.getByText('forever').count()).toBe(0)
  })

  it('are kept for as many days as a journey says, after showing how many will be deleted', async () => {
    const path = { journey_id: workspace.journey_id }
    const page = await open(`journeys/${path.journey_id}/settings`)
    const days = page.getByRole('textbox', { name: 'Keep events for (days)' })
    const save = page.getByRole('button', { name: 'Save retention' })
    await days.fill('five')
    await save.click()
    await page.getByText('Enter a whole number from 1 to 36,500, or leave the field empty').waitFor()

    await days.fill('5')
    await save.click()
    const question = page.getByRole('dialog', { name: 'Keep events for 5 days?' })
    await question.getByText(/^3 events received before .* will be permanently deleted/).waitFor()
    await inspectState(page, 'journey-retention')
    await question.getByRole('button', { name: 'Cancel' }).click()
    await question.waitFor({ state: 'hidden' })
    expect((await api.getJourney({ path })).data?.retention_days).toBe(null)
    expect(await stored()).toBe(4)

    await save.click()
    const release = await holdRequests(page, `**/v1/journeys/${path.journey_id}`, 'GET')
    await question.getByRole('button', { name: 'Keep for 5 days' }).click()
    await question.waitFor({ state: 'hidden' })
    expect((await api.getJourney({ path })).data?.retention_days).toBe(5)
    await expect.poll(stored).toBe(1)

    // What is typed stays when the value that was saved is read again.
    await days.fill('')
    const read = page.waitForResponse(
      (response) => response.request().method() === 'GET' && response.url().endsWith(path.journey_id),
    )
    release()
    await (await read).finished()
    // Nothing would be removed, so no question is asked.
    await save.click()
    await expect.poll(async () => (await api.getJourney({ path })).data?.retention_days).toBe(null)
  })

  it('are kept for as many days as their workspace says', async () => {
    const page = await open('journeys')
    await page.getByRole('button', { name: /^Workspace / }).click()
    await page.getByRole('menuitem', { name: 'Event retention…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Event retention' })
    await dialog.getByRole('textbox', { name: 'Keep events for (days)' }).fill('9')
    await dialog.getByRole('button', { name: 'Save retention' }).click()
    const question = page.getByRole('dialog', { name: 'Keep events for 9 days?' })
    await question.getByText(/^3 events received before/).waitFor()
    await question.getByRole('button', { name: 'Keep for 9 days' }).click()
    await dialog.waitFor({ state: 'hidden' })
    expect((await api.getWorkspace()).data?.retention_days).toBe(9)
    await expect.poll(stored).toBe(1)

    // Somebody else changes it.
    await api.updateWorkspace({ body: { retention_days: 20 } })
    await page.getByRole('button', { name: /^Workspace / }).click()
    await page.getByRole('menuitem', { name: 'Event retention…' }).click()
    const days = dialog.getByRole('textbox', { name: 'Keep events for (days)' })
    await expect.poll(() => days.inputValue()).toBe('20')
  })

  it('are kept for as many days as was typed, even if the workspace could not be read again meanwhile', async () => {
    const page = await open('journeys', owner.headers, ['net::ERR_FAILED GET /v1/workspace'])
    await page.getByRole('button', { name: /^Workspace / }).click()
    await page.getByRole('menuitem', { name: 'Event retention…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Event retention' })
    await dialog.getByRole('textbox', { name: 'Keep events for (days)' }).fill('9')
    let failures = 0
    await page.route('**/v1/workspace', async (route) => {
      await route.abort()
      failures += 1
    })
    await comeBackTo(page)
    // The client tries three times.
    await expect.poll(() => failures).toBe(3)
    await dialog.getByRole('button', { name: 'Save retention' }).click()
    await page.getByRole('dialog', { name: 'Keep events for 9 days?' }).waitFor()
  })
})

describe('A journey that is archived', () => {
  it('is removed by an owner who types its name, after showing how much is deleted with it', async () => {
    const path = { journey_id: workspace.journey_id }
    const settings = `journeys/${path.journey_id}/settings`
    await api.archiveJourney({ path })
    const remove = { name: 'Remove Onboarding' }
    const admin = await open(settings, await signIn(cairn, await newMember(cairn, workspace, 'admin')))
    await admin.getByRole('button', { name: 'Restore Onboarding' }).waitFor()
    expect(await admin.getByRole('button', remove).count()).toBe(0)

    const page = await open(settings)
    await page.getByRole('button', remove).click()
    const dialog = page.getByRole('dialog', { name: 'Remove Onboarding?' })
    await dialog.getByText('the entries of 1 customer, 4 events').waitFor()
    await inspectState(page, 'journey-remove')
    const confirm = dialog.getByRole('button', { name: 'Remove journey' })
    await dialog.getByRole('textbox').fill('Onboardin')
    expect(await confirm.isDisabled()).toBe(true)
    await dialog.getByRole('textbox').fill('Onboarding')
    await confirm.click()

    await heading(page, 'Journeys').waitFor()
    await page.getByText('No active journeys').waitFor()
    expect((await api.getJourney({ path })).error?.code).toBe('journey_not_found')
    await expect.poll(stored).toBe(0)
  })
})

describe('A workspace', () => {
  it('is archived, restored, and removed by an owner who types its name', async () => {
    const other = await cairn.workspace()
    await addMember(cairn, other, owner, 'owner')
    const name = (await api.getWorkspace()).data?.name ?? ''
    const page = await open('journeys')
    const choose = async (item: string) => {
      await page.getByRole('button', { name: `Workspace ${name}` }).click()
      await page.getByRole('menuitem', { name: item }).click()
    }
    const status = async () => (await api.getWorkspace()).data?.status

    await choose('Archive workspace…')
    await page.getByRole('dialog').getByRole('button', { name: 'Archive workspace' }).click()
    await page.getByText('This workspace is archived', { exact: true }).waitFor()
    expect(await status()).toBe('archived')
    await choose('Restore workspace…')
    await page.getByRole('dialog').getByRole('button', { name: 'Restore workspace' }).click()
    await page.getByText('This workspace is archived', { exact: true }).waitFor({ state: 'hidden' })
    expect(await status()).toBe('active')

    await api.archiveWorkspace()
    await page.reload()
    await choose('Remove workspace…')
    const dialog = page.getByRole('dialog', { name: `Remove ${name}?` })
    await dialog.getByText(/^This permanently deletes 1 customer, 1 journey, 4 events/).waitFor()
    await inspectState(page, 'workspace-remove')
    const confirm = dialog.getByRole('button', { name: 'Remove workspace' })
    expect(await confirm.isDisabled()).toBe(true)
    await dialog.getByRole('textbox').fill(name)
    await confirm.click()

    await page.waitForURL(`**/w/${other.workspace_id}/overview`)
    await page.getByText('Workspace removed.').waitFor()
    expect((await api.getWorkspace()).error?.code).toBe('not_a_member')
  })
})
