// engines: sqlite (a browser sees only the API, which is tested on both engines)

import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { createWorkspace } from '../../server/cli/init.ts'
import { inStore } from '../../server/cli/store.ts'
import { deleteSessionsOf } from '../../server/storage/tables/sessions.ts'
import { type Cairn, startCairn, startCairnForTest, temporaryFolder, type Workspace } from '../cairn.ts'
import { startChildServer } from '../child-server.ts'
import { freePort } from '../free-port.ts'
import { newMember, newPerson, type SignedUp, signIn, signUp } from '../people.ts'
import { inspectScreen, inspectState, openAdministration } from './administration.ts'
import { axeViolations } from './axe.ts'
import { expectLayersUncovered, inspectLayers } from './layers.ts'
import { comeBackTo, heading, screenPath, signInDialog } from './screens.ts'

declare global {
  /** The color scheme that a page had when its body began. */
  var schemeOfBody: string | null
  /** The sum of all layout shifts of a page. */
  var layoutShift: number
  /** Whether a page has announced that it is loading something. */
  var wasBusy: boolean
}

const nobody = '401 GET /v1/session'

/** One word that is longer than any screen is wide. */
const longWord = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft'.repeat(2)

let cairn: Cairn
let workspace: Workspace
let owner: SignedUp
let customer_id: string
let invitationLink: string

beforeAll(async () => {
  cairn = await startCairn()
  workspace = await cairn.workspace()
  owner = await signUp(cairn, workspace, 'owner')
  await newMember(cairn, workspace, 'viewer')
  const { client, journey_id } = workspace
  const administration = owner.client(workspace.workspace_id)
  await administration.updateJourney({
    path: { journey_id },
    body: {
      description: 'From the first visit to the first invoice',
      steps: [
        { event_id: 'signed_up', name: 'Signed up' },
        { event_id: longWord, name: longWord },
      ],
    },
  })
  await administration.createJourney({ body: { name: longWord } })
  await administration.createServiceKey({
    body: { kind: 'publishable', name: longWord, allowed_origins: ['https://app.example.com'] },
  })
  for (const customer_name of ['Ada Lovelace', longWord]) {
    const body = {
      journey_id,
      customer_name,
      client_customer_id: customer_name,
      customer_type: 'contact',
    } as const
    const { data } = await client.initializeCustomer({ body })
    customer_id = data?.customer_id ?? ''
    for (const event_id of ['signed_up', longWord]) {
      const custom_variables = { plan: 'pro', [longWord]: longWord, address: { city: 'Praha' } }
      await client.createEvent({
        body: {
          journey_id,
          customer_id,
          event_id,
          custom_variables,
          message_id: `${customer_name} ${event_id}`.slice(0, 128),
        },
      })
    }
  }
  for (const event_id of ['signed_up', longWord]) {
    await client.createEvent({ body: { journey_id, customer_id: longWord, event_id } })
  }
  const { data: invitation } = await administration.createInvitation({
    body: { email: `${'ada-'.repeat(12)}lovelace@${'example-'.repeat(6)}company.example.com`, role: 'admin' },
  })
  if (!invitation) throw new Error('nobody was invited')
  invitationLink = `/invitation#token=${invitation.token}`
})

afterAll(() => cairn?.stop())

/** A screen of the interface and how to see all of it. */
type Screen = {
  /** Its path in app.tsx; '' for the index. */
  route: string
  name: string
  /** Opens it, and waits until what it reads is there. */
  open: () => Promise<Page>
}

async function inWorkspace(screen: string, shown: (page: Page) => Locator): Promise<Page> {
  const path = screenPath(workspace, screen)
  const page = await openAdministration({ cairn, signedIn: owner.headers, path })
  await shown(page).waitFor()
  return page
}

async function outside(path: string, title: string | RegExp, refusals = [nobody], of = cairn): Promise<Page> {
  const page = await openAdministration({ cairn: of, path, refusals })
  await page.getByRole('heading', { level: 1, name: title }).waitFor()
  return page
}

