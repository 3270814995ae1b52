// engines: sqlite (a browser sees only the API, which is tested on both engines)

import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Cairn, startCairn, type Workspace } from '../fixtures/cairn.ts'
import { withPatience } from '../fixtures/patience.ts'
import { newEmail, newMember, newPerson, type SignedUp, signIn, signUp } from '../fixtures/people.ts'
import { openAdministration } from './administration.ts'
import { heading, query, screenPath } from './screens.ts'

/** The server's clock, which stands still until it is advanced. New stores still use the real one. */
const noon_ms = Date.UTC(2050, 9, 31, 12)
const hour_ms = 3_600_000
const timezoneId = 'Asia/Kolkata'

let cairn: Cairn
let workspace: Workspace
let owner: SignedUp
/** Values that must not appear in the log. */
const secrets: string[] = []
const invited = newEmail()

/**
 * Performs one action of each area, an hour apart: keys and webhooks at 12 o'clock, journeys at 13, members at 14,
 * sessions at 15. Settings of the workspace are changed at 11 o'clock.
 */
beforeAll(async () => {
  let now_ms = noon_ms - hour_ms
  cairn = await startCairn({ now: () => now_ms })
  workspace = await cairn.workspace()
  owner = await signUp(cairn, workspace, 'owner')
  const administration = owner.client(workspace.workspace_id)
  const { journey_id } = workspace
  secrets.push(owner.password, workspace.secret_key, workspace.publishable_key, owner.headers.cookie)

  for (const body of [
    { protect_customers: false },
    { protect_customers: true },
    { view_links: 'on' },
    { view_links: 'off' },
  ] as const) {
    await administration.updateWorkspace({ body })
  }

  now_ms += hour_ms
  const { data: key } = await administration.createServiceKey({
    body: { kind: 'secret', name: 'Nightly importer' },
  })
  const path = { key_id: key?.key_id ?? '' }
  await administration.updateServiceKey({ path, body: { rate_limit: 20 } })
  const { data: rotated } = await administration.rotateServiceKey({ path, body: { grace_seconds: 0 } })
  await administration.revokeServiceKey({ path: { key_id: rotated?.key_id ?? '' } })
  secrets.push(key?.token ?? '', rotated?.token ?? '')

  const { data: made } = await administration.createWebhook({
    body: { url: 'http://127.0.0.1:9/hook', types: ['customer.erased'] },
  })
  const webhook = { path: { webhook_id: made?.webhook.webhook_id ?? '' } }
  await administration.updateWebhook({ ...webhook, body: { description: 'Erases in the CRM' } })
  const { data: remade } = await administration.rotateWebhookSecret(webhook)
  await administration.replayWebhook({ ...webhook, body: { from: new Date(now_ms).toISOString() } })
  await administration.removeWebhook(webhook)
  secrets.push(made?.secret ?? '', remade?.secret ?? '')

  now_ms += hour_ms
  await administration.updateJourney({
    path: { journey_id },
    body: { name: 'Onboarding of teams', steps: [{ event_id: 'signed_up', name: 'Signed up' }] },
  })
  await workspace.client.archiveJourney({ path: { journey_id } })
  await administration.restoreJourney({ path: { journey_id } })

  now_ms += hour_ms
  const { data: invitation } = await administration.createInvitation({
    body: { email: invited, role: 'viewer' },
  })
  secrets.push(invitation?.token ?? '')
  const { person_id } = await newMember(cairn, workspace, 'viewer')
  await administration.updateMember({ path: { person_id }, body: { role: 'admin' } })
  await administration.removeMember({ path: { person_id } })

  now_ms += hour_ms
  await expect(signIn(cairn, { ...owner, password: 'a wrong guess' })).rejects.toThrow('401')
  // Requests with wrong passwords do not wait until their entry is written.
  const isNoted = async () => {
    const { data: log } = await administration.listAuditLog({ query: { area: 'sessions' } })
    return log?.data.some(({ action }) => action === 'sign_in_failed')
  }
  await vi.waitUntil(isNoted, withPatience)
  await signIn(cairn, owner)
  secrets.push('a wrong guess')
  expect(secrets.filter((secret) => secret === '')).toEqual([])
})

