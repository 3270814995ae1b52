// engines: sqlite (a browser sees only the API, which is tested on both engines)

import type { Locator, Page } from 'playwright-core'
import { beforeEach, describe, expect, it } from 'vitest'
import type { PersonClient, Schemas } from '../../client/person.ts'
import type { Cairn, Workspace } from '../fixtures/cairn.ts'
import { ownedWorkspace } from '../fixtures/owned-workspace.ts'
import { type SignedUp, signUp } from '../fixtures/people.ts'
import { createKey } from '../fixtures/service-keys.ts'
import { holdRequests, inspectState, loseResponses, openAdministration } from './administration.ts'
import { heading, screenPath } from './screens.ts'

let cairn: Cairn
let workspace: Workspace
let owner: SignedUp
let api: PersonClient

beforeEach(async () => {
  ;({ cairn, workspace, owner } = await ownedWorkspace())
  api = owner.client(workspace.workspace_id)
})

/** Opens the service keys of the workspace, as its owner unless another person is given. */
async function openKeys({
  search = '',
  person = owner,
  refusals = [] as string[],
  ...options
}: {
  search?: string
  person?: SignedUp
  refusals?: string[]
  timezoneId?: string
  turnsClock?: boolean
} = {}): Promise<Page> {
  const path = screenPath(workspace, `keys${search}`)
  const page = await openAdministration({ cairn, path, signedIn: person.headers, refusals, ...options })
  await heading(page, 'Service keys').waitFor()
  return page
}

async function storedKeys(): Promise<Schemas['ServiceKey'][]> {
  return (await api.listServiceKeys()).data?.data ?? []
}

async function storedKey(token: string): Promise<Schemas['ServiceKey']> {
  const key = (await storedKeys()).find(({ last_four }) => last_four === token.slice(-4))
  if (!key) throw new Error('there is no such key')
  return key
}

/** The names of the keys shown, in order. */
function shownNames(page: Page): Promise<string[]> {
  const names = page
    .getByRole('table', { name: 'Service keys' })
    .getByRole('button', { name: /details of key/ })
  return names.locator('span[data-truncate]').allTextContents()
}

function rowOf(page: Page, token: string): Locator {
  return page.getByRole('row').filter({ hasText: `…${token.slice(-4)}` })
}

/** Opens the details of a key. */
async function openDetails(page: Page, token: string): Promise<Locator> {
  const button = rowOf(page, token).getByRole('button', { name: /details of key/ })
  await button.click()
  // It names them once they are open.
  await expect.poll(() => button.getAttribute('aria-controls')).not.toBeNull()
  return page.locator(`[id="${await button.getAttribute('aria-controls')}"]`)
}

/** Chooses an action for a key. */
async function choose(page: Page, token: string, action: string) {
  await rowOf(page, token)
    .getByRole('button', { name: /^Actions for/ })
    .click()
  await page.getByRole('menuitem', { name: action }).click()
}

/** The server's response to a request with the key, from a page of the origin if one is given. */
async function answerTo(key: string, origin?: string) {
  const { status } = await cairn.fetch('/customers/initialize', {
    method: 'POST',
    headers: { 'x-service-key': key, 'content-type': 'application/json', ...(origin && { origin }) },
    body: JSON.stringify({
      client_customer_id: 'user-1',
      journey_id: workspace.journey_id,
      customer_type: 'contact',
      customer_name: 'Ada Lovelace',
    }),
  })
  // A publishable key does not learn that the customer is new.
  return status === 201 ? 200 : status
}

/** Opens the dialog that creates a key. */
async function openNewKey(page: Page, kind: 'Publishable' | 'Secret', name: string): Promise<Locator> {
  await page.getByRole('button', { name: 'Create key' }).click()
  const dialog = page.getByRole('dialog', { name: 'Create service key' })
  await dialog.getByRole('radio', { name: `${kind}, for` }).check()
  await dialog.getByRole('textbox', { name: 'Name' }).fill(name)
  return dialog
}

