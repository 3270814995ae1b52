// engines: sqlite (a browser sees only the API, which is tested on both engines)

import type { Locator, Page } from 'playwright-core'
import { beforeEach, describe, expect, it } from 'vitest'
import type { PersonClient, Schemas } from '../../client/person.ts'
import { problems } from '../../server/problems.ts'
import type { Cairn, Workspace } from '../fixtures/cairn.ts'
import { initialize } from '../fixtures/customer.ts'
import { ownedWorkspace } from '../fixtures/owned-workspace.ts'
import { type SignedUp, signUp } from '../fixtures/people.ts'
import { startReceiver } from '../fixtures/receiver.ts'
import { newWebhook } from '../fixtures/webhook.ts'
import {
  goBackAndStay,
  hasFocus,
  holdRequests,
  inspectState,
  loseResponses,
  openAdministration,
  tabTo,
} from './administration.ts'
import { comeBackTo, heading, screenPath, tableRows } from './screens.ts'

let cairn: Cairn
let workspace: Workspace
let owner: SignedUp
let api: PersonClient

beforeEach(async () => {
  ;({ cairn, workspace, owner } = await ownedWorkspace())
  api = owner.client(workspace.workspace_id)
})

/** Opens a screen of the workspace, as its owner unless another person is given. */
async function open(screen: string, { person = owner, refusals = [] as string[] } = {}): Promise<Page> {
  const path = screenPath(workspace, screen)
  return await openAdministration({ cairn, path, signedIn: person.headers, refusals })
}

async function storedWebhooks(): Promise<Schemas['Webhook'][]> {
  return (await api.listWebhooks()).data?.data ?? []
}

/** The secret in the dialog that shows a new one. */
async function shownSecret(dialog: Locator): Promise<string> {
  return (await dialog.getByLabel('Secret of the webhook').textContent()) ?? ''
}

async function sendEvent(event_id: string): Promise<string> {
  const { client, journey_id } = workspace
  const customer_id = await initialize(workspace, 'user-1')
  const { data } = await client.createEvent({ body: { journey_id, customer_id, event_id } })
  return data?.id ?? ''
}

/** Chooses an action from the menu of the webhook. */
async function choose(page: Page, action: string) {
  await page.getByRole('button', { name: /^Actions for/ }).click()
  await page.getByRole('menuitem', { name: action }).click()
}