afterAll(() => cairn?.stop())

async function open(parameters = ''): Promise<Page> {
  const path = screenPath(workspace, `audit-log${parameters}`)
  return await openAdministration({ cairn, signedIn: owner.headers, path, timezoneId })
}

async function workspaceName(): Promise<string | undefined> {
  const { data } = await owner.client().getSession()
  return data?.workspaces[0]?.name
}

function entries(page: Page): Locator {
  return page.getByRole('list', { name: 'Entries' }).getByRole('listitem')
}

/** The texts of the entries, without when and from where. */
async function sentences(page: Page): Promise<string[]> {
  return (await entries(page).allInnerTexts()).map((text) => text.split('\n')[0]?.trim() ?? '')
}

const byArea = {
  sessions: ['Grace Hopper signed in', 'Someone failed to sign in as EMAIL'],
  members: [
    'Grace Hopper removed Grace Hopper from the workspace',
    'Grace Hopper changed the role of Grace Hopper from viewer to admin',
    'Grace Hopper invited INVITED as viewer',
  ],
  journeys: [
    'Grace Hopper restored the journey Onboarding of teams',
    'The service key First secret key archived the journey Onboarding of teams',
    'Grace Hopper changed the journey Onboarding of teams',
  ],
  webhooks: [
    'Grace Hopper removed the webhook 127.0.0.1:9',
    'Grace Hopper replayed events to the webhook 127.0.0.1:9',
    'Grace Hopper rotated the secret of the webhook 127.0.0.1:9',
    'Grace Hopper changed the webhook 127.0.0.1:9',
    'Grace Hopper created the webhook 127.0.0.1:9',
  ],
  service_keys: [
    'Grace Hopper revoked the service key Nightly importer',
    'Grace Hopper rotated the service key Nightly importer',
    'Grace Hopper changed the service key Nightly importer',
    'Grace Hopper created the service key Nightly importer',
  ],
}

/** Replaces the addresses that differ from run to run. */
function withEmails(lines: string[]): string[] {
  return lines.map((line) => line.replace('EMAIL', owner.email).replace('INVITED', invited))
}

/** Fills in a filter by time. */
async function typeInstant(page: Page, name: string, text: string) {
  const field = page.getByRole('textbox', { name, exact: true })
  await field.fill(text)
  await field.press('Enter')
}

describe('The audit log', () => {
  it('describes each action in a sentence, newest first, with time and address', async () => {
    const page = await open()
    await entries(page).first().waitFor()
    const { sessions, members, journeys, webhooks, service_keys } = byArea
    const told = await sentences(page)
    const expected = withEmails([...sessions, ...members, ...journeys, ...webhooks, ...service_keys])
    expect(told.slice(0, expected.length)).toEqual(expected)
    expect(told.slice(expected.length)).toEqual([
      'Grace Hopper turned off links to views',
      'Grace Hopper turned on links to views',
      'Grace Hopper turned on customer protection',
      'Grace Hopper turned off customer protection',
      'Grace Hopper signed in',
      'The cairn command created the service key First publishable key',
      'The cairn command created the service key First secret key',
      'The cairn command created the journey Onboarding',
      `The cairn command created the workspace ${await workspaceName()}`,
    ])

    const [newest = ''] = await entries(page).allInnerTexts()
    expect(newest).toContain('31 Oct 2050, 20:30')
    expect(newest).toContain('from 127.0.0.1')
    await entries(page).first().locator('time').hover()
    await page.getByRole('tooltip', { name: '2050-10-31T15:00:00.000Z' }).waitFor()
  })

  it('shows old and new values of a change', async () => {
    const page = await open('?area=journeys')
    const entry = entries(page).filter({ hasText: 'changed the journey' })
    await entry.getByRole('button', { name: 'Details' }).click()
    const rows = entry.getByRole('table', { name: 'Changes' }).getByRole('row')
    const cells = await rows.evaluateAll((rows) =>
      rows.slice(1).map((row) => Array.from(row.children, (cell) => cell.textContent)),
    )
    const steps = JSON.stringify([{ event_id: 'signed_up', name: 'Signed up' }], null, 2)
    expect(cells).toEqual([
      ['name', 'Onboarding', 'Onboarding of teams'],
      ['steps', '[]', steps],
    ])
    await entry.getByRole('button', { name: 'Copy request ID' }).click()
    const request_id = await page.evaluate(() => navigator.clipboard.readText())
    const change = cairn.log.filter(({ operation }) => operation === 'updateJourney')
    expect(change).toMatchObject([{ request_id }])
  })

  it('never shows a secret', async () => {
    const page = await open()
    await entries(page).first().waitFor()
    for (const button of await page.getByRole('button', { name: 'Details' }).all()) await button.click()
    const text = await page.content()
    expect(text).toContain('Nightly importer')
    expect(secrets.filter((secret) => text.includes(secret))).toEqual([])
  })
})