async function typeOrigins(dialog: Locator, ...origins: string[]) {
  for (const origin of origins) {
    await dialog.getByLabel('Allowed origins').fill(origin)
    await dialog.getByLabel('Allowed origins').press('Enter')
  }
}

/** The key in the dialog that shows a new one. */
async function madeToken(made: Locator): Promise<string> {
  return (await made.getByLabel('Service key').textContent()) ?? ''
}

describe('a new secret key', () => {
  it('is shown once, works, and is nowhere after that', async () => {
    const page = await openKeys()
    const dialog = await openNewKey(page, 'Secret', 'Importer')
    expect(await dialog.getByLabel('Allowed origins').count()).toBe(0)
    await inspectState(page, 'key-new-secret')
    await dialog.getByRole('textbox', { name: 'Name' }).press('Enter')

    const made = page.getByRole('dialog', { name: 'Your new secret key “Importer”' })
    await made.waitFor()
    const token = await madeToken(made)
    expect(token).toMatch(/^sk_/)
    expect(await answerTo(token)).toBe(200)
    await inspectState(page, 'key-made-secret')
    await made.getByRole('button', { name: 'Copy key' }).click()
    await made.getByText('Key copied.').waitFor()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(token)
    await made.getByRole('button', { name: 'Done' }).click()
    await made.waitFor({ state: 'hidden' })

    await rowOf(page, token).getByText('Importer').first().waitFor()
    const details = await openDetails(page, token)
    await details.getByText('Secret, for servers').waitFor()
    expect(await details.getByRole('button', { name: /Copy/ }).count()).toBe(0)
    expect(await page.content()).not.toContain(token)
    await page.reload()
    await rowOf(page, token).waitFor()
    expect(await page.content()).not.toContain(token)
    const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]))
    expect(kept).not.toContain(token)
    expect(await storedKeys()).toContainEqual(
      expect.objectContaining({ name: 'Importer', kind: 'secret', token: null, created_by: owner.name }),
    )
  })

  it('is said to be possibly created if the response is lost, and is listed at once', async () => {
    const page = await openKeys({ refusals: ['net::ERR_FAILED POST /v1/service-keys'] })
    await loseResponses(page, '**/v1/service-keys')
    const dialog = await openNewKey(page, 'Secret', 'Importer')
    await dialog.getByRole('button', { name: 'Create key' }).click()
    await dialog.getByText('The key may have been created all the same.').waitFor()
    await expect.poll(() => shownNames(page)).toContain('Importer')
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'hidden' })
  })

  it('is not closed or left uncopied without a confirmation', async () => {
    const page = await openKeys()
    await page.getByRole('link', { name: 'Journeys' }).click()
    // Leaving before it is open counts as not visiting it, so Back does not return to it.
    await heading(page, 'Journeys').waitFor()
    await page.getByRole('link', { name: 'Service keys' }).click()
    await openNewKey(page, 'Secret', 'Importer')
    await page.getByRole('textbox', { name: 'Name' }).press('Enter')
    const made = page.getByRole('dialog', { name: 'Your new secret key' })
    const token = await madeToken(made)
    const question = page.getByRole('dialog', { name: 'Close without copying the key?' })
    await page.keyboard.press('Escape')
    await question.waitFor()
    await inspectState(page, 'key-made-uncopied')
    await question.getByRole('button', { name: 'Cancel' }).click()
    await question.waitFor({ state: 'hidden' })
    expect(await madeToken(made)).toBe(token)

    await page.goBack()
    const leaving = page.getByRole('dialog', { name: 'Leave without copying the key?' })
    await leaving.getByRole('button', { name: 'Cancel' }).click()
    await leaving.waitFor({ state: 'hidden' })
    expect(await madeToken(made)).toBe(token)

    await made.getByRole('button', { name: 'Done' }).click()
    await question.getByRole('button', { name: 'Close without copying' }).click()
    await made.waitFor({ state: 'hidden' })
    expect(await page.content()).not.toContain(token)
  })
})

