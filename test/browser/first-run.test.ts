// engines: sqlite (a browser sees only the API, which is tested on both engines)

import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { bundleForBrowser } from '../fixtures/bundle.ts'
import {
  type Cairn,
  startCairnForTest,
  temporaryFolder,
  unmadeStore,
  type Workspace,
} from '../fixtures/cairn.ts'
import { startChildServer } from '../fixtures/child-server.ts'
import { initialize } from '../fixtures/customer.ts'
import { installPackage, writeIn } from '../fixtures/installation.ts'
import { jsonLines } from '../fixtures/json-lines.ts'
import { withPatience } from '../fixtures/patience.ts'
import { signUp } from '../fixtures/people.ts'
import { within } from '../fixtures/within.ts'
import { inspectState, loseResponses, openAdministration } from './administration.ts'
import { heading, screenPath } from './screens.ts'

const run = promisify(execFile)

/** The input of a first visit. */
const typed = {
  'Your name': 'Ada Lovelace',
  Email: 'ada@example.com',
  Password: 'analytical engine weaves algebra',
  'Workspace name': 'Example Ltd',
  'First journey (optional)': 'Onboarding',
}

/** A server on an empty store: its URL, and the path of its setup link below /admin. */
type FirstServer = { cairn: { url: string }; path: string }

/** Starts a server like an operator, who finds the link in its output. */
async function serveFirst(): Promise<FirstServer> {
  const cairn = await startChildServer({ databaseUrl: `sqlite:${join(temporaryFolder(), 'cairn.db')}` })
  const path = await vi.waitUntil(() => pathOfLink(cairn.stderr()), withPatience)
  return { cairn, path }
}

async function startFirstServer(): Promise<FirstServer> {
  const cairn = await startCairnForTest({ databaseUrl: await unmadeStore() })
  return { cairn, path: pathOfLink(cairn.setupLink ?? '') }
}