describe('Its filters', () => {
  it.each([
    ['Sign-ins and sign-outs', 'sessions'],
    ['Members and invitations', 'members'],
    ['Service keys', 'service_keys'],
    ['Journeys', 'journeys'],
    ['Webhooks', 'webhooks'],
  ] as const)('narrow it to the area “%s”, in the URL', async (label, area) => {
    const page = await open()
    await entries(page).first().waitFor()
    await page.getByRole('combobox', { name: 'Area' }).click()
    await page.getByRole('option', { name: label }).click()
    await expect
      .poll(async () => (await sentences(page)).slice(0, byArea[area].length))
      .toEqual(withEmails(byArea[area]))
    expect(new URL(page.url()).search).toBe(`?area=${area}`)
  })

  it('restrict it to an actor, from the list or from an entry', async () => {
    const archived = 'The service key First secret key archived the journey Onboarding of teams'
    const page = await open('?area=journeys')
    await page.getByRole('combobox', { name: 'Member or secret key' }).click()
    await page
      .getByRole('option', { name: `First secret key …${workspace.secret_key.slice(-4)}`, exact: true })
      .click()
    await expect.poll(() => sentences(page)).toEqual([archived])
    const filtered = page.url()
    expect(new URL(filtered).searchParams.get('actor_id')).toMatch(/^key_/)

    await page.getByRole('button', { name: 'Clear filters' }).click()
    const entry = entries(page).filter({ hasText: 'First secret key archived' })
    await entry.getByRole('button', { name: 'Details' }).click()
    await entry.getByRole('button', { name: 'Show only entries of First secret key' }).click()
    await expect.poll(() => sentences(page)).toEqual([archived])

    await page.getByRole('link', { name: 'Members' }).click()
    await heading(page, 'Members').waitFor()
    await page.goBack()
    await expect.poll(() => sentences(page)).toEqual([archived])
  })

  it('restrict it to a time on the viewer’s clock', async () => {
    const page = await open()
    await entries(page).first().waitFor()
    await typeInstant(page, 'From', '2050-10-31 18:30')
    await typeInstant(page, 'Before', '2050-10-31 19:30')
    await expect.poll(() => sentences(page)).toEqual(byArea.journeys)
    expect(query(page)).toEqual({
      from: '2050-10-31T13:00:00.000Z',
      to: '2050-10-31T14:00:00.000Z',
    })
    await page.reload()
    await expect.poll(() => sentences(page)).toEqual(byArea.journeys)

    await typeInstant(page, 'From', '2020-01-01 00:00')
    await typeInstant(page, 'Before', '2020-01-01 00:01')
    await page.getByRole('heading', { name: 'No entries match these filters' }).waitFor()
    await page.getByRole('button', { name: 'Show all entries' }).click()
    await expect.poll(async () => (await sentences(page)).length).toBeGreaterThan(10)
  })

  it('that match nothing are distinguished from a log that cannot be read', async () => {
    const actor_id = (await newPerson(cairn)).person_id
    const page = await open(`?actor_id=${actor_id}`)
    await page.getByText('This workspace has no such member or secret key.').waitFor()
    await page.getByRole('heading', { name: 'No entries match these filters' }).waitFor()
    const wrong = await open('?from=yesterday')
    await wrong.getByRole('alert').filter({ hasText: 'in the address' }).waitFor()
    await entries(wrong).first().waitFor()
  })
})