describe('a new webhook', () => {
  it('is created, shows its secret once, and is told what happens', async () => {
    const receiver = await startReceiver()
    const page = await open('webhooks')
    await page.getByRole('heading', { name: 'No webhooks yet' }).waitFor()
    await page.getByRole('tab', { name: 'Python' }).click()
    await page.getByText('from standardwebhooks.webhooks import Webhook').waitFor()
    await page.getByRole('link', { name: 'Create webhook' }).click()
    await heading(page, 'Create webhook').waitFor()
    await page.getByRole('textbox', { name: 'URL' }).fill(receiver.url)
    await page.getByRole('textbox', { name: 'Description' }).fill('Fills the data warehouse')
    await page.getByRole('checkbox', { name: 'Journey not completed' }).check()
    await page.getByRole('textbox', { name: 'Time to complete a journey' }).fill('36 h')
    await page.getByRole('combobox', { name: 'Journeys' }).click()
    await page.getByRole('option', { name: 'Onboarding' }).click()
    await page.keyboard.press('Escape')
    await page.getByRole('combobox', { name: 'Events' }).fill('signed_up')
    await page.keyboard.press('Enter')
    await inspectState(page, 'webhook-form-filled')
    await page.getByRole('button', { name: 'Create webhook' }).click()

    const { host } = new URL(receiver.url)
    const dialog = page.getByRole('dialog', { name: `Your new secret for ${host}` })
    await dialog.waitFor()
    const secret = await shownSecret(dialog)
    expect(secret).toMatch(/^whsec_/)
    await inspectState(page, 'webhook-secret')
    await page.keyboard.press('Escape')
    const question = page.getByRole('dialog', { name: 'Close without copying the secret?' })
    await question.getByRole('button', { name: 'Cancel' }).click()
    await question.waitFor({ state: 'hidden' })
    await dialog.getByRole('button', { name: 'Copy secret' }).click()
    await dialog.getByText('Secret copied.').waitFor()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(secret)
    await dialog.getByRole('button', { name: 'Done' }).click()

    await heading(page, host).waitFor()
    expect(await page.content()).not.toContain(secret)
    await page.reload()
    await heading(page, host).waitFor()
    await page.getByText('Fills the data warehouse').waitFor()
    await page.getByRole('link', { name: 'Onboarding' }).waitFor()
    expect(await page.content()).not.toContain(secret)
    expect(await storedWebhooks()).toMatchObject([
      {
        url: receiver.url,
        types: ['event.created', 'journey.dropped'],
        journey_ids: [workspace.journey_id],
        event_ids: ['signed_up'],
        dropped_after: 'PT36H',
      },
    ])
    receiver.secrets.push(secret)
    await sendEvent('signed_up')
    await receiver.has(1, 'event.created')
  })

  it('is listed by its URL as it was given', async () => {
    const url = (await startReceiver()).url.replace('127.0.0.1', 'LocalHost')
    await newWebhook(api, { url: `${url}/Hook`, types: ['event.created'] })
    const page = await open('webhooks')
    await page.getByText(`${url}/Hook`).waitFor()
  })

  it('is said to be possibly created if the response is lost', async () => {
    const page = await open('webhooks/new', { refusals: ['net::ERR_FAILED POST /v1/webhooks'] })
    await loseResponses(page, '**/v1/webhooks')
    await page.getByRole('textbox', { name: 'URL' }).fill('http://127.0.0.1:9/hook')
    await page.getByRole('checkbox', { name: 'Erased customers' }).check()
    await page.getByRole('button', { name: 'Create webhook' }).click()
    await page.getByText('The webhook may have been created all the same.').waitFor()
    expect(await storedWebhooks()).toHaveLength(1)
  })

  it('is created with the keyboard alone', async () => {
    const page = await open('webhooks/new')
    await heading(page, 'Create webhook').waitFor()
    await tabTo(page, page.getByRole('textbox', { name: 'URL' }))
    await page.keyboard.type('http://127.0.0.1:9/keyboard')
    await tabTo(page, page.getByRole('checkbox', { name: 'New customers' }))
    await page.keyboard.press('Space')
    await tabTo(page, page.getByRole('button', { name: 'Create webhook' }))
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Your new secret for 127.0.0.1:9' })
    await dialog.waitFor()
    await expect.poll(() => hasFocus(dialog.getByRole('button', { name: 'Copy secret' }))).toBe(true)
    await page.keyboard.press('Enter')
    await dialog.getByText('Secret copied.').waitFor()
    await page.keyboard.press('Escape')
    await heading(page, '127.0.0.1:9').waitFor()
    expect(await storedWebhooks()).toMatchObject([{ types: ['event.created', 'customer.created'] }])
  })

  it('reports at the fields what is missing or not allowed', async () => {
    const page = await open('webhooks/new', { refusals: ['409 POST /v1/webhooks'] })
    await page.getByRole('checkbox', { name: /^Events/ }).uncheck()
    await page.getByRole('button', { name: 'Create webhook' }).click()
    await page.getByText('Enter the URL that receives the messages.').waitFor()
    await page.getByText('Choose at least one.').waitFor()
    const url = page.getByRole('textbox', { name: 'URL' })
    await expect.poll(() => hasFocus(url)).toBe(true)
    await page.getByRole('checkbox', { name: 'Journey not completed' }).check()
    await page.getByRole('textbox', { name: 'Time to complete a journey' }).fill('soon')
    await url.fill('https://10.0.0.1/hook')
    await page.getByRole('button', { name: 'Create webhook' }).click()
    await page.getByText('Enter a duration such as 7 d or 36 h.').waitFor()
    await page.getByRole('textbox', { name: 'Time to complete a journey' }).fill('7 d')
    await page.getByRole('button', { name: 'Create webhook' }).click()
    await expect.poll(() => url.getAttribute('aria-invalid')).toBe('true')
    await inspectState(page, 'webhook-form-refused')
    expect(await url.inputValue()).toBe('https://10.0.0.1/hook')
    expect(await storedWebhooks()).toEqual([])
  })

  it('beyond the limit is refused with the reason', async () => {
    for (let count = 0; count < 20; count++) {
      await newWebhook(api, { url: `http://127.0.0.1:9/${count}`, types: ['customer.erased'] })
    }
    const page = await open('webhooks/new', { refusals: ['409 POST /v1/webhooks'] })
    await page.getByRole('textbox', { name: 'URL' }).fill('http://127.0.0.1:9/one-too-many')
    await page.getByRole('button', { name: 'Create webhook' }).click()
    await page.getByRole('alert').filter({ hasText: 'webhook_limit' }).waitFor()
  })
})