function table(name: string) {
  return (page: Page) => page.getByRole('table', { name }).locator('tbody tr').first()
}

/** In the order of app.tsx. */
const screens: Screen[] = [
  {
    route: '',
    name: 'no-workspace',
    async open() {
      const signedIn = await signIn(cairn, await newPerson(cairn))
      const page = await openAdministration({ cairn, signedIn, path: '/' })
      await heading(page, 'You are not a member of any workspace').waitFor()
      return page
    },
  },
  {
    route: 'setup',
    name: 'setup',
    async open() {
      const fresh = await startCairnForTest()
      const path = new URL(fresh.setupLink ?? '').hash
      return await outside(`/setup${path}`, 'Set up Cairn', [], fresh)
    },
  },
  { route: 'invitation', name: 'invitation', open: () => outside(invitationLink, /^Join/) },
  {
    route: 'password',
    name: 'new-password',
    async open() {
      const { person_id } = await newMember(cairn, workspace, 'viewer')
      const { data } = await owner.client().createPasswordLink({ path: { person_id } })
      return await outside(`/password#token=${data?.token}`, 'Reset password', [])
    },
  },
  { route: 'sign-in', name: 'sign-in', open: () => outside('/sign-in', 'Sign in') },
  {
    route: 'overview',
    name: 'overview',
    open: () => inWorkspace('overview', (page) => page.getByRole('link', { name: 'Ada Lovelace' }).first()),
  },
  { route: 'journeys', name: 'journeys', open: () => inWorkspace('journeys', table('Journeys')) },
  {
    route: 'journeys/:journeyId',
    name: 'journey',
    open: () => inWorkspace(`journeys/${workspace.journey_id}`, table('Steps')),
  },
  {
    route: 'journeys/:journeyId/customers',
    name: 'journey-customers',
    open: () =>
      inWorkspace(`journeys/${workspace.journey_id}/customers?reached=1`, table('Customers in this journey')),
  },
  {
    route: 'journeys/:journeyId/settings',
    name: 'journey-settings',
    open: () =>
      inWorkspace(`journeys/${workspace.journey_id}/settings`, (page) =>
        page.getByText('Step 1', { exact: true }),
      ),
  },
  {
    route: 'keys',
    name: 'keys',
    open: () => inWorkspace('keys', (page) => page.getByText('First secret key')),
  },
  {
    route: 'first-event',
    name: 'first-event',
    open: () =>
      inWorkspace(`first-event?journey=${workspace.journey_id}`, (page) =>
        page.getByText(/received in Onboarding$/),
      ),
  },
  { route: 'customers', name: 'customers', open: () => inWorkspace('customers', table('Customers')) },
  {
    route: 'customers/:customerId',
    name: 'customer',
    open: () =>
      inWorkspace(`customers/${customer_id}`, (page) => page.getByRole('button', { name: /Signed up/ })),
  },
  { route: 'events', name: 'events', open: () => inWorkspace('events', table('Events')) },
  {
    route: 'events/refused',
    name: 'refused',
    async open() {
      const mistake = (page: Page) => page.getByRole('button', { name: /^customer_not_found/ })
      const page = await inWorkspace('events/refused', mistake)
      await mistake(page).click()
      await page.getByRole('button', { name: 'Preview replay' }).click()
      await page.getByText('would be rejected again').waitFor()
      await page.getByRole('table', { name: 'Rejected requests' }).waitFor()
      return page
    },
  },
  { route: 'members', name: 'members', open: () => inWorkspace('members', table('Pending invitations')) },
  {
    route: 'audit-log',
    name: 'audit-log',
    open: () => inWorkspace('audit-log', (page) => page.getByRole('button', { name: 'Details' }).first()),
  },
  {
    route: 'account',
    name: 'account',
    open: () => inWorkspace('account', (page) => page.getByText('Current', { exact: true })),
  },
  {
    route: '*',
    name: 'not-found',
    open: () => inWorkspace('nowhere', (page) => heading(page, 'Page not found')),
  },
  { route: '*', name: 'not-found-outside', open: () => outside('/nowhere', 'Page not found', []) },
]