describe('a new publishable key', () => {
  it('works only for its origins, and can be shown again', async () => {
    const page = await openKeys()
    const dialog = await openNewKey(page, 'Publishable', 'Website')
    await typeOrigins(dialog, 'https://app.example.com', 'http://localhost:5173')
    await dialog.getByRole('button', { name: 'Create key' }).click()
    const made = page.getByRole('dialog', { name: 'Your new publishable key “Website”' })
    await made.waitFor()
    const token = await madeToken(made)
    expect(await answerTo(token, 'https://app.example.com')).toBe(200)
    expect(await answerTo(token, 'https://elsewhere.example.com')).toBe(403)
    await inspectState(page, 'key-made-publishable')
    // A publishable key can be shown again, so closing without copying loses nothing.
    await made.getByRole('button', { name: 'Done' }).click()
    await made.waitFor({ state: 'hidden' })

    await page.reload()
    const details = await openDetails(page, token)
    await details.getByText('https://app.example.com, http://localhost:5173').waitFor()
    const rejected = await details.getByRole('link', { name: 'Rejected requests' }).getAttribute('href')
    expect(rejected).toMatch(/\/events\/refused\?last=7d&key_id=key_\w+$/)
    await details.getByText(token).waitFor()
    await details.getByRole('button', { name: 'Copy key Website' }).click()
    await page.getByRole('status').getByText('Copied').waitFor()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(token)
    await rowOf(page, token)
      .getByRole('button', { name: /details of key/ })
      .click()
    await page.getByText(token).waitFor({ state: 'hidden' })
  })

  it('reports at the field which origin is invalid, and suggests a correction', async () => {
    const page = await openKeys()
    const dialog = await openNewKey(page, 'Publishable', 'Website')
    await typeOrigins(dialog, 'https://app.example.com/login')
    await dialog.getByText('“https://app.example.com/login” is not an origin.').waitFor()
    await dialog.getByText('Did you mean https://app.example.com?').waitFor()
    await inspectState(page, 'key-new-origin-fault')
    await dialog.getByRole('button', { name: 'Create key' }).click()
    await dialog.getByLabel('Allowed origins').press('Backspace')
    await typeOrigins(dialog, 'https://*.example.com')
    await dialog.getByText('contains a wildcard').waitFor()
    expect(await storedKeys()).toHaveLength(2)

    await dialog.getByLabel('Allowed origins').press('Backspace')
    await typeOrigins(dialog, 'https://app.example.com')
    await dialog.getByRole('button', { name: 'Create key' }).click()
    await page.getByRole('dialog', { name: 'Your new publishable key' }).waitFor()
    expect((await storedKeys())[0]?.allowed_origins).toEqual(['https://app.example.com'])
  })

  it('reports missing values at their fields, and accepts an expiry and a rate limit', async () => {
    const page = await openKeys()
    const dialog = await openNewKey(page, 'Publishable', '')
    await dialog.getByRole('combobox', { name: 'Expiry' }).click()
    await page.getByRole('option', { name: 'On a date' }).click()
    await dialog.getByRole('combobox', { name: 'Rate limit' }).click()
    await page.getByRole('option', { name: 'Custom' }).click()
    await dialog.getByRole('textbox', { name: 'Events per second' }).fill('')
    await dialog.getByRole('button', { name: 'Create key' }).click()
    for (const fault of ['Enter a name', 'Enter the day', 'Enter a whole number from 1 to 1,000,000']) {
      await dialog.getByText(fault).waitFor()
    }
    await inspectState(page, 'key-new-faults')

    await dialog.getByRole('textbox', { name: 'Name' }).fill('Short-lived')
    await dialog.getByRole('textbox', { name: 'Expiry date' }).fill('31 Dec 2099')
    await dialog.getByRole('textbox', { name: 'Events per second' }).fill('20')
    await dialog.getByRole('button', { name: 'Create key' }).click()
    await page.getByRole('dialog', { name: 'Your new publishable key “Short-lived”' }).waitFor()
    const [key] = await storedKeys()
    expect(key).toMatchObject({ name: 'Short-lived', rate_limit: 20 })
  })

  it.for([
    ['Pacific/Honolulu', '2099-12-30', '2099-12-31T10:00:00.000Z'],
    ['Asia/Kolkata', '2099-12-31', '2099-12-30T18:30:00.000Z'],
  ] as const)(
    'expires on a day that begins in the time zone of the browser: %s',
    async ([timezoneId, today, expires_at]) => {
      // Not the same day in both zones.
      const page = await openKeys({ timezoneId, turnsClock: true })
      await page.clock.setSystemTime('2099-12-30T20:00:00Z')
      const dialog = await openNewKey(page, 'Publishable', 'Short-lived')
      await dialog.getByRole('combobox', { name: 'Expiry' }).click()
      await page.getByRole('option', { name: 'On a date' }).click()
      const expiry = dialog.getByRole('textbox', { name: 'Expiry date' })
      await expiry.fill(today)
      await dialog.getByRole('button', { name: 'Create key' }).click()
      await dialog.getByText('Choose a day after today.').waitFor()
      await page.clock.setSystemTime('2099-11-30T20:00:00Z')
      await expiry.fill('31 Dec 2099')
      await dialog.getByRole('button', { name: 'Create key' }).click()
      await page.getByRole('dialog', { name: 'Your new publishable key “Short-lived”' }).waitFor()
      const [key] = await storedKeys()
      expect(key?.expires_at).toBe(expires_at)
    },
  )
})