function pathOfLink(text: string): string {
  return /\/admin(\/setup#token=\S+)/.exec(text)?.[1] ?? ''
}

async function fillIn(page: Page, values: Record<string, string>) {
  for (const [label, value] of Object.entries(values)) {
    await page.getByRole('textbox', { name: label }).fill(value)
  }
}

async function setUp(page: Page) {
  await fillIn(page, typed)
  await page.getByRole('button', { name: 'Set up' }).click()
  await heading(page, 'Send your first event').waitFor()
}

/** Whether the screen explains in one sentence each what a journey is and the types of customers. */
async function explainsTerms(page: Page) {
  await page.getByText('A journey is a funnel: a path that your customers take').waitFor()
  await page.getByText('A customer is a contact (a person) or an account (a company).').waitFor()
}

/** Creates the one key that the code needs. */
async function makeKey(page: Page) {
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.getByRole('combobox', { name: 'Publishable key' }).waitFor()
}

/** The code that the page offers for copying. */
async function copiedCode(page: Page, label: string): Promise<string> {
  await page.getByRole('button', { name: `Copy ${label}` }).click()
  await page.getByText('Copied').first().waitFor()
  const copied = await page.evaluate(() => navigator.clipboard.readText())
  expect(await page.getByRole('region', { name: label }).textContent()).toBe(copied)
  return copied
}

function panelOf(page: Page) {
  return page.getByRole('group', { name: 'Latest event' })
}

describe('the first visit', () => {
  it('leads from the link that the server prints to a first event and its customer', async () => {
    const { cairn, path } = await serveFirst()
    const page = await openAdministration({ cairn, path })
    await page.getByRole('heading', { name: 'Set up Cairn' }).waitFor()
    expect(page.url(), 'the token stays out of the address').toBe(`${cairn.url}/admin/setup`)
    await explainsTerms(page)

    await setUp(page)
    expect(await page.getByRole('combobox', { name: 'Journey' }).inputValue()).toBe('Onboarding')
    const panel = panelOf(page)
    await panel.getByText('Waiting for the first event in Onboarding').waitFor()
    await page.getByRole('link', { name: 'First event', exact: true }).waitFor()
    const ground = await panel.evaluate((element) => getComputedStyle(element).borderTopColor)

    await page.setViewportSize({ width: 1280, height: 800 })
    const box = await panel.boundingBox()
    expect((box?.y ?? 800) + (box?.height ?? 0), 'what arrives is in sight').toBeLessThan(800)
    await makeKey(page)
    const commands = await copiedCode(page, 'curl commands')
    const { stdout } = await run('bash', ['-c', commands])
    await within(1, async () => {
      expect(await panel.textContent()).toContain('first_event received in Onboarding')
    })
    const [customer, event] = jsonLines(stdout)
    await panel.getByText('first-customer').waitFor()
    expect(await panel.textContent()).toContain(event.id)
    expect(await panel.evaluate((element) => getComputedStyle(element).borderTopColor)).not.toBe(ground)

    // Now there is something to see, and the menu begins with it.
    const navigation = page.getByRole('navigation', { name: 'Workspace' })
    await navigation.getByRole('link', { name: 'Overview' }).click()
    await heading(page, 'Overview').waitFor()
    await page.getByRole('link', { name: 'First customer' }).first().waitFor()
    await page.goBack()
    await panel.getByRole('link', { name: 'First customer' }).click()
    await heading(page, 'First customer').waitFor()
    expect(page.url()).toContain(`/customers/${customer.customer_id}`)
    await page.getByText('first_event').first().waitFor()
    await page.goBack()
    for (const [name, title] of [
      ['Define steps of Onboarding', 'Onboarding'],
      ['View customers', 'Customers'],
      ['View events of Onboarding', 'Events'],
    ]) {
      await page.getByRole('link', { name: name ?? '' }).click()
      await heading(page, title ?? '').waitFor()
      await page.goBack()
    }
  })

  it('reports missing values at their fields and keeps the input', async () => {
    const { cairn, path } = await startFirstServer()
    const page = await openAdministration({ cairn, path, refusals: ['400 POST /v1/setup'] })
    await page.getByRole('button', { name: 'Set up' }).click()
    for (const fault of ['Enter your name', 'Enter your email', 'Use at least 12', 'Enter a name']) {
      await page.getByText(fault).waitFor()
    }

    await fillIn(page, { ...typed, Email: 'ada' })
    await page.getByRole('textbox', { name: 'Email' }).press('Enter')
    const email = page.getByRole('textbox', { name: 'Email' })
    await expect.poll(() => email.getAttribute('aria-invalid')).toBe('true')
    expect(await page.getByRole('textbox', { name: 'Password' }).inputValue()).toBe(typed.Password)

    await setUp(page)
  })

  it('reports that a used link is no longer valid, and how to get another', async () => {
    const { cairn, path } = await startFirstServer()
    await setUp(await openAdministration({ cairn, path }))

    const page = await openAdministration({ cairn, path, refusals: ['404 POST /v1/setup/look-up'] })
    await page.getByRole('heading', { name: 'This setup link is not valid' }).waitFor()
    await page.getByRole('link', { name: 'sign in' }).waitFor()
    await page.getByText('npx cairn setup-link').waitFor()
  })

  it('continues after a reload at each step', async () => {
    const { cairn, path } = await startFirstServer()
    const page = await openAdministration({ cairn, path })
    await page.getByRole('button', { name: 'Set up' }).waitFor()
    await page.reload()
    await page.getByText('Open the link again').waitFor()
    await page.goto(`${cairn.url}/admin${path}`)
    await setUp(page)

    await page.reload()
    await panelOf(page).getByText('Waiting for the first event in Onboarding').waitFor()
    expect(await copiedCode(page, 'curl commands')).not.toContain('pk_')
    await makeKey(page)
    const commands = await copiedCode(page, 'curl commands')
    expect(commands).toContain("SERVICE_KEY='pk_")
    await page.reload()
    // The only one, in every tab.
    await page.getByRole('combobox', { name: 'Publishable key' }).waitFor()
    expect(await copiedCode(page, 'curl commands')).toBe(commands)
    await page.getByRole('tab', { name: 'Server' }).click()
    expect(await copiedCode(page, 'TypeScript for a server')).toContain(/'(pk_\w+)'/.exec(commands)?.[1])
    expect(await page.getByRole('button', { name: 'Create key' }).count()).toBe(0)

    await run('bash', ['-c', commands])
    await panelOf(page).getByText('first_event received in Onboarding').waitFor()
    await page.reload()
    await panelOf(page).getByText('first_event received in Onboarding').waitFor()
  })
})

describe('the code for a first event', () => {
  /** A project of a developer who integrates Cairn. */
  const project = temporaryFolder()
  beforeAll(() => installPackage(project), 120_000)

  it('in TypeScript for a server type-checks, runs, and its event is shown', async () => {
    const { page, newestEvent } = await openFirstEvent('server')
    const file = writeIn(project, 'server.ts', await copiedCode(page, 'TypeScript for a server'))

    expect(await typeFaults(file)).toBe('')
    const { stdout, stderr } = await run(process.execPath, [file])

    expect(stderr).toBe('')
    const event = await newestEvent()
    expect(event?.custom_variables).toEqual({ sent_from: 'server' })
    expect(stdout).toContain(event?.id)
    await expect.poll(() => panelOf(page).textContent()).toContain(event?.id)
  })

  it('in TypeScript for a browser type-checks, runs on a page of another origin, and its event is shown', async () => {
    const { page, newestEvent } = await openFirstEvent('browser')
    const file = writeIn(project, 'browser.ts', await copiedCode(page, 'TypeScript for a browser'))

    expect(await typeFaults(file)).toBe('')
    const printed = await runInBrowser(page, await bundleForBrowser(file))

    const event = await newestEvent()
    expect(event?.custom_variables).toEqual({ sent_from: 'browser' })
    expect(printed).toContain(event?.id)
    await expect.poll(() => panelOf(page).textContent()).toContain(event?.id)
  })

  it('uses an existing publishable key, and shows one event after the other', async () => {
    const { page, workspace, newestEvent } = await openFirstEvent('browser')
    expect(await copiedCode(page, 'TypeScript for a browser')).toContain(workspace.publishable_key)
    await page.getByRole('combobox', { name: 'Publishable key' }).click()
    await page.getByRole('option', { name: workspace.publishable_key.slice(-4) }).click()
    const code = await copiedCode(page, 'TypeScript for a browser')
    expect(code).toContain(workspace.publishable_key)

    const file = writeIn(project, 'browser-again.ts', code)
    const bundle = await bundleForBrowser(file)
    const arrived = new Set<string | undefined>()
    for (let visit = 0; visit < 2; visit++) {
      await runInBrowser(page, bundle)
      const event = await newestEvent()
      arrived.add(event?.id)
      await expect.poll(() => panelOf(page).textContent()).toContain(event?.id)
    }
    expect(arrived.size).toBe(2)
  })

  it('announces that an event arrived, also one of the same name, and nothing else', async () => {
    const { page, workspace } = await openFirstEvent('curl')
    const announced = panelOf(page).getByRole('status').filter({ hasText: 'Onboarding' })
    await announced.getByText('Waiting for the first event in Onboarding…', { exact: true }).waitFor()
    const said = await announced.evaluateHandle((element) => {
      const said: string[] = []
      const observer = new MutationObserver(() => said.push(element.textContent))
      observer.observe(element, { childList: true, characterData: true, subtree: true })
      return said
    })
    const line = 'signed_up received in Onboarding'
    for (const times of [1, 2]) {
      await sendEvent(workspace)
      await expect.poll(() => said.jsonValue()).toEqual(Array(times).fill(line))
    }
    await panelOf(page).getByText('Still listening').waitFor()
    expect(await panelOf(page).locator('time').count()).toBe(1)
    expect(await page.locator('[role=status] time, [aria-live] time').count()).toBe(0)
  })

  it('says why a publishable key does not learn that a customer is new, where it does not', async () => {
    const { page, workspace, cairn } = await openFirstEvent('curl')
    const reason = page.getByText('says created: false even if the customer is new')
    await reason.waitFor()
    await page.getByRole('tab', { name: 'Browser' }).click()
    await reason.waitFor({ state: 'hidden' })

    const owner = await signUp(cairn, workspace, 'owner')
    await owner.client(workspace.workspace_id).updateWorkspace({ body: { protect_customers: false } })
    const read = page.waitForResponse((response) => response.url().endsWith('/v1/workspace'))
    await page.reload()
    await read
    await page.getByRole('tab', { name: 'curl' }).click()
    await page.getByRole('combobox', { name: 'Publishable key' }).waitFor()
    expect(await reason.count()).toBe(0)
  })

  it('fits the screen and is accessible', async () => {
    const { page, workspace } = await openFirstEvent('curl')
    await panelOf(page).getByText('Waiting').waitFor()
    await inspectState(page, 'first-event-waiting')
    await page.getByRole('tab', { name: 'Browser' }).click()
    await page.getByText(`npm install ./cairn-client-${manifest.version}.tgz`).waitFor()
    await sendEvent(workspace)
    await panelOf(page).getByText('signed_up received in Onboarding').waitFor()
    await inspectState(page, 'first-event-arrived')
  })

  it('says that a key may have been created if the response is lost', async () => {
    const refusals = ['net::ERR_FAILED POST /v1/service-keys']
    const { page } = await openFirstEvent('server', { prepare: revokeKeys, refusals })
    await loseResponses(page, '**/v1/service-keys')
    // Nor can the page find out.
    await page.route('**/v1/service-keys?*', (route) => route.abort())
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByText('The key may have been created all the same.').waitFor()
  })

  it('takes a key whose response was lost, and no longer says that it failed', async () => {
    const refusals = ['net::ERR_FAILED POST /v1/service-keys']
    const { page } = await openFirstEvent('server', { prepare: revokeKeys, refusals })
    await loseResponses(page, '**/v1/service-keys')
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByRole('combobox', { name: 'Publishable key' }).waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
  })

  it('tells a viewer who can create a key', async () => {
    const { page } = await openFirstEvent('server', { role: 'viewer', prepare: revokeKeys })
    await page.getByText('An owner or admin of the workspace can create one.').waitFor()
    expect(await page.getByRole('button', { name: 'Create key' }).count()).toBe(0)
  })

  it('tells a viewer whom to ask for a secret key', async () => {
    const { page } = await openFirstEvent('server', { role: 'viewer' })
    await page.getByText('ask an owner or admin of the workspace for a secret key').waitFor()
    expect(await page.getByText('create a secret key').count()).toBe(0)
  })
})

describe('what is rejected before the first event', () => {
  it('appears on the page as it arrives, with its cause and fix, until an event is stored', async () => {
    const { cairn, page, workspace } = await openFirstEvent('curl')
    const { client, journey_id, secret_key } = workspace
    await page.getByText('With 401 unauthorized, the key is unknown').waitFor()
    const rejected = page.getByRole('list', { name: 'Rejected requests' })
    const sums = page.getByRole('status', { name: 'Live rejected requests' })
    const post = (body: string, key = secret_key) => {
      const headers = { 'x-service-key': key, 'content-type': 'application/json' }
      return cairn.fetch('/events/create', { method: 'POST', headers, body })
    }
    const event = { journey_id, customer_id: 'user-10001', event_id: 'signed_up' }

    await client.createEvent({ body: event })
    await sums.getByText('Rejected so far: 1 event', { exact: true }).waitFor()
    await rejected.getByText('customer_not_found', { exact: true }).waitFor()
    await rejected.getByText('Call initializeCustomer with this journey_id before the event').waitFor()
    await post(JSON.stringify({ ...event, evnt_id: 'x' }))
    await rejected.getByText('is not a field of the contract').waitFor()
    expect(await rejected.getByRole('listitem').filter({ hasText: 'createEvent signed_up' }).count()).toBe(2)
    await client.createEvent({ body: event })
    await sums.getByText('Rejected so far: 2 events, 1 request', { exact: true }).waitFor()

    const counted = page.getByRole('list', { name: 'Contents not saved' })
    await post('{"journey_id": ')
    await counted.getByText(/^invalid_json from key First secret key …\w{4} since \d\d:\d\d/).waitFor()
    await counted.getByText('Create it with a JSON library').waitFor()
    const owner = (await signUp(cairn, workspace, 'owner')).client(workspace.workspace_id)
    const made = await owner.createServiceKey({ body: { kind: 'secret', name: 'Old server' } })
    await owner.revokeServiceKey({ path: { key_id: made.data?.key_id ?? '' } })
    await post(JSON.stringify(event), made.data?.token ?? '')
    await counted.getByText(/^unauthorized from key Old server …\w{4} since/).waitFor()
    await counted.getByText('Find the program that still sends it').waitFor()
    await inspectState(page, 'first-event-rejected')

    await rejected.getByRole('link', { name: 'createEvent signed_up' }).first().click()
    await page.getByRole('dialog').getByText('"user-10001"').waitFor()
    await page.goBack()
    await sendEvent(workspace)
    await panelOf(page).getByText('signed_up received in Onboarding').waitFor()
    await sums.waitFor({ state: 'detached' })
  })

  it('is on the overview, which leads to the first event only if nothing was sent', async () => {
    const { cairn, page, workspace } = await openFirstEvent('curl')
    const { client, journey_id } = workspace
    await page.goto(`${cairn.url}/admin${screenPath(workspace, 'overview')}`)
    await heading(page, 'Send your first event').waitFor()

    await client.createEvent({ body: { journey_id, customer_id: 'user-10001', event_id: 'signed_up' } })
    await page.goto(`${cairn.url}/admin${screenPath(workspace, 'overview')}`)
    await heading(page, 'Overview').waitFor()
    await page.getByText(/^1 rejected since \d\d:00: 1 event$/).waitFor()
    const navigation = page.getByRole('navigation', { name: 'Workspace' })
    await navigation.getByRole('link', { name: 'Overview' }).waitFor()
    await navigation.getByRole('link', { name: 'First event' }).click()
    await page.getByText('Rejected so far: 1 event').waitFor()
  })

  it('leaves the menu of any screen once there is one', async () => {
    const cairn = await startCairnForTest()
    const workspace = await cairn.workspace()
    const { headers: signedIn } = await signUp(cairn, workspace, 'owner')
    const path = screenPath(workspace, 'members')
    const page = await openAdministration({ cairn, path, signedIn, turnsClock: true })
    const navigation = page.getByRole('navigation', { name: 'Workspace' })
    await navigation.getByRole('link', { name: 'First event' }).waitFor()
    await sendEvent(workspace)
    await expect
      .poll(async () => {
        await page.clock.runFor(15_000)
        return await navigation.getByRole('link').first().innerText()
      })
      .toBe('Overview')
  })
})

/** The page for a first event of a new workspace, with the code for `curl`, a `browser` or a `server`. */
async function openFirstEvent(
  code: string,
  {
    role = 'owner',
    prepare,
    refusals = [],
  }: {
    role?: 'owner' | 'viewer'
    prepare?: (workspace: Workspace, cairn: Cairn) => Promise<void>
    refusals?: string[]
  } = {},
) {
  const cairn = await startCairnForTest()
  const workspace = await cairn.workspace()
  await prepare?.(workspace, cairn)
  const { headers: signedIn } = await signUp(cairn, workspace, role)
  const path = screenPath(workspace, `first-event?journey=${workspace.journey_id}&code=${code}`)
  const page = await openAdministration({ cairn, path, signedIn, refusals })
  await panelOf(page).waitFor()
  if (!prepare) await page.getByRole('combobox', { name: 'Publishable key' }).waitFor()
  return { cairn, page, workspace, newestEvent: () => newestEvent(workspace) }
}

async function revokeKeys(workspace: Workspace, cairn: Cairn) {
  const owner = (await signUp(cairn, workspace, 'owner')).client(workspace.workspace_id)
  for (const { key_id } of (await owner.listServiceKeys()).data?.data ?? []) {
    await owner.revokeServiceKey({ path: { key_id } })
  }
}

async function newestEvent({ client }: Workspace) {
  const { data } = await client.listEvents({ query: { limit: 1 } })
  return data?.data[0]
}

async function sendEvent(workspace: Workspace) {
  const { client, journey_id } = workspace
  const customer_id = await initialize(workspace, 'user-1')
  const custom_variables = { plan: 'team', seats: 12, note: 'x'.repeat(200) }
  await client.createEvent({ body: { journey_id, customer_id, event_id: 'signed_up', custom_variables } })
}

/** The errors of a strict compiler, which runs in a process of its own, because the test's server is in this one. */
async function typeFaults(file: string): Promise<string> {
  const options = ['--module', 'nodenext', '--target', 'es2022', '--lib', 'es2022,dom']
  const args = [resolve('node_modules/typescript/bin/tsc'), '--strict', '--noEmit', ...options, file]
  const ran: Promise<{ stdout: string }> = run(process.execPath, args, { cwd: dirname(file) })
  return await ran.then(
    ({ stdout }) => stdout,
    ({ stdout, message }) => stdout || message,
  )
}

/** Runs the module in a page of a website of its own. @returns what it prints first, as text */
async function runInBrowser(page: Page, script: string): Promise<string> {
  const html = '<!doctype html><link rel="icon" href="data:,"><script type="module" src="/main.js"></script>'
  const site = createServer((request, response) => {
    const [type, content] = request.url === '/main.js' ? ['text/javascript', script] : ['text/html', html]
    response.writeHead(200, { 'content-type': type }).end(content)
  })
  await once(site.listen(0, '127.0.0.1'), 'listening')
  const visitor = await page.context().browser()?.newPage()
  if (!visitor) throw new Error('the browser is gone')
  try {
    const printed = visitor.waitForEvent('console')
    await visitor.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}`)
    const [value] = (await printed).args()
    return JSON.stringify(await value?.jsonValue())
  } finally {
    await visitor.context().close()
    site.close()
  }
}