/** What screens look like after some action, and in rarer cases. */
const states: Omit<Screen, 'route'>[] = [
  {
    name: 'foreign-workspace',
    open: async () => {
      const path = screenPath(await cairn.workspace(), 'journeys')
      const page = await openAdministration({ cairn, signedIn: owner.headers, path })
      await heading(page, 'Workspace not found').waitFor()
      return page
    },
  },
  {
    name: 'setup-link-that-does-not-work',
    open: () =>
      outside('/setup#token=setup_gone', 'This setup link is not valid', ['404 POST /v1/setup/look-up']),
  },
  {
    name: 'sign-in-again',
    async open() {
      const person = await newMember(cairn, workspace, 'viewer')
      const signedIn = await signIn(cairn, person)
      const refusals = ['401 GET /v1/session', '401 GET /v1/journeys']
      const path = screenPath(workspace, 'journeys')
      const page = await openAdministration({ cairn, signedIn, path, refusals })
      await table('Journeys')(page).waitFor()
      await inStore(cairn.databaseUrl, (db) => deleteSessionsOf(db, person.person_id))
      await comeBackTo(page)
      await signInDialog(page).waitFor()
      return page
    },
  },
  {
    name: 'event-details',
    async open() {
      const page = await inWorkspace('events', table('Events'))
      await page
        .getByRole('button', { name: /^signed_up/ })
        .first()
        .click()
      await page.getByText('Custom variables', { exact: true }).waitFor()
      return page
    },
  },
  {
    name: 'customer-choices',
    async open() {
      const page = await inWorkspace('events', table('Events'))
      await page.getByRole('button', { name: 'Filter', exact: true }).click()
      await page.getByRole('searchbox', { name: 'event_id' }).fill('signed_up')
      await page.getByRole('combobox', { name: 'Customer' }).click()
      await page.getByRole('option', { name: /^Ada Lovelace/ }).waitFor()
      return page
    },
  },
  {
    name: 'no-such-customer',
    async open() {
      const path = screenPath(workspace, 'events?customer_id=cus_00000000000000000000000000')
      const refusals = ['404 GET /v1/customers/{id}']
      const page = await openAdministration({ cairn, signedIn: owner.headers, path, refusals })
      await page.getByRole('button', { name: 'Filter', exact: true }).click()
      await page.getByText('This workspace has no such customer').waitFor()
      return page
    },
  },
  {
    name: 'audit-details',
    async open() {
      const details = (page: Page) => page.getByRole('button', { name: /^Details.*changed the journey/ })
      const page = await inWorkspace('audit-log?area=journeys', details)
      await details(page).click()
      await page.getByRole('table', { name: 'Changes' }).waitFor()
      return page
    },
  },
  {
    name: 'invitation-form',
    async open() {
      const page = await inWorkspace('members', table('Members'))
      await page.getByRole('button', { name: 'Invite' }).click()
      await page.getByRole('button', { name: 'Create invitation link' }).click()
      await page.getByText('Enter an email').waitFor()
      return page
    },
  },
  {
    name: 'remove-member',
    async open() {
      const page = await inWorkspace('members', table('Members'))
      await page
        .getByRole('button', { name: /^Actions for/ })
        .first()
        .click()
      await page.getByRole('menuitem', { name: 'Remove from workspace…' }).click()
      await page.getByRole('dialog').waitFor()
      return page
    },
  },
  {
    name: 'wrong-password',
    async open() {
      const page = await outside('/sign-in', 'Sign in', [nobody, '401 POST /v1/session'])
      await page.getByRole('textbox', { name: 'Email' }).fill('nobody@example.com')
      await page.getByLabel(/^Password/).fill('a wrong guess')
      await page.getByLabel(/^Password/).press('Enter')
      await page.getByRole('alert').waitFor()
      return page
    },
  },
  {
    name: 'no-customer-found',
    open: () =>
      inWorkspace('customers?search=nobody', (page) =>
        page.getByRole('heading', { name: 'No customer found' }),
      ),
  },
  {
    name: 'members-found',
    open: () => inWorkspace('members?search=grace', table('Members')),
  },
  {
    name: 'no-member-found',
    open: () =>
      inWorkspace('members?search=nobody', (page) => page.getByRole('heading', { name: 'No member found' })),
  },
  {
    name: 'member-menu',
    async open() {
      const page = await inWorkspace('members', table('Pending invitations'))
      await page
        .getByRole('button', { name: /^Actions for/ })
        .first()
        .click()
      await page.getByRole('menuitem').first().waitFor()
      return page
    },
  },
  {
    name: 'password-link',
    async open() {
      const member = await newMember(cairn, workspace, 'viewer')
      const page = await inWorkspace('members', table('Pending invitations'))
      const row = page.getByRole('row').filter({ hasText: member.email })
      await row.getByRole('button', { name: /^Actions for/ }).click()
      await page.getByRole('menuitem', { name: 'Create password reset link…' }).click()
      await page.getByRole('button', { name: 'Create link' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Done' }).waitFor()
      return page
    },
  },
  {
    name: 'workspace-menu',
    async open() {
      const page = await inWorkspace('journeys', table('Journeys'))
      await page.getByRole('button', { name: /^Workspace / }).click()
      await page.getByRole('menuitem', { name: 'Create workspace…' }).waitFor()
      return page
    },
  },
  {
    name: 'new-workspace',
    async open() {
      const page = await inWorkspace('journeys', table('Journeys'))
      await page.getByRole('button', { name: /^Workspace / }).click()
      await page.getByRole('menuitem', { name: 'Create workspace…' }).click()
      await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).waitFor()
      return page
    },
  },
  {
    name: 'person-menu',
    async open() {
      const page = await inWorkspace('account', (page) => page.getByRole('heading', { name: 'Sessions' }))
      await page.getByRole('button', { name: /account and sign out$/ }).click()
      await page.getByRole('menuitem', { name: 'Sign out' }).waitFor()
      await page.getByText(`Cairn ${manifest.version}`, { exact: true }).waitFor()
      return page
    },
  },
]

/** The menus and lists of choices already checked on earlier screens. */
const layersSeen = new Set<string>()

describe('Every screen', () => {
  it('is inspected here', () => {
    const source = readFileSync('admin/app.tsx', 'utf8')
    const routes = Array.from(source.matchAll(/\bindex: true|\bpath: '([^']*)'/g), ([, path]) => path ?? '')
    expect(screens.map(({ route }) => route)).toEqual(routes.filter((path) => path !== 'w/:workspaceId'))
  })

  it.each(screens)(
    'is accessible and never too wide, in light and dark, and loads fewer than 30 files: $name',
    async ({ name, open }) => {
      const page = await open()
      await inspectScreen(page, name)
      // All of a first visit: nothing has been loaded in its context before.
      const loaded = await page.evaluate(() =>
        performance.getEntriesByType('resource').map(({ name }) => name),
      )
      const files = new Set(loaded.filter((url) => new URL(url).pathname.startsWith('/admin/assets/')))
      expect(files.size).toBeGreaterThan(2)
      expect(files.size).toBeLessThan(30)
      await inspectLayers(page, name, layersSeen)
    },
  )

  it.each(states)('stays accessible in every state: $name', async ({ name, open }) => {
    await inspectState(await open(), name)
  })

  it('hides its navigation behind a button on narrow screens', async () => {
    const page = await inWorkspace('journeys', table('Journeys'))
    await page.setViewportSize({ width: 360, height: 800 })
    const navigation = page.getByRole('navigation', { name: 'Workspace' })
    await navigation.waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: 'Navigation' }).click()
    await navigation.waitFor()
    await page.getByRole('button', { name: /^Workspace / }).click()
    await page.getByRole('menuitem', { name: 'Create workspace…' }).waitFor()
    await expectLayersUncovered(page, 'beside the navigation')
    await page.keyboard.press('Escape')
    await page.setViewportSize({ width: 360, height: 800 })
    expect(await axeViolations(page)).toEqual([])
    await navigation.getByRole('link', { name: 'Members' }).click()
    await heading(page, 'Members').waitFor()
    await navigation.waitFor({ state: 'hidden' })
  })
})