describe('a webhook', () => {
  it('is tested, and shows how it went', async () => {
    const receiver = await startReceiver()
    const { webhook } = await newWebhook(api, { url: receiver.url, types: ['customer.erased'] })
    const page = await open(`webhooks/${webhook.webhook_id}`)
    await page.getByRole('button', { name: 'Send a test' }).click()
    await page.getByText(/^The receiver accepted it: status 204/).waitFor()
    expect(receiver.types).toEqual(['webhook.test'])
    receiver.answer = (res) => res.writeHead(500).end('The queue is full')
    await page.getByRole('button', { name: 'Send a test' }).click()
    await page.getByText(/^The receiver did not accept it: status 500/).waitFor()
    await page.getByText('The queue is full').waitFor()
    await inspectState(page, 'webhook-test-failed')
  })

  it('is changed, and keeps what was not', async () => {
    const { webhook } = await newWebhook(api, {
      url: 'http://127.0.0.1:9/hook',
      types: ['event.created', 'journey.dropped'],
      event_ids: ['signed_up'],
      dropped_after: 'P1DT2H3M',
    })
    const page = await open(`webhooks/${webhook.webhook_id}`)
    await page.getByRole('button', { name: 'Edit webhook' }).click()
    await page.getByRole('textbox', { name: 'Description' }).fill('Now with a description')
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByText('Now with a description').waitFor()
    await page.getByRole('button', { name: 'Edit webhook' }).waitFor()
    const { updated_at: _, ...unchanged } = webhook
    expect(await storedWebhooks()).toMatchObject([{ ...unchanged, description: 'Now with a description' }])
  })

  it('is changed without undoing what somebody else changes meanwhile', async () => {
    const { webhook } = await newWebhook(api, { url: 'http://127.0.0.1:9/hook', types: ['event.created'] })
    const { webhook_id } = webhook
    const page = await open(`webhooks/${webhook_id}`)
    const edit = page.getByRole('button', { name: 'Edit webhook' })
    await edit.click()
    await page.getByRole('textbox', { name: 'Description' }).fill('By this person')
    const others = { url: 'http://127.0.0.1:9/moved', event_ids: ['signed_up'] }
    await api.updateWebhook({ path: { webhook_id }, body: others })
    await page.getByRole('button', { name: 'Save changes' }).click()
    await edit.waitFor()
    const saved = { ...others, description: 'By this person', types: ['event.created'] }
    expect(await storedWebhooks()).toMatchObject([saved])

    await edit.click()
    await page.getByRole('button', { name: 'Save changes' }).click()
    await edit.waitFor()
    await edit.click()
    const [before] = await storedWebhooks()
    await page.getByRole('combobox', { name: 'Events' }).click()
    await page.keyboard.press('Backspace')
    await page.getByRole('button', { name: 'Save changes' }).click()
    await edit.waitFor()
    expect(await storedWebhooks()).toMatchObject([{ ...saved, event_ids: null }])
    expect(before?.updated_at).not.toBe(webhook.updated_at)
  })

  it.each(['new', 'edited'])('is not left with unsaved changes without a question: %s', async (kind) => {
    const { webhook } = await newWebhook(api, { url: 'http://127.0.0.1:9/hook', types: ['event.created'] })
    const page = await open(kind === 'new' ? 'webhooks/new' : `webhooks/${webhook.webhook_id}`)
    if (kind === 'edited') await page.getByRole('button', { name: 'Edit webhook' }).click()
    const description = page.getByRole('textbox', { name: 'Description' })
    await description.fill('Not saved yet')
    await page.getByRole('link', { name: 'Members' }).click()
    const question = page.getByRole('dialog', { name: 'Leave without saving?' })
    await question.getByRole('button', { name: 'Cancel' }).click()
    await question.waitFor({ state: 'hidden' })
    expect(await description.inputValue()).toBe('Not saved yet')
    await page.getByRole('link', { name: 'Members' }).click()
    await question.getByRole('button', { name: 'Leave without saving' }).click()
    await heading(page, 'Members').waitFor()
    expect(await storedWebhooks()).toMatchObject([{ description: '' }])
  })

  it('is disabled, and enabled where it stopped or without what it missed', async () => {
    const receiver = await startReceiver()
    const { webhook } = await newWebhook(api, { url: receiver.url, types: ['event.created'] })
    const page = await open(`webhooks/${webhook.webhook_id}`)
    const disable = async () => {
      await choose(page, 'Disable…')
      await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click()
      await page.getByRole('alert').filter({ hasText: 'This webhook is disabled' }).waitFor()
    }
    await disable()
    await inspectState(page, 'webhook-disabled')
    const first = await sendEvent('first')
    await page.getByRole('button', { name: 'Enable' }).click()
    await page.getByText('Enabled', { exact: true }).waitFor()
    expect(await receiver.has(1)).toMatchObject([{ data: { id: first } }])

    await disable()
    await sendEvent('missed')
    await page.getByRole('button', { name: 'Skip what it missed…' }).click()
    await page.getByRole('button', { name: 'Skip and enable' }).click()
    await page.getByText('Enabled', { exact: true }).waitFor()
    const last = await sendEvent('last')
    await receiver.has(2)
    expect(receiver.received.map(({ data }) => data.id)).toEqual([first, last])
  })

  it('whose receiver is gone says so, and goes on once it is enabled', async () => {
    const receiver = await startReceiver()
    receiver.answer = (res) => res.writeHead(410).end()
    const { webhook } = await newWebhook(api, { url: receiver.url, types: ['event.created'] })
    const page = await open(`webhooks/${webhook.webhook_id}`)
    const id = await sendEvent('signed_up')
    const notice = page.getByRole('alert').filter({ hasText: 'the receiver answered 410' })
    await notice.waitFor()
    await page.getByText('Disabled: the receiver is gone (410)').waitFor()
    await inspectState(page, 'webhook-gone')
    receiver.answer = (res) => res.writeHead(204).end()
    await notice.getByRole('button', { name: 'Enable' }).click()
    await notice.waitFor({ state: 'hidden' })
    const [first, second] = await receiver.has(2)
    expect(second).toMatchObject({ id: first?.id, data: { id } })
  })

  it('gets a new secret, which is shown once and signs', async () => {
    const receiver = await startReceiver()
    const { webhook, secret } = await newWebhook(api, { url: receiver.url, types: ['customer.erased'] })
    const page = await open(`webhooks/${webhook.webhook_id}`)
    await choose(page, 'Rotate secret…')
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click()
    const dialog = page.getByRole('dialog', { name: /^Your new secret/ })
    await dialog.getByText(/For 24 hours every message is signed with the old secret too/).waitFor()
    const rotated = await shownSecret(dialog)
    expect(rotated).not.toBe(secret)
    await dialog.getByRole('button', { name: 'Copy secret' }).click()
    await dialog.getByRole('button', { name: 'Done' }).click()
    await dialog.waitFor({ state: 'hidden' })
    receiver.secrets.push(secret, rotated)
    await page.getByRole('button', { name: 'Send a test' }).click()
    await page.getByText(/^The receiver accepted it/).waitFor()
    expect(await page.content()).not.toContain(rotated)
  })

  it('is said to have possibly a new secret if the response is lost', async () => {
    const { webhook } = await newWebhook(api, { url: 'http://127.0.0.1:9/hook', types: ['customer.erased'] })
    const page = await open(`webhooks/${webhook.webhook_id}`, {
      refusals: ['net::ERR_FAILED POST /v1/webhooks/{id}/rotate'],
    })
    await loseResponses(page, '**/rotate')
    await choose(page, 'Rotate secret…')
    const asked = page.getByRole('dialog', { name: 'Rotate the secret?' })
    await asked.getByRole('button', { name: 'Rotate secret' }).click()
    await asked.getByText('The secret may have been rotated all the same.').waitFor()
    await page.unroute('**/rotate')
    await asked.getByRole('button', { name: 'Rotate secret' }).click()
    expect(await shownSecret(page.getByRole('dialog', { name: /^Your new secret/ }))).toMatch(/^whsec_/)
  })

  it('gets a new secret that is not left before it is shown or copied', async () => {
    const { webhook } = await newWebhook(api, { url: 'http://127.0.0.1:9/hook', types: ['customer.erased'] })
    const page = await open('webhooks')
    await page.getByRole('link', { name: '127.0.0.1:9' }).click()
    await heading(page, '127.0.0.1:9').waitFor()
    expect(page.url()).toContain(webhook.webhook_id)
    const release = await holdRequests(page, '**/rotate')
    await choose(page, 'Rotate secret…')
    const asked = page.getByRole('dialog', { name: 'Rotate the secret?' })
    await asked.getByRole('button', { name: 'Rotate secret' }).click()
    await page.keyboard.press('Escape')
    await asked.waitFor({ state: 'hidden' })
    for (const title of ['Leave before the secret is shown?', 'Leave without copying the secret?']) {
      await goBackAndStay(page, title)
      release()
      expect(await shownSecret(page.getByRole('dialog', { name: /^Your new secret/ }))).toMatch(/^whsec_/)
    }
  })

  it('is told again what happened since a time', async () => {
    const id = await sendEvent('earlier')
    const receiver = await startReceiver()
    const { webhook } = await newWebhook(api, { url: receiver.url, types: ['event.created'] })
    const page = await open(`webhooks/${webhook.webhook_id}`)
    await choose(page, 'Replay…')
    const dialog = page.getByRole('dialog', { name: 'Replay from a time' })
    await dialog.getByRole('button', { name: 'Replay', exact: true }).click()
    await dialog.getByText('Enter the time of the first event to send.').waitFor()
    await inspectState(page, 'webhook-replay')
    const since = dialog.getByRole('textbox', { name: 'Since' })
    await since.fill('yesterday')
    await since.press('Tab')
    await since.fill('a while ago')
    await dialog.getByRole('button', { name: 'Replay', exact: true }).click()
    await dialog.getByText('Enter a time such as 20 Nov 2026, 09:30').waitFor()
    await since.fill('yester')
    // A click beside the dialog neither closes it nor loses what was typed.
    await page.mouse.click(5, 5)
    await since.press('End')
    await page.keyboard.type('day')
    await dialog.getByRole('button', { name: 'Replay', exact: true }).click()
    await dialog.waitFor({ state: 'hidden' })
    expect(await receiver.has(1)).toMatchObject([{ data: { id } }])
  })

  it('is removed after a confirmation', async () => {
    const { webhook } = await newWebhook(api, { url: 'http://127.0.0.1:9/hook', types: ['customer.erased'] })
    const page = await open(`webhooks/${webhook.webhook_id}`)
    await choose(page, 'Remove…')
    await page.getByRole('button', { name: 'Remove webhook' }).click()
    await page.getByRole('heading', { name: 'No webhooks yet' }).waitFor()
    expect(await storedWebhooks()).toEqual([])
  })

  it('that is removed meanwhile is reported, and what is being typed stays', async () => {
    const { webhook } = await newWebhook(api, { url: 'http://127.0.0.1:9/hook', types: ['customer.erased'] })
    const { webhook_id } = webhook
    const page = await open(`webhooks/${webhook_id}`, { refusals: ['404 GET /v1/webhooks/{id}'] })
    await page.getByRole('button', { name: 'Edit webhook' }).click()
    const description = page.getByRole('textbox', { name: 'Description' })
    await description.fill('Not saved yet')
    await api.removeWebhook({ path: { webhook_id } })
    await page.getByRole('alert', { name: problems.webhook_not_found.title }).waitFor()
    expect(await description.inputValue()).toBe('Not saved yet')
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('heading', { name: 'Webhook not found' }).waitFor()
    expect(await page.getByText('127.0.0.1:9').count()).toBe(0)
  })

  it('that cannot be read any more stays on the page while there are unsaved changes, and says so', async () => {
    const { webhook } = await newWebhook(api, { url: 'http://127.0.0.1:9/hook', types: ['customer.erased'] })
    const admin = await signUp(cairn, workspace, 'admin')
    const page = await open(`webhooks/${webhook.webhook_id}`, {
      person: admin,
      refusals: ['403 GET /v1/webhooks/{id}'],
    })
    // Without the deliveries, which report the same.
    await page.getByRole('button', { name: 'Edit webhook' }).click()
    const description = page.getByRole('textbox', { name: 'Description' })
    await description.fill('Not saved yet')
    const path = { person_id: admin.person_id }
    await api.updateMember({ path, body: { role: 'viewer' } })
    const alert = page.getByRole('alert', { name: problems.role_not_allowed.title })
    await alert.waitFor()
    await heading(page, '127.0.0.1:9').waitFor()
    await api.updateMember({ path, body: { role: 'admin' } })
    await alert.waitFor({ state: 'hidden' })
    expect(await description.inputValue()).toBe('Not saved yet')
    await page.getByRole('button', { name: 'Cancel' }).click()
    await api.updateMember({ path, body: { role: 'viewer' } })
    await page.getByRole('heading', { name: 'For owners and admins' }).waitFor()
  })

  it('that does not exist is reported', async () => {
    const page = await open('webhooks/whk_00000000000000000000000000', {
      refusals: ['404 GET /v1/webhooks/{id}'],
    })
    await page.getByRole('heading', { name: 'Webhook not found' }).waitFor()
  })
})