describe('a key', () => {
  it('is changed, and the changes apply at once', async () => {
    const { key } = await createKey(cairn, workspace, 'publishable')
    const page = await openKeys()
    await choose(page, key, 'Edit')
    const dialog = page.getByRole('dialog', { name: 'Edit Test key' })
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Website')
    await typeOrigins(dialog, 'https://app.example.com')
    await dialog.getByRole('combobox', { name: 'Rate limit' }).click()
    await page.getByRole('option', { name: 'No limit' }).click()
    await dialog.getByRole('combobox', { name: 'Expiry' }).click()
    await page.getByRole('option', { name: 'In 30 days' }).click()
    await inspectState(page, 'key-edit')
    await dialog.getByRole('button', { name: 'Save changes' }).click()
    await dialog.waitFor({ state: 'hidden' })

    await rowOf(page, key).getByText('Website').first().waitFor()
    const details = await openDetails(page, key)
    for (const fact of ['https://app.example.com', 'No limit', 'in 29 days']) {
      await details.getByText(fact).waitFor()
    }
    expect(await answerTo(key, 'https://elsewhere.example.com')).toBe(403)
    expect(await answerTo(key, 'https://app.example.com')).toBe(200)
  })

  it('is rotated: both keys work, the old one for the chosen time', async () => {
    const page = await openKeys()
    const old = workspace.secret_key
    await choose(page, old, 'Rotate')
    const dialog = page.getByRole('dialog', { name: 'Rotate First secret key' })
    await dialog.getByRole('radio', { name: '1 hour' }).check()
    await inspectState(page, 'key-rotate')
    const before_ms = Date.now()
    await dialog.getByRole('button', { name: 'Rotate key' }).click()

    const made = page.getByRole('dialog', { name: 'Your new secret key “First secret key”' })
    await made.getByText(`The old key, …${old.slice(-4)}, works for up to 1 more hour`).waitFor()
    const token = await madeToken(made)
    expect(await answerTo(token)).toBe(200)
    expect(await answerTo(old)).toBe(200)
    await made.getByRole('button', { name: 'Copy key' }).click()
    await made.getByRole('button', { name: 'Done' }).click()
    const { expires_at } = await storedKey(old)
    const details = await openDetails(page, old)
    await details.locator(`time[datetime="${expires_at}"]`).waitFor()
    await details.getByText(/in (1 hour|5\d minutes)/).waitFor()
    await (await openDetails(page, token)).getByText('Never', { exact: true }).last().waitFor()
    const rotated_ms = Date.parse(expires_at ?? '') - 3_600_000
    expect(rotated_ms).toBeGreaterThanOrEqual(before_ms)
    expect(rotated_ms).toBeLessThanOrEqual(Date.now())
  })

  it('shows how long it still works, as time goes by', async () => {
    const { key_id } = await storedKey(workspace.secret_key)
    await api.rotateServiceKey({ path: { key_id }, body: { grace_seconds: 3600 } })
    const page = await openKeys({ turnsClock: true })
    const details = await openDetails(page, workspace.secret_key)
    await details.getByText(/in (1 hour|5\d minutes)/).waitFor()
    await page.clock.fastForward(20 * 60_000)
    await details.getByText(/in 3\d minutes/).waitFor()
  })

  it('is printed with the times themselves, not with how long ago they are', async () => {
    const { key_id } = await storedKey(workspace.secret_key)
    await api.rotateServiceKey({ path: { key_id }, body: { grace_seconds: 3600 } })
    const page = await openKeys()
    const details = await openDetails(page, workspace.secret_key)
    await details.getByText(/in (1 hour|5\d minutes)/).waitFor()
    await page.emulateMedia({ media: 'print' })
    const printed = await details.ariaSnapshot()
    const time = String.raw`\d+ \w+ \d{4}, \d\d:\d\d`
    expect(printed).toMatch(new RegExp(`term: Created\\s+- definition:\\s+- time: ${time}\n`))
    expect(printed).toMatch(new RegExp(`term: Expires\\s+- definition: ${time}\n`))
  })

  it('that expires while it is shown is shown as expired, and can only be revoked', async () => {
    const { key_id } = await storedKey(workspace.secret_key)
    await api.rotateServiceKey({ path: { key_id }, body: { grace_seconds: 3600 } })
    const page = await openKeys({ turnsClock: true, search: '?status=all' })
    const details = await openDetails(page, workspace.secret_key)
    await details.getByText('Expires', { exact: true }).waitFor()
    await page.clock.fastForward(70 * 60_000)
    await details.getByText('Expired', { exact: true }).waitFor()
    await details.getByText(/ minutes ago \(/).waitFor()
    const row = rowOf(page, workspace.secret_key).first()
    await row.getByText('Expired', { exact: true }).filter({ visible: true }).waitFor()
    await row.getByRole('button', { name: /^Actions for/ }).click()
    await expect.poll(() => page.getByRole('menuitem').allTextContents()).toEqual(['Revoke'])
  })

  it('that expires while it is shown is no longer listed among the active ones', async () => {
    const { key_id } = await storedKey(workspace.secret_key)
    await api.rotateServiceKey({ path: { key_id }, body: { grace_seconds: 3600 } })
    const page = await openKeys({ turnsClock: true, search: `?search=${workspace.secret_key.slice(-4)}` })
    await rowOf(page, workspace.secret_key).waitFor()
    // What is shown is what was read before.
    await page.route('**/v1/**', () => {})
    await page.clock.fastForward(70 * 60_000)
    await page.getByRole('heading', { name: 'No key found' }).waitFor()
    expect(await rowOf(page, workspace.secret_key).count()).toBe(0)
  })

  it('that has not expired is listed as active by a browser whose clock is ahead', async () => {
    const { key_id } = await storedKey(workspace.secret_key)
    await api.rotateServiceKey({ path: { key_id }, body: { grace_seconds: 3600 } })
    const page = await openAdministration({
      cairn,
      path: screenPath(workspace, 'keys'),
      signedIn: owner.headers,
      turnsClock: true,
      prepare: (page) => page.clock.setSystemTime(Date.now() + 5 * 3_600_000),
    })
    await page.getByRole('table', { name: 'Service keys' }).waitFor()
    expect(await shownNames(page)).toEqual(['First secret key', 'First publishable key', 'First secret key'])
    const row = rowOf(page, workspace.secret_key).first()
    await row.getByText('Active', { exact: true }).filter({ visible: true }).waitFor()
  })

  it('that somebody else has revoked is no longer listed after an attempt, which says why it failed', async () => {
    const page = await openKeys({ refusals: ['409 PATCH /v1/service-keys/{id}'] })
    await choose(page, workspace.secret_key, 'Edit')
    const dialog = page.getByRole('dialog', { name: 'Edit First secret key' })
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Importer')
    const { key_id } = await storedKey(workspace.secret_key)
    await api.revokeServiceKey({ path: { key_id } })
    await dialog.getByRole('button', { name: 'Save changes' }).click()
    await dialog.getByRole('alert').waitFor()
    await expect.poll(() => shownNames(page)).toEqual(['First publishable key'])
    await dialog.getByRole('alert').waitFor()
    expect(await dialog.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Importer')
  })

  it('that is being rotated is not left before it is shown, although its dialog was closed', async () => {
    const page = await openKeys()
    const release = await holdRequests(page, '**/rotate')
    await choose(page, workspace.secret_key, 'Rotate')
    const dialog = page.getByRole('dialog', { name: 'Rotate First secret key' })
    await dialog.getByRole('button', { name: 'Rotate key' }).click()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
    await page.getByRole('link', { name: 'Journeys' }).click()
    const question = page.getByRole('dialog', { name: 'Leave before the key is shown?' })
    await question.getByRole('button', { name: 'Cancel' }).click()
    await question.waitFor({ state: 'hidden' })
    release()
    const made = page.getByRole('dialog', { name: 'Your new secret key “First secret key”' })
    expect(await answerTo(await madeToken(made))).toBe(200)
  })

  it('is said to be possibly rotated if the response is lost, and the new one is listed', async () => {
    const page = await openKeys({ refusals: ['net::ERR_FAILED POST /v1/service-keys/{id}/rotate'] })
    await loseResponses(page, '**/rotate')
    await choose(page, workspace.secret_key, 'Rotate')
    const dialog = page.getByRole('dialog', { name: 'Rotate First secret key' })
    await dialog.getByRole('button', { name: 'Rotate key' }).click()
    await dialog.getByText('The key may have been rotated all the same.').waitFor()
    await expect
      .poll(() => shownNames(page))
      .toEqual(['First secret key', 'First publishable key', 'First secret key'])
    expect(await answerTo(workspace.secret_key)).toBe(200)
  })

  it('is rotated at once without a grace period', async () => {
    const page = await openKeys()
    const old = workspace.secret_key
    await choose(page, old, 'Rotate')
    await page.getByRole('radio', { name: 'None' }).check()
    await page.getByRole('button', { name: 'Rotate key' }).click()
    const made = page.getByRole('dialog', { name: 'Your new secret key' })
    await made.getByText(`The old key, …${old.slice(-4)}, no longer works.`).waitFor()
    const token = await madeToken(made)
    expect([await answerTo(old), await answerTo(token)]).toEqual([401, 200])
  })

  it.for([
    ['24 hours', 86_400],
    ['7 days', 604_800],
  ] as const)('is rotated with a grace period of %s', async ([grace, seconds]) => {
    const page = await openKeys()
    const old = workspace.secret_key
    await choose(page, old, 'Rotate')
    const dialog = page.getByRole('dialog', { name: 'Rotate First secret key' })
    await dialog.getByText(`then …${old.slice(-4)} stops working`).waitFor()
    const choice = dialog.getByRole('radio', { name: grace })
    expect(await choice.isChecked()).toBe(grace === '24 hours')
    await choice.check()
    const before_ms = Date.now()
    await dialog.getByRole('button', { name: 'Rotate key' }).click()
    const made = page.getByRole('dialog', { name: 'Your new secret key' })
    const [count = '', unit] = grace.split(' ')
    await made
      .getByText(`The old key, …${old.slice(-4)}, works for up to ${count} more ${unit}.`, { exact: true })
      .waitFor()
    const rotated_ms = Date.parse((await storedKey(old)).expires_at ?? '') - seconds * 1000
    expect(rotated_ms).toBeGreaterThanOrEqual(before_ms)
    expect(rotated_ms).toBeLessThanOrEqual(Date.now())
  })

  it('is revoked after an explanation, and refused at once', async () => {
    expect(await answerTo(workspace.secret_key)).toBe(200)
    const page = await openKeys()
    await choose(page, workspace.secret_key, 'Revoke')
    const question = page.getByRole('dialog', { name: 'Revoke First secret key?' })
    await question
      .getByText(`All requests with the key …${workspace.secret_key.slice(-4)} will be rejected immediately`)
      .waitFor()
    await inspectState(page, 'key-revoke')
    await question.getByRole('button', { name: 'Cancel' }).click()
    await question.waitFor({ state: 'hidden' })
    expect(await answerTo(workspace.secret_key)).toBe(200)

    await choose(page, workspace.secret_key, 'Revoke')
    await question.getByRole('button', { name: 'Revoke key' }).click()
    await question.waitFor({ state: 'hidden' })
    expect(await answerTo(workspace.secret_key)).toBe(401)
    await expect.poll(() => shownNames(page)).toEqual(['First publishable key'])
  })
})

describe('the list of keys', () => {
  it('shows active keys, or all on request, also after a reload and Back', async () => {
    await createKey(cairn, workspace, 'secret', { expires_ms: Date.now() - 1000 })
    const all = ['Test key', 'First secret key', 'First publishable key']
    const page = await openKeys()
    const filter = page.getByRole('radiogroup', { name: 'Keys to show' })
    await expect.poll(() => shownNames(page)).toEqual(expect.arrayContaining(all.slice(1)))
    expect(await shownNames(page)).not.toContain('Test key')
    await filter.getByText('All').click()
    await expect.poll(async () => (await shownNames(page)).toSorted()).toEqual(all.toSorted())
    await page.reload()
    await expect.poll(async () => (await shownNames(page)).length).toBe(3)
    await page.goBack()
    await expect.poll(async () => (await shownNames(page)).length).toBe(2)
  })

  it('is searched by name, by the last four characters and by a whole key, whose last four the URL keeps', async () => {
    const { key } = await createKey(cairn, workspace, 'secret')
    const page = await openKeys()
    const search = page.getByRole('searchbox', { name: 'Search keys' })
    for (const text of ['test', key.slice(-4), key]) {
      await search.fill(text)
      await expect.poll(() => shownNames(page)).toEqual(['Test key'])
      expect(page.url()).not.toContain(key)
      await search.fill('publishable')
      await expect.poll(() => shownNames(page)).toEqual(['First publishable key'])
    }
  })

  it('shows the text that it is searched by after Back and Forward, also in a field with the focus', async () => {
    const page = await openKeys()
    const search = page.getByRole('searchbox', { name: 'Search keys' })
    await search.fill('publishable')
    await expect.poll(() => shownNames(page)).toEqual(['First publishable key'])
    await page.getByRole('radiogroup', { name: 'Keys to show' }).getByText('All').click()
    await search.fill('secret')
    await expect.poll(() => shownNames(page)).toEqual(['First secret key'])
    await page.goBack()
    await expect.poll(() => shownNames(page)).toEqual(['First publishable key'])
    expect(await search.inputValue()).toBe('publishable')
    await page.goForward()
    await expect.poll(() => shownNames(page)).toEqual(['First secret key'])
    expect(await search.inputValue()).toBe('secret')
  })

  it('is in no address and no request of another screen either, where somebody pastes it into a filter', async () => {
    const { key } = await createKey(cairn, workspace, 'secret')
    const page = await openKeys()
    const addresses: string[] = []
    page.on('request', (request) => addresses.push(request.url()))
    page.on('framenavigated', (frame) => addresses.push(frame.url()))
    const open = (screen: string) => page.goto(`${cairn.url}/admin${screenPath(workspace, screen)}`)
    const showFields = () => page.getByRole('button', { name: 'Filter', exact: true }).click()

    await open('events/refused')
    await showFields()
    await page.getByRole('searchbox', { name: 'key_id' }).fill(key)
    await expect.poll(() => new URL(page.url()).searchParams.get('key_id')).toBe(key.slice(-4))
    await page.getByRole('searchbox', { name: 'event_id' }).fill(`signed_up ${key}`)
    await expect
      .poll(() => new URL(page.url()).searchParams.get('event_id'))
      .toBe(`signed_up ${key.slice(-4)}`)
    await open('events')
    await showFields()
    await page.getByRole('combobox', { name: 'Service key' }).fill(key)
    await page.getByRole('option', { name: /^Test key/ }).waitFor()
    await open('audit-log')
    await page.getByRole('combobox', { name: 'Member or secret key' }).fill(key)
    await page.getByRole('option', { name: /^Test key/ }).waitFor()

    expect(addresses.length).toBeGreaterThan(0)
    expect(addresses.filter((address) => address.includes(key))).toEqual([])
  })

  it('has one line per key, so that many can be scanned', async () => {
    for (let number = 1; number <= 40; number++) {
      await api.createServiceKey({ body: { kind: 'publishable', name: `Site ${number}` } })
    }
    const page = await openKeys()
    await expect.poll(async () => (await shownNames(page)).length).toBe(42)
    const height = await page
      .getByRole('table', { name: 'Service keys' })
      .evaluate((table) => table.clientHeight)
    expect(height).toBeLessThan(42 * 50)
  })

  it('has the name of the header on one line', async () => {
    const page = await openKeys()
    const name = page.getByRole('main').getByText('x-service-key', { exact: true })
    for (const width of [1280, 1024, 768, 390, 360]) {
      await page.setViewportSize({ width, height: 800 })
      expect(await name.evaluate((name) => name.getClientRects().length), `${width} px`).toBe(1)
    }
  })

  it('says what to do if there is no key, but not before it is loaded', async () => {
    for (const { key_id } of await storedKeys()) await api.revokeServiceKey({ path: { key_id } })
    const page = await openKeys()
    await page.getByRole('heading', { name: 'No active service keys' }).waitFor()
    await inspectState(page, 'keys-none')

    const release = await holdRequests(page, '**/v1/service-keys*')
    await page.reload()
    await page.locator('[aria-busy=true]').waitFor()
    expect(await page.getByText('No active service keys').count()).toBe(0)
    release()
    await page.getByText('No active service keys').waitFor()
  })

  it('fits the screen and is accessible', async () => {
    const allowed_origins = ['https://app.example.com', `https://${'a'.repeat(60)}.${'b'.repeat(60)}.example`]
    const { key } = await createKey(cairn, workspace, 'publishable', { allowed_origins, rate_limit: 1 })
    await createKey(cairn, workspace, 'secret', { expires_ms: Date.now() - 1000 })
    const [newest] = await storedKeys()
    await api.revokeServiceKey({ path: { key_id: newest?.key_id ?? '' } })
    const page = await openKeys({ search: '?status=all' })
    await (await openDetails(page, key)).getByText(key).waitFor()
    await inspectState(page, 'keys-all')
  })

  it('can be read but not changed by a viewer, whom the server refuses too', async () => {
    const person = await signUp(cairn, workspace, 'viewer')
    const page = await openKeys({ person })
    await page.getByText('An owner or admin of the workspace can create and change keys.').waitFor()
    await expect.poll(async () => (await shownNames(page)).length).toBe(2)
    expect(await page.getByRole('button', { name: /^(Actions|Create)/ }).count()).toBe(0)
    await inspectState(page, 'keys-viewer')

    const client = person.client(workspace.workspace_id)
    const [key] = await storedKeys()
    const path = { key_id: key?.key_id ?? '' }
    const refusals = await Promise.all([
      client.createServiceKey({ body: { kind: 'secret', name: 'Mine' } }),
      client.updateServiceKey({ path, body: { name: 'Mine' } }),
      client.rotateServiceKey({ path, body: { grace_seconds: 0 } }),
      client.revokeServiceKey({ path }),
    ])
    for (const { error } of refusals) expect(error?.code).toBe('role_not_allowed')
  })
})