/** Presses Tab until the element has the focus. */
async function tabTo(page: Page, element: Locator) {
  for (let presses = 0; presses < 50; presses++) {
    if (await hasFocus(element)) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`Tab does not lead to ${element}`)
}

function hasFocus(element: Locator): Promise<boolean> {
  return element.evaluate((element) => element === document.activeElement)
}

describe('The keyboard alone', () => {
  it('skips the navigation', async () => {
    const page = await inWorkspace('journeys', table('Journeys'))
    await page.keyboard.press('Tab')
    const skip = page.getByRole('link', { name: 'Skip to content' })
    expect(await hasFocus(skip)).toBe(true)
    expect((await skip.boundingBox())?.y).toBeGreaterThan(0)
    await page.keyboard.press('Enter')
    expect(await hasFocus(page.getByRole('main'))).toBe(true)
    await page.keyboard.press('Tab')
    expect(await hasFocus(page.getByRole('button', { name: 'Create journey' }))).toBe(true)
  })

  it('signs in: the first field has the focus, also after a redirect', async () => {
    for (const path of ['/sign-in', '/', screenPath(workspace, 'keys')]) {
      const page = await outside(path, 'Sign in')
      await expect.poll(() => hasFocus(page.getByRole('textbox', { name: 'Email' }))).toBe(true)
      await page.getByText('Forgot your password?').waitFor()
    }
  })

  it('navigates, and moves the focus to the heading', async () => {
    const page = await inWorkspace('journeys', table('Journeys'))
    await tabTo(page, page.getByRole('link', { name: 'Customers' }))
    await page.keyboard.press('Enter')
    await heading(page, 'Customers').waitFor()
    await expect.poll(() => hasFocus(heading(page, 'Customers'))).toBe(true)
    expect(await page.getByRole('link', { name: 'Customers' }).getAttribute('aria-current')).toBe('page')
    await page.keyboard.press('Tab')
    expect(await hasFocus(page.getByRole('button', { name: 'Export' }))).toBe(true)
    await page.keyboard.press('Tab')
    expect(await hasFocus(page.getByRole('searchbox', { name: 'Search customers' }))).toBe(true)
  })

  it('opens a menu, moves in it, chooses and closes it', async () => {
    const page = await inWorkspace('journeys', table('Journeys'))
    const button = page.getByRole('button', { name: 'Color scheme' })
    const html = page.locator('html')
    const menu = page.getByRole('menu')
    await tabTo(page, button)
    await page.keyboard.press('Enter')
    await menu.waitFor()
    await page.keyboard.press('Escape')
    await menu.waitFor({ state: 'hidden' })
    await expect.poll(() => hasFocus(button)).toBe(true)

    const dark = page.getByRole('menuitemradio', { name: 'Dark' })
    await expect
      .poll(async () => {
        // A key pressed while the menu is still closing opens nothing; a user would press it again.
        if (!(await menu.isVisible())) await page.keyboard.press('Enter')
        else if (!(await hasFocus(dark))) await page.keyboard.press('ArrowDown')
        return await hasFocus(dark)
      })
      .toBe(true)
    await page.keyboard.press('Enter')
    await menu.waitFor({ state: 'hidden' })
    expect(await html.getAttribute('data-mantine-color-scheme')).toBe('dark')
    await expect.poll(() => hasFocus(button)).toBe(true)
  })

  it('stays in a dialog, and returns the focus to what opened it', async () => {
    const page = await inWorkspace('members', table('Members'))
    const opener = page.getByRole('button', { name: 'Invite' })
    await tabTo(page, opener)
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Invite member' })
    await expect.poll(() => hasFocus(dialog.getByRole('textbox', { name: 'Email' }))).toBe(true)
    const within = () => dialog.evaluate((dialog) => dialog.contains(document.activeElement))
    for (const key of ['Tab', 'Shift+Tab']) {
      for (let presses = 0; presses < 8; presses++) {
        await page.keyboard.press(key)
        expect(await within(), `${key} ${presses}`).toBe(true)
      }
    }
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
    await expect.poll(() => hasFocus(opener)).toBe(true)
  })

  it('opens the details of an event and of an entry', async () => {
    const page = await inWorkspace('events', table('Events'))
    const event = page.getByRole('button', { name: /^signed_up/ }).first()
    await tabTo(page, event)
    await page.keyboard.press('Enter')
    const details = page.getByRole('dialog')
    await details.getByText('Custom variables', { exact: true }).waitFor()
    await expect.poll(() => details.evaluate((open) => open.contains(document.activeElement))).toBe(true)
    await page.keyboard.press('Escape')
    await details.waitFor({ state: 'hidden' })
    await expect.poll(() => hasFocus(event)).toBe(true)
  })
})