describe('the deliveries of a webhook', () => {
  function rows(page: Page): Locator {
    return tableRows(page, 'Deliveries')
  }

  it('appear while the page is open, and show the last attempt and what was sent', async () => {
    const receiver = await startReceiver()
    receiver.answer = (res) => res.writeHead(500).end('The queue is full')
    const { webhook } = await newWebhook(api, { url: receiver.url, types: ['event.created'] })
    const page = await open(`webhooks/${webhook.webhook_id}`)
    await page.getByRole('heading', { name: 'No deliveries yet' }).waitFor()
    const id = await sendEvent('signed_up')
    await rows(page).first().waitFor()
    await rows(page).first().getByRole('button').click()
    const drawer = page.getByRole('dialog', { name: 'Events' })
    await drawer.getByText(/The receiver did not accept it: status 500/).waitFor()
    await drawer.getByText('The queue is full').waitFor()
    await drawer.getByText(`"${id}"`).first().waitFor()
    await inspectState(page, 'webhook-delivery')
    await drawer.getByRole('button', { name: 'Copy Request as curl' }).click()
    const [received] = receiver.received
    const command = await page.evaluate(() => navigator.clipboard.readText())
    expect(command).toContain(`curl -i '${receiver.url}'`)
    expect(command).toContain(`-H 'webhook-id: ${received?.id}'`)
    const [, body = ''] = command.match(/ -d '(.*)'/s) ?? []
    expect(JSON.parse(body)).toMatchObject({ type: 'event.created', data: received?.data })

    receiver.answer = (res) => res.writeHead(204).end()
    await drawer.getByRole('button', { name: 'Send again' }).click()
    await drawer.getByText('Succeeded', { exact: true }).waitFor()
    expect(receiver.received.map((message) => message.id)).toEqual(receiver.received.map(() => received?.id))
    await page.keyboard.press('Escape')
    await drawer.waitFor({ state: 'hidden' })
    await page.getByText('The receiver does not accept messages').waitFor({ state: 'hidden' })
  })

  it('are followed after they were sent again, also from a list of one status', async () => {
    const receiver = await startReceiver()
    const { webhook } = await newWebhook(api, { url: receiver.url, types: ['event.created'] })
    await sendEvent('signed_up')
    await receiver.has(1)
    const page = await open(`webhooks/${webhook.webhook_id}?status=succeeded`)
    await rows(page).first().getByRole('button').click()
    const drawer = page.getByRole('dialog', { name: 'Events' })
    await drawer.getByText('Succeeded', { exact: true }).waitFor()
    receiver.answer = (res) => res.writeHead(500).end()
    await drawer.getByRole('button', { name: 'Send again' }).click()
    await drawer.getByText('Pending', { exact: true }).waitFor()
    await drawer.getByText(/The receiver did not accept it: status 500/).waitFor()
    expect(new URL(page.url()).searchParams.has('status')).toBe(false)
  })

  it('are not sent again while the webhook is disabled, with the reason', async () => {
    const receiver = await startReceiver()
    const { webhook } = await newWebhook(api, { url: receiver.url, types: ['event.created'] })
    const { webhook_id } = webhook
    await sendEvent('signed_up')
    await receiver.has(1)
    const page = await open(`webhooks/${webhook_id}`)
    await rows(page).first().getByText('Succeeded').waitFor()
    await rows(page).first().getByRole('button').click()
    const drawer = page.getByRole('dialog', { name: 'Events' })
    const resend = drawer.getByRole('button', { name: 'Send again' })
    expect(await resend.isEnabled()).toBe(true)
    await api.updateWebhook({ path: { webhook_id }, body: { enabled: false } })
    await comeBackTo(page)
    await drawer.getByText('The webhook is disabled and sends nothing.').waitFor()
    expect(await descriptionOf(resend)).toBe('The webhook is disabled and sends nothing. Enable it first.')
    expect(await resend.isEnabled()).toBe(false)
    await inspectState(page, 'webhook-disabled-delivery')
    await resend.press('Enter')
    const { data } = await api.listWebhookDeliveries({ path: { webhook_id } })
    expect(data?.data).toMatchObject([{ status: 'succeeded' }])
    await api.updateWebhook({ path: { webhook_id }, body: { enabled: true } })
    await comeBackTo(page)
    await expect.poll(() => resend.isEnabled()).toBe(true)
  })

  it('that wait for a paused receiver are said to wait', async () => {
    const receiver = await startReceiver()
    receiver.answer = (res) => res.writeHead(503, { 'retry-after': '3600' }).end()
    const { webhook } = await newWebhook(api, { url: receiver.url, types: ['event.created'] })
    await sendEvent('signed_up')
    const page = await open(`webhooks/${webhook.webhook_id}`)
    await page.getByText('Messages wait').waitFor()
    await rows(page).first().getByRole('button').click()
    const drawer = page.getByRole('dialog', { name: 'Events' })
    await drawer.getByRole('button', { name: 'Send again' }).click()
    await page.getByText(/^The message is sent at the next attempt: \d/).waitFor()
    expect(receiver.received).toHaveLength(1)
  })

  it('are filtered by status, in the URL', async () => {
    const receiver = await startReceiver()
    const { webhook } = await newWebhook(api, { url: receiver.url, types: ['event.created'] })
    await sendEvent('signed_up')
    await receiver.has(1)
    const page = await open(`webhooks/${webhook.webhook_id}`)
    await rows(page).first().getByText('Succeeded').waitFor()
    await rows(page).first().getByRole('button').click()
    const drawer = page.getByRole('dialog', { name: 'Events' })
    await drawer.getByText(/The receiver accepted it: status 204/).waitFor()
    await page.goBack()
    await drawer.waitFor({ state: 'hidden' })
    const filter = page.getByRole('radiogroup', { name: 'Deliveries to show' })
    await filter.getByText('Failed', { exact: true }).click()
    await page.getByRole('heading', { name: 'No deliveries with this status' }).waitFor()
    expect(new URL(page.url()).search).toBe('?status=failed')
    await filter.getByText('Succeeded', { exact: true }).click()
    await rows(page).first().waitFor()
    await page.reload()
    await rows(page).first().waitFor()
    expect(new URL(page.url()).search).toBe('?status=succeeded')
  })
})