describe('The color scheme', () => {
  it('follows the system until one is chosen, and is remembered', async () => {
    const page = await inWorkspace('journeys', table('Journeys'))
    const scheme = () => page.locator('html').getAttribute('data-mantine-color-scheme')
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    const choose = async (name: string) => {
      await page.getByRole('button', { name: 'Color scheme' }).click()
      await page.getByRole('menuitemradio', { name }).click()
    }
    expect(await scheme()).toBe('light')
    const light = await ground()
    await page.emulateMedia({ colorScheme: 'dark' })
    await expect.poll(scheme).toBe('dark')
    expect(await ground()).not.toBe(light)
    await choose('Light')
    await expect.poll(scheme).toBe('light')
    await page.reload()
    await table('Journeys')(page).waitFor()
    expect([await scheme(), await ground()]).toEqual(['light', light])
    await choose('System')
    await expect.poll(scheme).toBe('dark')
  })

  it('is applied before the first paint', async () => {
    const page = await inWorkspace('journeys', table('Journeys'))
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.addInitScript(() => {
      // Nothing is drawn before there is a body.
      const observer = new MutationObserver(() => {
        if (!document.body) return
        globalThis.schemeOfBody = document.documentElement.getAttribute('data-mantine-color-scheme')
        observer.disconnect()
      })
      observer.observe(document, { childList: true, subtree: true })
    })
    await page.reload()
    expect(await page.evaluate(() => globalThis.schemeOfBody)).toBe('dark')
  })
})

/** Gzipped size in bytes of a file of the interface, as the server sends it. */
function sizeOf(path: string): number {
  const file = `dist${path}`
  return [`${file}.gz`, file].filter((file) => existsSync(file)).map((file) => statSync(file).size)[0] ?? 0
}

describe('A first visit', () => {
  // Without TLS browsers offer no brotli.
  const visits = [
    { name: 'sign-in', coding: 'br' },
    { name: 'sign-in', coding: 'gzip' },
    { name: 'journeys', coding: 'br' },
    { name: 'journeys', coding: 'gzip' },
  ]

  it.each(visits)(
    'loads at most 250 kB in fewer than 30 files, by $coding: $name',
    async ({ name, coding }) => {
      const open = screens.find((screen) => screen.name === name)?.open
      if (!open) throw new Error(`there is no screen ${name}`)
      const page = await open()
      const session = await page.context().newCDPSession(page)
      await session.send('Network.enable')
      await session.send('Network.setCacheDisabled', { cacheDisabled: true })
      await session.send('Network.setExtraHTTPHeaders', { headers: { 'accept-encoding': coding } })
      let total = 0
      const files = new Set<string>()
      const codings = new Set<string | undefined>()
      // As transferred: compressed. What comes with the head of a response is its headers.
      session.on('Network.responseReceived', ({ response }) => {
        total -= response.encodedDataLength
        if (!new URL(response.url).pathname.startsWith('/admin/')) return
        files.add(response.url)
        codings.add(new Headers(response.headers).get('content-encoding') ?? undefined)
      })
      session.on('Network.loadingFinished', ({ encodedDataLength }) => {
        total += encodedDataLength
      })
      await page.reload({ waitUntil: 'networkidle' })
      expect(total).toBeLessThan(250_000)
      expect(files.size).toBeLessThan(30)
      // Otherwise nothing was measured.
      expect(total).toBeGreaterThan(50_000)
      expect([...codings].filter(Boolean)).toEqual([coding])
    },
  )

  it.each(['overview', 'journey', 'journey-customers', 'customer'])(
    'loads at most 250 kB of the interface itself before a chart is in sight: %s',
    async (name) => {
      const page = await screens.find((screen) => screen.name === name)?.open()
      if (!page) throw new Error(`there is no screen ${name}`)
      await page.setViewportSize({ width: 1440, height: 500 })
      const files = new Map<string, number>()
      page.on('response', (response) => {
        const { pathname } = new URL(response.url())
        if (!pathname.startsWith('/admin/')) return
        files.set(pathname, sizeOf(pathname))
      })
      await page.reload({ waitUntil: 'networkidle' })
      await expect.poll(() => files.size).toBeGreaterThan(5)
      const total = [...files.values()].reduce((sum, length) => sum + length, 0)
      expect(total).toBeLessThan(250_000)
      expect(total).toBeGreaterThan(50_000)
    },
  )

  it('is allowed to run only Cairn’s own scripts', async () => {
    for (const path of ['/admin/', '/admin/sign-in', '/admin/w/wsp_1/journeys']) {
      const policy = (await fetch(`${cairn.url}${path}`)).headers.get('content-security-policy') ?? ''
      const directives = new Map(
        policy.split(';').map((directive) => {
          const [name = '', ...values] = directive.trim().split(/\s+/)
          return [name, values.join(' ')]
        }),
      )
      expect(directives.get('script-src') ?? directives.get('default-src'), path).toBe("'self'")
      expect(directives.get('frame-ancestors'), path).toBe("'none'")
      expect(directives.get('base-uri'), path).toBe("'none'")
    }
  })
})