describe('the list of webhooks', () => {
  it('shows what each is told, and whether it works', async () => {
    const receiver = await startReceiver()
    await newWebhook(api, { url: receiver.url, types: ['customer.created', 'journey.completed'] })
    const { webhook } = await newWebhook(api, { url: 'http://127.0.0.1:9/off', types: ['event.created'] })
    await api.updateWebhook({ path: { webhook_id: webhook.webhook_id }, body: { enabled: false } })
    await sendEvent('signed_up')
    await receiver.has(1)
    const page = await open('webhooks')
    const shown = (url: string, text: string) =>
      page.getByRole('row').filter({ hasText: url }).getByText(text).filter({ visible: true })
    await shown(receiver.url, 'New customers, Journey completed').waitFor()
    await shown(receiver.url, 'Enabled').waitFor()
    await shown('http://127.0.0.1:9/off', 'Disabled').waitFor()
  })

  it('is for owners and admins', async () => {
    const viewer = await signUp(cairn, workspace, 'viewer')
    const page = await open('webhooks', { person: viewer })
    await page.getByRole('heading', { name: 'For owners and admins' }).waitFor()
    expect(await page.getByRole('link', { name: 'Webhooks' }).count()).toBe(0)
  })
})

/** The text by which screen readers describe the element. */
function descriptionOf(element: Locator): Promise<string | undefined> {
  return element.evaluate(
    (element) => document.getElementById(element.getAttribute('aria-describedby') ?? '')?.textContent,
  )
}