describe('Tabs', () => {
  const rows = (page: Page) =>
    page.locator('.tabs, [role=tablist]').evaluateAll((rows) =>
      rows.map((row) => ({
        tops: new Set(Array.from(row.children, (tab) => Math.round(tab.getBoundingClientRect().top))).size,
        isCut: row.scrollWidth > row.clientWidth,
      })),
    )

  it.each(['first-event', 'journey', 'journey-customers', 'journey-settings', 'events', 'refused'])(
    'stay in one row on a phone, and scroll if it is narrower still: %s',
    async (name) => {
      const page = await screens.find((screen) => screen.name === name)?.open()
      if (!page) throw new Error(`there is no screen ${name}`)
      await page.setViewportSize({ width: 390, height: 800 })
      expect(await rows(page)).toEqual([{ tops: 1, isCut: false }])
      await page.setViewportSize({ width: 180, height: 800 })
      expect(await rows(page)).toMatchObject([{ tops: 1 }])
    },
  )
})

describe('Loading', () => {
  it.each([
    ['journeys', 'Journeys'],
    ['customers', 'Customers'],
    ['events', 'Events'],
  ])('is announced, and shifts nothing on the page: %s', async (screen, name) => {
    const page = await inWorkspace(screen, table(name))
    const session = await page.context().newCDPSession(page)
    await session.send('Network.enable')
    await session.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 150,
      downloadThroughput: -1,
      uploadThroughput: -1,
    })
    await page.addInitScript(() => {
      globalThis.layoutShift = 0
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) {
          if ('value' in entry && typeof entry.value === 'number') globalThis.layoutShift += entry.value
        }
      }).observe({ type: 'layout-shift', buffered: true })
      globalThis.wasBusy = false
      new MutationObserver(() => {
        globalThis.wasBusy ||= document.querySelector('main [aria-busy=true]') !== null
      }).observe(document, { childList: true, subtree: true })
    })
    await page.reload()
    await table(name)(page).waitFor()
    await page.waitForLoadState('networkidle')
    expect(await page.evaluate(() => globalThis.wasBusy)).toBe(true)
    expect(await page.evaluate(() => globalThis.layoutShift)).toBeLessThan(0.01)
  })
})

describe('A server that does not answer', () => {
  const refused = (path: string) => `net::ERR_CONNECTION_REFUSED GET ${path}`

  /** A server in a process of its own that can be stopped and restarted at the same address, and a page of it. */
  async function openOn(screen: string, refusals: string[]) {
    const databaseUrl = `sqlite:${join(temporaryFolder(), 'cairn.db')}`
    const workspace = await createWorkspace(databaseUrl, { workspace: 'Example Ltd', journey: 'Onboarding' })
    const environment = { PORT: `${await freePort()}` }
    let server = await startChildServer({ databaseUrl, environment })
    const { url } = server
    const person = await newMember({ url, databaseUrl }, workspace, 'owner')
    const signedIn = await signIn({ fetch: (path, init) => fetch(`${url}/v1${path}`, init) }, person)
    const path = screenPath(workspace, screen)
    const page = await openAdministration({ cairn: { url }, signedIn, path, refusals })
    return {
      page,
      stop: () => server.end('SIGTERM'),
      async start() {
        server = await startChildServer({ databaseUrl, environment })
      },
    }
  }

  it('is reported, and “Try again” loads what was requested once it is back', async () => {
    const { page, stop, start } = await openOn('customers', [refused('/v1/customers')])
    await page.getByRole('heading', { name: 'No customers yet' }).waitFor()
    await stop()

    await page.getByRole('searchbox', { name: 'Search customers' }).fill('ada')
    const alert = page.getByRole('alert', { name: 'Cannot reach Cairn' })
    await alert.waitFor()
    await inspectState(page, 'server-stopped')
    await start()
    await alert.getByRole('button', { name: 'Try again' }).click()

    await page.getByRole('heading', { name: 'No customer found' }).waitFor()
    await alert.waitFor({ state: 'hidden' })
    expect(await page.getByRole('searchbox', { name: 'Search customers' }).inputValue()).toBe('ada')
  })

  it('loses nothing of a form', async () => {
    const { page, stop, start } = await openOn('journeys', ['net::ERR_CONNECTION_REFUSED POST /v1/journeys'])
    await table('Journeys')(page).waitFor()
    await page.getByRole('button', { name: 'Create journey' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Renewal')
    await stop()

    await dialog.getByRole('button', { name: 'Create journey' }).click()
    await dialog.getByRole('alert', { name: 'Cannot reach Cairn' }).waitFor()
    expect(await dialog.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Renewal')
    await start()
    await dialog.getByRole('button', { name: 'Create journey' }).click()
    await heading(page, 'Renewal').waitFor()
  })

  it('is reported if a screen’s code cannot be loaded, and a reload opens the screen once it is back', async () => {
    const { page, stop, start } = await openOn('journeys', [refused('/admin/assets/{file}')])
    await table('Journeys')(page).waitFor()
    await stop()
    await page.getByRole('link', { name: 'Members' }).click()
    await heading(page, 'This page could not be loaded').waitFor()
    await start()
    await page.getByRole('button', { name: 'Reload page' }).click()
    await table('Members')(page).waitFor()
  })
})
